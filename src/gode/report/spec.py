"""One description of a plot, for matplotlib (`gode.report.figures`) and for the script of a page (plot.js).

A plot has axes with labels and traces, each with its kind, its values and the place of its colour in the
palette that both have. Matplotlib draws all values; for a page they are thinned where they are many.
"""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from typing import Literal

import numpy as np

from gode.arrays import Float

Json = dict[str, object]
BLUE, ORANGE, GREEN, PINK, YELLOW, SKY, VIOLET, BROWN, RED, GREY = range(10)  # places in the palettes
RUN_COLOURS = 8  # colours that are told apart well; the runs of a page take them in turn
MOST = 4000  # A page gets at most so many points of a trace, about two for each pixel of a wide screen.
LONG = 10_000  # From so many values on, their bytes are quicker to write and to read than a list.


def _nothing() -> Float:
    return np.empty(0)


class Kind(StrEnum):
    """How the values of a trace are drawn."""

    POINTS = "points"
    LINE = "line"
    BAND = "band"  # the area between `low` and `high`
    STEMS = "stems"  # a line from zero to each value


@dataclass(frozen=True)
class Trace:
    """Something that is drawn: its values, its name in the legend, and how it looks."""

    kind: Kind
    name: str
    x: Float
    y: Float = field(default_factory=_nothing)
    _: KW_ONLY
    low: Float = field(default_factory=_nothing)
    high: Float = field(default_factory=_nothing)
    colour: int | None = None  # place in the palette; by default that of the trace in the plot
    run: int | None = None  # the run whose colour it has, in place of `colour`
    size: float | None = None  # radius of points
    width: float | None = None  # of a line
    alpha: float | None = None  # opacity
    dash: tuple[int, ...] = ()
    hollow: bool = False  # points as rings
    loose: bool = False  # does not decide the range of the axes
    hidden: bool = False  # until its group is shown
    group: str = ""  # of traces that are shown and hidden together
    groups: Sequence[str | None] = ()  # of each point: a click shows that group
    text: Sequence[str] = ()  # of each point
    lines: Float = field(default_factory=_nothing)  # in the file, of each point
    column: str = ""  # in the file
    most: int = MOST  # points in a page

    def as_json(self) -> Json:
        """Return it as plain values for the script; defaults are left out."""
        out: Json = {"kind": self.kind.value, "name": self.name}
        if self.kind is Kind.BAND:
            step = len(self.x) // self.most + 1
            out |= {key: numbers(getattr(self, key)[::step]) for key in ("x", "low", "high")}
        else:
            x, y = thinned(self.x, self.y, self.most)
            out |= {"x": numbers(x, 10), "y": numbers(y)}
        colour = self.colour if self.run is None else self.run % RUN_COLOURS
        if colour is not None:
            out["colour"] = colour
        looks = ("size", "width", "alpha", "dash", "hollow", "loose", "hidden", "group", "groups", "text")
        out |= {key: value for key in (*looks, "column") if (value := getattr(self, key))}
        return out | {"lines": numbers(self.lines, 12)} if len(self.lines) else out


def band(name: str, x: Float, low: Float, high: Float, *, colour: int, most: int = MOST) -> Trace:
    """Return the area between two curves."""
    return Trace(Kind.BAND, name, x, low=low, high=high, colour=colour, most=most)


@dataclass(frozen=True, kw_only=True)
class Plot:
    """Axes with their labels, and what is drawn on them."""

    title: str
    x: str
    y: str
    traces: Sequence[Trace]
    log: Literal["", "x", "y", "xy"] = ""  # axes that are logarithmic
    y_range: tuple[float, float] | None = None  # where the values do not decide it
    n_runs: int = 1  # whose colours differ
    channel: str = ""  # that is drawn, so that further curves can be added to it
    link: str = ""  # Plots of the same link zoom together.
    legend: bool | None = None  # by default where two traces have names
    select: str = ""  # the button with which points are chosen; without it none can be
    height: int = 300  # in a page, in pixels

    def as_json(self) -> Json:
        """Return it as plain values for the script."""
        out: Json = {"title": self.title, "x": self.x, "y": self.y, "height": self.height}
        keys = ("log", "y_range", "channel", "link", "legend", "select")
        out |= {key: value for key in keys if (value := getattr(self, key)) or value is False}
        return out | {"series": [trace.as_json() for trace in self.traces]}


def thinned(x: Float, y: Float, most: int) -> tuple[Float, Float]:
    """Return at most `most` points: all, or of each stretch the lowest and the highest.

    So nothing that a screen could show is lost; fits use all samples.
    """
    if len(x) <= most:
        return x, y
    size = -(-len(x) // max(most // 2, 1))  # of a stretch
    padded = np.full(-(-len(x) // size) * size, np.nan)
    padded[: len(x)] = y
    rows = padded.reshape(-1, size)
    seen = np.isfinite(rows)
    lowest = np.where(seen, rows, np.inf).argmin(1)
    highest = np.where(seen, rows, -np.inf).argmax(1)
    first = size * np.arange(len(rows))
    places = np.unique(np.concatenate([first + lowest, first + highest])[np.tile(seen.any(1), 2)])
    return x[places], y[places]


def numbers(values: Float, digits: int = 7) -> list[float | None] | str:
    """Return values to some digits, None where there is none; many as their bytes, in base64."""
    values = np.asarray(values, np.float64)
    if len(values) > LONG:
        return b64encode(values.astype("<f8").tobytes()).decode()
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in values.tolist()]
