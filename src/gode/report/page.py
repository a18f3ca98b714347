"""HTML pages about a discovery: the report, which is complete in itself, and a short form for notebooks.

The sections say what there is to say as values that the templates write down.
"""

import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from os import PathLike
from pathlib import Path

import numpy as np

from gode import __version__
from gode.choices import Preset
from gode.data import Dataset
from gode.data.columns import channel_names
from gode.data.dataset import plain_label
from gode.data.noise import NoiseKind, noise_words
from gode.discovery import Constant, Discovery, Finding
from gode.discovery.causes import UNMEASURED
from gode.discovery.framing import column_of, display_name, display_names
from gode.discovery.inputs import input_words
from gode.discovery.invariants import conserved_words, force_of, potential_values
from gode.discovery.quality import POOR_MISFIT, Verdict, start_names
from gode.discovery.reported_constants import UNDETERMINED
from gode.discovery.residuals import Channel
from gode.equation import Law, parse_tree
from gode.equation.skeleton import shown_name
from gode.errors import EquationError
from gode.files import make_folder, write_text
from gode.fitting.target import state_places
from gode.report.answers import answer
from gode.report.equilibria import extent
from gode.report.experiments import separations
from gode.report.figures import (
    INK,
    Figure,
    data_and_fit,
    front_picture,
    phase_portrait,
    residual_plots,
    to_png,
    to_svg,
)
from gode.report.languages import code
from gode.report.mathml import law_mathml, tree_mathml
from gode.report.naming import Units, axis_label, figures
from gode.report.plots import Plots, chosen_runs
from gode.report.record import fit_table
from gode.report.repeat import command, python_call, settings_rows
from gode.selection import front
from gode.solve.program import late_states
from gode.templates import Markup, render, text_of

MAX_ROWS = 30  # of a table
MAX_CODE = 20_000  # characters of a program shown on the page
MAX_DATA = 300_000  # characters of the data embedded in the page
STRONG = 0.95  # correlation of two constants that gets a remark
STILLS = {  # the figures that stand in a page, and what they show
    "fit": (data_and_fit, "data and solution over time"),
    "phase": (phase_portrait, "phase portrait"),
    "residuals": (residual_plots, "residuals, autocorrelation, distribution"),
    "front": (front_picture, "accuracy against complexity"),
}


