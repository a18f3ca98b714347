"""The residuals of a system at the three stages of a step, and their derivatives (compiled)."""

from typing import NamedTuple

import numpy as np

from gode.arrays import Float, Int
from gode.compiling import inner_njit
from gode.equation.interpreter import Work, run_tape, workspace


class Scratch(NamedTuple):
    """What the implicit method writes to, for d states and the three stages of a step."""

    x: Float  # (columns, 3)
    point: Float  # (columns,)
    work: Work  # of the interpreter, for one equation after the other
    total: Float  # (d, 3) the residuals
    grads: Float  # (d, directions, 3) their derivatives
    const_dir: Int  # the direction that each constant is, or -1
    col_dir: Int  # the direction that each column is: first each state and its derivatives up to the highest
    matrix: Float  # (3 d, 3 d)
    pivot: Int  # (3 d,)
    error: Float  # of each entry of the state vector
    rate: Float  # (d,) what infusions add to the highest derivatives


@inner_njit(inline="always")  # called once
def make_scratch(tape, layout, n_columns, slopes):
    """Return scratch for a system; with directions for its constants if `slopes` are asked for.

    Each constant stands in one equation, and the constants of different equations share directions.
    """
    orders, terms = layout.orders, layout.terms
    d, n_states = len(orders), len(layout.channel)
    const_dir, col_dir = np.full(tape.n_constants, -1, np.int64), np.full(n_columns, -1, np.int64)
    n_dir, first = n_states + d, 0
    for e in range(d):
        for k in range(orders[e] + 1):
            col_dir[1 + 3 * e + k] = layout.places[e] + e + k
        count = n_states + d
        while slopes and first < len(tape.nonlinear) and tape.owner[first] < terms[e + 1]:
            const_dir[tape.nonlinear[first]] = count
            count += 1
            first += 1
        n_dir = max(n_dir, count)
    return Scratch(
        np.zeros((n_columns, 3)),
        np.zeros(n_columns),
        workspace(len(tape.multiplier), tape.depth, n_dir, 3 * (d // d)),  # not a literal: compiled once
        np.empty((d, 3)),
        np.empty((d, n_dir, 3)),
        const_dir,
        col_dir,
        np.empty((3 * d, 3 * d)),
        np.empty(3 * d, np.int64),
        np.empty(n_states),
        np.zeros(d),
    )


@inner_njit
def residuals(tape, layout, weight, c, scratch):
    """Evaluate all equations at scratch.x; return whether every term is finite."""
    terms, work, grads = layout.terms, scratch.work, scratch.grads
    for e in range(len(terms) - 1):
        work.span[0], work.span[1] = terms[e], terms[e + 1]
        if not run_tape(tape, c, scratch.x, scratch.const_dir, scratch.col_dir, weight, work):
            return False
        for k in range(grads.shape[1]):
            for i in range(3):
                grads[e, k, i] = work.grads[k, i]
        for i in range(3):
            total = 0.0
            for j in range(terms[e], terms[e + 1]):
                total += weight[j] * work.values[j, i]
            scratch.total[e, i] = total
    return True


@inner_njit
def in_parameter(multiplier, linear, values, grads, const_dir, constants, terms, param, e, i):
    """Return the derivative of equation `e` at stage `i` in one of its constants; zero in other numbers."""
    s = 0.0
    if constants[e] <= param < constants[e + 1]:
        if const_dir[param] >= 0:
            s += grads[e, const_dir[param], i]
        for j in range(terms[e], terms[e + 1]):
            if linear[j] == param:
                s += multiplier[j] * values[j, i]
    return s
