"""Figures of a study: violins of errors, bars for each problem, trajectories, sweeps."""

from collections.abc import Sequence
from io import BytesIO
from statistics import fmean
from typing import TYPE_CHECKING
from zlib import crc32

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from gode.arrays import Float
from gode.data.dataset import CHANNELS
from gode.equation import parse_equation
from gode_bench.jobs import measured
from gode_bench.methods import METHODS, title_of
from gode_bench.problems import SUITES, problem, truth
from gode_bench.records import Record
from gode_bench.score import trajectory
from gode_bench.sweeps import Curve
from gode_bench.tables import methods_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colours by Okabe and Ito and by Tol, safe for the colour-blind; markers and line styles differ, too.
COLOURS = {
    "gode": "#0072B2",
    "gode-grammar": "#56B4E9",
    "gode-random": "#332288",
    "gode-sums": "#AA4499",
    "gode-latent": "#88CCEE",
    "gode-moves": "#44AA99",
    "gode-integral": "#117733",
    "gode-derivative": "#999933",
    "gode-paper": "#009E73",
    "pysindy": "#CC79A7",
    "pyoperon": "#D55E00",
    "gplearn": "#E69F00",
    "pysr": "#F0E442",
    "odeformer": "#882255",
    "floor": "#000000",
    "floor-start": "#444444",
    "floor-derivatives": "#777777",
}
MARKS = "osD^vPX*<>dphH812"
LINES = ("-", "--", "-.", ":")
SMALLEST = 1e-6  # smaller errors are drawn at this value
LABELS = {"noise": "noise", "samples": "samples", "dropped": "share of dropped samples", "runs": "runs"}


def svg(figure: Figure) -> bytes:
    """Return the figure as SVG, byte for byte the same for the same data."""
    out = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "gode", "svg.fonttype": "path"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def violins(records: Sequence[Record]) -> Figure:
    """Return the distribution of the errors of each method, with a dot for each run."""
    names = methods_of(records)
    n = max(len(r.score.errors) for r in records)
    figure = Figure(figsize=(1.5 + 1.3 * len(names) * n, 4.2), layout="constrained")
    for i, axes in enumerate(np.atleast_1d(figure.subplots(1, n, sharey=True))):
        for place, name in enumerate(names):
            own = [r.score.errors for r in records if r.job.method == name and len(r.score.errors) > i]
            if own:
                _violin(axes, place, _logs([e[i] for e in own]), _colour(name))
        axes.set_title(f"relative L2 error of {CHANNELS[i]}")
        axes.set_xticks(range(len(names)), [title_of(m) for m in names], rotation=30, ha="right")
        _powers(axes)
    return figure


def _violin(axes: "Axes", place: int, values: Float, colour: str) -> None:
    if len(values) > 1 and np.ptp(values) > 1e-3:
        parts = axes.violinplot([values], [place], widths=0.8, showextrema=False)
        for body in parts["bodies"]:  # type: ignore[attr-defined]
            body.set(facecolor=colour, alpha=0.3)
    shift = 0.3 * (np.arange(len(values)) % 7 - 3) / 7  # spread sideways, without random numbers
    axes.plot(place + shift, values, "o", ms=2.5, color=colour, alpha=0.7)
    axes.plot([place - 0.25, place + 0.25], [np.median(values)] * 2, color="black", lw=1.5)


def _powers(axes: "Axes") -> None:
    low, high = axes.get_ylim()
    ticks = range(int(np.floor(low)), int(np.ceil(min(high, 0.0))) + 1)
    axes.set_yticks(list(ticks), [f"$10^{{{k}}}$" for k in ticks])
    axes.grid(axis="y", lw=0.4, alpha=0.5)


def bars(records: Sequence[Record]) -> Figure:
    """Return the mean error of u and u' of each problem and method, with the range over the seeds."""
    names = methods_of(records)
    problems = _problem_names(records)
    figure = Figure(figsize=(max(6.0, 0.18 * len(problems) * (len(names) + 1)), 6.0), layout="constrained")
    for i, axes in enumerate(figure.subplots(2, 1, sharex=True)):
        for k, name in enumerate(names):
            _bars_of(axes, i, [_errors(records, p, name, i) for p in problems], name, (k, len(names)))
        axes.set(yscale="log", ylabel=f"relative L2 error of {CHANNELS[i]}")
        axes.grid(axis="y", lw=0.4, alpha=0.5)
        axes.set_xticks(range(len(problems)), problems, rotation=60, ha="right")
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False
    )
    return figure


def _bars_of(axes: "Axes", i: int, errors: list[list[float]], name: str, slot: tuple[int, int]) -> None:
    k, n = slot
    here = [p for p, row in enumerate(errors) if row]
    means = np.array([max(fmean(errors[p]), SMALLEST) for p in here])
    low = means - np.array([max(min(errors[p]), SMALLEST) for p in here])
    high = np.array([max(errors[p]) for p in here]) - means
    x = np.array(here) + (k - (n - 1) / 2) * 0.8 / n
    axes.bar(x, means, 0.8 / n, color=_colour(name), label=title_of(name) if i == 0 else None)
    axes.errorbar(x, means, [np.maximum(low, 0), np.maximum(high, 0)], fmt="none", ecolor="#333333", lw=0.7)


