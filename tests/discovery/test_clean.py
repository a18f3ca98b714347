"""Records without noise: the law that made them, and no terms that follow errors of numbers."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gode


def predators(t, u):
    return [1.1 * u[0] - 0.4 * u[0] * u[1], 0.1 * u[0] * u[1] - 0.4 * u[1]]


def convection(t, u):
    return [10 * (u[1] - u[0]), u[0] * (28 - u[2]) - u[1], u[0] * u[1] - 8 / 3 * u[2]]


def record(law, start, span, n):
    t = np.linspace(0.0, span, n)
    return t, solve_ivp(law, (0.0, span), start, method="DOP853", t_eval=t, rtol=1e-9, atol=1e-12).y.T


def constants(found):
    return sorted(c.value for c in found.equation.constants)


def test_a_clean_record_of_two_populations_is_exact():
    found = gode.discover(*record(predators, [10.0, 5.0], 20.0, 150))
    assert constants(found) == pytest.approx([-0.4, -0.4, 0.1, 1.1], rel=1e-4)


@pytest.mark.slow
def test_a_clean_record_of_chaos_has_no_term_that_follows_errors_of_the_solver():
    found = gode.discover(*record(convection, [1.0, 1.0, 1.0], 10.0, 1000))
    law = "x1' = -10*x1 + 10*x2\nx2' = -x2 + 28*x1 - x1*x3\nx3' = -2.667*x3 + x1*x2"
    assert str(found.equation) == law
