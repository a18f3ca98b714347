"""The answer of a run: its page, what sliders and comparisons ask for, and the files to take away."""

from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from gode.discovery import Discovery, Finding
from gode.discovery.simulate import Scenario, simulate
from gode.errors import FileError, GodeError
from gode.report.experiments import Experiment, separate
from gode.report.mathml import law_mathml
from gode.report.naming import axis_label
from gode.report.page import discovery_page
from gode.report.plots import NAME, Plots, fine
from gode.report.record import load
from gode.report.repeat import python_call
from gode.report.spec import Kind, Plot, Trace
from gode.selection import Candidate
from gode.studio.held import held_back
from gode.studio.lines import python_text
from gode.studio.reading import read
from gode.studio.runs import RECORD, Job
from gode.studio.takeaway import Files
from gode.studio.trying import moved
from gode.studio.verdicts import answer_page

GRID = 4000  # most times at which a curve is solved while a slider moves


def answer(folder: Path, job: Job) -> str:
    """Return what the page of a finished run shows."""
    return _answered(folder, _changed(folder), job)


@lru_cache(maxsize=8)
def _answered(folder: Path, changed: int, job: Job) -> str:
    plots = _plots(folder)
    return answer_page(plots, _files(folder, job))


def python_lines(folder: Path, job: Job) -> str:
    """Return the lines of Python that do the same."""
    try:
        dataset, _, options, _ = read(folder, job, job.words)
        return python_text(job.sources, job.words, dataset, options.order)
    except GodeError:  # the file is not there any more
        return python_call(_loaded(folder))


def curves(folder: Path, job: Job, number: int, constants: list[float]) -> dict[str, object]:
    """Return the solutions of an equation with other constants, by channel.

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
    return {"curves": out}


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
    return Files(found, job, folder, python_lines(folder, job), partial(_report, found, job, folder))


def _report(found: Discovery, job: Job, folder: Path) -> str:
    """Return the report, with what was held back and the name of the file."""
    held = held_back(found, job, folder)
    more = {} if held is None else {"Held back as a test": held}
    return discovery_page(found, title=f"Equation found by gode in {', '.join(job.files[:3])}", more=more)


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
