"""Equilibria against their closed forms."""

import numpy as np
import pytest

from gode.equation import parse_equation
from gode.equation.system import parse_system_values
from gode.report.equilibria import RestingLaw, find_equilibria, stationary_points
from gode.report.naming import Units

BOX = np.array([0.5, 0.5]), np.array([4.0, 4.0])
PREDATION = ["x' = 1.2*x - 0.6*x*y", "y' = 0.4*x*y - 0.8*y"]


def equilibria_of(texts, low, high, relative=0.01):
    law = parse_system_values(texts)
    covariance = np.diag((relative * np.array(law.constants)) ** 2)
    return find_equilibria(law, covariance, np.array(low), np.array(high), [Units("s")] * len(law.states))


def single(text, low=-2.0, high=2.0, variance=0.0):
    """Return the equilibria of one equation whose constants all have this variance."""
    equation = parse_equation(text)
    covariance = variance * np.eye(len(equation.constants))
    found, isolated = find_equilibria(equation, covariance, np.array([low]), np.array([high]), [Units()])
    assert isolated
    return found


def test_predation_has_a_saddle_and_a_centre():
    found, isolated = equilibria_of(PREDATION, *BOX)
    assert isolated
    assert [e.stability for e in found] == [
        "unstable (a saddle)",
        "a centre: no damping within the error bar",
    ]
    assert [v.value for v in found[1].values] == pytest.approx([2.0, 2.0])
    (mode,) = found[1].modes
    assert mode.frequency.value == pytest.approx(np.sqrt(1.2 * 0.8))


def test_error_of_an_equilibrium_follows_from_those_of_the_constants():
    found, _ = equilibria_of(PREDATION, *BOX)
    assert [v.error for v in found[1].values] == pytest.approx([2.0 * 0.01 * np.sqrt(2)] * 2, rel=1e-4)


def test_the_words_tell_nodes_from_spirals():
    cases = {
        "stable (a node)": ["x' = -x", "y' = -2*y"],
        "stable (a spiral)": ["x' = -0.1*x + 2*y", "y' = -2*x - 0.1*y"],
        "unstable (a spiral)": ["x' = 0.1*x + 2*y", "y' = -2*x + 0.1*y"],
        "unstable (a node)": ["x' = 3*x", "y' = 2*y"],
    }
    for word, texts in cases.items():
        (only,), _ = equilibria_of(texts, [-1.0, -1.0], [1.0, 1.0])
        assert only.stability == word


def test_coupled_oscillators_have_two_natural_frequencies():
    texts = ["x'' = -3*x + y - 0.2*x'", "y'' = x - 3*y - 0.2*y'"]
    (only,), _ = equilibria_of(texts, [-1.0, -1.0], [1.0, 1.0])
    assert sorted(m.frequency.value for m in only.modes) == pytest.approx([np.sqrt(2), 2.0])
    assert only.stability == "stable (a spiral)"
    assert "rad/s" in only.motion()["natural frequency"]


def test_a_line_of_equilibria_is_said_and_not_sampled():
    found, isolated = equilibria_of(["S' = -0.5*S*I", "I' = 0.5*S*I - 0.2*I"], [0.1, 0.1], [1.0, 1.0])
    assert (found, isolated) == ([], False)


def test_poles_and_logarithms_do_not_stop_the_search():
    found, _ = equilibria_of(["x' = 1/x - x", "y' = log(x) - y"], [0.2, -1.0], [2.0, 1.0])
    assert [v.value for v in found[-1].values] == pytest.approx([1.0, 0.0], abs=1e-8)


def test_equilibria_under_a_constant_input_follow_it():
    law = parse_system_values(["x' = F - x", "y' = x - 2*y"])
    (only,), _ = stationary_points(law, np.zeros(2), np.ones(2), [0.8])
    assert only.tolist() == pytest.approx([0.8, 0.4])


def test_linear_part_is_that_of_the_textbook():
    law = parse_system_values(["x'' = -4*x + y + F", "y' = x' - 3*y"])
    a, b = RestingLaw(law).linear(np.array(law.constants), np.zeros(2))
    assert np.allclose(a, [[0, 1, 0], [-4, 0, 1], [0, 1, -3]])
    assert np.allclose(b, [[0], [1], [0]])


@pytest.mark.parametrize(
    ("text", "stability"),
    [
        ("u'' = -4*u", "a centre: no damping within the error bar"),
        ("u'' = 0.1*u' - 4*u", "unstable (a spiral)"),
        ("u'' = -9*u' - 4*u", "stable (a node)"),
        ("u'' = 4*u", "unstable (a saddle)"),
        ("u'' = -u' - u^3", "neutral within the error bar"),
        ("u' = -2*u", "stable"),
        ("u' = 2*u", "unstable"),
        ("u' = -u^3", "neutral within the error bar"),
        ("u' = -u^2", "neutral within the error bar"),
        ("u'^2 = u^2", "stability not decided by the linear part"),
    ],
)
def test_the_words_for_one_state_are_those_for_several(text, stability):
    assert [e.stability for e in single(text)] == [stability]


def test_doubt_about_the_sign_is_told():
    (found,) = single("u' = -0.1*u", -1.0, 1.0, variance=0.01)
    assert found.stability == "neutral within the error bar"


def test_a_pole_is_no_equilibrium_and_undefined_places_are_passed_over():
    assert single("u' = 1/u") == []
    (only,) = single("u' = log(u)")
    assert only.values[0].value == pytest.approx(1.0)
    found = single("u' = u^2 - 2")
    assert [e.values[0].value for e in found] == pytest.approx([-(2**0.5), 2**0.5])


def test_an_equilibrium_where_the_slope_is_infinite_is_found():
    empty, full = single("u' = 2*u^0.5 - u", 0.5, 4.0)
    assert (empty.values[0].value, full.values[0].value) == pytest.approx((0.0, 4.0))
    assert empty.stability == "stability not decided by the linear part"
    assert full.stability == "stable"


def test_a_multiple_root_is_one_equilibrium_and_not_taken_for_a_line():
    (only,), isolated = equilibria_of(["x' = -(x - 1)^2", "y' = -y"], [0.0, -1.0], [2.0, 1.0])
    assert isolated
    assert [v.value for v in only.values] == pytest.approx([1.0, 0.0], abs=1e-4)


def test_all_equilibria_of_a_wavy_law_are_found():
    found = single("u' = sin(6*u)", -1.0, 1.0)
    assert [e.values[0].value for e in found] == pytest.approx(np.pi / 6 * np.arange(-3, 4), abs=1e-6)


def test_growing_swings_say_when_they_double():
    (rest,) = single("u'' = 0.1*u' - 4*u")
    assert "doubles in 13.86" in str(rest)