@dataclass(frozen=True)
class Sections:
    """The contents of a page, each found when its section is written.

    Args:
        draw: makes HTML of a figure, its name and what it shows; without it the page has no still pictures.
    """

    found: Discovery
    plots: Plots
    draw: Callable[[Figure, str, str], Markup] | None = None
    most_rows: int = MAX_ROWS

    @cached_property
    def finding(self) -> Finding:
        """The law that is named."""
        return self.found.equation

    def still(self, name: str) -> Markup:
        """Return one of the figures as HTML; nothing where none are drawn."""
        make, words = STILLS[name]
        return self.draw(make(self.found, self.plots), name, words) if self.draw else Markup()

    @property
    def formula(self) -> Markup:
        """The law as a formula."""
        return Markup(law_mathml(self.finding.equation))

    @property
    def all_digits(self) -> str:
        """The law with all digits of its constants."""
        return self.finding.equation.text(None)

    @property
    def causes_unmeasured(self) -> bool:
        """Whether no cause that was tried explains the residuals."""
        return all(UNMEASURED in cause for cause in self.found.causes)

    @property
    def overview(self) -> list[str]:
        """Sentences on data, noise and what was tried."""
        discovery = self.found
        dataset = discovery.prepared.dataset
        runs = f"{len(dataset.runs)} runs" if len(dataset.runs) > 1 else "one run"
        spans = ", ".join(dict.fromkeys(f"{run.t[0]:g} to {run.t[-1]:g}" for run in dataset.runs[:5]))
        names = ", ".join(axis_label(dataset, name) for name in dataset.channels)
        span = f"t = {spans} {Units.of(dataset).time}".rstrip()
        out = [f"{dataset.n_observed} observed values of {names} in {runs}, {span}."]
        out += input_words(dataset, discovery.settings)
        out += noise_words(
            discovery.prepared.whole.dataset, discovery.prepared.smooths, display_names(dataset)
        )
        out += discovery.prepared.outliers
        for channel in discovery.quality.channels:
            noise = _noise(channel, dataset)
            out.append(f"The noise of {channel.shown} is about {noise}; {_residual_words(channel)}.")
        if not discovery.quality.verdict.is_failure:
            out += [f"{words}." for words in conserved_words(discovery.candidates[0].equation)]
        if discovery.settings.grammar:
            tried = (
                f"Of {discovery.n_fitted} equations fitted, {discovery.n_solved} were solved along the data."
            )
            out += [words for words in (tried, discovery.assessment.undecided) if words]
        out += [f"{remark[0].upper()}{remark[1:]}." for remark in discovery.remarks]
        labels = _column_words(dataset)
        return [*out, "; ".join(labels) + "."] if labels else out

    @property
    def has_names(self) -> bool:
        """Whether the law was given with names of its constants."""
        return bool(self.finding.law.skeleton.parameters)

    @property
    def constant_rows(self) -> list[tuple[object, ...]]:
        """Place, value, standard error and 95 % interval of each constant."""
        misled = {each.name: each for each in self.found.intervals}
        return [
            (
                _place(c.place, self.finding.law),
                f"{f'{c.value:.4g}' if c.name in misled else figures(c.value, c.error)} {c.unit}".rstrip(),
                _error(c) if c.name not in misled else "",
                _interval(c, misled.get(c.name)),
            )
            for c in self.finding.constants
        ]

    @property
    def natural_rows(self) -> list[tuple[object, ...]]:
        """The constants of the forms that people use; where nothing was found they mean nothing."""
        if self.found.quality.verdict is Verdict.UNSUPPORTED:
            return []
        return [
            (n.name, f"{figures(n.value, n.error)} {n.unit}".rstrip(), f"{n.error:.2g}", n.meaning, n.place)
            if n.determined
            else (n.name, UNDETERMINED, "", n.meaning, n.place)
            for n in self.finding.natural
        ]

    @property
    def correlations(self) -> tuple[list[str], list[list[object]], list[str]]:
        """The names of the constants, the rows of their correlations, and remarks on strong ones."""
        finding = self.finding
        names = [re.sub("^1(?=$|,)", "the constant term", c.place) for c in finding.constants]
        errors = np.sqrt(np.maximum(np.diag(finding.covariance), 0.0))
        if len(names) < 2 or not np.all(errors > 0):
            return [], [], []
        matrix = finding.covariance / np.outer(errors, errors)
        rows: list[list[object]] = [
            [name, *(_shaded(x) if j <= i else "" for j, x in enumerate(matrix[i]))]
            for i, name in enumerate(names)
        ]
        pairs = [(i, j) for i in range(len(names)) for j in range(i) if abs(matrix[i, j]) > STRONG]
        remarks = [
            f"The constants of {names[j]} and {names[i]} are strongly correlated ({matrix[i, j]:+.3f}): "
            "the data fix a combination of them much better than each alone."
            for i, j in pairs[:3]
        ]
        return names, rows, remarks

    @property
    def run_names(self) -> list[str]:
        """The constants that each run has for itself."""
        return [c.label for c in self.finding.per_run]

    @property
    def individual_rows(self) -> list[tuple[str, ...]]:
        """Mean and spread of the constants that each run has for itself."""
        return [
            (c.label, figures(c.value, c.error), f"{c.error:.2g}", f"{c.spread:.3g}")
            for c in self.finding.per_run
        ]

    @property
    def run_rows(self) -> list[tuple[str, ...]]:
        """The constants of each run, with their standard errors."""
        dataset = self.found.prepared.dataset
        constants = self.finding.per_run
        return [
            (dataset.name_of(i), *(f"{figures(v, e)} ± {e:.2g}" for v, e in (c.runs[i] for c in constants)))
            for i in range(len(dataset.runs))
        ]

    @property
    def initial_rows(self) -> list[tuple[str, str, str, str]]:
        """The initial values of each run."""
        best = self.found.candidates[0]
        dataset = self.found.prepared.dataset
        names = start_names(best.equation)
        places = state_places(best.equation.skeleton.orders)
        rows = []
        for i, (run, values) in enumerate(zip(dataset.runs, best.initial, strict=True)):
            for column, value, known in zip(names, values, run.initial[places], strict=True):
                origin = "given" if np.isfinite(known) else "fitted" if value else "zero fits as well as any"
                unit = Units.of(dataset, column_of(dataset, column.rstrip("'"))).derived(column)
                text = f"{value:.4g} {unit}".rstrip()
                rows.append((dataset.name_of(i), f"{column}({run.t[0]:g})", text, origin))
        return rows

    @property
    def drawn(self) -> list[tuple[str, str, int]]:
        """Text, misfit and complexity of each equation that can be drawn."""
        misfits = {id(c): rms for c, rms in self.found.shown}
        return [
            ("; ".join(Finding(c).lines()), f"{misfits.get(id(c), c.rms):.3g}", c.complexity)
            for c in self.plots.shown
        ]

    @property
    def n_runs(self) -> tuple[int, int]:
        """The number of runs, and of those that are drawn."""
        return len(self.found.prepared.dataset.runs), len(chosen_runs(self.found.quality.channels[0]))

    @property
    def other_forms(self) -> list[str]:
        """The forms of the law that are the same within the data."""
        told = "; ".join(self.finding.lines())
        return [text for form in self.found.forms[1:] if (text := "; ".join(form.lines())) != told]

    @property
    def rival_lines(self) -> list[str]:
        """The near ties as text."""
        return ["; ".join(Finding(c).lines()) for c in self.found.assessment.rivals]

    @cached_property
    def separations(self) -> tuple[list[tuple[Markup, str, str]], str]:
        """Formula, fit and experiment of each near tie, and the one experiment that decides among all."""
        single, common = separations(self.found)
        misfits = {id(c): rms for c, rms in self.found.shown}
        least = self._least_criterion()
        out = []
        for each in single:
            rival = each.rivals[0]
            words = (
                f"rms residual {misfits[id(rival)]:.3f} noise, criterion {rival.criterion - least:+.1f}, "
                f"complexity {rival.complexity}"
            )
            out.append((Markup(law_mathml(rival.equation)), words, each.words))
        return out, common.words if common is not None and common.decisive else ""

    def _least_criterion(self) -> float:
        """Return the least criterion; another form of one law is named if it is more plausible."""
        return min(c.criterion for c in self.found.candidates)

    @property
    def answers(self) -> tuple[list[str], list[list[str]], tuple[str, ...]]:
        """Head and rows of the equilibria with the motion near them, and notes."""
        found = answer(self.found)
        motions = [e.motion() for e in found.equilibria]
        names = list(dict.fromkeys(name for motion in motions for name in motion))
        rows = [
            [
                e.where,
                e.stability,
                *(motion.get(name, "") for name in names),
                "" if e.observed else "outside the data",
            ]
            for e, motion in zip(found.equilibria, motions, strict=True)
        ]
        return ["equilibrium", "stability", *names, ""], rows, found.notes

    @property
    def potential_rows(self) -> list[tuple[str, str]]:
        """The potential over the observed range, where a law has one without a simple formula."""
        law = self.finding.law
        if force_of(law) is None or self.finding.potential:
            return []
        u = np.linspace(*extent(self.found), 201)
        values = potential_values(law, u)
        if values is None:
            return []
        return [(f"{x:.3g}", f"{v:.3g}") for x, v in zip(u[::20], values[::20], strict=True)]

    @property
    def residual_words(self) -> list[str]:
        """The residual diagnostics in words."""
        quality = self.found.quality
        words = [sentence for channel in quality.channels for sentence in channel.words]
        if quality.averaged > 1:
            words.append(
                f"The record is dense: fit and residuals are those of means of {quality.averaged} samples, "
                f"whose noise is {quality.averaged**0.5:.3g} times smaller than that of one sample."
            )
        return words

    @property
    def front_rows(self) -> list[tuple[object, ...]]:
        """Complexity, misfit, criterion, reason and text of the equations that are shown."""
        near = {id(c) for c in self.found.assessment.near}
        best = {id(c) for c in front(self.found.candidates)}
        least = self._least_criterion()
        rows: list[tuple[object, ...]] = []
        for i, (c, misfit) in enumerate(self.found.shown[:MAX_ROWS]):
            words = ("best" if i == 0 else "near tie" if id(c) in near else "", "front" * (id(c) in best))
            why = ", ".join(word for word in words if word)
            text = "; ".join(Finding(c).lines())
            rows.append((c.complexity, misfit, f"{c.criterion - least:+.1f}", why, text))
        return rows

    @property
    def is_paper(self) -> bool:
        """Whether the data were smoothed by the network of the published method."""
        return self.found.settings.preset == Preset.PAPER

    @property
    def smoothing(self) -> tuple[list[str], list[list[object]]]:
        """Head and rows of how the data were smoothed."""
        dataset = self.found.prepared.dataset
        rows: list[list[object]] = []
        for i, smooth in enumerate(self.found.prepared.smooths):
            for s, state in enumerate(dataset.states):
                channels = slice(3 * s, 3 * s + 3)
                named = zip(
                    channel_names((display_name(dataset, state),)), smooth.noise[channels], strict=True
                )
                noise = ", ".join(f"{n}: {x:.3g}" for n, x in named if np.isfinite(x))
                errors = [float(np.sqrt(np.mean(row**2))) for row in smooth.deviations[channels]]
                rows.append([dataset.name_of(i), display_name(dataset, state), len(smooth.t), noise, *errors])
        names = ["error of smoothed value", "of its slope", "of its second derivative"]
        return ["run", "state", "points", "noise", *names], rows

    @property
    def python_call(self) -> str:
        """The call that reproduces the result."""
        return python_call(self.found)

    @property
    def command(self) -> str:
        """The command that reproduces the result."""
        return command(self.found)

    @property
    def settings(self) -> list[tuple[str, str]]:
        """The settings that differ from the defaults."""
        return settings_rows(self.found)

    @property
    def code(self) -> str:
        """A program that simulates the law; nothing if it is too long for a page."""
        if late_states(self.found.candidates[0].equation.skeleton):
            return ""  # which no program has yet
        try:
            text = code(self.found, "python")
        except EquationError:  # the highest derivative cannot be isolated
            text = code(self.found, "modelica")
        return text if len(text) <= MAX_CODE else ""

    @cached_property
    def data(self) -> tuple[int, str]:
        """Data, fit and residuals as CSV; of long tables every k-th row, after k."""
        head, *rows = fit_table(self.found).splitlines()
        step = (sum(map(len, rows)) + len(rows)) // MAX_DATA + 1
        return step, "\n".join([head, *rows[::step]]) + "\n"


