"""How good is an equation: its solution against the clean truth, its size, its structure."""

from dataclasses import dataclass

import numpy as np

from gode.arrays import Float
from gode.benchmarks.problems import Problem, truth
from gode.benchmarks.structure import same_equation, same_structure
from gode.equation import Equation, parse_equation
from gode.errors import EquationError
from gode.solve import SolveConfig, solve

CAP = 1.0
TOLERANCE = 0.1  # of the constants of an exact structure
CAREFUL = SolveConfig(rtol=1e-8, max_steps=50_000)


@dataclass(frozen=True, kw_only=True)
class Score:
    """The relative L2 errors of u and u', and of u'' for a second-order problem, and the rest."""

    errors: tuple[float, ...]  # capped at 1
    raw: tuple[float | None, ...]  # as they are; None where the solution fails
    above: bool = True  # an error exceeds 1, or there is no solution
    complexity: float | None = None  # in units of the truth's
    structure: bool = False  # the true one, whatever the constants
    exact: bool = False  # and its constants within 10 %
    failure: str | None = None


def failed(problem: Problem, failure: str) -> Score:
    """Return the score of a run that ended without an equation."""
    n = problem.order + 1
    return Score(errors=(CAP,) * n, raw=(None,) * n, failure=failure)


def score(problem: Problem, text: str) -> Score:
    """Return how well the equation `text` reproduces the clean trajectory from the true initial values."""
    try:
        found = parse_equation(text)
    except EquationError as error:
        return failed(problem, f"no equation: {str(error).splitlines()[0]}")
    true = truth(problem)[1 : problem.order + 2]
    values, failure = trajectory(problem, found)
    raw = tuple(_relative(a, b) for a, b in zip(values, true, strict=False))
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
    """Return u, u', u'' of `found` over the problem's times, NaN where it fails, and why it fails."""
    t, _, du, d2u = truth(problem)
    nothing = np.full(len(t), np.nan)
    if not 1 <= found.order <= problem.order:
        return (nothing,) * 3, f"of order {found.order} instead of {problem.order}"
    if set(found.skeleton.inputs) - ({"F"} if problem.force else set()):
        return (nothing,) * 3, "it has an input that is not known"
    inputs = {"F": problem.force} if problem.force else None
    guide = d2u if found.order == 2 else du  # only to choose between the roots of an implicit equation
    initial = problem.initial[: found.order]
    solution = solve(found, t, initial, inputs=inputs, guide=guide, config=CAREFUL)
    failure = None if solution.failure is None else str(solution.failure)
    return (solution.u, solution.du, solution.d2u), failure


def _relative(found: Float, true: Float) -> float | None:
    if not np.all(np.isfinite(found)):
        return None
    with np.errstate(over="ignore"):
        error = float(np.linalg.norm(found - true) / np.linalg.norm(true))
    return error if np.isfinite(error) else None
