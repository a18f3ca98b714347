"""The residuals of a system at the three stages of a step, and their derivatives (compiled)."""

from typing import NamedTuple

import numpy as np

from gode.arrays import Float, Int
from gode.compiling import inner_njit
from gode.equation.interpreter import Work, run_tape
from gode.equation.tape import Tape


class Scratch(NamedTuple):
    """What the implicit method writes to, for d states and the three stages of a step."""

    x: Float  # (columns, 3)
    point: Float  # (columns,)
    values: Float  # (d, most terms, 3) the terms of each equation
    total: Float  # (d, 3) the residuals
    grads: Float  # (d, directions, 3) their derivatives
    stack: Float
    dual: Float
    mask: Int
    const_dir: Int  # the direction that each constant is, or -1
    col_dir: Int  # the direction that each column is: first each state and its derivatives up to the highest
    matrix: Float  # (3 d, 3 d)
    pivot: Int  # (3 d,)
    error: Float  # of each entry of the state vector


@inner_njit(inline="always")  # called once
def make_scratch(tape, layout, n_columns, slopes):
    """Return scratch for a system; with directions for its constants if `slopes` are asked for.

    Each constant stands in one equation, and the constants of different equations share directions.
    """
    orders, terms = layout.orders, layout.terms
    d, n_states = len(orders), len(layout.channel)
    const_dir, col_dir = np.full(tape.n_constants, -1, np.int64), np.full(n_columns, -1, np.int64)
    n_dir, n_terms, first = n_states + d, 0, 0
    for e in range(d):
        for k in range(orders[e] + 1):
            col_dir[1 + 3 * e + k] = layout.places[e] + e + k
        n_terms = max(n_terms, terms[e + 1] - terms[e])
        count = n_states + d
        while slopes and first < len(tape.nonlinear) and tape.owner[first] < terms[e + 1]:
            const_dir[tape.nonlinear[first]] = count
            count += 1
            first += 1
        n_dir = max(n_dir, count)
    return Scratch(
        np.zeros((n_columns, 3)),
        np.zeros(n_columns),
        np.empty((d, n_terms, 3)),
        np.empty((d, 3)),
        np.empty((d, n_dir, 3)),
        np.empty((tape.depth + 1, 3)),
        np.empty((tape.depth + 1, n_dir, 3)),
        np.zeros(tape.depth + 1, np.int64),
        const_dir,
        col_dir,
        np.empty((3 * d, 3 * d)),
        np.empty(3 * d, np.int64),
        np.empty(n_states),
    )


@inner_njit(inline="always")  # so that the interpreter is not optimised once more
def residuals(tape, layout, weight, c, scratch):
    """Evaluate all equations at scratch.x; return whether every term is finite."""
    terms = layout.terms
    for e in range(len(layout.orders)):
        low, high = terms[e], terms[e + 1]
        own = Tape(
            tape.code,
            tape.arg,
            tape.literal,
            tape.starts[low : high + 1],
            tape.multiplier[low:high],
            tape.linear[low:high],
            tape.nonlinear,
            tape.owner,
            tape.n_constants,
            tape.depth,
        )
        work = Work(scratch.values[e], scratch.grads[e], scratch.stack, scratch.dual, scratch.mask)
        if not run_tape(own, c, scratch.x, scratch.const_dir, scratch.col_dir, weight[low:high], work):
            return False
        for i in range(3):
            total = 0.0
            for j in range(low, high):
                total += weight[j] * work.values[j - low, i]
            scratch.total[e, i] = total
    return True


@inner_njit
def in_parameter(tape, layout, param, e, i, scratch):
    """Return the derivative of equation `e` at stage `i` in one of its constants; zero in other numbers."""
    constants, terms = layout.constants, layout.terms
    const_dir = scratch.const_dir
    s = 0.0
    if constants[e] <= param < constants[e + 1]:
        if const_dir[param] >= 0:
            s += scratch.grads[e, const_dir[param], i]
        low = terms[e]
        for j in range(low, terms[e + 1]):
            if tape.linear[j] == param:
                s += tape.multiplier[j] * scratch.values[e, j - low, i]
    return s
