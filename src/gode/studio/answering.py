"""The answer of a run: its page, sliders, comparisons, how the part held back is met, and what may help."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from gode.arrays import Float
from gode.data import Dataset
from gode.data.dataset import unit_of
from gode.discovery import Discovery, Finding
from gode.discovery.quality import Verdict, misfit_of
from gode.discovery.reported_constants import INSIDE, slopes_of
from gode.discovery.simulate import Scenario, simulate
from gode.equation import Law
from gode.equation.system import make_law
from gode.errors import FileError, GodeError
from gode.fitting.population import NORMAL_95
from gode.report.experiments import Experiment, separate
from gode.report.linear import response_plots
from gode.report.mathml import law_mathml
from gode.report.naming import axis_label
from gode.report.page import Sections, discovery_page
from gode.report.plots import NAME, Plots, fine
from gode.report.record import load
from gode.report.repeat import python_call
from gode.report.spec import Kind, Plot, Trace
from gode.selection import Candidate
from gode.studio.form import FIELDS, command_text, in_words
from gode.studio.reading import columns_of, moving, read
from gode.studio.runs import RECORD, Job
from gode.studio.takeaway import Files, python_text
from gode.tables.runs import LINE, Readings
from gode.templates import render

STEPS = 300  # of a slider
REACH = 3 * NORMAL_95  # standard errors that a slider goes to either side: three times the 95 % interval
ROUNDS = 3  # of solving for the free constants; slopes hardly change within error bars


@dataclass(frozen=True)
class Slider:
    """A slider for one constant."""

    words: str
    unit: str
    value: float
    low: float
    high: float

    @property
    def step(self) -> float:
        """The distance between two values that can be chosen."""
        return (self.high - self.low) / STEPS


def sliders(candidate: Candidate, units: Sequence[str] = ()) -> list[Slider]:
    """Return a slider for each constant of an equation, through three times its 95 % interval."""
    out = []
    constants = Finding(candidate).constants
    for constant, unit in zip(constants, units or [""] * len(constants), strict=True):
        value = constant.value
        error = constant.error
        half = REACH * error if np.isfinite(error) and error > 0 else 0.1 * (abs(value) or 1.0)
        words = _number_words(constant.name, constant.place)
        out.append(Slider(words, unit, value, value - half, value + half))
    return out


def _number_words(name: str, place: str) -> str:
    """Return what a constant is called: its name, or what it multiplies."""
    body, comma, where = place.partition(", in ")
    if name:
        return name
    if body == "1":
        return f"The constant term{comma}{where}"
    return f"The constant {place}" if place.startswith(INSIDE) else f"Constant of {place}"


def moved(candidate: Candidate, values: Float) -> Candidate:
    """Return an equation whose numbers, as they are written, have these values.

    The free constants behind them are found by Newton's method, with the slopes at the fitted values.
    """

    def written(law: Law) -> Float:
        return np.array([constant.value for constant in Finding(replace(candidate, equation=law)).constants])

    law = candidate.equation
    slopes = slopes_of(written, law)
    for _ in range(ROUNDS):
        step = np.linalg.lstsq(slopes, values - written(law), rcond=None)[0]
        law = make_law(law.skeleton, np.array(law.constants) + step)
    return replace(candidate, equation=law, own=None)


def held_back(plots: Plots) -> tuple[str, list[Plot]] | None:
    """Return how the law fares on what was held back, in words and plots; None if nothing was."""
    test = plots.discovery.quality.forecast
    return None if test is None else (test.words, plots.held_back())


def answer_page(plots: Plots, files: Files, given: tuple[Dataset, Readings] | None = None) -> str:
    """Return the answer as HTML, to stand within a page.

    Args:
        given: the data as they are read from the files, if these are still there.
    """
    found = plots.discovery
    job = files.job
    s = Sections(found, plots)
    return render(
        "gode/studio/templates/verdict.html",
        s=s,
        here=f"/runs/{job.id}",
        made=made_words(job),
        fit=with_lines(kept_plots(plots), plots, *given) if given else kept_plots(plots),
        runs=small_plots(plots),
        held=held_back(plots),
        sliders=[] if s.finding.per_run else sliders(plots.shown[0], [c.unit for c in s.finding.constants]),
        equations=[(i, plots.name(i)) for i in range(len(plots.shown))],
        response=response_plots(found),
        files=files.listed(),
        command=command_text(job.sources, job.words),
        python=files.python,
        remedies=remedies(found, job, _driving(*given) if given else ()),
        causes=unchanged(found),
        tries=advice(found),
        in_words=in_words,
    )


def _driving(dataset: Dataset, readings: Readings) -> list[str]:
    """Return the columns that could be inputs: those without a role, and states if nothing drives them."""
    columns = columns_of(dataset)
    own = [columns[name] for name in dataset.states if name in columns]
    return [*moving(readings), *(own if len(own) > 1 and not dataset.inputs else [])]


def side(folder: Path, job: Job) -> str:
    """Return the answer of a run in short, to stand beside that of another."""
    plots = _plots(folder)
    s = Sections(plots.discovery, plots)
    return render("gode/studio/templates/side.html", s=s, fit=kept_plots(plots), name=job.id)


def kept_plots(plots: Plots) -> list[Plot]:
    """Return the plots of data and solution, so high that they are seen together."""
    fits = plots.fit()
    height = {1: 330, 2: 210}.get(len(fits), 160)
    return [replace(plot, height=height) for plot in fits]


def with_lines(kept: list[Plot], plots: Plots, dataset: Dataset, readings: Readings) -> list[Plot]:
    """Return plots whose points can be chosen: each with its line in the file and its column."""
    columns, out = columns_of(dataset), []
    for plot, channel in zip(kept, plots.measured, strict=True):
        drawn = [trace for trace in plot.traces if trace.kind is Kind.POINTS]
        lined = {
            id(trace): _lined(
                trace,
                readings.runs[series.run],
                columns.get(channel.name, readings.names[series.run] if readings.names else ""),
            )
            for trace, series in zip(drawn, plots.runs_of(channel), strict=False)
            if series.run < len(readings.runs)
        }
        traces = [lined.get(id(trace), trace) for trace in plot.traces]
        out.append(
            replace(plot, traces=traces, select="Leave out points" if any(t.column for t in traces) else "")
        )
    return out


def _lined(trace: Trace, run: Mapping[str, Float], column: str) -> Trace:
    """Return the points of a run with their lines; as they are where not all are known and drawn."""
    known = dict(zip(run["t"].tolist(), run[LINE].tolist(), strict=True))
    lines = np.array([known.get(t, np.nan) for t in trace.x.tolist()])
    if not column or not np.isfinite(lines).all() or len(lines) > trace.most:
        return trace
    return replace(trace, lines=lines, column=column)


def small_plots(plots: Plots) -> list[Plot]:
    """Return a small plot of each run, if there are several."""
    if len(plots.dataset.runs) == 1:
        return []
    return [replace(plot, height=150) for channel in plots.measured[:2] for plot in plots.fit_by_run(channel)]


GRID = 4000  # most times at which a curve is solved while a slider moves


def answer(folder: Path, job: Job) -> str:
    """Return what the page of a finished run shows."""
    return _answered(folder, _changed(folder), job)


@lru_cache(maxsize=8)
def _answered(folder: Path, changed: int, job: Job) -> str:
    plots = _plots(folder)
    return answer_page(plots, _files(folder, job), _given(folder, job))


def _given(folder: Path, job: Job) -> tuple[Dataset, Readings] | None:
    """Return the data as they are read from the files; None if these are not there any more."""
    try:
        return read(folder, job, job.words)[:2]
    except GodeError:
        return None


def python_lines(folder: Path, job: Job) -> str:
    """Return the lines of Python that do the same."""
    try:
        dataset, _, options, _ = read(folder, job, job.words)
        return python_text(job.sources, job.words, dataset, options.order)
    except GodeError:  # the file is not there any more
        return python_call(_loaded(folder))


def curves(folder: Path, job: Job, number: int, constants: list[float]) -> dict[str, object]:
    """Return the solutions of an equation with other constants, by channel, and their misfit.

    Raises:
        FileError: if there is no such equation.
    """
    plots = _plots(folder)
    candidate = _chosen(plots, number)
    n = len(Finding(candidate).constants)
    if len(constants) != n:
        raise FileError(f"{n} constants are expected, got {len(constants)}")
    changed = moved(candidate, np.array(constants))
    out: dict[str, list[object]] = {}
    for i in sorted({s.run for s in plots.measured[0].series})[:4]:
        t = plots.dataset.runs[i].t
        grid = fine(t) if len(t) <= GRID else np.linspace(t[0], t[-1], GRID)
        solved = simulate(changed, plots.discovery.prepared, Scenario(grid, run=i))
        for channel in plots.measured:
            name = "your constants" if i == 0 else ""
            curve = Trace(Kind.LINE, name, grid, solved[channel.name])
            out.setdefault(channel.name, []).append(curve.as_json())
    found = plots.discovery
    misfit = misfit_of(changed, found.prepared, found.quality.noise)
    return {"curves": out, "misfit": f"{misfit:.3g}" if np.isfinite(misfit) else "far more than 1000"}


def compare(folder: Path, job: Job, one: int, other: int) -> dict[str, object]:
    """Return two equations side by side, with the experiment that would tell them apart.

    Raises:
        FileError: if there are no such equations.
    """
    plots = _plots(folder)
    pair = [_chosen(plots, one), _chosen(plots, other)]
    if one == other:
        raise FileError("choose two different equations")
    found = plots.discovery
    misfits = {id(c): rms for c, rms in found.shown}
    sides = [
        {
            "formula": law_mathml(c.equation),
            "text": "; ".join(Finding(c).lines()),
            "misfit": f"{misfits.get(id(c), c.rms):.3g}",
            "complexity": c.complexity,
            "criterion": f"{c.criterion - min(each.criterion for each in found.candidates):+.1f}",
        }
        for c in pair
    ]
    best = separate(found, pair)
    if best is None:
        return {"sides": sides, "words": "No experiment could be simulated for both.", "plots": []}
    return {"sides": sides, "words": best.words, "plots": _experiment(plots, pair, best.experiment)}


def _experiment(plots: Plots, pair: list[Candidate], experiment: Experiment) -> list[dict[str, object]]:
    """Return what two equations foretell of an experiment, a plot for each signal."""
    solved = [simulate(c, plots.discovery.prepared, experiment.scenario) for c in pair]
    names = ["; ".join(Finding(c).lines())[:NAME] for c in pair]
    time = axis_label(plots.dataset, "t")
    out = []
    for channel in plots.measured:
        lines = [Trace(Kind.LINE, n, s.t, s[channel.name]) for n, s in zip(names, solved, strict=True)]
        title = f"{channel.shown} if you {experiment.words}"
        label = axis_label(plots.dataset, channel.name)
        out.append(Plot(title=title, x=time, y=label, traces=lines, height=220).as_json())
    return out


def file(folder: Path, job: Job, name: str) -> bytes:
    """Return a file to take away.

    Raises:
        FileError: if there is none of this name.
    """
    return _files(folder, job).content(name)


def _files(folder: Path, job: Job) -> Files:
    found = _loaded(folder)
    return Files(found, job, folder, python_lines(folder, job), partial(_report, found, job))


def made_words(job: Job) -> str:
    """Return what was searched, and when, as page and report say it."""
    more = f" and {len(job.files) - 3} more" if len(job.files) > 3 else ""
    return f"{job.title}: equation found by gode in {', '.join(job.files[:3])}{more}, {job.since[:10]}"


def _report(found: Discovery, job: Job) -> str:
    """Return the report with the names of the files."""
    return discovery_page(found, title=made_words(job))


def _chosen(plots: Plots, number: int) -> Candidate:
    if not 0 <= number < len(plots.shown):
        raise FileError("there is no such equation on this page; load it again")
    return plots.shown[number]


def _loaded(folder: Path) -> Discovery:
    return _plots(folder).discovery


def _plots(folder: Path) -> Plots:
    return _read(folder / RECORD, _changed(folder))


def _changed(folder: Path) -> int:
    try:
        return (folder / RECORD).stat().st_mtime_ns
    except OSError:
        raise FileError("the record of this run is not there any more; search again") from None


@lru_cache(maxsize=4)
def _read(path: Path, changed: int) -> Plots:
    return Plots(load(path))


# An option with its value in the sentence of a cause: --order 2, or (--individual all, or individual=True)
OPTION = re.compile(r"--(?P<flag>[a-z][a-z-]*) (?P<value>'[^']*'|\"[^\"]*\"|[^\s,;)]+)")
SAID = re.compile(
    r"(?:[:,] ?| \()--[a-z][a-z-]* (?:'[^']*'|\"[^\"]*\"|[^\s,;)]+)(?:[^;()]*\)|, in Python [^;]*)?"
)
KEYS = {field.option.removeprefix("--"): field for field in FIELDS if field.option}
BUTTONS = {  # by option: what the button says, and what the new run is called
    "order": ("Search an equation of order {}", "order {}"),
    "individual": ("Give each run constants of its own", "own constants"),
    "force": ("Use {} as an input", "with {}"),
    "edit": ("{}", "{}"),
    "delay": ("Let the {} act late", "late {}"),
    "hidden": ("Allow {}", "with a hidden quantity"),
}
HIDDEN = {"1": "a quantity that was not measured", "2": "two quantities that were not measured"}
MAX_DRIVING = 2  # columns that are offered as an input
USUAL = ("Search with {}", "{}")


@dataclass(frozen=True)
class Remedy:
    """One change: what speaks for it, the button, what the new run is called, and the choices that differ."""

    words: str
    button: str
    called: str
    changes: tuple[tuple[str, str], ...]


def remedies(found: Discovery, job: Job, columns: Sequence[str] = ()) -> list[Remedy]:
    """Return the changes that the causes name, and choices that were not made; none for a good result.

    Args:
        columns: those of numbers that could be inputs, as they have no role or are one of several states.
    """
    unit = unit_of(found.prepared.dataset, "t")
    out = [
        _of_option(_said(cause), option["flag"], option["value"].strip("'\""), unit)
        for cause in found.causes
        for option in OPTION.finditer(cause)
    ]
    if found.quality.verdict is Verdict.GOOD:
        return out
    words, known = {*job.words}, {key for each in out for key, _ in each.changes}
    if len(found.prepared.dataset.runs) > 1 and not found.settings.individual and "individual" not in known:
        out.append(_of_option("", "individual", "all"))
    if not {"auto", "--frame"} & words and "order" not in known:
        out.append(Remedy("", "Try both orders", "both orders", (("order", "auto"),)))
    if not {"--hidden", "--frame"} & words and "hidden" not in known:
        out.append(_of_option("", "hidden", "1"))
    named = {value for each in out for key, value in each.changes if key == "input"}
    out += [_of_option("", "force", name) for name in columns if name not in named][:MAX_DRIVING]
    is_searched = bool(found.settings.grammar) or "--frame" not in words  # not a whole law that was fitted
    if "thorough" not in words and is_searched:
        out.append(Remedy("", "Search with more effort", "more effort", (("effort", "thorough"),)))
    return out


def unchanged(found: Discovery) -> list[str]:
    """Return the causes that name no change that a button could make."""
    return [cause for cause in found.causes if not OPTION.search(cause)]


def advice(found: Discovery) -> list[str]:
    """Return what to try by hand where the result is no good one."""
    if found.quality.verdict is Verdict.GOOD:
        return []
    dataset = found.prepared.dataset
    tries = []
    if not dataset.inputs:
        tries.append("If something drives the system, give it as an input: a column or a formula.")
    tries.append("If another signal was measured that takes part, add it as a state.")
    return [*tries, "Crop what does not belong to the experiment, and drop points that went wrong."]


def _said(cause: str) -> str:
    plain = SAID.sub("", cause)
    return f"{plain[0].upper()}{plain[1:]}."


def _of_option(words: str, flag: str, value: str, unit: str = "") -> Remedy:
    """Return the button for an option.

    Args:
        unit: of time, which an edit of times does not name.
    """
    button, called = BUTTONS.get(flag, USUAL)
    key = {"force": "input", "edit": "edit"}.get(flag) or (KEYS[flag].key if flag in KEYS else flag)
    shown = value if flag in BUTTONS else f"{KEYS[flag].label.lower()}: {value}" if flag in KEYS else value
    shown = (
        f"{shown} {unit}".rstrip()
        if flag == "edit"
        else HIDDEN.get(shown, shown)
        if flag == "hidden"
        else shown
    )
    told = button.format(shown)
    return Remedy(words, f"{told[0].upper()}{told[1:]}", called.format(shown), ((key, value),))