def trajectories(records: Sequence[Record]) -> Figure:
    """Return true, measured and predicted trajectories; of each method for the seed with the median error."""
    problems = _problem_names(records)
    names = methods_of(records)
    figure = Figure(figsize=(11.0, 2.3 * len(problems) + 0.5), layout="constrained")
    grid = figure.subplots(len(problems), 3, squeeze=False)
    for row, name in zip(grid, problems, strict=True):
        one = problem(name)
        t, *true = truth(one)
        shown = [_typical(records, name, m) for m in names]
        _measurement(row[CHANNELS.index("u" if one.observed == "u" else "u''")], shown)
        for i in range(one.order + 1):
            row[i].plot(t, true[i], color="black", lw=2.2, alpha=0.35, label="truth")
            for record in shown:
                _prediction(row[i], record, i)
            _limits(row[i], true[i])
            row[i].set_title(f"{name}: {CHANNELS[i]}", fontsize=9)
        for i in range(one.order + 1, 3):
            row[i].set_axis_off()
    labels = {
        text: line
        for axes in figure.axes
        for line, text in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(labels.values(), labels.keys(), loc="outside upper center", ncols=5, frameon=False)
    return figure


def _typical(records: Sequence[Record], name: str, method: str) -> Record | None:
    own = [r for r in records if r.job.problem == name and r.job.method == method]
    own.sort(key=lambda r: (r.score.errors, r.job))
    return own[(len(own) - 1) // 2] if own else None


def _measurement(axes: "Axes", shown: Sequence[Record | None]) -> None:
    job = next(r.job for r in shown if r is not None)
    data = measured(job)
    axes.plot(data.t[0], data.signal[0], ".", color="#999999", ms=3, label="measured")


def _prediction(axes: "Axes", record: Record | None, i: int) -> None:
    if record is None or record.equation is None or record.score.complexity is None:
        return
    one = problem(record.job.problem)
    values, _ = trajectory(one, parse_equation(record.equation))
    title = title_of(record.job.method)
    axes.plot(
        one.t, values[i], color=_colour(record.job.method), ls=_line(record.job.method), lw=1.2, label=title
    )


def _limits(axes: "Axes", true: Float) -> None:
    """Set the axis by the true solution, not by a diverging prediction."""
    low, high = float(np.min(true)), float(np.max(true))
    room = 0.35 * ((high - low) or 1.0)
    axes.set_ylim(low - room, high + room)


def sweep_curves(what: str, lines: Sequence[Curve]) -> Figure:
    """Return the errors of u and u' and the share of exact structures along a sweep."""
    figure = Figure(figsize=(11.0, 3.8), layout="constrained")
    panels = figure.subplots(1, 3)
    for curve in lines:
        style = {
            "color": _colour(curve.method), "ls": _line(curve.method), "marker": _mark(curve.method), "ms": 5,
            "label": title_of(curve.method),
        }  # fmt: skip
        for i in range(2):
            panels[i].plot(curve.levels, [max(e[i], SMALLEST) for e in curve.errors], **style)
        panels[2].plot(curve.levels, [100 * share for share in curve.exact], **style)
    for i in range(2):
        panels[i].set(yscale="log", ylabel=f"relative L2 error of {CHANNELS[i]}")
    panels[2].set(ylim=(-3, 103), ylabel="exact structures, %")
    for axes in panels:
        axes.set_xlabel(LABELS[what])
        axes.grid(lw=0.4, alpha=0.5)
    panels[2].legend(frameon=False, fontsize=8)
    return figure


def profiles(records: Sequence[Record]) -> Figure:
    """Return the share of runs below each 1 - R², from the initial condition of the data and the other."""
    figure = Figure(figsize=(9.0, 3.8), layout="constrained")
    for i, axes in enumerate(figure.subplots(1, 2, sharey=True)):
        for name in methods_of(records):
            own = [r.score.raw[i] for r in records if r.job.method == name]
            left = np.sort([np.inf if e is None else max(e, SMALLEST) ** 2 for e in own])
            share = 100 * np.arange(1, len(left) + 1) / len(left)
            shown = np.isfinite(left)
            style = {"color": _colour(name), "ls": _line(name), "label": title_of(name)}
            axes.step(left[shown], share[shown], where="post", **style)
        axes.axvline(0.1, color="#999999", lw=0.8)  # a success lies to the left
        axes.set(xscale="log", xlim=(SMALLEST, 10.0), ylim=(0, 103), xlabel="1 - R²")
        axes.set_title(("reconstruction", "generalisation")[i])
        axes.grid(lw=0.4, alpha=0.5)
    figure.axes[0].set_ylabel("runs below, %")
    figure.axes[0].legend(frameon=False, fontsize=8)
    return figure


def _problem_names(records: Sequence[Record]) -> list[str]:
    present = {r.job.problem for r in records}
    return [one.name for problems in SUITES.values() for one in problems if one.name in present]


def _errors(records: Sequence[Record], name: str, method: str, i: int) -> list[float]:
    return [r.score.errors[i] for r in records if r.job.problem == name and r.job.method == method]


def _logs(errors: Sequence[float]) -> Float:
    return np.asarray(np.log10(np.maximum(errors, SMALLEST)))


def _index(method: str) -> int:
    """Return the index of a method in METHODS; for methods of the user a hash of the name."""
    return list(METHODS).index(method) if method in METHODS else crc32(method.encode()) % len(MARKS)


def _colour(method: str) -> str:
    return COLOURS.get(method, list(COLOURS.values())[_index(method)])


def _mark(method: str) -> str:
    return MARKS[_index(method)]


def _line(method: str) -> str:
    return LINES[_index(method) % len(LINES)]
