"""The least-squares problem that columns pose to any skeleton, and whether the samples resolve it.

Residual form (eq. 4): the equation itself is to vanish at every point. Integral form: u - u0 is to be
the integral of the right-hand side, for second order u - u0 - v0 (t - t0) its double integral; the
initial values are extra linear unknowns of each run, removed from both sides beforehand, unless known.
Integration needs no derivative of noisy data, which is why it ranks skeletons far better.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gode.arrays import Float, Int
from gode.data import Columns
from gode.equation import Equation, Law, Node, Term
from gode.equation.operators import FUNCTIONS
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import index, number, walk
from gode.errors import DataError

MARGIN = 0.1  # Poles must lie outside the data by this share of their distance from the mean.
STENCIL = 4  # The interpolating cubic behind each panel of the quadrature has so many points.


class Form(StrEnum):
    """Which residual is squared and summed."""

    RESIDUAL = "residual"
    INTEGRAL = "integral"


class Operator(NamedTuple):
    """What is done to every column before it is compared with the target; a tuple for compiled code."""

    x: Float  # (columns, n)
    wide: Float  # (columns, n) the same, a little farther from the mean: where no pole may lie
    starts: Int  # (runs + 1,)
    order: int  # how often columns are integrated; 0 in residual form
    target: Float  # (n,)
    stencil: Int  # (n,) first point of the panel that ends at each point
    weights: Float  # (n, STENCIL) quadrature weights of that panel
    basis: Float  # (0..2, n) orthonormal per run: the shapes the unknown initial values add


@dataclass(frozen=True)
class Regression:
    """Columns, and how a skeleton is compared with them."""

    columns: Columns
    form: Form
    operator: Operator


def residual_problem(columns: Columns) -> Regression:
    """Return the problem of making the residual vanish on `columns` (eq. 4)."""
    n = columns.n_points
    nothing = np.zeros(n, np.int64), np.zeros((n, STENCIL)), np.zeros((0, n))
    operator = Operator(columns.matrix, widened(columns), columns.starts, 0, np.zeros(n), *nothing)
    return Regression(columns, Form.RESIDUAL, operator)


def integral_problem(
    measured: Columns,
    order: int,
    *,
    initial: Sequence[Sequence[float]] | Sequence[Float] | None = None,
    columns: Columns | None = None,
) -> Regression:
    """Return the problem of reproducing u by integrating the right-hand side `order` times.

    Args:
        measured: the columns whose u is to be reproduced.
        columns: the columns over which the right-hand side is evaluated, if others: smoothed ones.
        initial: the initial values of each run, `order` of them, NaN where unknown; None if all are.

    Raises:
        DataError: if the initial values do not match the runs and the order.
    """
    columns = columns or measured
    t, u = measured.matrix[0], measured.matrix[1]
    stencil, weights = _quadrature(t, columns.starts)
    since = t - np.repeat(t[columns.starts[:-1]], np.diff(columns.starts))
    shapes = np.vstack([np.ones_like(t), since])[:order]
    known = _known_initial(initial, columns, order)
    basis = _orthonormal(np.where(np.isfinite(known).all(axis=0), 0.0, shapes), columns.starts)
    offset = np.einsum("on,on->n", np.where(np.isfinite(known).all(axis=0), known, 0.0), shapes)
    target = _without(u - offset, basis, columns.starts)
    operator = Operator(
        columns.matrix, widened(columns), columns.starts, order, target, stencil, weights, basis
    )
    return Regression(columns, Form.INTEGRAL, operator)


def widened(columns: Columns) -> Float:
    """Return the columns' values spread out by the margin, but not beyond zero, where 1/u has its pole."""
    x = columns.matrix
    wide = x + MARGIN * (x - x.mean(axis=1, keepdims=True))
    return np.where(wide * x > 0, wide, (1 - MARGIN) * x)


def _known_initial(
    initial: Sequence[Sequence[float]] | Sequence[Float] | None, columns: Columns, order: int
) -> Float:
    """Return the initial values (order, n), each repeated over its run; NaN where they are unknown."""
    n_runs = len(columns.starts) - 1
    values = np.full((n_runs, order), np.nan) if initial is None else np.asarray(initial, np.float64)
    if values.shape != (n_runs, order) or np.any(np.isinf(values)):
        raise DataError(
            f"expected {order} finite initial value(s) for each of {n_runs} run(s), got {values.shape}; "
            "pass one list per run, with NaN for what is unknown"
        )
    return np.repeat(values, np.diff(columns.starts), axis=0).T


