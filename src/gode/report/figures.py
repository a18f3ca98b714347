"""Figures of a discovery: its plots, drawn by matplotlib. They are returned, never shown."""

import textwrap
from collections.abc import Sequence
from contextlib import AbstractContextManager
from io import BytesIO, StringIO
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogFormatter

from gode.arrays import Float
from gode.discovery import Discovery
from gode.discovery.residuals import Channel
from gode.report.plots import Plots, autocorrelation, quantiles
from gode.report.spec import RUN_COLOURS, Kind, Plot, Trace

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
PALETTE = (  # The first eight are safe for the colour-blind; plot.js has the same.
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7B5EA7", "#8A6D3B",
    "#B0003A", "#5A5A5A",
)  # fmt: skip
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
TITLE_OF_FAILURE = "#C0182D"
MAX_TITLE = 90  # A line of a title has at most so many characters, which fit above two columns.
RASTER = 150  # Rasterised curves have so many dots per inch, sharp in print.
MAX_PIXELS = 800_000  # A PNG in a page has at most so many pixels, about 100 kB.
MAX_MARKS = 2000  # More points of all runs together are drawn as minimum and maximum per pixel.
MAX_CURVE = 20_000  # A phase curve of more points is rasterised, because its SVG would be large.
PIXELS = 1000  # A figure is so many pixels wide when the extremes per pixel are found.
ORDER = {Kind.BAND: 1.0, Kind.STEMS: 2.0, Kind.POINTS: 2.1, Kind.LINE: 2.2}  # from the back to the front
BESIDE = (0.02, 0.06)  # Axes go beyond their values by these fractions, as on the page.
LOOSE = 0.4  # Traces that do not decide the range widen it by at most this fraction, as on the page.
Limits = tuple[tuple[float, float], tuple[float, float]]


class Picture(Figure):
    """A figure that a notebook displays as PNG."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


def overview(discovery: Discovery) -> Figure:
    """Return fit, residuals, phase portrait, and the front (for a single fit the autocorrelation)."""
    plots = _plots(discovery)
    fitted = _lowest(plots.measured)
    residuals = [plots.residuals_of(channel) for channel in fitted]
    last = plots.front() if len(discovery.candidates) > 1 else autocorrelation(fitted[0])
    with _style():
        figure = Picture(figsize=(10.0, 3.0 * len(fitted) + 3.8), layout="constrained")
        heights = [*[3.0] * len(fitted), 3.8]
        axes = figure.subplots(len(fitted) + 1, 2, height_ratios=heights, squeeze=False)
        rows = [(plots.fit_of(c), plot) for c, plot in zip(fitted, residuals, strict=True)]
        drawn = [*rows, (plots.phase(), last)]
        for place, plot in zip(axes.ravel(), (plot for row in drawn for plot in row), strict=True):
            _draw(place, plot)
        failed = discovery.quality.verdict.is_failure
        figure.suptitle(_title(discovery), fontsize=13, color=TITLE_OF_FAILURE if failed else INK)
    return figure


def data_and_fit(discovery: Discovery, plots: Plots | None = None) -> Figure:
    """Return each observed channel with the solution: over time, or a small panel for each run."""
    plots = plots or _plots(discovery)
    if len(discovery.prepared.dataset.runs) > 1:
        return _small_panels(plots)
    drawn = []
    for channel in plots.measured:
        close = plots.last_cycles(channel)
        drawn += [plots.fit_of(channel), *([] if close is None else [close])]
    with _style():
        figure = Picture(figsize=(8.0, 3.2 * len(drawn)), layout="constrained")
        for axes, plot in zip(np.atleast_1d(figure.subplots(len(drawn), 1)), drawn, strict=True):
            _draw(axes, plot)
    return figure


def _small_panels(plots: Plots) -> Figure:
    """Return a panel for each run and channel, with the same axes for all runs."""
    panels = [plots.fit_by_run(channel) for channel in plots.measured]
    width = {1: 1, 2: 2, 4: 2}.get(len(panels[0]), 3)
    heights = [-(-len(drawn) // width) for drawn in panels]
    with _style():
        figure = Picture(figsize=(8.0, 0.5 + 2.1 * sum(heights)), layout="constrained")
        parts = figure.subfigures(len(panels), 1, height_ratios=heights, squeeze=False).ravel()
        for part, drawn, height in zip(parts, panels, heights, strict=True):
            grid = part.subplots(height, width, sharex=True, sharey=True, squeeze=False).ravel()
            limits = _limits(drawn)
            for axes, plot in zip(grid, drawn, strict=False):
                _draw(axes, plot, limits)
                axes.set(xlabel="", ylabel="")
                axes.set_title(escaped(plot.title), fontsize=9)
            for axes in grid[len(drawn) :]:
                axes.remove()
            part.supxlabel(escaped(drawn[0].x), fontsize=10)
            part.supylabel(escaped(drawn[0].y), fontsize=10)
        handles = parts[0].axes[0].get_legend_handles_labels()
        parts[0].legend(*handles, loc="outside upper left", ncols=4)
    return figure


def residual_plots(discovery: Discovery, plots: Plots | None = None) -> Figure:
    """Return the residuals of each state over time, their autocorrelation and their distribution."""
    plots = plots or _plots(discovery)
    seen = _lowest(discovery.quality.channels)
    with _style():
        figure = Picture(figsize=(8.0, 4.8 * len(seen)), layout="constrained")
        grid = figure.add_gridspec(2 * len(seen), 2)
        for i, channel in enumerate(seen):
            _draw(figure.add_subplot(grid[2 * i, :]), plots.residuals_of(channel))
            _draw(figure.add_subplot(grid[2 * i + 1, 0]), autocorrelation(channel))
            _draw(figure.add_subplot(grid[2 * i + 1, 1]), quantiles(channel))
    return figure


def phase_portrait(discovery: Discovery, plots: Plots | None = None) -> Figure:
    """Return u' over u: the smoothed data, where u was measured, and the solution; or two states."""
    return _single((plots or _plots(discovery)).phase(), (5.8, 4.4))


