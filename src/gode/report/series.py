"""Curves and points as plain values for the script that draws them: thinned where they are many.

What is thinned keeps the lowest and the highest value of each small stretch, so that nothing that a screen
could show is lost; fits use all samples.
"""

from base64 import b64encode
from collections.abc import Sequence

import numpy as np

from gode.arrays import Float

Spec = dict[str, object]
MOST = 4000  # points of a series, unless more are asked for
LONG = 10_000  # values from which a list is slow to write and to read


def plot(title: str, x: str, y: str, series: Sequence[Spec], **more: object) -> Spec:
    """Return a plot: its title, its axes, and what is drawn."""
    return {"title": title, "x": x, "y": y, "series": list(series), **more}


def marks(name: str, x: Float, y: Float, *, most: int = MOST, **more: object) -> Spec:
    """Return points."""
    at, values = thinned(x, y, most)
    return {"kind": "points", "name": name, "x": numbers(at, 10), "y": numbers(values), **more}


def line_series(name: str, x: Float, y: Float, *, most: int = MOST, **more: object) -> Spec:
    """Return a curve."""
    at, values = thinned(x, y, most)
    return {"kind": "line", "name": name, "x": numbers(at, 10), "y": numbers(values), **more}


def band(name: str, x: Float, low: Float, high: Float, *, most: int = MOST, **more: object) -> Spec:
    """Return the area between two curves."""
    step = len(x) // most + 1
    rows = (numbers(values[::step]) for values in (x, low, high))
    return {"kind": "band", "name": name, **dict(zip(("x", "low", "high"), rows, strict=True)), **more}


def thinned(x: Float, y: Float, most: int) -> tuple[Float, Float]:
    """Return at most `most` points: all, or of each stretch the lowest and the highest."""
    if len(x) <= most:
        return x, y
    size = -(-len(x) // max(most // 2, 1))  # of a stretch
    padded = np.full(-(-len(x) // size) * size, np.nan)
    padded[: len(x)] = y
    rows = padded.reshape(-1, size)
    seen = np.isfinite(rows)
    low, high = np.where(seen, rows, np.inf).argmin(1), np.where(seen, rows, -np.inf).argmax(1)
    first = size * np.arange(len(rows))
    places = np.unique(np.concatenate([first + low, first + high])[np.tile(seen.any(1), 2)])
    return x[places], y[places]


def numbers(values: Float, digits: int = 7) -> list[float | None] | str:
    """Return values to some digits, None where there is none; many as their bytes, in base64."""
    values = np.asarray(values, np.float64)
    if len(values) > LONG:
        return b64encode(values.astype("<f8").tobytes()).decode()
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in values.tolist()]
