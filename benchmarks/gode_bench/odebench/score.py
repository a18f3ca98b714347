"""How good the equations found for a system are: R² from both initial conditions, and their structure."""

import re
from collections.abc import Sequence

import numpy as np

from gode.arrays import Float
from gode.equation import Equation, Node, parse_equation, parse_tree
from gode.equation.tree import STATE, var
from gode.errors import EquationError
from gode_bench.odebench.structure import structure, structure_of_large_terms
from gode_bench.odebench.systems import CAREFUL, SystemProblem, clean, solution
from gode_bench.score import CAP, Score

SUCCESS = 0.9  # a larger R² is a success, as in the paper of ODEBench


def failed_system(one: SystemProblem, failure: str) -> Score:
    """Return the score of a run that ended without equations."""
    none = (False,) * len(one.states)
    return Score(
        errors=(CAP, CAP), raw=(None, None), r2=(None, None), components=none, large=none, failure=failure
    )


def score_system(one: SystemProblem, text: str) -> Score:
    """Return the score of `text`, an equation for each state in their order.

    The solution starts from the clean initial values and is compared with the clean one, first from the
    initial condition of the data, then from the other.
    """
    try:
        found = read_equations(text, one.states)
        trees = [_right(each, name) for each, name in zip(found, one.states, strict=True)]
    except EquationError as error:
        return failed_system(one, f"no equations: {str(error).splitlines()[0]}")
    solved = [solution(trees, one.states, start, one.t, CAREFUL) for start in one.initials]
    r2 = tuple(r_squared(got, clean(one, which)) for which, got in enumerate(solved))
    raw = tuple(None if value is None else max(1 - value, 0.0) ** 0.5 for value in r2)
    components = tuple(same_structure(a, b) for a, b in zip(trees, one.trees, strict=True))
    true = read_equations("\n".join(one.truths), one.states)
    return Score(
        errors=tuple(CAP if e is None else min(e, CAP) for e in raw),
        raw=raw,
        above=any(e is None or e > CAP for e in raw),
        complexity=sum(e.complexity for e in found) / sum(e.complexity for e in true),
        structure=all(components),
        r2=r2,
        components=components,
        large=tuple(
            same or same_structure(a, b, _columns(one))
            for same, a, b in zip(components, trees, one.trees, strict=True)
        ),
        failure=None if None not in r2 else "it cannot be solved from both initial conditions",
    )


def r_squared(found: Float | None, true: Float) -> float | None:
    """Return the variance-weighted R² over the states, arrays (n, d); None, minus infinity, on failure."""
    if found is None:
        return None
    with np.errstate(all="ignore"):
        value = 1 - np.sum((found - true) ** 2) / np.sum((true - np.mean(true, axis=0)) ** 2)
    return float(value) if np.isfinite(value) else None


def succeeded(r2: float | None) -> bool:
    """Tell whether this R² is a success."""
    return r2 is not None and r2 > SUCCESS


def same_structure(found: Node, true: Node, columns: dict[str, Float] | None = None) -> bool:
    """Tell whether right-hand sides differ only in constants; with `columns`, but for negligible terms."""
    try:
        own = structure(found) if columns is None else structure_of_large_terms(found, columns)
        return own == structure(true)
    except (EquationError, ArithmeticError, ValueError):
        return False


def read_equations(text: str, states: Sequence[str]) -> list[Equation]:
    """Return the equations, one a line, each in its own view: its state is u.

    A single equation may be written in u.

    Raises:
        EquationError: if there is not one explicit equation of first order for each state.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) != len(states):
        raise EquationError(f"expected {len(states)} equations, got {len(lines)}")
    found = []
    for line, name in zip(lines, states, strict=True):
        others = tuple(other for other in states if other != name)
        each = parse_equation(re.sub(rf"\b{name}\b", STATE, line), inputs=others)
        if each.order != 1:
            raise EquationError(f"the equation of {name} is of order {each.order} instead of 1")
        found.append(each)
    return found


def _right(equation: Equation, name: str) -> Node:
    """Return the explicit right-hand side in the names of the states."""
    return _renamed(parse_tree(equation.rhs(None), inputs=equation.skeleton.inputs), name)


def _renamed(tree: Node, name: str) -> Node:
    if tree.op == "var" and tree.value == STATE:
        return var(name)
    return tree._replace(args=tuple(_renamed(arg, name) for arg in tree.args))


def _columns(one: SystemProblem) -> dict[str, Float]:
    return {"t": one.t, **dict(zip(one.states, clean(one).T, strict=True))}
