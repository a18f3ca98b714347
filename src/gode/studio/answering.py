"""The answer of a run: its page, what sliders and comparisons ask for, and the files to take away."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path

import numpy as np

from gode.discovery import Discovery, Finding
from gode.discovery.simulate import Scenario, simulate
from gode.equation.system import make_law
from gode.errors import EquationError, FileError
from gode.report.code import LANGUAGES, code
from gode.report.experiments import separate
from gode.report.figures import overview, to_svg
from gode.report.fitted import fit_table
from gode.report.mathml import law_mathml
from gode.report.page import discovery_page
from gode.report.plots import Plots
from gode.report.record import load
from gode.report.repeat import python_call
from gode.report.series import line_series
from gode.selection import Candidate
from gode.studio.runs import RECORD, Job
from gode.studio.verdicts import answer_page

REPORT, FIT, PICTURE = "report.html", "fit.csv", "overview.png"
ENDINGS = {
    "python": "model.py",
    "c": "model.c",
    "julia": "model.jl",
    "matlab": "model.m",
    "modelica": "model.mo",
}


def answer(folder: Path, job: Job) -> str:
    """Return what the page of a finished run shows."""
    return answer_page(_loaded(folder), _plots(folder), job, folder)


def curves(folder: Path, job: Job, number: int, constants: list[float]) -> dict[str, object]:
    """Return the solutions of an equation with other constants, by channel.

    Raises:
        FileError: if there is no such equation.
    """
    plots = _plots(folder)
    candidate = _chosen(plots, number)
    if len(constants) != len(candidate.equation.constants):
        raise FileError(f"{len(candidate.equation.constants)} constants are expected, got {len(constants)}")
    moved = replace(candidate, equation=make_law(candidate.equation.skeleton, np.array(constants)))
    out: dict[str, list[object]] = {}
    for i in sorted({s.run for s in plots.measured[0].series})[:4]:
        t = plots.dataset.runs[i].t
        grid = np.linspace(t[0], t[-1], 500)
        solved = simulate(moved, plots.discovery.prepared, Scenario(grid, run=i))
        for channel in plots.measured:
            out.setdefault(channel.name, []).append(
                line_series("your constants" if i == 0 else "", grid, solved[channel.name])
            )
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
    words = best.words if best is not None else "No experiment could be simulated for both."
    return {"sides": sides, "words": words}


def file(folder: Path, job: Job, name: str) -> bytes:
    """Return a file to take away.

    Raises:
        FileError: if there is none of this name.
    """
    if name == RECORD:
        return (folder / RECORD).read_bytes()
    languages = {file: language for language, file in ENDINGS.items() if language in LANGUAGES}
    found = _loaded(folder)
    if name in languages:
        try:
            return code(found, languages[name]).encode()
        except EquationError as error:
            raise FileError(str(error)) from None
    makers: dict[str, Callable[[], bytes]] = {
        REPORT: lambda: discovery_page(found, title=job.title).encode(),
        FIT: partial(_csv, found),
        "equation.tex": (found.equation.latex() + "\n").encode,
        PICTURE: partial(_png, found),
        "overview.svg": lambda: to_svg(overview(found)).encode(),
        "notebook.ipynb": lambda: _notebook(found, job).encode(),
        "log.txt": (folder / "log.txt").read_bytes,
    }
    if name not in makers:
        raise FileError(f"there is no file {name[:40]!r} to take away")
    return makers[name]()


def _csv(found: Discovery) -> bytes:
    return fit_table(found).encode()


def _png(found: Discovery) -> bytes:
    out = BytesIO()
    overview(found).savefig(out, format="png", dpi=120)
    return out.getvalue()


def _notebook(found: Discovery, job: Job) -> str:
    """Return a notebook that loads the record and shows what was found."""
    cells = [
        ("markdown", f"# {job.title}\n\n${found.equation.latex()}$\n\n{found.quality.words}"),
        ("code", 'import gode\n\nd = gode.load("record.json")  # beside this notebook\nd'),
        ("code", "d.equations"),
        ("code", "d.plot()"),
        ("code", "print(d.answers())"),
        ("markdown", f"To search again:\n\n```python\n{python_call(found)}\n```"),
    ]
    made = []
    for i, (kind, text) in enumerate(cells):
        cell: dict[str, object] = {
            "cell_type": kind,
            "id": f"cell-{i}",
            "metadata": {},
            "source": text.splitlines(keepends=True),
        }
        made.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps(
        {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


def _chosen(plots: Plots, number: int) -> Candidate:
    if not 0 <= number < len(plots.shown):
        raise FileError("there is no such equation on this page; load it again")
    return plots.shown[number]


def _loaded(folder: Path) -> Discovery:
    return _plots(folder).discovery


def _plots(folder: Path) -> Plots:
    return _read(folder / RECORD, (folder / RECORD).stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _read(path: Path, changed: int) -> Plots:
    return Plots(load(path))