def _column_words(dataset: Dataset) -> list[str]:
    """Return what the labels of the columns say beyond their names, but for those of time and states."""
    told = {"t", *channel_names(dataset.states)}
    out = []
    for column, label in dataset.labels.items():
        name = display_name(dataset, column)
        unit = label.removeprefix(name).strip(" []")
        if column in told:
            continue
        if column == "run":
            out.append(f"The runs are told apart by {label}")
        elif plain_label(label) != name:
            out.append(f"{name} is {label}")
        elif unit:
            out.append(f"{name} is in {unit}")
    return out


def _noise(channel: Channel, dataset: Dataset) -> str:
    """Return the noise of a channel: a number with its share of the spread, or a share of the value."""
    if channel.model.kind is not NoiseKind.ADDITIVE:
        return channel.noise_words
    unit = Units.of(dataset, channel.state).derived(channel.name)
    share = f"{100 * channel.noise / (channel.spread or 1.0):.2g} % of its spread"
    return f"{f'{channel.noise:.3g} {unit}'.rstrip()}, {share}"


def _residual_words(channel: Channel) -> str:
    """Return how large the residuals of a channel are, and whether they look like noise."""
    if channel.negligible:
        return "the equation follows the data as well as numbers can tell"
    pattern = "which look like white noise" if channel.white else "which show a pattern"
    if channel.white and channel.misfit > POOR_MISFIT:
        pattern = "more than white noise"
    return f"the equation leaves residuals of {channel.misfit:.2f} times that, {pattern}"


