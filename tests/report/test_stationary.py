"""Equilibria of systems against their closed forms."""

import numpy as np
import pytest

from gode.equation.parse_system import parse_system_values
from gode.report.field import Field, equilibria_in
from gode.report.naming import Units
from gode.report.stationary import find_rests

BOX = np.array([0.5, 0.5]), np.array([4.0, 4.0])
PLAIN = (Units("s"), Units("s"))
PREDATION = ["x' = 1.2*x - 0.6*x*y", "y' = 0.4*x*y - 0.8*y"]


def rests(texts, low, high, relative=0.01):
    law = parse_system_values(texts)
    covariance = np.diag((relative * np.array(law.constants)) ** 2)
    return find_rests(law, covariance, np.array(low), np.array(high), [Units("s")] * len(law.states))


def test_predation_has_a_saddle_and_a_centre():
    found, apart = rests(PREDATION, *BOX)
    assert apart
    assert [e.stability for e in found] == [
        "unstable (a saddle)",
        "a centre: no damping within the error bar",
    ]
    assert [v.value for v in found[1].values] == pytest.approx([2.0, 2.0])
    (mode,) = found[1].modes
    assert mode.frequency.value == pytest.approx(np.sqrt(1.2 * 0.8))


def test_error_of_an_equilibrium_follows_from_those_of_the_constants():
    found, _ = rests(PREDATION, *BOX)
    assert [v.error for v in found[1].values] == pytest.approx([2.0 * 0.01 * np.sqrt(2)] * 2, rel=1e-4)


def test_the_words_tell_nodes_from_spirals():
    cases = {
        "stable (a node)": ["x' = -x", "y' = -2*y"],
        "stable (a spiral)": ["x' = -0.1*x + 2*y", "y' = -2*x - 0.1*y"],
        "unstable (a spiral)": ["x' = 0.1*x + 2*y", "y' = -2*x + 0.1*y"],
        "unstable (a node)": ["x' = 3*x", "y' = 2*y"],
    }
    for word, texts in cases.items():
        (only,), _ = rests(texts, [-1.0, -1.0], [1.0, 1.0])
        assert only.stability == word


def test_coupled_oscillators_have_two_natural_frequencies():
    texts = ["x'' = -3*x + y - 0.2*x'", "y'' = x - 3*y - 0.2*y'"]
    (only,), _ = rests(texts, [-1.0, -1.0], [1.0, 1.0])
    assert sorted(m.frequency.value for m in only.modes) == pytest.approx([np.sqrt(2), 2.0])
    assert only.stability == "stable (a spiral)"
    assert "rad/s" in only.motion()["natural frequency"]


def test_a_line_of_equilibria_is_said_and_not_sampled():
    found, apart = rests(["S' = -0.5*S*I", "I' = 0.5*S*I - 0.2*I"], [0.1, 0.1], [1.0, 1.0])
    assert (found, apart) == ([], False)


def test_poles_and_logarithms_do_not_stop_the_search():
    found, _ = rests(["x' = 1/x - x", "y' = log(x) - y"], [0.2, -1.0], [2.0, 1.0])
    assert [v.value for v in found[-1].values] == pytest.approx([1.0, 0.0], abs=1e-8)


def test_equilibria_under_a_constant_input_follow_it():
    law = parse_system_values(["x' = F - x", "y' = x - 2*y"])
    (only,), _ = equilibria_in(law, np.zeros(2), np.ones(2), [0.8])
    assert only.tolist() == pytest.approx([0.8, 0.4])


def test_linear_part_is_that_of_the_textbook():
    law = parse_system_values(["x'' = -4*x + y + F", "y' = x' - 3*y"])
    a, b = Field(law).linear(np.array(law.constants), np.zeros(2))
    assert np.allclose(a, [[0, 1, 0], [-4, 0, 1], [0, 1, -3]])
    assert np.allclose(b, [[0], [1], [0]])
