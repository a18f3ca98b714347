"""Constants of many records: which lie apart, and what they depend on."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtr

from gode.arrays import Float

LEVEL = 0.05  # chance that a whole table without outliers names one
ROBUST = 1.4826  # makes the median absolute deviation a standard deviation
FEWEST = 5  # records from which on constants are compared


def deviations(values: Float, errors: Float) -> Float:
    """Return how many standard deviations each value (n,) lies from the median.

    The standard deviation is that of the values, or the standard error of the value if that is larger.
    """
    middle, spread = centre(values)
    scale = np.maximum(spread, np.where(np.isfinite(errors), errors, 0.0))
    away = np.abs(values - middle)
    return np.asarray(np.divide(away, scale, out=np.where(away > 0, np.inf, 0.0), where=scale > 0))


def centre(values: Float) -> tuple[Float, Float]:
    """Return the median of values (n, ...), and their standard deviation by the median absolute deviation."""
    middle = np.median(values, axis=0)
    return middle, np.asarray(ROBUST * np.median(np.abs(values - middle), axis=0))


def too_far(n_tests: int) -> float:
    """Return the number of standard deviations that is too large for chance among so many."""
    return float(-ndtri(LEVEL / 2 / max(n_tests, 1)))


class Line(NamedTuple):
    """A straight line through points, by least squares."""

    n: int
    intercept: float
    slope: float
    error: float  # standard error of the slope
    r2: float
    p: float  # probability of such a slope by chance


def line(x: Float, y: Float) -> Line | None:
    """Return the line y = intercept + slope*x; None if there are too few points or x is constant."""
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    n = len(x)
    if n < FEWEST or np.ptp(x) == 0:
        return None
    dx, dy = x - x.mean(), y - y.mean()
    sxx = float(dx @ dx)
    slope = float(dx @ dy) / sxx
    left = float(np.sum((dy - slope * dx) ** 2))
    whole = float(dy @ dy)
    error = float(np.sqrt(left / (n - 2) / sxx))
    r2 = 1 - left / whole if whole > 0 else 0.0
    p = 2 * float(stdtr(n - 2, -abs(slope) / error)) if error > 0 else (1.0 if slope == 0 else 0.0)
    return Line(n, float(y.mean() - slope * x.mean()), slope, error, r2, p)
