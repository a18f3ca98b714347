"""The verdict and the longer sections of the page about a discovery."""

import numpy as np

from gode.choices import Preset
from gode.data.columns import channel_names
from gode.discovery import Discovery, Finding
from gode.discovery.called import shown
from gode.discovery.causes import UNMEASURED
from gode.discovery.invariants import force_of, potential_values
from gode.discovery.quality import Verdict
from gode.errors import EquationError
from gode.markup import Markup, bullets, card, copyable, details, html, paragraph, program, table
from gode.report.answers import answer
from gode.report.code import code
from gode.report.embedded import embedded, rival_boxes, saved
from gode.report.equilibria import extent
from gode.report.experiments import Separation, separations
from gode.report.figures import data_and_fit, front_picture, phase_portrait, residual_plots
from gode.report.fitted import fit_table
from gode.report.html import picture
from gode.report.mathml import law_mathml
from gode.report.plots import Plots, chosen_runs
from gode.report.repeat import command, python_call, settings_rows
from gode.selection import front

MAX_ROWS = 30  # of a table
MAX_CODE = 20_000  # characters of a program shown on the page
MAX_DATA = 300_000  # characters of the data embedded in the page
MARKS = {  # a symbol, and a colour for light and dark pages
    Verdict.GOOD: ("✓", "#009E73"),
    Verdict.PATTERN: ("≈", "#E69F00"),
    Verdict.POOR: ("✗", "#D6293E"),
    Verdict.UNSUPPORTED: ("✗", "#D6293E"),
}


def verdict_box(discovery: Discovery, *, titled: bool = True) -> Markup:
    """Return the verdict in a coloured frame, with likely causes and assumptions.

    Args:
        titled: whether the headline stands in it, and not above.
    """
    quality = discovery.quality
    sign, colour = MARKS[quality.verdict]
    title = f" {discovery.assessment.headline}." if titled else ""
    mark = f'<strong><span style="color: {colour}">{sign}</span>{html(title)}</strong>'
    head = Markup(f"{mark} {html(quality.words)}")
    parts = [paragraph(head)]
    if discovery.assessment.sure:
        parts.append(paragraph(discovery.assessment.sure))
    if quality.verdict is Verdict.UNSUPPORTED:
        parts.append(paragraph("What follows is the best guess, not a finding."))
    if discovery.causes:
        causes = [f"{cause[0].upper()}{cause[1:]}." for cause in discovery.causes]
        nothing = all(cause.endswith(UNMEASURED) for cause in discovery.causes)
        begin = "Causes were sought by trying:" if nothing else "What may be the cause, found by trying:"
        parts += [paragraph(begin), bullets(causes)]
    if quality.assumed:
        parts.append(paragraph(quality.assumed_words))
    if discovery.interrupted:
        parts.append(paragraph("The search was interrupted; a full one may find a better equation."))
    frame = (
        f"border: 1px solid {colour}; border-left-width: .5rem; border-radius: .4rem; padding: .1rem .8rem"
    )
    return Markup(f'<div class="verdict" role="note" style="{frame}">{"".join(parts)}</div>')


def rivals_section(discovery: Discovery) -> list[Markup]:
    """Return the near ties, each with the experiment that would distinguish it from the best equation."""
    assessed = discovery.assessment
    if assessed.given:
        return [paragraph("The equation was given; no other was tried.")]
    sure = paragraph(assessed.sure)
    if assessed.is_failure:
        return [sure]
    told = "; ".join(discovery.equation.lines())
    same = [text for form in discovery.forms[1:] if (text := "; ".join(form.lines())) != told]
    alike = [paragraph("The same within these data, in another form:"), bullets(same)] if same else []
    undecided = paragraph(assessed.undecided)
    others = [Finding(c) for c in assessed.rivals]
    if not others:
        return [sure, *alike, undecided]
    single, common = separations(discovery)
    words = "What experiment would tell each from the one that is named:"
    out = [sure, *alike, undecided, *([paragraph(words)] if single else [])]
    out += [_rival(each, discovery) for each in single]
    if len(others) > len(single):
        out.append(details("The others", bullets("; ".join(each.lines()) for each in others[len(single) :])))
    if common is not None and common.decisive:
        out += [Markup("<h3>One experiment for all</h3>"), paragraph(common.words)]
    return out


