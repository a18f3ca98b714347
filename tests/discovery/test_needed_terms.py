"""Terms that people need: limits, kinks, dead zones, Arrhenius' law, roots, times with a state."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gode
from gode.equation import parse_skeleton
from gode.equation.system import parse_system
from gode.equation.tape import COLUMNS, KINK, compile_scales

T = np.linspace(0.0, 12.0, 240)


def forced(t):
    return 1.2 + np.sin(0.9 * t) + 0.5 * np.sin(2.3 * t)


def solved(right, start, t, *, noise=0.01, order=1):
    """The states, the lowest derivatives of them, with noise."""
    rng = np.random.default_rng(11)
    y = solve_ivp(right, (t[0], t[-1]), start, t_eval=t, rtol=1e-9, max_step=np.ptp(t) / 500).y
    y = y[: len(y) // order]
    return y + noise * y.std(axis=1, keepdims=True) * rng.standard_normal(y.shape)


def constants(found):
    return {c.name: c.value for c in found.equation.constants}


def test_a_kink_starts_within_the_range_of_the_data():
    scales = compile_scales(parse_skeleton("u' = C*max(0, u - C)").rhs_terms, COLUMNS, 2)
    assert KINK in scales.role


def test_an_overflow_is_fitted():
    (u,) = solved(lambda t, u: forced(t) - 0.6 * u - 5 * np.maximum(0, u - 1.6), [0.2], T)
    found = gode.fit("u' = F - a*u - b*max(0, u - c)", T, u, force=forced(T))
    values = constants(found)
    assert found.quality.verdict.value == "good"
    assert values["a"] == pytest.approx(0.6, rel=0.02)
    assert values["b"] == pytest.approx(5, rel=0.05)
    assert values["c"] == pytest.approx(1.6, rel=0.01)


def test_a_limited_input_is_fitted():
    (u,) = solved(lambda t, u: 2 * np.clip(forced(t), 0.5, 1.6) - 0.5 * u, [0.1], T)
    values = constants(gode.fit("u' = k*clip(F, low, high) - a*u", T, u, force=forced(T)))
    assert values["low"] == pytest.approx(0.5, abs=0.03)
    assert values["high"] == pytest.approx(1.6, abs=0.03)


def test_a_dead_zone_is_fitted():
    def zone(x):
        return x - np.clip(x, -0.6, 0.6)

    (u,) = solved(lambda t, u: 3 * zone(forced(t) - 1.2) - 0.5 * u, [0.1], T)
    values = constants(gode.fit("u' = k*deadzone(F, w) - a*u", T, u, force=forced(T) - 1.2))
    assert values["w"] == pytest.approx(0.6, abs=0.03)
    assert values["k"] == pytest.approx(3, rel=0.05)


def test_an_activation_energy_is_fitted():
    (u,) = solved(lambda t, u: 40 * np.exp(-5 / u) - 0.8 * (u - 1), [1.0], np.linspace(0, 8, 160))
    found = gode.fit("u' = a*exp(-e/u) - k*u + c", np.linspace(0, 8, 160), u)
    values = constants(found)
    assert found.quality.verdict.value == "good"
    assert values["e"] == pytest.approx(5, rel=0.3)


@pytest.mark.slow
def test_an_input_above_a_threshold_is_found():
    (u,) = solved(lambda t, u: -0.5 * u + 2 * np.maximum(0, forced(t) - 1), [0.3], T)
    found = gode.discover(T, u, order=1, force=forced(T), effort="quick")
    assert found.equation.equation.skeleton == parse_skeleton("u' = C*u + C*max(0, F - C)")


@pytest.mark.slow
def test_an_overflow_is_found():
    (u,) = solved(lambda t, u: forced(t) - 0.6 * u - 5 * np.maximum(0, u - 1.6), [0.2], T)
    found = gode.discover(T, u, order=1, force=forced(T), effort="quick")
    assert found.equation.equation.skeleton == parse_skeleton("u' = C*F + C*u + C*max(0, u - C)")


@pytest.mark.slow
def test_a_stop_that_is_hit_is_found():
    t = np.linspace(0, 20, 400)

    def right(t, y):
        return [y[1], -y[0] - 0.1 * y[1] - 6 * np.maximum(0, y[0] - 0.5)]

    (u,) = solved(right, [1.2, 0], t, order=2)
    found = gode.discover(t, u, order=2, effort="quick")
    assert found.equation.equation.skeleton == parse_skeleton("u'' = C*u + C*u' + C*max(0, u - C)")


@pytest.mark.slow
def test_the_distance_from_a_place_is_found():
    (u,) = solved(lambda t, u: -1.3 * np.abs(u - 0.8) + 0.7 * forced(t), [0.2], T)
    found = gode.discover(T, u, order=1, force=forced(T), effort="quick")
    assert found.equation.equation.skeleton == parse_skeleton("u' = C*abs(u - C) + C*F")


@pytest.mark.slow
def test_a_rate_by_arrhenius_is_found_where_the_temperature_is_an_input():
    heat = forced(T) + 2
    (u,) = solved(lambda t, u: -9 * np.exp(-6 / (forced(t) + 2)) * u + 0.4, [1.0], T)
    found = gode.discover(T, u, order=1, force=heat, effort="quick")
    assert "exp(-" in str(found.equation)
    assert "/F)*u" in str(found.equation)


@pytest.mark.slow
def test_time_times_a_state_is_found_in_a_system():
    t = np.linspace(0, 10, 150)
    a, b = solved(lambda t, y: [-0.12 * t * y[0], 0.12 * t * y[0] - 0.3 * y[1]], [2, 0.1], t)
    found = gode.discover(t, {"a": a, "b": b}, order=1, effort="quick")
    law = parse_system(["a' = C*t*a", "b' = C*t*a + C*b"])
    assert found.equation.equation.skeleton.structure == law.structure


@pytest.mark.slow
def test_roots_are_found_in_a_system():
    t = np.linspace(0, 20, 250)

    def right(t, y):
        return [0.7 * forced(t) - 0.8 * np.sqrt(y[0]), 0.8 * np.sqrt(y[0]) - 0.6 * np.sqrt(y[1])]

    upper, lower = solved(right, [0.3, 2.0], t, noise=0.005)
    found = gode.discover(t, {"upper": upper, "lower": lower}, force=forced(t), order=1, effort="quick")
    assert all("upper^0.5" in line for line in found.equation.lines())


@pytest.mark.slow
def test_rates_that_are_products_with_one_state_are_found():
    t = np.linspace(0, 40, 300)

    def right(t, y):
        meal = y[1] * y[0] / (0.6 + y[0])
        return [y[0] * (1.2 - 0.3 * y[0]) - meal, 0.9 * meal - 0.4 * y[1]]

    x, y = solved(right, [1.0, 0.5], t)
    found = gode.discover(t, {"x": x, "y": y}, order=1, effort="quick")
    law = parse_system(["x' = C*x + C*x^2 + C*x*y/(C + x)", "y' = C*y + C*x*y/(C + x)"])
    structures = {c.equation.skeleton.structure for c in found.ties}
    assert law.structure in structures or "y*x/(x + " in str(found.equation)
