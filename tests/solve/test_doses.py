"""Solutions with doses against closed forms, and their sensitivities against differences."""

import numpy as np
import pytest

from gode.data.doses import Dose
from gode.equation import parse_equation
from gode.equation.system import parse_system_values
from gode.errors import DataError
from gode.solve import SolveConfig, solve
from gode.solve.doses import jumps_of

T = np.linspace(0.0, 24.0, 49)
ABSORBED = ["d' = -1.5*d", "c' = 0.15*d - 0.1*c"]
FINE = SolveConfig(rtol=1e-9)


def bateman(t, amount):
    """The concentration after a dose into the depot of `ABSORBED`."""
    since = np.maximum(t, 0.0)
    return amount * 0.15 / 1.4 * (np.exp(-0.1 * since) - np.exp(-1.5 * since))


def test_doses_into_a_depot_add_up_as_in_the_closed_form():
    doses = [Dose(channel=0, t=0.0, amount=320.0), Dose(channel=0, t=8.25, amount=100.0)]
    found = solve(parse_system_values(ABSORBED), T, [0.0, 0.0], doses=doses, config=FINE)
    assert found.failure is None
    assert np.allclose(found["c"], bateman(T, 320.0) + bateman(T - 8.25, 100.0), atol=1e-6)


def test_infusion_raises_the_level_as_in_the_closed_form():
    dose = Dose(channel=0, t=2.0, amount=30.0, duration=6.0)
    found = solve(parse_equation("u' = -0.5*u"), T, [0.0], doses=[dose], config=FINE)
    running = 10.0 * (1 - np.exp(-0.5 * np.clip(T - 2.0, 0.0, 6.0)))
    assert np.allclose(found.u, running * np.exp(-0.5 * np.maximum(T - 8.0, 0.0)), atol=1e-7)
    inside = (T > 2.0) & (T <= 8.0)
    assert np.allclose(found.du, np.where(inside, 5.0, 0.0) - 0.5 * found.u, atol=1e-9)


def test_reading_is_taken_before_a_dose_of_its_time_unless_that_came_first():
    for first, expected in ((False, 0.0), (True, 5.0)):
        dose = Dose(channel=0, t=0.0, amount=5.0, first=first)
        found = solve(parse_equation("u' = -0.1*u"), T, [0.0], doses=[dose], config=FINE)
        assert found.u[0] == expected
        assert np.allclose(found.u[1:], 5.0 * np.exp(-0.1 * T[1:]), rtol=1e-6)


def test_dose_may_kick_a_velocity():
    kick = Dose(channel=1, t=3.0, amount=2.0)
    found = solve(parse_equation("u'' = -u"), T, [0.0, 0.0], doses=[kick], config=FINE)
    assert np.allclose(found.u, np.where(T > 3.0, 2.0 * np.sin(T - 3.0), 0.0), atol=1e-6)


def test_implicit_equations_take_doses_and_infusions_as_explicit_ones_do():
    doses = [Dose(channel=0, t=2.03, amount=1.0), Dose(channel=0, t=4.0, amount=1.0, duration=2.0)]
    explicit = solve(parse_equation("u' = -u - 0.2*sin(u)"), T, [1.0], doses=doses, config=FINE)
    written = parse_equation("u'^3 + (u + 0.2*sin(u))^3 = 0")  # the same curve, with one real root
    assert not written.skeleton.explicit
    implicit = solve(written, T[:9], [1.0], doses=doses[:1], config=FINE)
    assert np.allclose(implicit.u, explicit.u[:9], atol=1e-4)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_sensitivities_are_those_of_differences_across_doses(place):
    doses = [
        Dose(channel=0, t=0.0, amount=320.0),
        Dose(channel=0, t=8.1, amount=100.0),
        Dose(channel=3, t=12.0, amount=30.0, duration=3.0),
    ]
    law = parse_system_values(ABSORBED)
    found = solve(law, T, [0.0, 0.0], doses=doses, sensitivities=True, config=FINE)
    values = np.array(law.constants)
    step = 1e-5 * np.eye(3)[place]
    up, down = (
        solve(type(law)(law.skeleton, tuple(values + s)), T, [0.0, 0.0], doses=doses, config=FINE).values
        for s in (step, -step)
    )
    slopes = ((up - down) / 2e-5)[[0, 3]]
    assert np.abs(found.sensitivities[place][[0, 3]] - slopes).max() < 1e-4 * np.abs(slopes).max()


def test_segment_that_begins_later_sees_later_doses_and_running_infusions():
    doses = [Dose(channel=0, t=1.0, amount=5.0), Dose(channel=0, t=2.0, amount=30.0, duration=6.0)]
    whole = solve(parse_equation("u' = -0.5*u"), T, [0.0], doses=doses, config=FINE)
    later = solve(parse_equation("u' = -0.5*u"), T[8:], [whole.u[8]], doses=doses, config=FINE)
    assert np.allclose(later.u, whole.u[8:], rtol=1e-6)


def test_thousand_doses_cost_few_steps_each():
    t = np.linspace(0.0, 1000.0, 5001)
    doses = [Dose(channel=0, t=float(at), amount=10.0) for at in range(1000)]
    law = parse_system_values(ABSORBED)
    found = solve(law, t, [0.0, 0.0], doses=doses)
    assert found.failure is None
    assert found.n_steps < 10 * len(doses)


def test_dose_into_a_derivative_that_the_law_does_not_have_is_refused():
    with pytest.raises(DataError, match="a dose goes into x'"):
        jumps_of([Dose(channel=1, t=0.0, amount=1.0)], ["x"], [1], T)
