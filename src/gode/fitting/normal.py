"""The normal equations of a trajectory fit, dense or arrow-shaped, and their damped solution."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gode.arrays import Bool, Float, Int
from gode.data.from_arrays import MAX_SIZE
from gode.numba_cache import cached_njit


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
    for d in range(weights.shape[1]):
        for i in range(len(weights)):
            w = weights[i, d]
            if w > 0.0:
                r = (observed[i, d] - out[d, i]) * w
                for p in range(len(columns)):
                    slope = sens[p, d, i] * w
                    gradient[columns[p]] += slope * r
                    for q in range(p + 1):
                        normal[columns[p], columns[q]] += slope * (sens[q, d, i] * w)
    usable = True
    for p in range(len(normal)):
        usable = usable and normal[p, p] < MAX_SIZE**2  # so that it can be inverted
        for q in range(p):
            normal[q, p] = normal[p, q]
    return usable


def add_rows(residuals: Float, slopes: Float, columns: Int, normal: Normal) -> bool:
    """Add residuals (m,) with minus their derivatives (numbers, m) to J J^T and J r, if these can be used.

    Returns whether they can. `columns` is the place of each of the numbers among the k that are fitted.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        squares = slopes @ slopes.T
    if not (np.diag(squares) < MAX_SIZE**2).all():
        return False
    normal.matrix[np.ix_(columns, columns)] += squares
    normal.gradient[columns] += slopes @ residuals
    return True


def damped_step(normal: Float, gradient: Float, damping: float) -> Float:
    """Return the solution x of (N + damping * diag N) x = gradient; NaN where that is singular."""
    m, x = normal.copy(), gradient.copy()
    if not solve_damped_normal(m, x, damping):
        x[:] = np.nan
    return x


@cached_njit
def solve_damped_normal(m, x, damping):
    """Do so in place by elimination with pivoting; return whether that worked."""
    n = len(x)
    largest = 0.0
    for i in range(n):
        largest = max(largest, m[i, i])
    for i in range(n):
        m[i, i] += damping * (m[i, i] if m[i, i] > 0.0 else largest * 1e-12 + 1e-300)
    for i in range(n):
        pivot = i
        for r in range(i + 1, n):
            if abs(m[r, i]) > abs(m[pivot, i]):
                pivot = r
        if not abs(m[pivot, i]) > 0.0 or not math.isfinite(m[pivot, i]):
            return False
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
    return True


def damped_arrow_step(runs: Sequence[Normal], shared: Sequence[int], damping: float) -> list[Float]:
    """Return the damped step in the numbers of each run; the shared ones take the same step in all runs.

    It is NaN where the equations cannot be solved.

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
        with np.errstate(over="ignore", invalid="ignore"):
            across = run.matrix[np.ix_(s, alone)] @ inverse
            schur = schur - across @ run.matrix[np.ix_(alone, s)]
            right = right - across @ run.gradient[alone]
        eliminated.append((alone, inverse))
    if not (np.isfinite(schur).all() and np.isfinite(right).all()):
        return [np.full(len(run.gradient), np.nan) for run in runs]
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
