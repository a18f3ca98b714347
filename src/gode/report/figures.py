"""Figures of a discovery; they are returned, never shown."""

import textwrap
from collections.abc import Callable
from contextlib import AbstractContextManager
from io import BytesIO, StringIO
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from gode.discovery import Discovery
from gode.discovery.residuals import Channel, channels
from gode.report.panels import (
    chosen_runs,
    draw_autocorrelation,
    draw_closely,
    draw_fit,
    draw_front,
    draw_phase,
    draw_quantiles,
    draw_residuals,
    draw_run,
    escaped,
    has_many_cycles,
    label,
)
from gode.report.planes import draw_plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Figure",
    "data_and_fit",
    "front_picture",
    "overview",
    "phase_portrait",
    "residual_plots",
    "to_svg",
]

INK = "#1c1e21"  # of text and axes; the page replaces it by its own text colour
STYLE = {
    "font.size": 10.0,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11.0,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "legend.columnspacing": 1.0,
    "legend.handletextpad": 0.4,
    "legend.borderaxespad": 0.2,
    "svg.fonttype": "none",
    "svg.hashsalt": "gode",
}
RED = "#C0182D"  # title of a poor result
MAX_TITLE = 90  # characters of a line of the title
RASTER = 150  # dots per inch of rasterised curves
MAX_PIXELS = 800_000
Channels = tuple[Channel, ...]


class Picture(Figure):
    """A figure that a notebook displays as PNG."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


def overview(discovery: Discovery) -> Figure:
    """Return fit, residuals, phase portrait, and the front (for a single fit the autocorrelation)."""
    with _style():
        several = len(discovery.prepared.dataset.states) > 1
        figure = _by_state(discovery) if several else _at_a_glance(discovery)
        bad = discovery.quality.verdict.is_failure
        figure.suptitle(_title(discovery), fontsize=13, color=RED if bad else INK)
    return figure


def _at_a_glance(discovery: Discovery) -> Figure:
    figure = Picture(figsize=(10.0, 6.8), layout="constrained")
    axes = figure.subplots(2, 2)
    first = _measured(discovery)[0]
    draw_fit(axes[0, 0], discovery, first)
    draw_residuals(axes[1, 0], discovery, first)
    draw_phase(axes[0, 1], discovery)
    _draw_others(axes[1, 1], discovery, first)
    return figure


def _by_state(discovery: Discovery) -> Figure:
    """Return fit and residuals of each state, the phase plane, and the front."""
    seen = _lowest(_measured(discovery))
    figure = Picture(figsize=(10.0, 3.0 * len(seen) + 3.8), layout="constrained")
    axes = figure.subplots(len(seen) + 1, 2, height_ratios=[*[3.0] * len(seen), 3.8], squeeze=False)
    for row, channel in zip(axes, seen, strict=False):
        draw_fit(row[0], discovery, channel)
        draw_residuals(row[1], discovery, channel)
    draw_plane(axes[-1, 0], discovery)
    _draw_others(axes[-1, 1], discovery, seen[0])
    return figure


def _draw_others(axes: "Axes", discovery: Discovery, channel: Channel) -> None:
    """Draw the front, or where nothing else was fitted the autocorrelation of the residuals."""
    if len(discovery.candidates) > 1:
        draw_front(axes, discovery)
    else:
        draw_autocorrelation(axes, channel)


def _lowest(seen: Channels) -> Channels:
    """Return the lowest observed channel of each state."""
    first: dict[str, Channel] = {}
    for channel in seen:
        first.setdefault(channel.state, channel)
    return tuple(first.values())


def data_and_fit(discovery: Discovery) -> Figure:
    """Return each observed channel with the solution: over time, or a small panel for each run."""
    seen = _measured(discovery)
    several = len(discovery.prepared.dataset.runs) > 1
    with _style():
        return _multiples(discovery, seen) if several else _over_time(discovery, seen)


def _measured(discovery: Discovery) -> Channels:
    """Return the channels as measured, also where averages were fitted."""
    if discovery.quality.averaged == 1:
        return discovery.quality.channels
    return channels(discovery.candidates[0], discovery.prepared, discovery.prepared.dataset)


def _over_time(discovery: Discovery, seen: Channels) -> Figure:
    close = [has_many_cycles(discovery, channel) for channel in seen]
    n = len(seen) + sum(close)
    figure = Picture(figsize=(8.0, 3.2 * n), layout="constrained")
    axes = iter(np.atleast_1d(figure.subplots(n, 1)))
    for channel, closely in zip(seen, close, strict=True):
        draw_fit(next(axes), discovery, channel)
        if closely:
            draw_closely(next(axes), discovery, channel)
    return figure


def _multiples(discovery: Discovery, seen: Channels) -> Figure:
    """Return a panel for each run and channel, with the same axes for all runs."""
    width = {1: 1, 2: 2, 4: 2}.get(len(chosen_runs(seen[0])), 3)
    heights = [-(-len(chosen_runs(channel)) // width) for channel in seen]
    figure = Picture(figsize=(8.0, 0.5 + 2.1 * sum(heights)), layout="constrained")
    parts = figure.subfigures(len(seen), 1, height_ratios=heights, squeeze=False).ravel()
    for part, channel, height in zip(parts, seen, heights, strict=True):
        runs = chosen_runs(channel)
        grid = part.subplots(height, width, sharex=True, sharey=True, squeeze=False)
        for axes, series in zip(grid.flat, runs, strict=False):
            draw_run(axes, discovery, channel, series)
        for axes in grid.flat[len(runs) :]:
            axes.remove()
        part.supxlabel(label(discovery, "t"), fontsize=10)
        part.supylabel(label(discovery, channel.name), fontsize=10)
    handles = parts[0].axes[0].get_legend_handles_labels()
    parts[0].legend(*handles, loc="outside upper left", ncols=4)
    return figure


def residual_plots(discovery: Discovery) -> Figure:
    """Return the residuals of each state over time, their autocorrelation and their distribution."""
    seen = _lowest(discovery.quality.channels)
    with _style():
        figure = Picture(figsize=(8.0, 4.8 * len(seen)), layout="constrained")
        grid = figure.add_gridspec(2 * len(seen), 2)
        for row, channel in zip(range(0, 2 * len(seen), 2), seen, strict=True):
            draw_residuals(figure.add_subplot(grid[row, :]), discovery, channel)
            draw_autocorrelation(figure.add_subplot(grid[row + 1, 0]), channel)
            draw_quantiles(figure.add_subplot(grid[row + 1, 1]), channel)
    return figure


def phase_portrait(discovery: Discovery) -> Figure:
    """Return u' over u: the smoothed data, where u was measured, and the solution; or two states."""
    several = len(discovery.prepared.dataset.states) > 1
    draw = draw_plane if several else draw_phase
    return _single(lambda axes: draw(axes, discovery), (6.4, 5.0) if several else (5.2, 3.8))


