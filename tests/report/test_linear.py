import importlib.util
import sys

import numpy as np
import pytest
from scipy.signal import cont2discrete

from gode.discovery import fit
from gode.equation import parse_equation
from gode.errors import ConfigError, EquationError
from gode.report.linear import response_plots
from gode.solve import solve

T = np.linspace(0.0, 20.0, 101)
F = 1.0 + 0.5 * np.sin(T) + 0.3 * np.sin(2.3 * T)


def fitted(truth, skeleton, initial, t=T, force=F):
    inputs = {} if force is None else {"F": force}
    return fit(skeleton, t, solve(parse_equation(truth), t, initial, inputs=inputs).u, force=force)


@pytest.fixture(scope="module")
def tank():
    return fitted("u' = 0.5*F - 0.4*u^0.5", "u' = C*F + C*u^0.5", [1.0])


@pytest.fixture(scope="module")
def mass():
    return fitted("u'' = 3*F - 0.4*u' - 2*u", "u'' = C*F + C*u' + C*u", [0.0, 0.0])


def test_a_tank_is_linear_about_the_level_that_its_inflow_holds(tank):
    found = tank.linearise(force=1.0)
    assert found.equilibrium == pytest.approx([1.25**2], rel=1e-3)
    assert found.a == pytest.approx(np.array([[-0.16]]), rel=1e-3)
    assert found.b == pytest.approx(np.array([[0.5]]), rel=1e-3)
    assert found.c.tolist() == [[1.0]]
    assert found.d.tolist() == [[0.0]]
    assert found.poles == pytest.approx([-0.16], rel=1e-3)
    assert (found.states, found.inputs, found.input.tolist()) == (("u",), ("F",), [1.0])


def test_the_transfer_function_of_a_mass_on_a_spring(mass):
    over, under = mass.linearise().transfer_function()
    assert over == pytest.approx([3.0], rel=1e-3)
    assert under == pytest.approx([1.0, 0.4, 2.0], rel=1e-3)


def test_the_discrete_model_is_that_of_a_held_input(mass, tank):
    for found in (mass.linearise(), tank.linearise(force=1.0)):
        other = cont2discrete((found.a, found.b, found.c, found.d), 0.3, method="zoh")
        discrete = found.discrete(0.3)
        assert np.allclose(discrete.a, other[0])
        assert np.allclose(discrete.b, other[1])
        assert discrete.dt == 0.3


def test_small_motions_are_those_of_the_linear_model(tank, rng):
    model = tank.linearise(force=1.0)
    t, moves = 0.5 * np.arange(40), 0.01 * rng.standard_normal(40)
    inputs = {"F": 1.0 + np.repeat(moves, 2)}
    fine = 0.25 * np.arange(80)
    exact = solve(tank.equation.equation, fine, model.equilibrium, inputs=inputs).u[::2]
    step, x, states = model.discrete(t[1]), np.zeros(1), []
    for move in moves:
        states.append(model.equilibrium[0] + x[0])
        x = step.a @ x + step.b[:, 0] * move
    assert np.allclose(states, exact, atol=2e-2 * np.std(exact))


def test_near_chooses_among_several_and_stable_ones_come_first():
    found = fitted("u' = u - u^2", "u' = C*u + C*u^2", [0.1], np.linspace(0, 8, 60), None)
    assert found.linearise().equilibrium == pytest.approx([1.0], rel=1e-3)
    unstable = found.linearise(0.2)
    assert unstable.equilibrium == pytest.approx([0.0], abs=1e-6)
    assert unstable.poles[0] == pytest.approx(1.0, rel=1e-2)
    assert unstable.b.shape == (1, 0)
    assert "numerator" not in unstable.as_dict()
    with pytest.raises(EquationError, match="needs an input"):
        unstable.transfer_function()
    assert unstable.discrete(0.5).a[0, 0] == pytest.approx(np.exp(0.5), rel=1e-2)


def test_what_cannot_be_linearised_says_so(tank):
    with pytest.raises(
        EquationError, match=r"no equilibrium about which it is linear .* the constant force 0"
    ):
        tank.linearise()
    with pytest.raises(ConfigError, match="force must be a finite number"):
        tank.linearise(force=np.nan)
    with pytest.raises(ConfigError, match="sample time must be positive"):
        tank.linearise(force=1.0).discrete(0.0)
    with pytest.raises(ConfigError, match="discrete already"):
        tank.linearise(force=1.0).discrete(1.0).discrete(1.0)
    moving = fitted("u' = -u + t", "u' = C*u + C*t", [1.0], np.linspace(0, 3, 40), None)
    with pytest.raises(EquationError, match="changes with time"):
        moving.linearise()


