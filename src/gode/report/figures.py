"""Pictures of a discovery: returns figures, never shows them."""

import textwrap
from collections.abc import Callable
from contextlib import AbstractContextManager
from io import BytesIO, StringIO
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from gode.discovery import Discovery
from gode.report.residuals import Channel, channels
from gode.selection import front, ties

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

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#808080"  # safe for the colour-blind
INK = "#1c1e21"  # of text and axes; the page lets it follow light and dark
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
ROLES = {"t": "time", "u'": "velocity", "u''": "acceleration"}  # under which the labels are kept
MAX_TITLE = 90  # characters of an equation that fit over a picture
MAX_MARKS = 2000  # points drawn of one run
BEYOND = 0.35  # share of the record by which the picture of the fit looks ahead


class Picture(Figure):
    """A figure that a notebook shows without further ado."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


def overview(discovery: Discovery) -> Figure:
    """Return data and fit, residuals, phase portrait and the front of accuracy against complexity."""
    with _style():
        figure = Picture(figsize=(10.0, 6.8), layout="constrained")
        axes = figure.subplots(2, 2)
        first = channels(discovery)[0]
        _draw_fit(axes[0, 0], discovery, first)
        _draw_residuals(axes[1, 0], first)
        _draw_phase(axes[0, 1], discovery)
        _draw_front(axes[1, 1], discovery)
        figure.suptitle(_title(discovery), fontsize=13)
    return figure


def data_and_fit(discovery: Discovery) -> Figure:
    """Return each observed channel with its noise band, the solution, and a prediction beyond the data."""
    seen = channels(discovery)
    with _style():
        figure = Picture(figsize=(8.0, 3.2 * len(seen)), layout="constrained")
        for axes, channel in zip(np.atleast_1d(figure.subplots(len(seen), 1)), seen, strict=True):
            _draw_fit(axes, discovery, channel)
    return figure


def residual_plots(discovery: Discovery) -> Figure:
    """Return the residuals of the first channel over time, their autocorrelation and their distribution."""
    first = channels(discovery)[0]
    with _style():
        figure = Picture(figsize=(8.0, 4.8), layout="constrained")
        grid = figure.add_gridspec(2, 2)
        _draw_residuals(figure.add_subplot(grid[0, :]), first)
        _draw_autocorrelation(figure.add_subplot(grid[1, 0]), first)
        _draw_quantiles(figure.add_subplot(grid[1, 1]), first)
    return figure


def phase_portrait(discovery: Discovery) -> Figure:
    """Return u' over u: the smoothed data and the solution."""
    return _single(lambda axes: _draw_phase(axes, discovery), (5.2, 3.8))


def front_picture(discovery: Discovery) -> Figure:
    """Return accuracy against complexity of all equations that were fitted to the trajectory."""
    return _single(lambda axes: _draw_front(axes, discovery), (5.2, 3.8))


def to_svg(figure: Figure) -> str:
    """Return a figure as SVG text with a transparent background."""
    out = StringIO()
    with _style():
        metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(out, format="svg", transparent=True, metadata=metadata)
    return out.getvalue()


def _style() -> AbstractContextManager[None]:
    return mpl.rc_context(STYLE)  # type: ignore[arg-type]  # its keys are a list of literals


def _single(draw: Callable[["Axes"], None], size: tuple[float, float]) -> Figure:
    with _style():
        figure = Picture(figsize=size, layout="constrained")
        draw(figure.subplots())
    return figure


def _title(discovery: Discovery) -> str:
    text = str(discovery.equation)
    if len(text) > MAX_TITLE:
        return _plain("\n".join(textwrap.wrap(text, MAX_TITLE)))
    return f"${discovery.equation.latex()}$"


def _plain(text: str) -> str:
    """Return `text` so that no dollar in it starts a formula."""
    return text.replace("$", r"\$")


def _name(discovery: Discovery, column: str) -> str:
    label = discovery.prepared.dataset.labels.get(ROLES.get(column, column))
    return _plain(f"{column} ({label})" if label and label != column else column)


def _draw_fit(axes: "Axes", discovery: Discovery, channel: Channel) -> None:
    noise = channel.noise
    for i, series in enumerate(channel.series):
        every = -(-len(series.t) // MAX_MARKS)
        last = i == 0
        axes.fill_between(
            series.t, series.fit - 2 * noise, series.fit + 2 * noise, color=ORANGE, alpha=0.18, lw=0
        )
        axes.plot(
            series.t[::every], series.observed[::every], ".", color=BLUE, ms=4, label="data" if last else None
        )
        axes.plot(series.t, series.fit, color=ORANGE, lw=1.6, label="equation, ±2 noise" if last else None)
    _draw_ahead(axes, discovery, channel)
    axes.set(xlabel=_name(discovery, "t"), ylabel=_name(discovery, channel.name), title="solution")
    _legend(axes)


def _legend(axes: "Axes") -> None:
    """Put the legend between title and axes, where it hides no data."""
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4)
    axes.set_title(axes.get_title(loc="left"), pad=18)


