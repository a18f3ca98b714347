"""Starting values of the nonlinear constants, scaled by the data (compiled)."""

import math

import numpy as np

from gode.compiling import cached_njit, inner_njit
from gode.equation.interpreter import run_tape, workspace
from gode.equation.point import operands, value_at_point
from gode.equation.tape import ADDEND, EXPONENT, FREQUENCY, KINK

FACTOR_STARTS = np.array([1.0, -1.0, 3.0, -3.0, 0.3, -0.3, 8.0, 2.0, 20.0, -8.0, 5.0, 12.0])
ADDEND_STARTS = np.array([1.0, -0.5, 0.3, 3.0, -2.0, 0.1, 10.0, 0.6, -0.1, 1.5, -5.0, 30.0])
EXPONENT_STARTS = np.array([1.5, 0.5, -1.0, 2.5, 0.8, 3.5, -0.5, 1.2, -2.0, 0.2, 4.5, -0.2])
# Where a kink may lie in the range of what bends there.
KINK_STARTS = np.array([0.5, 0.3, 0.7, 0.15, 0.85, 0.4, 0.6, 0.05, 0.95, 0.2, 0.8, 0.1])
STRIDES = np.array([1, 5, 7, 11, 3, 4, 8, 9])  # a different walk through the starts for each constant


@inner_njit(fastmath={"reassoc", "contract"})
def dot(a, i, b, j):
    """Return the inner product of rows a[i] and b[j]."""
    s = 0.0
    for m in range(a.shape[1]):
        s += a[i, m] * b[j, m]
    return s


@cached_njit
def starting_values(tape, scale_tape, role, x, n_starts):
    """Return (n_starts, q) values of the nonlinear constants, each in the size its neighbours suggest."""
    n = x.shape[1]
    q = len(role)
    thetas = np.ones((n_starts, q))
    left, _ = operands(scale_tape, np.zeros(x.shape[0], np.bool_))
    values = np.empty(len(scale_tape.code))
    c, one = np.ones(tape.n_constants), np.ones(1)
    only, sums = np.zeros(1, np.int64), np.empty(1)
    place = np.empty(x.shape[0])
    for i in range(q):
        total, low, high = 0.0, np.inf, -np.inf
        for m in range(n):
            for r in range(x.shape[0]):
                place[r] = x[r, m]
            value_at_point(
                scale_tape.code,
                scale_tape.arg,
                scale_tape.literal,
                scale_tape.starts[i : i + 2],
                left,
                c,
                one,
                only,
                place,
                values,
                sums,
            )
            value = sums[0]
            total += value * value
            low, high = min(low, value), max(high, value)
        size = math.sqrt(total / n)
        if not (math.isfinite(size) and size > 0.0):
            size = 1.0
        for s in range(n_starts):
            pick = (s * STRIDES[i % 8] + s // 12 * i) % 12  # after a dozen, other combinations
            if role[i] == FREQUENCY:  # a quarter of a cycle more over the record from start to start
                quarter = 0.5 * math.pi / (high - low) if high > low else 1.0
                thetas[s, i] = quarter * (1.0 + (s * STRIDES[i % 8]) % n_starts)
            elif role[i] == EXPONENT:
                thetas[s, i] = EXPONENT_STARTS[pick]
            elif role[i] == KINK and high > low:
                thetas[s, i] = -low - KINK_STARTS[pick] * (high - low)
            elif role[i] == ADDEND or role[i] == KINK:
                thetas[s, i] = ADDEND_STARTS[pick] * size
            else:
                thetas[s, i] = FACTOR_STARTS[pick] / size
    return thetas


@cached_njit
def term_at_starts(tape, scale_tape, role, x, n_starts):
    """Return the one term of `tape` (n_starts, n) at all starting values; NaN where it is not finite."""
    thetas = starting_values(tape, scale_tape, role, x, n_starts)
    zero = n_starts - n_starts  # not a literal, for which numba would compile everything again
    work = workspace(len(tape.multiplier), tape.depth, zero, x.shape[1])
    no_constants, no_columns = np.full(tape.n_constants, -1), np.full(x.shape[0], -1)
    out = np.full((n_starts, x.shape[1]), np.nan)
    for s in range(n_starts):
        if run_tape(tape, thetas[s], x, no_constants, no_columns, tape.multiplier, work):
            for m in range(x.shape[1]):
                out[s, m] = work.values[0, m]
    return out
