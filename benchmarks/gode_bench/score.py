"""How good an equation is: its solution against the clean one, its size, and whether its structure is true.

Structures agree if terms, factors and functions do. Where the forms differ, as u^2/(u^2 + 1) and
1 - 1/(u^2 + 1), equations with equally many constants agree if some values of them give the other
right-hand side at random points.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.optimize import least_squares

from gode.arrays import Float
from gode.equation import Equation, Node, Skeleton, parse_equation
from gode.equation.sums import Coefficient, from_sum, normal_sum, to_sum
from gode.equation.tape import COLUMNS, Tape, compile_tape, evaluate
from gode.equation.terms import explicit_terms, term_node
from gode.equation.tree import add, number, unlabelled
from gode.errors import EquationError
from gode.solve import SolveConfig, solve
from gode_bench.problems import Problem, truth

CAP = 1.0  # of a relative error
TOLERANCE = 0.1  # relative, of the constants of an exact equation
CAREFUL = SolveConfig(rtol=1e-8, max_steps=50_000)
Close = Callable[[float, float], bool]
Part = TypeVar("Part")
MAX_PASSES = 8  # of bringing a sum into normal form
AGREED = 1e-6  # largest rms difference of equal right-hand sides, in standard deviations
LARGEST = 1e4  # right-hand sides are compared where they are smaller


@dataclass(frozen=True, kw_only=True)
class Score:
    """Relative L2 errors of u and u', of u'' for second order, and the comparison with the true equation.

    Errors of a system are roots of 1 - R², from both initial conditions.
    """

    errors: tuple[float, ...]  # capped at 1
    raw: tuple[float | None, ...]  # not capped; None where the solution fails
    above: bool = True  # an error exceeds 1, or there is no solution
    complexity: float | None = None  # in units of the truth's
    structure: bool = False  # the true one, with any constants
    exact: bool = False  # also the constants, within 10 %; systems: not compared
    r2: tuple[float | None, ...] = ()  # of a system, from both initial conditions; None: no solution
    components: tuple[bool, ...] = ()  # of a system: which equations have the true structure
    large: tuple[bool, ...] = ()  # the same without negligible terms
    failure: str | None = None


def failed(problem: Problem, failure: str) -> Score:
    """Return the score of a run that ended without an equation."""
    n = problem.order + 1
    return Score(errors=(CAP,) * n, raw=(None,) * n, failure=failure)


def score(problem: Problem, text: str) -> Score:
    """Return the score of the equation `text`, solved from the true initial values."""
    try:
        found = parse_equation(text)
    except EquationError as error:
        return failed(problem, f"no equation: {str(error).splitlines()[0]}")
    true = truth(problem)[1 : problem.order + 2]
    values, failure = trajectory(problem, found)
    raw = tuple(relative_error(a, b) for a, b in zip(values, true, strict=False))
    return Score(
        errors=tuple(CAP if e is None else min(e, CAP) for e in raw),
        raw=raw,
        above=any(e is None or e > CAP for e in raw),
        complexity=found.complexity / problem.equation.complexity,
        structure=same_structure(found, problem.equation),
        exact=same_equation(found, problem.equation, TOLERANCE),
        failure=failure,
    )


def trajectory(problem: Problem, found: Equation) -> tuple[tuple[Float, Float, Float], str | None]:
    """Return u, u', u'' of `found` at the times of the problem, NaN after a failure, and its reason."""
    t, _, du, d2u = truth(problem)
    nothing = np.full(len(t), np.nan)
    if not 1 <= found.order <= problem.order:
        return (nothing,) * 3, f"of order {found.order} instead of {problem.order}"
    if set(found.skeleton.inputs) - ({"F"} if problem.force else set()):
        return (nothing,) * 3, "it has an input that is not known"
    inputs = {"F": problem.force} if problem.force else None
    guide = d2u if found.order == 2 else du  # selects the root of an implicit equation
    initial = problem.initial[: found.order]
    solution = solve(found, t, initial, inputs=inputs, guide=guide, config=CAREFUL)
    failure = None if solution.failure is None else str(solution.failure)
    return (solution.u, solution.du, solution.d2u), failure


def relative_error(found: Float, true: Float) -> float | None:
    """Return the relative L2 error; None where the solution or the error is not finite."""
    if not np.all(np.isfinite(found)):
        return None
    with np.errstate(over="ignore"):
        error = float(np.linalg.norm(found - true) / np.linalg.norm(true))
    return error if np.isfinite(error) else None