def _error(constant: Constant) -> str:
    """Return the standard error of a constant."""
    return f"{constant.error:.2g}" if np.isfinite(constant.error) and constant.determined else UNDETERMINED


def _interval(constant: Constant, told: Constant | None) -> str:
    """Return the 95 % interval of a constant: of the likelihood where known, else by its error bar."""
    if told is not None:
        if np.isinf(told.low) and np.isinf(told.high):
            return UNDETERMINED
        if np.isinf(told.high):
            return f"> {told.low:.3g}"
        return f"< {told.high:.3g}" if np.isinf(told.low) else f"{told.low:.3g} to {told.high:.3g}"
    if not (np.isfinite(constant.error) and constant.determined):
        return ""
    return " to ".join(figures(end, constant.error) for end in (constant.low, constant.high))


def _place(place: str, law: Law) -> object:
    """Return the factor of a constant as a formula, or its place in words."""
    body, comma, where = place.partition(", in ")
    if body == "1":
        return f"the constant term{comma}{where}"
    try:
        known = tuple(shown_name(name, law.skeleton.called) for name in law.skeleton.inputs or ("F",))
        tree = parse_tree(body, inputs=known, states=law.skeleton.shown_states)
    except EquationError:  # words
        return place
    return Markup(tree_mathml(tree)) + comma + where


