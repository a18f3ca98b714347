"""Forms that people use of two equations, one of them of a hidden state."""

import numpy as np
import pytest

from gode.data.from_arrays import make_dataset
from gode.discovery.given import parse_law
from gode.discovery.natural_forms import natural_constants
from gode.equation.system import make_law

T = np.linspace(0.0, 1.0, 6)


def told(equations, values, measured="x", inputs=()):
    """Return the constants of the form that is recognised, by their names."""
    force = dict.fromkeys(inputs, T) or None
    dataset = make_dataset(T, {measured: 1 + T**2}, force=force, names=(measured, "w"))
    skeleton = parse_law(equations, dataset)
    named = {p.name: i for i, p in enumerate(skeleton.parameters)}
    constants = [values[name] for name in sorted(named, key=lambda name: named[name])]
    law = make_law(skeleton, constants)
    found = natural_constants(law, 1e-6 * np.eye(len(constants)), {})
    return {c.name: c.value for c in found}


def test_epidemic_is_told_with_its_rates():
    found = told(["I' = w*I - r*I", "w' = -q*I*w"], {"r": 0.5, "q": 0.002}, "I")
    assert found["1/g"] == pytest.approx(2.0)


def test_epidemic_is_recognised_where_its_hidden_state_has_an_offset():
    found = told(["I' = w*I", "w' = -q*I*w - s*I"], {"s": 0.001, "q": 0.002}, "I")
    assert found["g"] == pytest.approx(0.5)


def test_compartments_are_told_with_their_rates_and_half_lives():
    found = told(["c' = w - a*c", "w' = b*c - d*w"], {"a": 0.5, "b": 0.03, "d": 0.1}, "c")
    assert found["ke"] == pytest.approx(0.2)
    assert found["k12"] == pytest.approx(0.3)
    slow = np.abs(np.linalg.eigvals([[-0.5, 1.0], [0.03, -0.1]])).min()
    assert found["half-life 2"] == pytest.approx(np.log(2) / slow)


def test_depot_is_told_with_the_half_life_of_elimination():
    found = told(["c' = w - a*c", "w' = -d*w"], {"a": 0.1, "d": 1.2}, "c")
    assert found["half-life"] == pytest.approx(np.log(2) / 0.1)


def test_prey_is_told_with_its_level_at_rest():
    found = told(["x' = g*x + w*x", "w' = e*x*w - m*w"], {"g": 1.0, "e": 0.2, "m": 0.8})
    assert found["x_rest"] == pytest.approx(4.0)


def test_tanks_are_told_as_equally_wide_ones():
    found = told(
        ["l' = sqrt(w) - r*sqrt(l)", "w' = s*F - q*sqrt(w)"], {"r": 0.5, "s": 0.3, "q": 0.25}, "l", ["F"]
    )
    assert found["k"] == pytest.approx(0.5)
    assert found["k4"] == pytest.approx(1.2)


def test_wall_behind_a_room_is_told_with_time_constants_and_gains():
    found = told(
        ["T' = w - r*T + s*Q", "w' = p*T - q*w + n*E"],
        {"r": 0.9, "s": 2.7, "p": 0.11, "q": 0.2, "n": 0.07},
        "T",
        ["Q", "E"],
    )
    assert found["gain_E"] == pytest.approx(1.0)
    assert found["tau_2"] > found["tau_1"] > 0


def test_removal_that_an_input_switches_on_is_told_with_its_sensitivity():
    found = told(
        ["g' = n - r*g + w*g", "w' = -q*w - s*F"],
        {"r": 0.03, "n": 2.7, "q": 0.05, "s": 0.0005},
        "g",
        ["F"],
    )
    assert found["level"] == pytest.approx(90.0)
    assert found["p3/p2"] == pytest.approx(0.01)


def test_hysteresis_is_told_with_its_shape():
    found = told(
        ["x'' = F - r*x' - s*x + w", "w' = -p*n*x' - q*n*abs(x')*w + m*n*x'*abs(w)"],
        {"r": 0.3, "s": 1.0, "p": 1.5, "q": 0.9, "m": 0.6, "n": 1.0},
        "x",
        ["F"],
    )
    assert found["A"] == pytest.approx(1.5)
    assert found["beta"] == pytest.approx(0.9)
    assert found["gamma"] == pytest.approx(0.6)


def test_law_in_which_nothing_enters_with_the_factor_one_has_no_joint_form():
    assert "ke" not in told(["c' = 2*w - a*c", "w' = b*c - d*w"], {"a": 0.5, "b": 0.03, "d": 0.1}, "c")