def _rival(each: Separation, discovery: Discovery) -> Markup:
    rival = each.rivals[0]
    worse = rival.criterion - _least_criterion(discovery)
    misfit = next(rms for c, rms in discovery.shown if c is rival)
    head = f"rms residual {misfit:.3f} noise, criterion {worse:+.1f}, complexity {rival.complexity}"
    return card(
        Markup(f"<p>{law_mathml(rival.equation)}</p>"), paragraph(head, "soft"), paragraph(each.words)
    )


def _least_criterion(discovery: Discovery) -> float:
    """Return the least criterion; another form of one law is named if it is more plausible."""
    return min(c.criterion for c in discovery.candidates)


def answers_section(discovery: Discovery) -> list[Markup]:
    """Return equilibria, the motion near them, and the gain over a linear model."""
    found = answer(discovery)
    motions = [e.motion() for e in found.equilibria]
    names = list(dict.fromkeys(name for motion in motions for name in motion))
    head = ["equilibrium", "stability", *names, ""]
    rows = [
        [e.where, e.stability, *(motion.get(name, "") for name in names), _where(e.observed)]
        for e, motion in zip(found.equilibria, motions, strict=True)
    ]
    notes = bullets(found.notes) if found.notes else ""
    parts = [table(head, rows) if rows else "", notes]
    return [html(part) for part in parts if part] + _potential_table(discovery)


def _potential_table(discovery: Discovery) -> list[Markup]:
    """Return the potential over the observed range, where a law has one without a simple formula."""
    law = discovery.equation.law
    if force_of(law) is None or discovery.equation.potential:
        return []
    u = np.linspace(*extent(discovery), 201)
    values = potential_values(law, u)
    if values is None:
        return []
    rows = [(f"{x:.3g}", f"{v:.3g}") for x, v in zip(u[::20], values[::20], strict=True)]
    head = Markup("<h3>Potential energy, per unit of mass</h3>")
    name = discovery.equation.states[0]
    return [head, table((name, f"V({name})"), rows)]


def _where(observed: bool) -> str:
    return "" if observed else "outside the data"


def fit_section(discovery: Discovery, plots: Plots) -> list[Markup]:
    """Return figures of the data with the solution, and the phase portrait."""
    still = picture(data_and_fit(discovery, plots), "fit", "data and solution over time")
    out = [embedded("fit", plots.fit(), still), rival_boxes(plots)]
    drawn = picture(phase_portrait(discovery, plots), "phase", "phase portrait")
    phase = embedded("phase", [plots.phase()], drawn)
    n_runs, n_shown = len(discovery.prepared.dataset.runs), len(chosen_runs(discovery.quality.channels[0]))
    if n_shown < n_runs:
        out.append(paragraph(f"The {n_shown} of {n_runs} runs with the largest residuals are shown.", "soft"))
    return [*out, Markup(f'<div class="half">{phase}</div>')]


def residuals_section(discovery: Discovery, plots: Plots) -> list[Markup]:
    """Return the residual diagnostics, in words and figures."""
    words = "residuals, autocorrelation, distribution"
    still = picture(residual_plots(discovery, plots), "residuals", words)
    return [bullets(residuals_words(discovery)), embedded("residuals", plots.residuals(), still)]


def residuals_words(discovery: Discovery) -> list[str]:
    """Return the residual diagnostics in words."""
    quality = discovery.quality
    words = [sentence for channel in quality.channels for sentence in channel.words]
    if quality.averaged > 1:
        words.append(
            f"The record is dense: fit and residuals are those of means of {quality.averaged} samples, whose "
            f"noise is {quality.averaged**0.5:.3g} times smaller than that of one sample."
        )
    return words


