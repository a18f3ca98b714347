"""Covariances of a Gaussian process and its derivatives, with a warp of time.

u(t) = g(w(t)), where g has a squared exponential kernel and w(x) = log(1 + (e^b - 1) x)/b maps the unit
interval to itself, so that a signal may be fast at one end and slow at the other. An observation of u, u'
or u'' is a linear functional of g, g', g'' at one point: three numbers.
"""

import numpy as np

from gode.arrays import Float


def warp(x: Float, bend: float) -> tuple[Float, Float, Float]:
    """Return w and its first two derivatives at `x` in [0, 1]."""
    if abs(bend) < 1e-4:
        return x, np.ones_like(x), np.zeros_like(x)
    s = np.expm1(bend)
    first = s / (1 + s * x) / bend
    return np.log1p(s * x) / bend, first, -s * first / (1 + s * x)


def functionals(x: Float, order: Float, bend: float) -> tuple[Float, Float]:
    """Return the places w (n,) and the weights (n, 3) of g, g', g'' in the derivative of that order."""
    w, first, second = warp(x, bend)
    weights = np.zeros((len(x), 3))
    weights[order == 0, 0] = 1.0
    weights[order == 1, 1] = first[order == 1]
    weights[order == 2, 1] = second[order == 2]
    weights[order == 2, 2] = first[order == 2] ** 2
    return w, weights


def covariance(
    a: tuple[Float, Float], b: tuple[Float, Float], length: float, size: float, trend: float
) -> Float:
    """Return the covariance of two sets of functionals under the kernel and a line of variance `trend`."""
    (wa, la), (wb, lb) = a, b
    derivatives = _derivatives((wa[:, None] - wb[None, :]) / length)
    total = np.zeros((len(wa), len(wb)))
    for i in range(3):
        for j in range(3):
            if la[:, i].any() and lb[:, j].any():
                sign = (-1.0) ** j / length ** (i + j)
                total += size**2 * sign * np.outer(la[:, i], lb[:, j]) * derivatives[i + j]
    trend_a = np.vstack([la[:, 0], la[:, 0] * (wa - 0.5) + la[:, 1]])
    trend_b = np.vstack([lb[:, 0], lb[:, 0] * (wb - 0.5) + lb[:, 1]])
    return np.asarray(total + trend * trend_a.T @ trend_b)


def _derivatives(r: Float) -> list[Float]:
    """Return the derivatives of exp(-r^2/2) up to the fourth."""
    k = np.exp(-0.5 * r * r)
    r2 = r * r
    return [k, -r * k, (r2 - 1) * k, (3 * r - r2 * r) * k, (r2 * r2 - 6 * r2 + 3) * k]
