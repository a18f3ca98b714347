"""The known answers are checked too: the texts by symbols, the derivatives by differences."""

import numpy as np
import pytest
import sympy

from problems import PROBLEMS, Problem

each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)


@each_problem
def test_solution_satisfies_the_text(problem: Problem):
    left, right = problem.text.replace("u''", "d2u").replace("u'", "du").split("=")
    residual = sympy.parse_expr(f"({left})-({right})".replace("^", "**"))
    path = problem.trajectory()
    values = sympy.lambdify(sympy.symbols("t u du d2u"), residual)(*path)
    np.testing.assert_allclose(values, 0, atol=1e-12 * np.abs(path).max())


@each_problem
def test_derivatives_are_those_of_the_solution(problem: Problem):
    t = np.linspace(problem.t0, problem.t1, 22)[1:-1]
    h = 1e-5
    for function, derivative in [(problem.exact, problem.exact_du), (problem.exact_du, problem.exact_d2u)]:
        slope = (function(t + h) - function(t - h)) / (2 * h)
        np.testing.assert_allclose(slope, derivative(t), rtol=1e-6, atol=1e-6)


@each_problem
def test_initial_values_are_those_of_the_solution(problem: Problem):
    first = problem.trajectory()
    np.testing.assert_allclose(problem.initial, (first.u[0], first.du[0])[: problem.order], atol=1e-12)


def test_names_are_unique():
    assert len({problem.name for problem in PROBLEMS}) == len(PROBLEMS)
