"""Nelder & Mead's simplex search for the constants that make a residual small (compiled).

Step for step the method of SciPy's `minimize`, which the paper calls; a test compares the two.
"""

import math

import numpy as np

from gode.equation.interpreter import run_tape
from gode.numba_cache import cached_njit, inner_njit

FIRST_STEP = 0.05  # of the starting value, along each constant
FIRST_STEP_FROM_ZERO = 0.00025


@inner_njit
def root_mean_square(tape, c, x, const_dir, col_dir, work):
    """Return the root mean square of the sum of all terms; inf where a value is not finite."""
    if not run_tape(tape, c, x, const_dir, col_dir, tape.multiplier, work):
        return np.inf
    n = x.shape[1]
    total = 0.0
    for m in range(n):
        s = 0.0
        for j in range(len(tape.multiplier)):
            w = tape.multiplier[j]
            if tape.linear[j] >= 0:
                w *= c[tape.linear[j]]
            s += w * work.values[j, m]
        total += s * s
    value = math.sqrt(total / n)
    return value if math.isfinite(value) else np.inf


@inner_njit(allocates=True)
def sort_simplex(points, values):
    """Sort the corners by their values, best first; equal ones keep their order."""
    order = np.argsort(values, kind="mergesort")
    points[:] = points[order]
    values[:] = values[order]


@cached_njit(allocates=True)
def simplex_kernel(tape, x, start, xatol, fatol, max_iterations, work):
    """Return (loss, constants, evaluations) of the simplex search from `start`."""
    k = len(start)
    const_dir = np.full(max(k, 1), -1, np.int64)
    col_dir = np.full(x.shape[0], -1, np.int64)
    points, values = np.empty((k + 1, k)), np.empty(k + 1)
    for i in range(k + 1):
        points[i] = start
        if i > 0:
            moved = start[i - 1] * (1 + FIRST_STEP)
            points[i, i - 1] = moved if start[i - 1] != 0 else FIRST_STEP_FROM_ZERO
        values[i] = root_mean_square(tape, points[i], x, const_dir, col_dir, work)
    evaluations = k + 1
    sort_simplex(points, values)
    for _ in range(max_iterations - 1 if k > 0 else 0):
        far, spread = 0.0, 0.0
        for i in range(1, k + 1):
            for j in range(k):
                far = max(far, abs(points[i, j] - points[0, j]))
            spread = max(spread, abs(values[0] - values[i]))
        if (far <= xatol and spread <= fatol) or not math.isfinite(values[0]):
            break
        middle = np.zeros(k)
        for i in range(k):
            middle += points[i]
        middle /= k
        shrink = False
        tried = 2 * middle - points[k]
        value = root_mean_square(tape, tried, x, const_dir, col_dir, work)
        evaluations += 1
        if value < values[0]:
            further = 3 * middle - 2 * points[k]
            beyond = root_mean_square(tape, further, x, const_dir, col_dir, work)
            evaluations += 1
            if beyond < value:
                tried, value = further, beyond
        elif value >= values[k - 1]:
            inside = value >= values[k]
            nearer = 0.5 * middle + 0.5 * points[k] if inside else 1.5 * middle - 0.5 * points[k]
            contracted = root_mean_square(tape, nearer, x, const_dir, col_dir, work)
            evaluations += 1
            shrink = contracted >= values[k] if inside else contracted > value
            tried, value = nearer, contracted
        if shrink:
            for i in range(1, k + 1):
                points[i] = points[0] + 0.5 * (points[i] - points[0])
                values[i] = root_mean_square(tape, points[i], x, const_dir, col_dir, work)
            evaluations += k
        else:
            points[k] = tried
            values[k] = value
        sort_simplex(points, values)
    return values[0], points[0].copy(), evaluations
