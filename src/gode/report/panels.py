"""Panels of the figures: each function draws one thing on given axes."""

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import FuncFormatter, LogFormatter

from gode.arrays import Float
from gode.data.dataset import cycles
from gode.discovery import Discovery
from gode.discovery.called import shown
from gode.discovery.residuals import Channel, Series
from gode.report.naming import axis_label
from gode.selection import front

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#808080"  # safe for the colour-blind
PALETTE = (BLUE, ORANGE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#7B5EA7", "#8A6D3B")
MAX_MARKS = 2000  # points of all runs together; more are drawn as minimum and maximum per pixel
MAX_CURVE = 20_000  # points of a phase curve that is drawn as vectors; longer ones are rasterised
FINE = 400  # least number of times at which a solution is drawn
PIXELS = 1000  # width of a figure
BEYOND = 0.35  # length of the prediction after the data, relative to the record
MAX_PANELS = 12  # runs that get a panel of their own
MANY_CYCLES = 30.0  # more cannot be distinguished on one panel
WIDE = 3.0  # ratio of the largest to the smallest residual from which the axis is logarithmic
LAST_CYCLES = 8.0  # shown in the close-up


def escaped(text: str) -> str:
    """Return `text` with dollars escaped, which would start a formula."""
    return text.replace("$", r"\$")


def label(discovery: Discovery, column: str) -> str:
    """Return the label of an axis."""
    return escaped(axis_label(discovery.prepared.dataset, column))


def run_colours(n: int) -> list[str]:
    """Return a colour for each run: distinct for few runs, dark to light for many."""
    if n <= len(PALETTE):
        return list(PALETTE[:n])
    shades = mpl.colormaps["viridis"](np.linspace(0.0, 0.9, n))
    return [mpl.colors.to_hex(shade) for shade in shades]


def chosen_runs(channel: Channel) -> list[Series]:
    """Return the runs that get a panel: all, or if they are many those with the largest residuals."""
    size = [float(np.mean(series.residual**2)) for series in channel.series]
    worst = sorted(np.argsort(size)[::-1][:MAX_PANELS].tolist())
    return [channel.series[i] for i in worst]


def has_many_cycles(discovery: Discovery, channel: Channel) -> bool:
    """Tell whether a single record has so many cycles that it needs a close-up."""
    runs = discovery.prepared.dataset.runs
    return len(runs) == 1 and len(channel.series) == 1 and cycles(runs[0]) > MANY_CYCLES


def draw_fit(axes: "Axes", discovery: Discovery, channel: Channel) -> None:
    """Draw the data and the solution of all runs; for a single run also the noise band and a prediction."""
    if len(channel.series) > 1:
        _draw_together(axes, discovery, channel)
    else:
        _draw_one(axes, discovery, channel, channel.series[0])
        _draw_prediction(axes, discovery, channel)
    axes.set(xlabel=label(discovery, "t"), ylabel=label(discovery, channel.name), title="solution")
    legend(axes)


def draw_run(axes: "Axes", discovery: Discovery, channel: Channel, series: Series) -> None:
    """Draw one of several runs, with its name as title."""
    _draw_one(axes, discovery, channel, series)
    axes.set_title(escaped(_truncated(discovery.prepared.dataset.name_of(series.run), 30)), fontsize=9)


def draw_closely(axes: "Axes", discovery: Discovery, channel: Channel) -> None:
    """Draw the last cycles of a long record, where phase errors are largest."""
    series = channel.series[0]
    span = float(series.t[-1] - series.t[0]) * LAST_CYCLES / cycles(discovery.prepared.dataset.runs[0])
    late = series.t >= series.t[-1] - span
    roots = np.broadcast_to(series.roots, series.t.shape)[late]
    last = Series(series.t[late], series.observed[late], series.fit[late], roots=roots)
    _draw_one(axes, discovery, channel, last)
    axes.set(xlabel=label(discovery, "t"), ylabel=label(discovery, channel.name), title="its last cycles")
    legend(axes)


def _draw_one(axes: "Axes", discovery: Discovery, channel: Channel, series: Series) -> None:
    times, values = _solution_curve(discovery, channel, series)
    t, low, high = _extremes(times, values)
    roots = np.broadcast_to(series.roots, series.t.shape)
    noise = channel.noise / np.interp(t, series.t, roots)  # one number, unless it goes with the signal
    axes.fill_between(t, low - 2 * noise, high + 2 * noise, color=ORANGE, alpha=0.18, lw=0)
    _marks(axes, series.t, series.observed, BLUE, 1, "data")
    _line(axes, times, values, ORANGE, "equation, ±2 noise")


def _solution_curve(discovery: Discovery, channel: Channel, series: Series) -> tuple[Float, Float]:
    """Return the solution along a run; on a finer grid if there are few samples."""
    if len(series.t) > FINE:
        return series.t, series.fit
    solved = discovery.simulate(fine(series.t), run=series.run)
    return solved.t, solved[channel.name]


def fine(t: Float) -> Float:
    """Return times at which a solution is drawn: those of the samples, and more if they are few."""
    return np.union1d(t, np.linspace(t[0], t[-1], FINE)) if len(t) <= FINE else t


def _draw_together(axes: "Axes", discovery: Discovery, channel: Channel) -> None:
    dataset = discovery.prepared.dataset
    n_runs = len(dataset.runs)
    colours, named = run_colours(n_runs), n_runs <= len(PALETTE)
    for series in channel.series:
        colour = colours[series.run]
        _marks(axes, series.t, series.observed, colour, len(channel.series), None)
        text = escaped(_truncated(dataset.name_of(series.run), 16)) if named else None
        _line(axes, *_solution_curve(discovery, channel, series), colour, text)
    if not named:
        axes.plot([], [], ".-", color=colours[0], label=f"{n_runs} runs, the first dark, the last light")


def _marks(axes: "Axes", t: Float, values: Float, colour: str, n_runs: int, name: str | None) -> None:
    """Draw samples as points, or as the band between their extremes if there are too many."""
    if len(t) <= max(MAX_MARKS // n_runs, 100):
        axes.plot(t, values, ".", color=colour, ms=4 if n_runs == 1 else 3, label=name)
    else:
        at, low, high = _extremes(t, values)
        words = f"{name}, lowest to highest" if name else None
        axes.fill_between(at, low, high, color=colour, alpha=0.45, lw=0.4, label=words)


def _line(axes: "Axes", t: Float, values: Float, colour: str, name: str | None) -> None:
    at, low, high = _extremes(t, values)
    both = low if len(at) == len(t) else np.column_stack([low, high]).ravel()
    axes.plot(at if len(at) == len(t) else np.repeat(at, 2), both, color=colour, lw=1.6, label=name)


def _extremes(t: Float, values: Float) -> tuple[Float, Float, Float]:
    """Return times with minimum and maximum per pixel, or all values if they are few.

    Pixels without a sample are NaN, so that gaps stay visible.
    """
    if len(t) <= 2 * PIXELS:
        return t, values, values
    edges = np.linspace(t[0], t[-1], PIXELS + 1)
    place = np.clip(np.searchsorted(edges, t, side="right") - 1, 0, PIXELS - 1)
    low, high = np.full(PIXELS, np.nan), np.full(PIXELS, np.nan)
    np.fmin.at(low, place, values)
    np.fmax.at(high, place, values)
    return 0.5 * (edges[1:] + edges[:-1]), low, high


def _truncated(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def legend(axes: "Axes") -> None:
    """Put the legend between title and axes, where it covers no data."""
    shown = axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4)
    rows = -(-len(shown.get_texts()) // 4)
    axes.set_title(axes.get_title(loc="left"), pad=4 + 14 * rows)
    axes.yaxis.set_offset_position("right")  # otherwise the power of ten overlaps the legend


def _draw_prediction(axes: "Axes", discovery: Discovery, channel: Channel) -> None:
    """Draw the prediction after the data, unless it would need an unknown force."""
    run = discovery.prepared.dataset.runs[0]
    sampled = any(isinstance(signal, np.ndarray) for signal in run.inputs.values())
    if sampled or channel.name != channel.state or has_many_cycles(discovery, channel):
        return
    t = np.linspace(run.t[-1], run.t[-1] + BEYOND * (run.t[-1] - run.t[0]), 120)
    ahead = discovery.predict(t)[channel.state]
    size = 3 * np.ptp(channel.series[0].fit) + 6 * channel.noise
    near = np.abs(ahead.u - channel.series[0].fit[-1]) + (ahead.upper - ahead.u) < size
    n = len(t) if near.all() else int(np.argmin(near))
    axes.fill_between(t[:n], ahead.lower[:n], ahead.upper[:n], color=GREEN, alpha=0.3, lw=0)
    axes.plot(t[:n], ahead.u[:n], color=GREEN, lw=1.6, ls="--", label="prediction, 95 %")


def draw_residuals(axes: "Axes", discovery: Discovery, channel: Channel) -> None:
    """Draw the residuals over time in units of the noise."""
    colours = run_colours(len(discovery.prepared.dataset.runs))
    for series in channel.series:
        scaled = series.weighted / channel.noise
        _marks(axes, series.t, scaled, colours[series.run], len(channel.series), None)
    axes.axhline(0.0, color=GREY, lw=0.8)
    axes.axhspan(-2, 2, color=GREY, alpha=0.15, lw=0)
    axes.set(
        xlabel=label(discovery, "t"),
        ylabel=f"residual of {channel.shown} / noise",
        title="residuals over time",
    )


def draw_autocorrelation(axes: "Axes", channel: Channel) -> None:
    """Draw the autocorrelation of the residuals."""
    lags = np.arange(1, len(channel.autocorrelation) + 1)
    bound = 1.96 / np.sqrt(channel.n)
    axes.axhspan(-bound, bound, color=GREY, alpha=0.15, lw=0)
    axes.vlines(lags, 0.0, channel.autocorrelation, color=BLUE, lw=2)
    axes.axhline(0.0, color=GREY, lw=0.8)
    axes.set(
        xlabel="lag in samples", ylabel="correlation", title="autocorrelation of residuals", ylim=(-1, 1)
    )
    axes.set_xlim(0.0, len(lags) + 1.0)
    axes.locator_params(axis="x", integer=True)


def draw_quantiles(axes: "Axes", channel: Channel) -> None:
    """Draw a normal quantile plot of the residuals."""
    values, normal = channel.quantiles
    some = np.unique(np.linspace(0, len(values) - 1, min(len(values), MAX_MARKS // 2)).astype(int))
    axes.plot(normal[[0, -1]], normal[[0, -1]], color=GREY, lw=0.8)
    axes.plot(normal[some], values[some], ".", color=BLUE, ms=4)
    axes.set(xlabel="normal quantile", ylabel="residual / rms", title="distribution of residuals")


def draw_phase(axes: "Axes", discovery: Discovery) -> None:
    """Draw u' over u: the solution, and the smoothed data where u was measured.

    Integrated velocities or accelerations would only show drift.
    """
    dataset = discovery.prepared.dataset
    colours = run_colours(len(dataset.runs)) if len(dataset.runs) > 1 else [ORANGE]
    for i, (run, smooth, colour) in enumerate(
        zip(dataset.runs, discovery.prepared.smooths, colours, strict=True)
    ):
        solved = discovery.simulate(fine(run.t), run=i)
        names = ("smoothed data", "equation", "start") if i == 0 else (None, None, None)
        dense = max(len(solved.u), len(smooth.t)) > MAX_CURVE  # rasterised
        if np.isfinite(run.observed[0]).any():
            data = BLUE if len(dataset.runs) == 1 else colour
            axes.plot(*smooth.values[:2], color=data, lw=3.5, alpha=0.4, label=names[0], rasterized=dense)
        axes.plot(solved.u, solved.du, color=colour, lw=1.6, label=names[1], rasterized=dense)
        axes.plot(solved.u[:1], solved.du[:1], "o", color=colour, ms=5, label=names[2])
    _limit(axes, np.concatenate([line.get_ydata() for line in axes.get_lines() if line.get_alpha() is None]))
    seen = "u" in dataset.channels
    name = shown(dataset, "u")
    title = "phase portrait" if seen else f"phase portrait of the equation ({name} was not measured)"
    axes.set(xlabel=label(discovery, "u"), ylabel=label(discovery, "u'"), title=title)
    axes.locator_params(axis="x", nbins=5)
    legend(axes)


def _limit(axes: "Axes", values: Float) -> None:
    """Limit the axis to about these values: smoothed derivatives are wild at the ends of a record."""
    low, high = np.nanmin(values), np.nanmax(values)
    wide = 0.4 * (high - low)
    if wide > 0:
        bottom, top = axes.get_ylim()
        axes.set_ylim(max(bottom, low - wide), min(top, high + wide))


def draw_front(axes: "Axes", discovery: Discovery) -> None:
    """Draw accuracy against complexity of all equations that were fitted to the trajectory."""
    groups = (
        (discovery.candidates, ".", GREY, 4, "tried"),
        (front(discovery.candidates), "o-", BLUE, 4, "front"),
        (discovery.assessment.near[1:], "D", GREEN, 5, "near ties"),
        (discovery.candidates[:1], "s", ORANGE, 10, "chosen"),
    )
    best = discovery.candidates[0].rms
    unit = discovery.quality.misfit / best if best > 0 and discovery.quality.complete else 1.0
    for candidates, mark, colour, size, name in groups:
        seen = [c for c in candidates if np.isfinite(c.rms)]
        x, y = [c.complexity for c in seen], [unit * c.rms for c in seen]
        if seen:
            fill = "none" if mark == "s" else colour  # so that markers below stay visible
            axes.plot(x, y, mark, color=colour, ms=size, mfc=fill, mew=1.5, lw=1, label=name)
    axes.axhline(1.0, color=GREY, lw=0.8, ls=":")
    axes.set(xlabel="complexity", ylabel="rms residual / noise", title="front")
    axes.locator_params(axis="x", integer=True)
    sizes = [c.rms for c in discovery.candidates if np.isfinite(c.rms)]
    if sizes and 0 < WIDE * min(sizes) < max(sizes):
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1.5, 0.5)))
    legend(axes)
