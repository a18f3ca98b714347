"""Curves and points as plain values for the script that draws them: rounded, and thinned where they are many.

What is thinned keeps the lowest and the highest value of each small stretch, so that nothing that a screen
could show is lost; fits use all samples.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gode.arrays import Float

Spec = dict[str, object]
MOST = 4000  # points of a series, unless more are asked for


def plot(title: str, x: str, y: str, series: Sequence[Spec], **more: object) -> Spec:
    """Return a plot: its title, its axes, and what is drawn."""
    return {"title": title, "x": x, "y": y, "series": list(series), **more}


def marks(name: str, x: Float, y: Float, *, most: int = MOST, **more: object) -> Spec:
    """Return points."""
    at, values = thinned(x, y, most)
    return {"kind": "points", "name": name, "x": rounded(at, 10), "y": rounded(values), **more}


def line_series(name: str, x: Float, y: Float, *, most: int = MOST, **more: object) -> Spec:
    """Return a curve."""
    at, values = thinned(x, y, most)
    return {"kind": "line", "name": name, "x": rounded(at, 10), "y": rounded(values), **more}


def band(name: str, x: Float, low: Float, high: Float, **more: object) -> Spec:
    """Return the area between two curves."""
    step = len(x) // MOST + 1
    rows = (rounded(values[::step]) for values in (x, low, high))
    return {"kind": "band", "name": name, **dict(zip(("x", "low", "high"), rows, strict=True)), **more}


def thinned(x: Float, y: Float, most: int) -> tuple[Float, Float]:
    """Return at most `most` points: all, or of each stretch the lowest and the highest."""
    if len(x) <= most:
        return x, y
    edges = np.linspace(0, len(x), max(most // 2, 1) + 1).astype(int)
    places: list[int] = []
    for a, b in pairwise(edges.tolist()):
        part = y[a:b]
        if b > a and np.isfinite(part).any():
            places += sorted({a + int(np.nanargmin(part)), a + int(np.nanargmax(part))})
    return x[places], y[places]


def rounded(values: Float, digits: int = 7) -> list[float | None]:
    """Return values to some digits, None where there is none."""
    return [
        float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in np.asarray(values, np.float64).tolist()
    ]