def same_structure(found: Equation, true: Equation) -> bool:
    """Tell whether the equations differ only in their constants."""
    return _agree(found, true, lambda a, b: True)


def same_equation(found: Equation, true: Equation, tolerance: float) -> bool:
    """Tell whether the structure is the same and each constant within a relative `tolerance`."""
    return _agree(found, true, lambda a, b: abs(a - b) <= tolerance * abs(b))


def all_free(skeleton: Skeleton) -> Skeleton:
    """Return the skeleton with every coefficient free, also those that are one."""
    return Skeleton(from_sum(dict.fromkeys(to_sum(unlabelled(skeleton.key)))))


def _agree(found: Equation, true: Equation, close: Close) -> bool:
    return _same_terms(found, true, close) or _same_function(found, true, close)


def _same_function(found: Equation, true: Equation, close: Close) -> bool:
    """Fit the constants of the form found to the true right-hand side, and compare them with `close`."""
    form, rest = found.skeleton.rhs_terms, explicit_terms(true.tree, true.skeleton.highest)
    if form is None or rest is None or found.skeleton.highest != true.skeleton.highest:
        return False
    if found.skeleton.inputs or true.skeleton.inputs:
        return False
    if all_free(found.skeleton).n_constants != all_free(true.skeleton).n_constants:
        return False
    rng = np.random.default_rng(0)
    x = np.vstack([rng.uniform(0.3, 6, 200), 10 ** rng.uniform(-1, 1.5, 200), rng.uniform(-2, 2, (2, 200))])
    tape, start = compile_tape(form, COLUMNS, found.skeleton.n_constants), np.array(found.constants)
    wanted, own = _sums_at(compile_tape(rest, COLUMNS, 0), np.zeros(0), x), _sums_at(tape, start, x)
    small = (np.abs(wanted) < LARGEST) & (np.abs(own) < LARGEST)
    if small.sum() < 50:
        return False

    def misfit(shares: Float) -> Float:
        values = evaluate(tape, shares * start, x[:, small]).value - wanted[small]
        return np.clip(np.nan_to_num(values, nan=np.inf), -1e3 * LARGEST, 1e3 * LARGEST)

    fit = least_squares(misfit, np.ones(len(start)), xtol=1e-15, ftol=1e-15, gtol=1e-15)
    near = np.sqrt(np.mean(fit.fun**2)) <= AGREED * np.std(wanted[small])
    return bool(near) and all(map(close, found.constants, fit.x * start))


def _sums_at(tape: Tape, constants: Float, x: Float) -> Float:
    """Return the sum of the terms at each point; NaN where it is undefined."""
    return np.array([evaluate(tape, constants, x[:, i : i + 1]).value[0] for i in range(x.shape[1])])


def _same_terms(found: Equation, true: Equation, close: Close) -> bool:
    """Compare the right-hand sides, or the residuals if the highest derivative cannot be isolated."""
    if found.skeleton.highest != true.skeleton.highest:
        return False
    left, right = (explicit_terms(e.tree, e.skeleton.highest) for e in (found, true))
    if left is None or right is None:
        return _alike(from_sum(normal_sum(found.tree)), from_sum(normal_sum(true.tree)), close)
    a, b = (_normal(add(*map(term_node, side))) for side in (left, right))
    return _alike(a, b, close)


def _normal(tree: Node) -> Node:
    """Return `tree` as a normalised sum; its scale is kept."""
    for _ in range(MAX_PASSES):
        again = from_sum(to_sum(tree))
        if again == tree:
            break
        tree = again
    return tree


def _alike(a: Node, b: Node, close: Close) -> bool:
    """Compare two sums term by term, in any order."""

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
    """Compare exponents; integers belong to the structure and must be equal."""
    if a.op == b.op == "num" and (number(a).is_integer() or number(b).is_integer()):
        return number(a) == number(b)
    return _alike(a, b, close)


def _matched(left: Sequence[Part], right: Sequence[Part], same: Callable[[Part, Part], bool]) -> bool:
    """Tell whether the lists can be paired so that every pair agrees."""
    if len(left) != len(right):
        return False
    if not left:
        return True
    return any(
        same(left[0], other) and _matched(left[1:], [*right[:i], *right[i + 1 :]], same)
        for i, other in enumerate(right)
    )