def _shaded(value: float) -> Markup:
    """Return a correlation on a ground of its sign and strength."""
    colour = "0, 114, 178" if value > 0 else "213, 94, 0"
    shade = f"background: rgba({colour}, {0.45 * abs(value):.2f}); padding: 0 .3rem"
    return Markup('<span style="{}">{}</span>').format(shade, f"{value:+.2f}")


TEMPLATES = "gode/report/templates"
BUDGET = 8_000  # points of all curves together: the page stays below 2 MB
LARGE = 500_000  # characters of SVG
SVG_START = re.compile(r"<svg\b.*", re.DOTALL)
SVG_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
SVG_SIZE = re.compile(r'(<svg\b[^>]*?) (?:height|width)="[^"]*"')
REFERENCE = re.compile(r'(\bid="|href="#|url\(#)')


def write_page(
    discovery: Discovery, path: str | PathLike[str], *, title: str = "Equation found by gode"
) -> Path:
    """Write the page about `discovery` to `path`, and return that.

    Raises:
        FileError: if the file cannot be written.
    """
    target = Path(path)
    text = discovery_page(discovery, title=title)
    make_folder(target.parent)
    write_text(target, text)
    return target


def discovery_page(discovery: Discovery, *, title: str) -> str:
    """Return the page as text."""
    return page(
        f"{TEMPLATES}/report.html",
        title=title,
        script=text_of(f"{TEMPLATES}/plot.js"),
        style=text_of(f"{TEMPLATES}/plot.css"),
        failed=discovery.quality.verdict.is_failure,
        s=Sections(discovery, Plots(discovery, budget=BUDGET), picture),
    )


def notebook_summary(discovery: Discovery) -> str:
    """Return verdict, equation, constants and near ties as HTML for a notebook."""
    return render(f"{TEMPLATES}/notebook.html", s=Sections(discovery, Plots(discovery)))


def page(template: str, *, title: str, script: str = "", style: str = "", **values: object) -> str:
    """Return one self-contained page, which loads nothing and runs nothing but its own script, if any.

    Args:
        template: extends `page.html`.
        script: the policy of the page allows it by its hash, and no other.
        style: what the script needs beyond the style of all pages.
        values: what the template needs, and `failed` where the result is no finding and should look so.
    """
    return render(
        template,
        title=title,
        version=__version__,
        script=Markup(script),
        digest=b64encode(sha256(script.encode()).digest()).decode() if script else "",
        style=Markup(style),
        **{"failed": False, **values},
    )


def picture(figure: Figure, name: str, words: str) -> Markup:
    """Return a figure as inline SVG in the colour of the text; its ids get the prefix `name`.

    One of many panels, whose SVG would be large, comes as pixels.
    """
    svg = SVG_METADATA.sub("", SVG_START.findall(to_svg(figure))[0])
    if len(svg) > LARGE:
        return image(to_png(figure), words, "png")
    for _ in range(2):
        svg = SVG_SIZE.sub(r"\1", svg, count=1)
    svg = REFERENCE.sub(rf"\g<1>{name}-", svg).replace(INK, "currentColor")
    head = Markup('<svg role="img" aria-label="{}" ').format(words)
    return Markup(f"<figure>{svg.replace('<svg ', head, 1)}</figure>")


def image(data: bytes, words: str, kind: str = "svg+xml") -> Markup:
    """Return SVG or PNG as an image in its own colours on white."""
    source = f"data:image/{kind};base64,{b64encode(data).decode()}"
    return Markup('<figure class="white"><img alt="{}" src="{}"></figure>').format(words, source)
