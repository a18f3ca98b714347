"""Solutions with doses against closed forms, and their sensitivities against differences."""

import numpy as np
import pytest

from gode.data.doses import Dose
from gode.equation import parse_equation
from gode.equation.frame import parse_frame
from gode.equation.system import make_law, parse_system_values
from gode.errors import DataError, EquationError
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


LATE = ["d' = f*dose(t - tlag) - 1.5*d", "c' = 0.15*d - 0.1*c"]


def with_dose_terms(f, lag, doses, texts=LATE, **options):
    """The solution of an equation with shares and lags of its doses."""
    frame = parse_frame(texts, states=("d", "c"), inputs=("dose",))
    law = make_law(frame.law({}), [f, lag][: len(frame.parameters)])
    return solve(law, T, [0.0, 0.0], inputs={"dose": "0"}, doses=doses, config=FINE, **options)


def test_dose_in_an_equation_has_a_share_and_a_lag():
    doses = [Dose(channel=0, t=0.0, amount=320.0), Dose(channel=0, t=8.25, amount=100.0)]
    found = with_dose_terms(0.6, 0.7, doses)
    expected = 0.6 * (bateman(T - 0.7, 320.0) + bateman(T - 8.95, 100.0))
    assert np.allclose(found["c"], expected, atol=1e-5)


def test_numbers_and_several_terms_share_a_dose():
    texts = ["d' = 0.25*dose + 0.75*dose(t - 2) - 1.5*d", LATE[1]]
    found = with_dose_terms(0.0, 0.0, [Dose(channel=0, t=1.0, amount=320.0)], texts)
    assert np.allclose(found["c"], bateman(T - 1.0, 80.0) + bateman(T - 3.0, 240.0), atol=1e-5)


@pytest.mark.parametrize("lag", [0.0, 0.7])
@pytest.mark.parametrize("place", [0, 1])
def test_sensitivities_in_share_and_lag_are_those_of_differences(place, lag):
    doses = [
        Dose(channel=0, t=0.0, amount=320.0),
        Dose(channel=0, t=8.1, amount=100.0),
        Dose(channel=0, t=12.2, amount=30.0, duration=3.1),
    ]
    found = with_dose_terms(0.6, lag, doses, sensitivities=True).sensitivities[place][[0, 3], 2:]
    step = 1e-5 * np.eye(2)[place]
    up = with_dose_terms(0.6 + step[0], lag + step[1], doses).values[[0, 3], 2:]
    down = with_dose_terms(0.6, lag, doses).values[[0, 3], 2:]
    slopes = (up - down) / 1e-5
    assert np.abs(found - slopes).max() < 1e-3 * np.abs(slopes).max()


def test_other_forms_of_a_dose_in_an_equation_are_refused():
    with pytest.raises(EquationError, match="dose may stand with one constant before it"):
        with_dose_terms(0.6, 0.7, [Dose(channel=0, t=0.0, amount=1.0)], ["d' = f*dose^2 - tlag*d", LATE[1]])


def test_doses_cost_no_more_steps_than_what_they_set_in_motion():
    law = parse_system_values(["x' = x - 0.5*x*y", "y' = 0.3*x*y - 0.8*y"])
    t = np.linspace(0.0, 1000.0, 4001)
    doses = [Dose(channel=0, t=at + 0.01, amount=0.01) for at in range(1000)]
    dosed, alone = (solve(law, t, [4.0, 2.0], doses=given) for given in (doses, []))
    assert dosed.failure is None
    assert dosed.n_steps < 2 * alone.n_steps


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
