"""Sums of states that laws conserve, and the energy of laws whose force depends on place alone."""

import numpy as np
import pytest

from gode.discovery.invariants import (
    conserved,
    conserved_words,
    energy_words,
    force_of,
    potential_text,
    potential_values,
)
from gode.equation import Link, System, SystemSkeleton, parse_equation, parse_system
from gode.equation.system import parse_system_values


def tied(texts, links, constants):
    free = parse_system(texts)
    return System(SystemSkeleton(free.states, free.parts, free.inputs, tuple(links)), constants)


def test_a_sum_that_all_equations_conserve_is_found():
    law = parse_system_values(["S' = -0.52*S*I", "I' = 0.52*S*I - 0.3*I", "R' = 0.3*I"])
    assert conserved(law) == [{"S": 1, "I": 1, "R": 1}]
    assert conserved_words(law) == ["S + I + R is conserved"]


def test_numbers_that_are_only_nearly_equal_conserve_nothing():
    law = System(parse_system(["x' = C*x*y", "y' = C*x*y"]), (0.5, -0.5000001))
    assert conserved(law) == []


def test_differences_are_conserved_where_both_change_alike():
    law = tied(["x' = C*sin(C*x)*y", "y' = C*sin(C*x)*y"], [Link(0), Link(1), Link(0), Link(1)], (0.5, 2.0))
    assert conserved_words(law) == ["x - y is conserved"]


def test_momentum_of_a_law_of_second_order_is_the_sum_of_derivatives():
    texts = ["x'' = C*x + C*y", "y'' = C*x + C*y"]
    law = tied(texts, [Link(0), Link(0, -1.0), Link(0), Link(0, -1.0)], (2.0,))
    assert conserved_words(law) == ["x' + y' is conserved"]


def test_a_scalar_equation_conserves_no_sum():
    assert conserved(parse_equation("u' = 2*u")) == []


@pytest.mark.parametrize(
    ("law", "potential"),
    [
        ("u'' = -1.1*u - 0.7*u^3", "0.175*u^4 + 0.55*u^2"),
        ("u'' = -9.81*sin(u)", "-9.81*cos(u)"),
        ("u'' = 3 - 4*sin(0.5*u)", "-3*u - 8*cos(0.5*u)"),
        ("u'' = -u/(u^2 + 2)", "0.5*log(u^2 + 2)"),
        ("u'' = -u + 2*F", "0.5*u^2"),  # of the motion without the input
    ],
)
def test_a_potential_is_told_where_the_terms_integrate(law, potential):
    assert potential_text(parse_equation(law)) == potential


@pytest.mark.parametrize("law", ["u'' = -u - 0.1*u'", "u'' = -u + sin(t)", "u'' = -u*F", "u' = -u"])
def test_friction_time_and_first_order_keep_no_energy(law):
    assert force_of(parse_equation(law)) is None
    assert energy_words(parse_equation(law)) == []


def test_a_potential_without_a_formula_has_values():
    law = parse_equation("u'' = -2*u*abs(u)")
    u = np.linspace(-1.0, 1.0, 401)
    assert potential_text(law) is None
    assert "no simple formula" in energy_words(law)[0]
    assert potential_values(law, u) == pytest.approx(2 * np.abs(u) ** 3 / 3, abs=1e-4)


def test_the_energy_of_a_driven_oscillator_is_not_conserved():
    assert conserved_words(parse_equation("u'' = -4*u"))
    assert not conserved_words(parse_equation("u'' + 4*u = F"))
