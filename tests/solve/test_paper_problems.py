"""All 43 problems of the paper, against SciPy's integrators and the closed forms."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from gode.equation import Node, parse_tree
from gode.solve import SolveConfig, solve
from gode_bench.problems import SUITES, Problem, problem

ALL = [one for problems in SUITES.values() for one in problems]
ACCURATE = SolveConfig(rtol=1e-10)
TOLERANCE = 5e-8  # relative to the largest value; the worst is 2e-9, and 2e-8 for u'' at the start of NLODE4
FUNCTIONS = {"sin": np.sin, "cos": np.cos, "exp": np.exp, "log": np.log}

# the branch of the closed form, solved for u'' by hand
IMPLICIT: dict[str, Callable[[float, float, float], float]] = {
    "NLODE2": lambda t, u, v: -4 / t**3 / v,
    "NLODE3": lambda t, u, v: -(v**2) - 1 / (t**2 * np.log(t)),
    "NLODE4": lambda t, u, v: -9 * u,
    "NLODE5": lambda t, u, v: (2.1 * u + 9.84 * t**3) / v,
}


def value(node: Node, at: dict[str, float]) -> float:
    """A plain evaluation of a tree: the twin of the tape."""
    if node.op == "num":
        return float(node.value)
    if node.op == "var":
        return at[str(node.value)]
    args = [value(arg, at) for arg in node.args]
    if node.op in "+*":
        return float(np.sum(args) if node.op == "+" else np.prod(args))
    return args[0] ** args[1] if node.op == "^" else float(FUNCTIONS[node.op](*args))


def right_hand_side(one: Problem) -> Callable[[float, np.ndarray], list[float]]:
    """dy/dt for SciPy: by hand, or from the residual at two values of the highest derivative."""
    if one.name in IMPLICIT:
        return lambda t, y: [y[1], IMPLICIT[one.name](t, *y)]
    tree, highest = one.equation.tree, one.equation.skeleton.highest
    force = None if one.force is None else parse_tree(one.force, inputs=())

    def rhs(t: float, y: np.ndarray) -> list[float]:
        at = {"t": t, "u": y[0], "u'": y[-1]}
        if force is not None:
            at["F"] = value(force, at)
        without, with_one = (value(tree, at | {highest: w}) for w in (0.0, 1.0))
        return [*y[1:], -without / (with_one - without)]

    return rhs


def by_scipy(one: Problem, t: np.ndarray, start: np.ndarray) -> list[np.ndarray]:
    """u, u' (and u'') at the times `t`."""
    rhs = right_hand_side(one)
    found = solve_ivp(rhs, (t[0], t[-1]), start, method="DOP853", t_eval=t, rtol=1e-12, atol=1e-14)
    assert found.success
    return [*found.y, np.array([rhs(now, y)[-1] for now, y in zip(t, found.y.T, strict=True)])]


def by_gode(one: Problem, t: np.ndarray, start: np.ndarray) -> list[np.ndarray]:
    found = solve(
        one.equation,
        t,
        start,
        inputs={"F": one.force} if one.force else None,
        guide=one.exact(t)[one.order] if one.exact else None,
        config=ACCURATE,
    )
    assert found.failure is None
    return [found.u, found.du, found.d2u][: one.order + 1]


def worst(found: list[np.ndarray], expected: list[np.ndarray]) -> float:
    return max(float(np.max(np.abs(a - b)) / np.max(np.abs(b))) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("one", [p for p in ALL if p.name != "NLODE5"], ids=lambda one: one.name)
def test_solution_agrees_with_scipy(one: Problem):
    start = np.array(one.initial)
    assert worst(by_gode(one, one.t, start), by_scipy(one, one.t, start)) < TOLERANCE


@pytest.mark.parametrize("one", SUITES["b2"], ids=lambda one: one.name)
def test_solution_agrees_with_the_closed_form(one: Problem):
    found = by_gode(one, one.t, np.array(one.initial))
    assert worst(found, list(one.exact(one.t))[: one.order + 1]) < TOLERANCE


@pytest.mark.parametrize("name", ["NLODE4", "NLODE5"])
def test_solution_agrees_with_scipy_after_a_singular_start(name: str):
    one = problem(name)
    t = one.t[5:25]  # past the start where the equation degenerates, and before u = 0 again
    start = np.array([f[0] for f in one.exact(t)])[:2]
    assert worst(by_gode(one, t, start), by_scipy(one, t, start)) < TOLERANCE


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_default_tolerance_is_good_enough_for_noisy_data(one: Problem):
    guide = one.exact(one.t)[one.order] if one.exact else None
    inputs = {"F": one.force} if one.force else None
    rough = solve(one.equation, one.t, one.initial, inputs=inputs, guide=guide)
    fine = by_gode(one, one.t, np.array(one.initial))
    assert worst([rough.u, rough.du, rough.d2u][: one.order + 1], fine) < 1e-3
