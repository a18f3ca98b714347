"""Is it the same equation? Terms, factors and functions must agree, and numbers up to a tolerance.

Or, where the forms differ, as u^2/(u^2 + 1) and 1 - 1/(u^2 + 1) do: with as many constants, some choice of
them must give the other right-hand side at random points.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from scipy.optimize import least_squares

from gode.arrays import Float
from gode.equation import Equation, Node, Skeleton
from gode.equation.normal import normal_sum
from gode.equation.skeleton import explicit_terms, term_node
from gode.equation.sums import Coefficient, from_sum, to_sum
from gode.equation.tape import COLUMNS, Tape, compile_tape, evaluate
from gode.equation.tree import add, number, unlabelled

Close = Callable[[float, float], bool]
Part = TypeVar("Part")
MAX_PASSES = 8
AGREED = 1e-6  # of the spread of the right-hand side
USUAL = 1e4  # values up to which right-hand sides are compared


def same_structure(found: Equation, true: Equation) -> bool:
    """Tell whether the equations differ in their constants only."""
    return _agree(found, true, lambda a, b: True)


def same_equation(found: Equation, true: Equation, tolerance: float) -> bool:
    """Tell whether the structure is the same and each constant lies within a share of the true one."""
    return _agree(found, true, lambda a, b: abs(a - b) <= tolerance * abs(b))


def freed(skeleton: Skeleton) -> Skeleton:
    """Return the skeleton with coefficients of one made free, too."""
    return Skeleton(from_sum(dict.fromkeys(to_sum(unlabelled(skeleton.key)))))


def _agree(found: Equation, true: Equation, close: Close) -> bool:
    return _same(found, true, close) or _same_function(found, true, close)


def _same_function(found: Equation, true: Equation, close: Close) -> bool:
    """Compare the constants with those that make the form that was found the true right-hand side."""
    form, rest = found.skeleton.rhs_terms, explicit_terms(true.tree, true.skeleton.highest)
    if form is None or rest is None or found.skeleton.highest != true.skeleton.highest:
        return False
    if found.skeleton.inputs or true.skeleton.inputs:
        return False
    if freed(found.skeleton).n_constants != freed(true.skeleton).n_constants:
        return False
    rng = np.random.default_rng(0)
    x = np.vstack([rng.uniform(0.3, 6, 200), 10 ** rng.uniform(-1, 1.5, 200), rng.uniform(-2, 2, (2, 200))])
    tape, start = compile_tape(form, COLUMNS, found.skeleton.n_constants), np.array(found.constants)
    wanted, own = _values(compile_tape(rest, COLUMNS, 0), np.zeros(0), x), _values(tape, start, x)
    usual = (np.abs(wanted) < USUAL) & (np.abs(own) < USUAL)
    if usual.sum() < 50:
        return False

    def misfit(shares: Float) -> Float:
        values = evaluate(tape, shares * start, x[:, usual]).value - wanted[usual]
        return np.clip(np.nan_to_num(values, nan=np.inf), -1e3 * USUAL, 1e3 * USUAL)

    fit = least_squares(misfit, np.ones(len(start)), xtol=1e-15, ftol=1e-15, gtol=1e-15)
    near = np.sqrt(np.mean(fit.fun**2)) <= AGREED * np.std(wanted[usual])
    return bool(near) and all(map(close, found.constants, fit.x * start))


def _values(tape: Tape, constants: Float, x: Float) -> Float:
    """Return the sum of the terms at each point, NaN where it is not finite."""
    return np.array([evaluate(tape, constants, x[:, i : i + 1]).value[0] for i in range(x.shape[1])])


def _same(found: Equation, true: Equation, close: Close) -> bool:
    """Compare what the highest derivative equals, or the residuals if it cannot be isolated."""
    if found.skeleton.highest != true.skeleton.highest:
        return False
    left, right = (explicit_terms(e.tree, e.skeleton.highest) for e in (found, true))
    if left is None or right is None:
        return _alike(from_sum(normal_sum(found.tree)), from_sum(normal_sum(true.tree)), close)
    a, b = (_normal(add(*map(term_node, side))) for side in (left, right))
    return _alike(a, b, close)


def _normal(tree: Node) -> Node:
    """Return the tree of the sum that `tree` is, without a change of scale."""
    for _ in range(MAX_PASSES):
        again = from_sum(to_sum(tree))
        if again == tree:
            break
        tree = again
    return tree


def _alike(a: Node, b: Node, close: Close) -> bool:
    """Compare two sums term by term, whatever the order."""

    def same(left: tuple[Node, Coefficient], right: tuple[Node, Coefficient]) -> bool:
        c, d = left[1], right[1]
        return (c is None or d is None or close(c, d)) and _alike_products(left[0], right[0], close)

    return _matched(list(to_sum(a).items()), list(to_sum(b).items()), same)


def _alike_products(a: Node, b: Node, close: Close) -> bool:
    left, right = (node.args if node.op == "*" else (node,) for node in (a, b))
    return _matched(left, right, lambda x, y: _alike_factors(x, y, close))


def _alike_factors(a: Node, b: Node, close: Close) -> bool:
    if a.op != b.op:
        return False
    if a.op == "num":
        return close(number(a), number(b))
    if not a.args:
        return a.value == b.value
    if a.op == "^":
        return _alike(a.args[0], b.args[0], close) and _alike_exponents(a.args[1], b.args[1], close)
    return _alike(a, b, close) if a.op == "+" else _alike(a.args[0], b.args[0], close)


def _alike_exponents(a: Node, b: Node, close: Close) -> bool:
    """Compare exponents; a whole number is part of the structure."""
    if a.op == b.op == "num" and (number(a).is_integer() or number(b).is_integer()):
        return number(a) == number(b)
    return _alike(a, b, close)


def _matched(left: Sequence[Part], right: Sequence[Part], same: Callable[[Part, Part], bool]) -> bool:
    """Tell whether the two lists can be paired so that each pair is the same."""
    if len(left) != len(right):
        return False
    if not left:
        return True
    return any(
        same(left[0], other) and _matched(left[1:], [*right[:i], *right[i + 1 :]], same)
        for i, other in enumerate(right)
    )