@pytest.mark.skipif(importlib.util.find_spec("control") is None, reason="python-control is not installed")
def test_python_control_gets_the_same_system(mass):
    import control

    system = mass.linearise().control()
    assert control.poles(system) == pytest.approx(np.roots([1, 0.4, 2.0]), rel=1e-2)
    assert control.dcgain(system) == pytest.approx(1.5, rel=1e-3)
    assert mass.linearise().discrete(0.1).control().dt == 0.1


def test_without_python_control_it_says_how_to_get_it(mass, monkeypatch):
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(ConfigError, match=r"gode-engine\[control\]"):
        mass.linearise().control()


def test_a_kink_at_the_equilibrium_is_told_with_both_sides():
    spring = fitted("u'' = -40*u - 10*abs(u) - 0.3*u'", "u'' = C*u' + C*u + C*abs(u)", [1.0, 0.0], force=None)
    with pytest.raises(EquationError, match=r"has a kink at its equilibrium u = 0.*5\.475j.*7\.069j"):
        spring.linearise()


@pytest.fixture(scope="module")
def late_tank():
    """u' = 0.5 F(t - 1.3) - 0.4 u^0.5."""
    t = np.linspace(0.0, 40.0, 401)
    force = 1.0 + 0.5 * np.sin(t) + 0.3 * np.sin(2.3 * t)
    u = solve(parse_equation("u' = 0.5*F(t - 1.3) - 0.4*u^0.5"), t, [1.0], inputs={"F": force}).u
    return t, u, force


def test_dead_time_stands_beside_the_matrices(late_tank):
    t, u, force = late_tank
    found = fit("u' = b*F(t - tau) - c*u^0.5", t, u, force=force).linearise(force=1.0)
    assert found.inputs == ("F",)
    assert found.delays == pytest.approx((1.3,), rel=1e-2)
    assert found.b == pytest.approx(np.array([[0.5]]), rel=1e-2)
    over, under = found.transfer_function()
    assert over / under[-1] == pytest.approx([0.5 / 0.16], rel=1e-2)
    assert found.as_dict()["delays"] == list(found.delays)
    assert found.discrete(0.1).delays == found.delays
    with pytest.raises(EquationError, match=r"no dead time, and here inputs are late: F by 1\.\d+; take"):
        found.control()


def test_an_input_that_acts_at_two_times_is_two_inputs(late_tank):
    t, _, force = late_tank
    u = solve(parse_equation("u' = 0.5*F(t - 1.3) - 0.4*u + 0.1*F"), t, [1.0], inputs={"F": force}).u
    found = fit("u' = b*F(t - tau) - c*u + a*F", t, u, force=force, fixed={"tau": 1.3}).linearise(force=1.0)
    assert found.inputs == ("F", "F(t - 1.3)")
    assert found.delays == (0.0, 1.3)
    assert found.b == pytest.approx(np.array([[0.1, 0.5]]), rel=2e-2)
    assert found.input.tolist() == [1.0, 1.0]


def test_responses_of_a_late_input_begin_after_the_dead_time(late_tank):
    t, _, force = late_tank
    law = parse_equation("u' = 0.5*F(t - 1.3) - 0.4*u")
    u = solve(law, t, [0.0], inputs={"F": force - 1.0}).u
    found = fit("u' = b*F(t - tau) - c*u", t, u, force=force - 1.0, fixed={"tau": 1.3})
    *_, angle, step = response_plots(found)
    (trace,) = step.traces
    assert trace.x[:2].tolist() == [0.0, 1.3]
    assert np.all(trace.y[:2] == 0.0)
    (turned,) = angle.traces
    omega = 2 * np.pi * turned.x
    rate = -found.linearise().poles[0].real
    wanted = -np.degrees(np.arctan(omega / rate) + 1.3 * omega)
    clear = omega < 2.0  # where the phase is not wrapped by coarse steps
    assert turned.y[clear] == pytest.approx(wanted[clear], abs=1.0)