def front_picture(discovery: Discovery, plots: Plots | None = None) -> Figure:
    """Return accuracy against complexity of all equations that were fitted to the trajectory."""
    return _single((plots or _plots(discovery)).front(), (5.2, 3.8))


def _plots(discovery: Discovery) -> Plots:
    return Plots(discovery, rivals=False, every_run=True)


def _lowest(seen: Sequence[Channel]) -> list[Channel]:
    """Return the lowest observed channel of each state."""
    return list({channel.state: channel for channel in reversed(seen)}.values())[::-1]


def _single(plot: Plot, size: tuple[float, float]) -> Figure:
    with _style():
        figure = Picture(figsize=size, layout="constrained")
        _draw(figure.subplots(), plot)
    return figure


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
    dpi = min(RASTER, (MAX_PIXELS / width / height) ** 0.5)
    with _style():
        figure.savefig(out, format="png", facecolor="white", dpi=dpi)
    return out.getvalue()


def _style() -> AbstractContextManager[None]:
    return mpl.rc_context(STYLE)  # type: ignore[arg-type]  # its keys are a list of literals


def _title(discovery: Discovery) -> str:
    lines = discovery.equation.lines()
    title = "\n".join(f"${discovery.equation[state].latex()}$" for state in discovery.equation.states)
    wordy = any(len(state) > 1 for state in discovery.equation.states)  # a dot does not suit a word
    if wordy or max(map(len, lines)) > MAX_TITLE:
        title = escaped("\n".join(part for line in lines for part in textwrap.wrap(line, MAX_TITLE)))
    if discovery.quality.verdict.is_failure:
        title += "\n" + escaped("\n".join(textwrap.wrap(discovery.quality.words, MAX_TITLE)))
    return title


def escaped(text: str) -> str:
    """Return `text` with dollars escaped, which would start a formula."""
    return text.replace("$", r"\$")


def _draw(axes: "Axes", plot: Plot, limits: Limits | None = None) -> None:
    """Draw a plot on axes."""
    many_runs = plot.n_runs > RUN_COLOURS
    colours = run_colours(plot.n_runs)
    n_samples = sum(len(t.x) for t in plot.traces if t.kind is Kind.POINTS and t.size is None)
    for i, trace in enumerate(plot.traces):
        if trace.hidden:
            continue
        colour = (
            PALETTE[i if trace.colour is None else trace.colour] if trace.run is None else colours[trace.run]
        )
        name = "_" if not trace.name or (trace.run is not None and many_runs) else escaped(trace.name)
        _DRAWN_BY[trace.kind](axes, trace, colour, name, n_samples)
    if many_runs and any(trace.run is not None for trace in plot.traces):
        words = f"{plot.n_runs} runs, the first dark, the last light"
        axes.plot([], [], ".-", color=colours[0], label=words)
    _scale(axes, plot, limits or _limits([plot]))
    axes.set(xlabel=escaped(plot.x), ylabel=escaped(plot.y), title=escaped(plot.title))
    n_named = len(axes.get_legend_handles_labels()[1])
    if n_named > 1 if plot.legend is None else plot.legend and n_named:
        _legend(axes)


def run_colours(n: int) -> list[str]:
    """Return a colour for each run: distinct for few runs, dark to light for many."""
    if n <= RUN_COLOURS:
        return list(PALETTE[:n])
    return [mpl.colors.to_hex(shade) for shade in mpl.colormaps["viridis"](np.linspace(0.0, 0.9, n))]


def _draw_points(axes: "Axes", trace: Trace, colour: str, name: str, n_samples: int) -> None:
    """Draw points, or the band between their extremes if there are too many."""
    z = ORDER[Kind.POINTS]
    if trace.size is None and n_samples > MAX_MARKS and len(trace.x) > 100:
        at, low, high = _extremes(trace.x, trace.y) if _is_sorted(trace.x) else (trace.x, trace.y, trace.y)
        if len(at) < len(trace.x):
            words = name if name == "_" else f"{name}, lowest to highest"
            axes.fill_between(at, low, high, color=colour, alpha=0.45, lw=0.4, label=words, zorder=z)
            return
    axes.plot(
        trace.x, trace.y, "o", color=colour, ms=1.5 * (trace.size or 2.0), mew=1.5 if trace.hollow else 0.0,
        alpha=trace.alpha, fillstyle="none" if trace.hollow else "full", label=name,
        zorder=z if trace.size is None else 3.0,
    )  # fmt: skip


