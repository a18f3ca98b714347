"""Pictures of a discovery: returns figures, never shows them."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from gode.discovery import Discovery
from gode.selection import front, ties

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#777777"  # safe for the colour-blind
CHANNELS = ("u", "u'", "u''")


def overview(discovery: Discovery) -> Figure:
    """Return data and fit, residuals, phase portrait and the front of accuracy against complexity."""
    figure = Figure(figsize=(10.0, 6.4), layout="constrained")
    axes = figure.subplots(2, 2)
    _fit(axes[0, 0], discovery)
    _residuals(axes[1, 0], discovery)
    _phase(axes[0, 1], discovery)
    _front(axes[1, 1], discovery)
    figure.suptitle(f"${discovery.equation.latex()}$", fontsize=13)
    return figure


def _channel(discovery: Discovery) -> int:
    return int(np.flatnonzero(np.isfinite(discovery.noise))[0])


def _fit(axes: "Axes", discovery: Discovery) -> None:
    channel = _channel(discovery)
    for i, run in enumerate(discovery.prepared.dataset.runs):
        solved = discovery.simulate(run=i)
        curve = (solved.u, solved.du, solved.d2u)[channel]
        noise = discovery.noise[channel]
        axes.fill_between(run.t, curve - 2 * noise, curve + 2 * noise, color=ORANGE, alpha=0.15, lw=0)
        axes.plot(run.t, run.observed[channel], ".", color=BLUE, ms=4, label="data" if i == 0 else None)
        axes.plot(run.t, curve, color=ORANGE, lw=1.6, label="equation, ±2 noise" if i == 0 else None)
    axes.set(xlabel="t", ylabel=CHANNELS[channel], title="data and solution")
    axes.legend(frameon=False)


def _residuals(axes: "Axes", discovery: Discovery) -> None:
    channel = _channel(discovery)
    for i, run in enumerate(discovery.prepared.dataset.runs):
        solved = discovery.simulate(run=i)
        rest = run.observed[channel] - (solved.u, solved.du, solved.d2u)[channel]
        axes.plot(run.t, rest / discovery.noise[channel], ".", color=BLUE, ms=4)
    axes.axhline(0.0, color=GREY, lw=0.8)
    axes.axhspan(-2, 2, color=GREY, alpha=0.12, lw=0)
    axes.set(xlabel="t", ylabel="residual / noise", title="residuals")


def _phase(axes: "Axes", discovery: Discovery) -> None:
    for i, smooth in enumerate(discovery.prepared.smooths):
        solved = discovery.simulate(run=i)
        axes.plot(
            smooth.values[0],
            smooth.values[1],
            color=BLUE,
            lw=1,
            alpha=0.7,
            label="smoothed data" if i == 0 else None,
        )
        axes.plot(solved.u, solved.du, color=ORANGE, lw=1.6, label="equation" if i == 0 else None)
    axes.set(xlabel="u", ylabel="u'", title="phase portrait")
    axes.legend(frameon=False)


def _front(axes: "Axes", discovery: Discovery) -> None:
    best = front(discovery.order)
    close = ties(discovery.order, discovery.settings.selection)
    axes.plot(
        [c.complexity for c in best], [c.rms for c in best], "o-", color=BLUE, ms=4, lw=1, label="front"
    )
    axes.plot([c.complexity for c in close], [c.rms for c in close], "x", color=GREY, label="near ties")
    chosen = discovery.order[0]
    axes.plot(chosen.complexity, chosen.rms, "s", color=ORANGE, ms=8, label="chosen")
    axes.set(
        xlabel="complexity", ylabel="rms residual / noise", yscale="log", title="accuracy against complexity"
    )
    axes.legend(frameon=False)