def _draw_ahead(axes: "Axes", discovery: Discovery, channel: Channel) -> None:
    """Draw what the equation predicts after the data, where no unknown force is needed."""
    run = discovery.prepared.dataset.runs[0]
    sampled = any(isinstance(signal, np.ndarray) for signal in run.inputs.values())
    if sampled or channel.name != "u" or len(channel.series) > 1:
        return
    t = np.linspace(run.t[-1], run.t[-1] + BEYOND * (run.t[-1] - run.t[0]), 120)
    ahead = discovery.predict(t)
    size = 3 * np.ptp(channel.series[0].fit) + 6 * channel.noise
    near = np.abs(ahead.u - channel.series[0].fit[-1]) + (ahead.upper - ahead.u) < size
    if not near.all():
        ahead_stop = int(np.argmin(near))
        t, near = t[:ahead_stop], near[:ahead_stop]
    n = len(t)
    axes.fill_between(t, ahead.lower[:n], ahead.upper[:n], color=GREEN, alpha=0.3, lw=0)
    axes.plot(t, ahead.u[:n], color=GREEN, lw=1.6, ls="--", label="prediction, 95 %")


def _draw_residuals(axes: "Axes", channel: Channel) -> None:
    for series in channel.series:
        every = -(-len(series.t) // MAX_MARKS)
        axes.plot(series.t[::every], series.residual[::every] / channel.noise, ".", color=BLUE, ms=4)
    axes.axhline(0.0, color=GREY, lw=0.8)
    axes.axhspan(-2, 2, color=GREY, alpha=0.15, lw=0)
    axes.set(xlabel="t", ylabel="residual / noise", title="residuals")


def _draw_autocorrelation(axes: "Axes", channel: Channel) -> None:
    lags = np.arange(1, len(channel.autocorrelation) + 1)
    bound = 1.96 / np.sqrt(channel.n)
    axes.axhspan(-bound, bound, color=GREY, alpha=0.15, lw=0)
    axes.vlines(lags, 0.0, channel.autocorrelation, color=BLUE, lw=2)
    axes.axhline(0.0, color=GREY, lw=0.8)
    axes.set(
        xlabel="lag in samples", ylabel="correlation", title="autocorrelation of residuals", ylim=(-1, 1)
    )


def _draw_quantiles(axes: "Axes", channel: Channel) -> None:
    values, normal = channel.quantiles
    every = -(-len(values) // MAX_MARKS)
    axes.plot(normal[[0, -1]], normal[[0, -1]], color=GREY, lw=0.8)
    axes.plot(normal[::every], values[::every], ".", color=BLUE, ms=4)
    axes.set(xlabel="normal quantile", ylabel="residual / rms", title="distribution of residuals")


def _draw_phase(axes: "Axes", discovery: Discovery) -> None:
    measured = channels(discovery)[0].name == "u"
    seen = "smoothed data" if measured else "inferred from the data"
    for i, smooth in enumerate(discovery.prepared.smooths):
        solved = discovery.simulate(run=i)
        names = (seen, "equation", "start") if i == 0 else (None, None, None)
        axes.plot(smooth.values[0], smooth.values[1], color=BLUE, lw=3.5, alpha=0.4, label=names[0])
        axes.plot(solved.u, solved.du, color=ORANGE, lw=1.6, label=names[1])
        axes.plot(solved.u[:1], solved.du[:1], "o", color=ORANGE, ms=5, label=names[2])
    axes.set(xlabel=_name(discovery, "u"), ylabel=_name(discovery, "u'"), title="phase portrait")
    axes.locator_params(axis="x", nbins=5)
    _legend(axes)


def _draw_front(axes: "Axes", discovery: Discovery) -> None:
    groups = (
        (discovery.order, ".", GREY, 4, "tried"),
        (front(discovery.order), "o-", BLUE, 4, "front"),
        (ties(discovery.order, discovery.settings.selection)[1:], "D", GREEN, 5, "near ties"),
        (discovery.order[:1], "s", ORANGE, 10, "chosen"),
    )
    for candidates, mark, colour, size, name in groups:
        seen = [c for c in candidates if np.isfinite(c.rms)]
        x, y = [c.complexity for c in seen], [c.rms for c in seen]
        if seen:
            fill = "none" if mark == "s" else colour  # what lies below stays in sight
            axes.plot(x, y, mark, color=colour, ms=size, mfc=fill, mew=1.5, lw=1, label=name)
    axes.axhline(1.0, color=GREY, lw=0.8, ls=":")
    axes.set(xlabel="complexity", ylabel="rms residual / noise", title="front")
    axes.locator_params(axis="x", integer=True)
    if all(c.rms > 0 for c in discovery.order) and np.isfinite(discovery.order[0].rms):
        axes.set_yscale("log")
    _legend(axes)
