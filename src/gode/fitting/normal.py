"""The normal equations of a trajectory fit, dense or arrow-shaped, and their damped solution."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gode.arrays import Bool, Float
from gode.compiling import cached_njit

LARGEST = 1e200  # Entries of the normal matrix must be smaller, so that it can be inverted.


class Normal(NamedTuple):
    """The normal matrix J J^T (k, k) and the gradient J r (k,) of residuals r with derivatives J (k, n)."""

    matrix: Float
    gradient: Float

    def held_at(self, at_bound: Bool) -> "Normal":
        """Return the equations whose solution is zero for the numbers that would leave their bounds."""
        matrix = np.where(at_bound | at_bound[:, None], 0.0, self.matrix) + np.diag(at_bound.astype(float))
        return Normal(matrix, np.where(at_bound, 0.0, self.gradient))


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


def damped_arrow_step(runs: Sequence[Normal], shared: Sequence[int], damping: float) -> list[Float]:
    """Return the damped step in the numbers of each run; the shared ones take the same step in all runs.

    The shared numbers x and the numbers y_i of each run alone have normal equations in the form of an arrow,

        sum_i A_i x + sum_i B_i y_i = sum_i f_i,     B_i^T x + D_i y_i = g_i,

    from which the y_i are eliminated (Schur complement):

        sum_i (A_i - B_i D_i^-1 B_i^T) x = sum_i (f_i - B_i D_i^-1 g_i),     y_i = D_i^-1 (g_i - B_i^T x).
    """
    s = list(shared)
    schur = _damped(np.asarray(sum(run.matrix[np.ix_(s, s)] for run in runs)), damping)
    right = sum(run.gradient[s] for run in runs)
    eliminated = []
    for run in runs:
        alone = [i for i in range(len(run.gradient)) if i not in s]
        inverse = np.linalg.pinv(_damped(run.matrix[np.ix_(alone, alone)], damping), hermitian=True)
        across = run.matrix[np.ix_(s, alone)] @ inverse
        schur = schur - across @ run.matrix[np.ix_(alone, s)]
        right = right - across @ run.gradient[alone]
        eliminated.append((alone, inverse))
    x = np.linalg.pinv(schur, hermitian=True) @ right
    steps = []
    for run, (alone, inverse) in zip(runs, eliminated, strict=True):
        step = np.empty(len(run.gradient))
        step[s] = x
        step[alone] = inverse @ (run.gradient[alone] - run.matrix[np.ix_(alone, s)] @ x)
        steps.append(step)
    return steps


def _damped(normal: Float, damping: float) -> Float:
    """Return a normal matrix with its diagonal raised; numbers without effect are damped, too."""
    size = np.diag(normal)
    return normal + np.diag(damping * np.where(size > 0, size, float(size.max(initial=0.0)) * 1e-12 + 1e-300))
