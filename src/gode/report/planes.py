"""The phase plane of a system: two of its states, nullclines, equilibria."""

from typing import TYPE_CHECKING

import numpy as np

from gode.arrays import Float
from gode.discovery import Discovery
from gode.equation.tree import TIME, depends_on
from gode.report.equilibria import Equilibrium, RestingLaw, extents, find_equilibria
from gode.report.naming import Units
from gode.report.panels import BLUE, GREEN, GREY, MAX_MARKS, ORANGE, PALETTE, fine, label, legend, run_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 120  # points of the grid on which nullclines are drawn, along each axis
AROUND = 0.12  # of the range of the data that is shown on either side
LINES = ("--", ":")
MARKS = {"stable": "full", "unstable": "none", "a centre": "left"}  # how an equilibrium is filled


def draw_plane(axes: "Axes", discovery: Discovery) -> None:
    """Draw two states over each other: data, solution, and of two states nullclines and equilibria."""
    dataset = discovery.prepared.dataset
    low, high = extents(discovery)
    one, other = chosen_states(low, high)
    colours = run_colours(len(dataset.runs)) if len(dataset.runs) > 1 else [ORANGE]
    for i, (run, colour) in enumerate(zip(dataset.runs, colours, strict=True)):
        names = ("data", "solution", "start") if i == 0 else (None, None, None)
        x, y = run.observed[3 * one], run.observed[3 * other]
        some = slice(None, None, -(-len(x) * len(dataset.runs) // MAX_MARKS))
        mark = BLUE if len(dataset.runs) == 1 else colour
        axes.plot(x[some], y[some], ".", color=mark, ms=4, alpha=0.6, label=names[0])
        path = discovery.simulate(fine(run.t), run=i).values
        axes.plot(path[3 * one], path[3 * other], color=colour, lw=1.6, label=names[1])
        axes.plot(path[3 * one, :1], path[3 * other, :1], "o", color=colour, ms=5, label=names[2])
    flat = len(dataset.states) == 2 and _is_autonomous(discovery)
    rests = _rests(discovery, low, high) if flat else []
    _limit(axes, low, high, rests, (one, other))
    if flat:
        _draw_nullclines(axes, discovery)
        _draw_rests(axes, rests)
    states = dataset.states[one], dataset.states[other]
    axes.set(xlabel=label(discovery, states[0]), ylabel=label(discovery, states[1]), title="phase plane")
    axes.locator_params(axis="x", nbins=5)
    legend(axes)


def chosen_states(low: Float, high: Float) -> tuple[int, int]:
    """Return the two states that vary most beside their size, in order."""
    size = np.maximum(np.maximum(np.abs(low), np.abs(high)), 1e-300)
    one, other = sorted(np.argsort(-(high - low) / size, kind="stable")[:2].tolist())
    return one, other


def _is_autonomous(discovery: Discovery) -> bool:
    skeleton = discovery.candidates[0].equation.skeleton
    return skeleton.orders == (1, 1) and not any(depends_on(p.normal, TIME) for p in skeleton.parts)


def _rests(discovery: Discovery, low: Float, high: Float) -> list[Equilibrium]:
    best = discovery.candidates[0]
    found, _ = find_equilibria(best.equation, best.covariance, low, high, [Units()] * 2)
    return found


def _limit(axes: "Axes", low: Float, high: Float, rests: list[Equilibrium], pair: tuple[int, int]) -> None:
    """Show the data, and equilibria that lie near them."""
    ends = []
    for s in pair:
        wide = high[s] - low[s] or 1.0
        near = [r.values[s].value for r in rests]
        inside = [x for x in near if low[s] - 0.5 * wide <= x <= high[s] + 0.5 * wide]
        ends.append((min([low[s], *inside]) - AROUND * wide, max([high[s], *inside]) + AROUND * wide))
    axes.set(xlim=ends[0], ylim=ends[1])


def _draw_nullclines(axes: "Axes", discovery: Discovery) -> None:
    """Draw where each state is at rest: its arrows are then parallel to the other axis."""
    law = discovery.candidates[0].equation
    x, y = np.linspace(*axes.get_xlim(), GRID), np.linspace(*axes.get_ylim(), GRID)
    mesh = np.meshgrid(x, y)
    points = np.array([grid.ravel() for grid in mesh])
    values, _ = RestingLaw(law).residuals(np.array(law.constants), points)
    for name, row, style in zip(law.states, values, LINES, strict=True):
        side = np.ma.masked_invalid(row.reshape(GRID, GRID))
        if side.min() < 0 < side.max():
            axes.contour(x, y, side, levels=[0.0], colors=[GREY], linestyles=[style], linewidths=1.1)
            axes.plot([], [], color=GREY, ls=style, lw=1.1, label=f"{name}' = 0")


def _draw_rests(axes: "Axes", rests: list[Equilibrium]) -> None:
    told = set()
    for rest in rests:
        word = next(kind for kind in (*MARKS, "") if rest.stability.startswith(kind))
        x, y = (value.value for value in rest.values)
        name = (word or "equilibrium") if word not in told else None
        told.add(word)
        fill, colour = MARKS.get(word, "none"), GREEN if word != "unstable" else PALETTE[3]
        axes.plot(
            [x],
            [y],
            "o",
            color=colour,
            ms=8,
            mew=1.6,
            fillstyle=fill,
            ls="",
            label=name,
            zorder=5,
        )