def _draw_line(axes: "Axes", trace: Trace, colour: str, name: str, n_samples: int) -> None:
    x, y = trace.x, trace.y
    if _is_sorted(x):
        at, low, high = _extremes(x, y)
        if len(at) < len(x):
            x, y = np.repeat(at, 2), np.column_stack([low, high]).ravel()
    axes.plot(
        x, y, color=colour, lw=0.85 * (trace.width or 2), alpha=trace.alpha, label=name,
        ls=(0, tuple(0.5 * part for part in trace.dash)) if trace.dash else "-",
        zorder=ORDER[Kind.LINE], rasterized=len(x) > MAX_CURVE,
    )  # fmt: skip


def _draw_band(axes: "Axes", trace: Trace, colour: str, name: str, n_samples: int) -> None:
    at, low, _ = _extremes(trace.x, trace.low)
    _, _, high = _extremes(trace.x, trace.high)
    axes.fill_between(at, low, high, color=colour, alpha=0.18, lw=0, label=name, zorder=ORDER[Kind.BAND])


def _draw_stems(axes: "Axes", trace: Trace, colour: str, name: str, n_samples: int) -> None:
    axes.vlines(trace.x, 0.0, trace.y, color=colour, lw=2, label=name, zorder=ORDER[Kind.STEMS])


_DRAWN_BY = {
    Kind.POINTS: _draw_points,
    Kind.LINE: _draw_line,
    Kind.BAND: _draw_band,
    Kind.STEMS: _draw_stems,
}


def _is_sorted(x: Float) -> bool:
    return bool(np.all(np.diff(x) >= 0))


def _extremes(t: Float, values: Float) -> tuple[Float, Float, Float]:
    """Return times with minimum and maximum per pixel, or all values if they are few.

    Pixels without a sample are NaN, so that gaps stay visible.
    """
    if len(t) <= 2 * PIXELS:
        return t, values, values
    edges = np.linspace(t[0], t[-1], PIXELS + 1)
    place = np.clip(np.searchsorted(edges, t, side="right") - 1, 0, PIXELS - 1)
    low = np.full(PIXELS, np.nan)
    high = np.full(PIXELS, np.nan)
    np.fmin.at(low, place, values)
    np.fmax.at(high, place, values)
    return 0.5 * (edges[1:] + edges[:-1]), low, high


def _limits(plots: Sequence[Plot]) -> Limits:
    """Return the ends of the axes that plots share, from the traces that decide them."""
    traces = [trace for plot in plots for trace in plot.traces if not trace.hidden]
    firm = [trace for trace in traces if not trace.loose] or traces
    ends = []
    for axis, keys in enumerate((("x",), ("y", "low", "high"))):
        log = "xy"[axis] in plots[0].log
        low, high = _ends([getattr(trace, key) for trace in firm for key in keys], log=log)
        if axis == 1:
            others = _ends([trace.y for trace in traces if trace.loose], log=log)
            wide = LOOSE * (high - low)
            low, high = max(low - wide, min(low, others[0])), min(high + wide, max(high, others[1]))
        wide = BESIDE[axis] * (high - low)
        ends.append((low - wide, high + wide))
    return ends[0], plots[0].y_range or ends[1]


def _ends(values: Sequence[Float], *, log: bool) -> tuple[float, float]:
    """Return the least and the largest of values, or their logarithms."""
    joined = np.concatenate([np.empty(0), *values])
    joined = joined[np.isfinite(joined) & (joined > 0 if log else True)]
    if not len(joined):
        return np.inf, -np.inf
    low, high = float(joined.min()), float(joined.max())
    return (np.log10(low), np.log10(high)) if log else (low, high)


def _scale(axes: "Axes", plot: Plot, limits: Limits) -> None:
    """Set limits and ticks of the axes."""
    for name, (low, high), axis in zip("xy", limits, (axes.xaxis, axes.yaxis), strict=True):
        if not low < high:
            continue
        if name in plot.log:
            axes.set(**{f"{name}scale": "log", f"{name}lim": (10**low, 10**high)})
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_formatter(LogFormatter(minor_thresholds=(1.5, 0.5)))
        else:
            axes.set(**{f"{name}lim": (low, high)})
    if "x" not in plot.log:
        whole = all(np.all(t.x == np.round(t.x)) for t in plot.traces if t.kind in (Kind.POINTS, Kind.STEMS))
        axes.locator_params(axis="x", nbins=8, integer=whole)


def _legend(axes: "Axes") -> None:
    """Put the legend between title and axes, where it covers no data."""
    made = axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4)
    rows = -(-len(made.get_texts()) // 4)
    axes.set_title(axes.get_title(loc="left"), pad=4 + 14 * rows)
    axes.yaxis.set_offset_position("right")  # otherwise the power of ten overlaps the legend
