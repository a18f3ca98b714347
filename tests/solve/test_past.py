"""Laws in which states act later: the method of steps against closed forms, and sensitivities."""

import numpy as np
import pytest

from gode.equation.system import parse_system_values
from gode.errors import EquationError
from gode.solve import SolveConfig, solve

FINE = SolveConfig(rtol=1e-10)
LAWS = {
    "logistic": (["x' = 0.8*x*(1 - x(t - 1.9)/3)"], [0.5]),
    "two delays": (["x' = 0.5*x(t - 0.7) - 1.1*x(t - 1.3)"], [1.0]),
    "two states": (["x' = y - x(t - 1.3)", "y' = -x - 0.1*y(t - 0.6)"], [1.0, 0.0]),
    "second order": (["x'' = -0.3*x' - 2*x(t - 0.2)"], [1.0, 0.0]),
}


def test_solution_is_that_of_the_method_of_steps():
    t = np.linspace(0.0, 3.0, 301)
    found = solve(parse_system_values(["x' = -x(t - 1)"]), t, [1.0], config=FINE)
    late = np.maximum(t[:, None] - np.arange(4), 0.0)
    exact = 1 - late[:, 0] + late[:, 1] ** 2 / 2 - late[:, 2] ** 3 / 6
    assert found.failure is None
    assert np.allclose(found["x"], exact, atol=1e-9)
    assert np.allclose(found["x'"], -np.interp(t - 1, t, found["x"]), atol=1e-4)


@pytest.mark.parametrize("name", LAWS)
def test_sensitivities_are_those_of_differences(name):
    texts, start = LAWS[name]
    law, t, step = parse_system_values(texts), np.linspace(0.0, 15.0, 97), 1e-5
    found = solve(law, t, start, sensitivities=True, config=FINE)
    numbers = np.array([*law.constants, *start])
    k = len(law.constants)
    for p in range(len(numbers)):
        ends = []
        for sign in (1, -1):
            moved = numbers.copy()
            moved[p] += sign * step
            ends.append(
                solve(type(law)(law.skeleton, tuple(moved[:k])), t, moved[k:], config=FINE).values[::3]
            )
        slopes = (ends[0] - ends[1]) / (2 * step)
        assert np.abs(found.sensitivities[p, ::3] - slopes).max() < 2e-3 * np.abs(slopes).max()


def test_a_delay_of_zero_is_no_solution():
    law = parse_system_values(["x' = -x(t - 0)"])
    assert solve(law, [0.0, 1.0], [1.0]).failure is not None


def test_a_delayed_state_needs_an_explicit_equation():
    law = parse_system_values(["x'^3 + x' = -x(t - 1)"])
    with pytest.raises(EquationError, match="highest derivative can be isolated"):
        solve(law, [0.0, 1.0], [1.0])