def front_section(discovery: Discovery, plots: Plots) -> list[Markup]:
    """Return the Pareto front of accuracy and complexity; nothing if only one equation was tried."""
    if len(discovery.candidates) == 1:
        return []
    close = {id(c) for c in discovery.assessment.near}
    best = {id(c) for c in front(discovery.candidates)}
    least = _least_criterion(discovery)
    rows = [
        (
            c.complexity,
            misfit,
            f"{c.criterion - least:+.1f}",
            _why(i == 0, id(c) in close, id(c) in best),
            "; ".join(Finding(c).lines()),
        )
        for i, (c, misfit) in enumerate(discovery.shown[:MAX_ROWS])
    ]
    head = ("complexity", "rms / noise", "criterion", "why", "equation")
    words = (
        "The front holds what no other equation beats in both accuracy and complexity. The criterion weighs "
        "the two, given here as distance from the least"
    )
    level = discovery.settings.selection.level
    held = f"; the near ties hold {100 * level:g} % of the posterior probability."
    words += "." if discovery.assessment.is_failure else held
    drawn = picture(front_picture(discovery, plots), "front", "accuracy against complexity")
    drawn = embedded("front", [plots.front()], drawn)
    return [paragraph(words), Markup(f'<div class="half">{drawn}</div>'), table(head, rows, best=0)]


def _why(best: bool, close: bool, on_front: bool) -> str:
    words = ("best" if best else "near tie" if close else "", "front" if on_front else "")
    return ", ".join(word for word in words if word)


def smoothing_section(discovery: Discovery) -> list[Markup]:
    """Return how the data were smoothed."""
    dataset = discovery.prepared.dataset
    rows, states = [], dataset.states
    several = len(states) > 1
    for i, smooth in enumerate(discovery.prepared.smooths):
        for s, state in enumerate(states):
            own = slice(3 * s, 3 * s + 3)
            named = zip(channel_names((shown(dataset, state),)), smooth.noise[own], strict=True)
            noise = ", ".join(f"{n}: {x:.3g}" for n, x in named if np.isfinite(x))
            spread = [float(np.sqrt(np.mean(row**2))) for row in smooth.deviations[own]]
            which = [state] if several else []
            rows.append((discovery.prepared.dataset.name_of(i), *which, len(smooth.t), noise, *spread))
    errors = (
        ("error of smoothed value", "of its slope", "of its second derivative")
        if several
        else _smoothed(discovery.equation.states[0])
    )
    head = ("run", *(["state"] if several else []), "points", "noise", *errors)
    words = (
        "By the paper's network, on whose derivatives the search works."
        if discovery.settings.preset == Preset.PAPER
        else "By a Gaussian process. The constants come from solutions compared with the data as measured. "
        "The smoothed curves are used to search, to start the fits, to see whether an unknown initial value "
        "may be zero, to judge how likely constants inside a term are, and to see which near ties are forms "
        "of one law."
    )
    return [paragraph(words), table(head, rows[:MAX_ROWS])]


def _smoothed(name: str) -> tuple[str, str, str]:
    return f"error of smoothed {name}", f"of {name}'", f"of {name}''"


def repeat_section(discovery: Discovery) -> list[Markup]:
    """Return calls, settings and code that reproduce the result."""
    parts = [
        Markup("<h3>In Python</h3>"),
        copyable("python", python_call(discovery), "the lines"),
        Markup("<h3>On the command line</h3>"),
        copyable("command", command(discovery), "the command"),
        details(
            "Settings that differ from the defaults; the record holds all",
            table(("setting", "value"), settings_rows(discovery)),
        ),
        details("The equation in LaTeX", copyable("latex", discovery.equation.latex(), "LaTeX")),
        details("The equation with all digits", program(discovery.equation.equation.text(None))),
    ]
    try:
        text = code(discovery, "python")
    except EquationError:  # the highest derivative cannot be isolated
        text = code(discovery, "modelica")
    return (
        parts
        if len(text) > MAX_CODE
        else [*parts, details("A program that simulates it", copyable("code", text, "the program"))]
    )


def data_section(discovery: Discovery) -> list[Markup]:
    """Return the data with fit and residuals, in the page itself; long tables with every k-th row."""
    head, *rows = fit_table(discovery).splitlines()
    size = sum(map(len, rows)) + len(rows)
    step = size // MAX_DATA + 1
    told = f"every {step}th row of data, fit and residuals; the record holds all" if step > 1 else ""
    words = told or "data, fit and residuals, as they stand in this page"
    text = "\n".join([head, *rows[::step]]) + "\n"
    note = Markup(f'<p class="soft on-screen">{html(words[0].upper() + words[1:])}:</p>')
    return [note, saved("data", {"fit.csv": text})]