def _orthonormal(shapes: Float, starts: Int) -> Float:
    """Return an orthonormal basis of the shapes of each run; no rows where the shapes of all are zero."""
    basis = np.zeros_like(shapes)
    for start, stop in pairwise(starts):
        if shapes[:, start:stop].any():
            q, _ = np.linalg.qr(shapes[:, start:stop].T)
            basis[: q.shape[1], start:stop] = q.T
    return basis[: len(basis) if basis.any() else 0]


def _without(u: Float, basis: Float, starts: Int) -> Float:
    """Return `u` less its part along `basis`, run by run."""
    rest = u.copy()
    for start, stop in pairwise(starts):
        part = basis[:, start:stop]
        rest[start:stop] -= part.T @ (part @ rest[start:stop])
    return rest


def _quadrature(t: Float, starts: Int) -> tuple[Int, Float]:
    """Return, for each point, the panel from the point before it: first node and weights of a cubic.

    A time that is there twice is one at which an input jumps: no cubic reaches across it.
    """
    stencil = np.zeros(len(t), np.int64)
    weights = np.zeros((len(t), STENCIL))
    jumps = np.flatnonzero(np.diff(t) == 0) + 1
    for start, stop in pairwise(np.union1d(starts, jumps)):
        stencil[start] = start
        size = min(STENCIL, stop - start)
        for i in range(start + 1, stop):
            first = min(max(i - size // 2, start), stop - size)
            stencil[i] = first
            weights[i, :size] = _panel_weights(t[first : first + size], t[i - 1], t[i])
    return stencil, weights


def _panel_weights(nodes: Float, a: float, b: float) -> Float:
    """Return the weights with which values at `nodes` give the integral from a to b of their polynomial."""
    middle, half = (a + b) / 2, (b - a) / 2
    x = (nodes - middle) / half
    powers = np.arange(len(nodes))
    moments = (1.0 - (-1.0) ** (powers + 1)) / (powers + 1)
    return np.asarray(half * np.linalg.solve(np.vander(x, increasing=True).T, moments), np.float64)


def is_resolved(law: Law, columns: Columns) -> bool:
    """Tell whether every function with constants inside changes slowly enough along these samples."""
    return all(_is_resolved(e, columns.seen(i), columns) for i, e in enumerate(law.equations))


def _is_resolved(equation: Equation, names: tuple[str, ...], columns: Columns) -> bool:
    """Tell it of one equation, which calls the columns by `names`."""
    nodes = list(walk(equation.skeleton.normal))
    bent = [(n, FUNCTIONS[n.op].resolved) for n in nodes if n.op in FUNCTIONS and _has_constant(n)]
    poles = [n.args[0] for n in nodes if n.op == "log" or (n.op == "^" and _exponent(n, equation) < 0)]
    return all(
        most == math.inf or _change(n.args[0], equation, names, columns) <= most for n, most in bent
    ) and all(_keeps_off_zero(base, equation, names, columns) for base in poles)


def _exponent(node: Node, equation: Equation) -> float:
    """Return the exponent of a power if it is a number or a fitted constant, else 0."""
    exponent = node.args[1]
    if exponent.op == "const":
        return equation.constants[index(exponent)]
    return number(exponent) if exponent.op == "num" else 0.0


def _has_constant(node: Node) -> bool:
    return any(inner.op == "const" for inner in walk(node.args[0]))


def _keeps_off_zero(base: Node, equation: Equation, names: tuple[str, ...], columns: Columns) -> bool:
    """Tell whether `base` changes by less than ten times between samples, and has no zero on or near them."""
    before, after = _neighbours(base, equation, names, columns)
    one, other = _neighbours(base, equation, names, replace(columns, matrix=widened(columns)))
    with np.errstate(all="ignore"):  # an overflow counts as unresolved
        share = after / before
        return bool(np.all((share > 0.1) & (share < 10)) and np.all(one * other > 0))


def _change(argument: Node, equation: Equation, names: tuple[str, ...], columns: Columns) -> float:
    """Return the median change of `argument` between neighbouring samples."""
    before, after = _neighbours(argument, equation, names, columns)
    with np.errstate(all="ignore"):
        change = float(np.median(np.abs(after - before)))
    return change if np.isfinite(change) else np.inf


def _neighbours(
    node: Node, equation: Equation, names: tuple[str, ...], columns: Columns
) -> tuple[Float, Float]:
    """Return the values of `node` at all samples but the last and but the first of each run."""
    tape = compile_tape([Term(1.0, None, node)], names, equation.skeleton.n_constants)
    values = evaluate(tape, equation.constants, columns.matrix).value
    inside = np.ones(len(values) - 1, bool)
    inside[columns.starts[1:-1] - 1] = False
    return values[:-1][inside], values[1:][inside]
