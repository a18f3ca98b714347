"""Forms of laws that people use: their constants where they are right, and nowhere else."""

import numpy as np
import pytest

import gode
from gode.discovery import Finding
from gode.discovery.natural_forms import natural_constants
from gode.equation import parse_equation
from gode.equation.system import parse_system_values
from gode.selection import Candidate
from gode.units import Unit, parse_unit

METRES = {"u": parse_unit("m"), "t": parse_unit("s"), "F": parse_unit("N")}


def constants_of(text, covariance=None):
    law = parse_system_values(text) if isinstance(text, list) else parse_equation(text)
    k = len(law.constants)
    found = natural_constants(law, np.zeros((k, k)) if covariance is None else covariance, {})
    return {n.name: n.value for n in found}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u' = 0.8*u - 0.0016*u^2", {"r": 0.8, "K": 500}),
        ("u' = 3 - 0.5*u", {"tau": 2, "u_rest": 6}),
        ("u' = -0.25*u", {"tau": 4}),
        ("u' = 2*u", {"T2": np.log(2) / 2}),
        ("u'' = -0.4*u' - 4*u", {"omega": 2, "zeta": 0.1}),
        ("u'' = -0.4*u' - 4*sin(u)", {"omega": 2, "zeta": 0.1}),
        ("u' = -2*u/(u + 1.5)", {"u_half": 1.5}),
        ("u' = -2*u^2/(u^2 + 9)", {"u_half": 3}),
        ("u' = sin(t)", {}),
        (["x' = -x*y/(x + 2)", "y' = x*y/(x + 3) - y"], {"x_half_x": 2, "x_half_y": 3}),
        (["x' = 1.5*x - 0.5*x^2 - x*y/(x + 2)", "y' = x*y/(x + 2) - y"], {"r_x": 1.5, "K_x": 3, "x_half": 2}),
    ],
)
def test_laws_are_told_in_the_form_that_people_use(text, expected):
    assert constants_of(text) == pytest.approx(expected)


def test_constants_that_the_user_has_named_or_given_are_not_told_again():
    t = np.linspace(0, 8, 30)
    u = 500 / (1 + 24 * np.exp(-0.9 * t))
    assert gode.fit("u' = r*u*(1 - u/K)", t, u).equation.natural == ()
    assert gode.fit("u' = r*u*(1 - u/K)", t, u, fixed={"K": 500}).equation.natural == ()


def test_errors_are_carried_over_by_their_slopes():
    law = parse_equation("u' = 0.8*u - 0.0016*u^2")
    covariance = np.diag([0.01**2 if abs(c) > 0.1 else 0.00002**2 for c in law.constants])
    r, k = natural_constants(law, covariance, {"t": Unit({"h": 1.0}), "u": Unit({"g": 1.0})})
    assert r.error == pytest.approx(0.01, rel=1e-3)
    assert k.error == pytest.approx(500 * np.hypot(0.01 / 0.8, 0.00002 / 0.0016), rel=1e-3)
    assert (r.unit, k.unit) == ("1/h", "g")


def test_half_saturations_of_one_state_in_two_equations_both_have_their_errors():
    """The second took the place of the first, which was then told as not determined."""
    law = parse_system_values(["x' = x - 0.1*x^2 - 0.9*x*y/(x + 2.5)", "y' = 0.5*x*y/(x + 2.6) - 0.3*y"])
    found = natural_constants(law, 1e-4 * np.eye(len(law.constants)), {})
    errors = {one.name: one.error for one in found if "half" in one.name}
    assert errors == pytest.approx({"x_half_x": 0.01, "x_half_y": 0.01}, rel=1e-3)


def natural(law):
    return {n.name: n.value for n in finding(law).natural}


def finding(law, units=None):
    return Finding(Candidate(law, np.zeros((1, 1)), np.eye(len(law.constants)), 1.0, 1.0), units=units or {})


@pytest.mark.parametrize(
    ("text", "omega"),
    [
        ("u'' = -400*u - 3*u'", 20.0),
        ("u'' = -400*u - 2.5", 20.0),
        ("u'' = -400*u - 9000*u^3 - 3*u'*abs(u')", 20.0),
        ("u'' + 0.2*u' + 9*sin(u) = F", 3.0),
        ("u'' = -1209560*sin(u) + 1209160*u", None),  # the Duffing oscillator, as it was named 1099.8
        ("u'' = -400*u - 100*abs(u)", None),
        ("u'' = -400*u + 12*t*u", None),
        ("u'' = -400*u - 9000*u^3 + 50", None),
        ("u'' = -400*u + 3*F*u", None),
    ],
)
def test_a_natural_frequency_is_told_where_it_is_that_of_small_motions(text, omega):
    assert natural(parse_equation(text)).get("omega") == (None if omega is None else pytest.approx(omega))


def test_two_storeys_have_no_natural_frequency_of_their_own():
    law = parse_system_values(["x'' = -60*x + 20*y", "y'' = 20*x - 20*y"])
    assert not natural(law)


def test_a_driven_relaxation_has_time_constant_rest_and_gain():
    found = natural(parse_equation("6.663*u' + 0.556*u - 13.93 = F"))
    assert found == {
        "tau": pytest.approx(6.663 / 0.556),
        "u_rest": pytest.approx(13.93 / 0.556),
        "gain": pytest.approx(1 / 0.556),
    }


def test_constants_of_a_law_of_forces_are_not_told_as_pressures():
    found = finding(parse_equation("2*u'' + 3*u + 5*u^2 = F"), METRES).constants
    assert {c.place: c.unit for c in found} == {"u''": "kg", "u": "N/m", "u^2": "N/m^2"}
