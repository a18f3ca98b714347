"""The normal equations of a trajectory fit (compiled)."""

import math

import numpy as np

from gode.compiling import cached_njit

LARGEST = 1e200  # entry of the normal matrix that can still be inverted


@cached_njit
def add_normal(out, sens, observed, weights, columns, normal, gradient):
    """Add one run to the normal matrix J J^T (k, k) and to J r (k,); return whether both can be used.

    `columns` is the place of each of the run's sensitivities among the k numbers that are fitted.
    """
    row = np.empty(len(columns))
    for d in range(weights.shape[1]):
        for i in range(len(weights)):
            w = weights[i, d]
            if w > 0.0:
                r = (observed[i, d] - out[d, i]) * w
                for p in range(len(columns)):
                    row[p] = sens[p, d, i] * w
                    gradient[columns[p]] += row[p] * r
                    for q in range(p + 1):
                        normal[columns[p], columns[q]] += row[p] * row[q]
    usable = True
    for p in range(len(normal)):
        usable = usable and normal[p, p] < LARGEST
        for q in range(p):
            normal[q, p] = normal[p, q]
    return usable


@cached_njit
def damped_step(normal, gradient, damping):
    """Solve (N + damping * diag N) x = gradient by elimination with pivoting; NaN where that is singular."""
    n = len(gradient)
    m, x = normal.copy(), gradient.copy()
    largest = 0.0
    for i in range(n):
        largest = max(largest, normal[i, i])
    for i in range(n):
        m[i, i] += damping * (normal[i, i] if normal[i, i] > 0.0 else largest * 1e-12 + 1e-300)
    for i in range(n):
        pivot = i
        for r in range(i + 1, n):
            if abs(m[r, i]) > abs(m[pivot, i]):
                pivot = r
        if not abs(m[pivot, i]) > 0.0 or not math.isfinite(m[pivot, i]):
            return np.full(n, np.nan)
        if pivot != i:
            for q in range(n):
                m[i, q], m[pivot, q] = m[pivot, q], m[i, q]
            x[i], x[pivot] = x[pivot], x[i]
        for r in range(i + 1, n):
            f = m[r, i] / m[i, i]
            for q in range(i, n):
                m[r, q] -= f * m[i, q]
            x[r] -= f * x[i]
    for i in range(n - 1, -1, -1):
        for q in range(i + 1, n):
            x[i] -= m[i, q] * x[q]
        x[i] /= m[i, i]
    return x
