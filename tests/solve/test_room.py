"""A setup is solved often with the same scratch: nothing of one solution may reach the next."""

import numpy as np
import pytest

from gode.data.doses import make_doses
from gode.equation import parse_equation
from gode.equation.system import parse_system_values
from gode.solve.solution import run, set_up

T = np.linspace(0.0, 4.0, 23)


def numbers(setup, constants, initial, slopes):
    found = run(setup, np.array(constants), np.array(initial), sensitivities=slopes)
    return found.values.tobytes() + found.sensitivities.tobytes() + bytes([found.n_steps % 256])


@pytest.mark.parametrize(
    ("text", "inputs", "dose", "first", "second"),
    [
        ("u' = -0.3*u + 0.2*u^2", (), None, ([-0.3, 0.2], [1.0]), ([-0.1, 5.0], [2.0])),
        ("u'' = -1.5*u - 0.4*sign(u')", (), None, ([-1.5, -0.4], [1.0, 0.0]), ([-1.0, -9.0], [0.2, 1.0])),
        ("u' = -0.3*u + 0.2*F(t - 0.5)", ("F",), None, ([-0.3, 0.2, 0.5], [1.0]), ([9.0, 1.0, 1.5], [3.0])),
        ("u' = -0.3*u(t - 0.7)", (), None, ([-0.3, 0.7], [1.0]), ([-8.0, 0.1], [3.0])),
        ("u' = -0.3*u", (), ("u", 1.0, 2.0, 0.5), ([-0.3], [1.0]), ([50.0], [1.0])),
        ("u' + 0.2*u'^3 = -0.7*u", (), ("u", 1.0, 2.0, 0.5), ([0.2, -0.7], [1.0]), ([-3.0, 9.0], [4.0])),
        ("u' + 0.2*u'^3 = -0.7*u", (), None, ([0.2, -0.7], [1.0]), ([-3.0, 9.0], [4.0])),
    ],
)
@pytest.mark.parametrize("slopes", [False, True])
def test_a_solution_does_not_depend_on_the_one_before(text, inputs, dose, first, second, slopes):
    law = parse_equation(text, inputs=inputs)
    setting = {
        "inputs": {name: np.sin(T) for name in inputs},
        "doses": make_doses([dose], ("u",), "") if dose else (),
    }
    setup = set_up(law.skeleton, T, **setting)
    alone = numbers(setup, *first, slopes)
    numbers(setup, *second, slopes)
    assert numbers(setup, *first, slopes) == alone
    assert numbers(set_up(law.skeleton, T, **setting), *first, slopes) == alone


def test_numbers_of_sensitivities_have_scratch_of_their_own():
    setup = set_up(parse_system_values(["x' = 0.4*x - 0.3*x*y", "y' = 0.2*x*y - 0.5*y"]).skeleton, T)
    constants, initial = [0.4, -0.3, 0.2, -0.5], [2.0, 1.0]
    plain, slopes = (numbers(setup, constants, initial, each) for each in (False, True))
    assert numbers(setup, constants, initial, False) == plain
    assert numbers(setup, constants, initial, True) == slopes