def front_picture(discovery: Discovery) -> Figure:
    """Return accuracy against complexity of all equations that were fitted to the trajectory."""
    return _single(lambda axes: draw_front(axes, discovery), (5.2, 3.8))


def to_svg(figure: Figure) -> str:
    """Return a figure as SVG text with a transparent background."""
    out = StringIO()
    with _style():
        metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(out, format="svg", transparent=True, metadata=metadata, dpi=RASTER)
    return out.getvalue()


def to_png(figure: Figure) -> bytes:
    """Return a figure as PNG on white, of at most some number of pixels."""
    width, height = figure.get_size_inches()
    out = BytesIO()
    with _style():
        figure.savefig(
            out, format="png", facecolor="white", dpi=min(RASTER, (MAX_PIXELS / width / height) ** 0.5)
        )
    return out.getvalue()


def _style() -> AbstractContextManager[None]:
    return mpl.rc_context(STYLE)  # type: ignore[arg-type]  # its keys are a list of literals


def _single(draw: Callable[["Axes"], None], size: tuple[float, float]) -> Figure:
    with _style():
        figure = Picture(figsize=size, layout="constrained")
        draw(figure.subplots())
    return figure


def _title(discovery: Discovery) -> str:
    lines = discovery.equation.lines()
    title = "\n".join(f"${discovery.equation[state].latex()}$" for state in discovery.equation.states)
    wordy = any(len(state) > 1 for state in discovery.equation.states)  # a dot does not suit a word
    if wordy or max(map(len, lines)) > MAX_TITLE:
        title = escaped("\n".join(part for line in lines for part in textwrap.wrap(line, MAX_TITLE)))
    if discovery.quality.verdict.is_failure:
        title += "\n" + escaped("\n".join(textwrap.wrap(discovery.quality.words, MAX_TITLE)))
    return title
