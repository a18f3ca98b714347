"""Forms of laws that people use, and intervals from the likelihood."""

import numpy as np
import pytest

import gode
from gode.discovery.natural import natural_constants
from gode.equation import parse_equation
from gode.equation.parse_system import parse_system_values
from gode.units import Unit


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


def test_a_limit_that_was_not_reached_has_an_open_interval():
    t = np.linspace(0, 3, 40)
    u = 500 / (1 + 99 * np.exp(-0.8 * t)) + 1.0 * np.random.default_rng(1).standard_normal(40)
    found = gode.fit("u' = r*u*(1 - u/K)", t, u, bounds={"K": (0, None)})
    (interval,) = [i for i in found.intervals if i.name == "K"]
    assert np.isinf(interval.high)
    assert 0 < interval.low < 500
    assert str(interval) == f"K > {interval.low:.3g}"


def test_a_profile_agrees_with_the_error_bar_of_a_constant_that_is_well_known():
    t = np.linspace(0, 6, 60)
    u = 2 * np.exp(-0.5 * t) + 0.02 * np.random.default_rng(0).standard_normal(60)
    found = gode.fit("u' = -k*u", t, u)
    low, high = found.profile("k")
    (k,) = found.equation.constants
    assert found.intervals == []
    assert (high - low) / 2 == pytest.approx(1.96 * k.error, rel=0.15)
