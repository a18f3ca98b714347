import numpy as np
import pytest

from gode.data import Columns, columns_of_run
from gode.equation import Equation, parse_equation, parse_skeleton
from gode.fitting.constant_prior import improbability_of_constants, improbability_of_factors


def columns() -> Columns:
    t = np.linspace(0, 10, 101)
    return columns_of_run(t, 2 + np.sin(t), np.cos(t))


def price(text: str) -> float:
    return improbability_of_constants(parse_equation(text), columns())


def test_factors_in_front_of_terms_are_free():
    assert price("u' = 1e9*u - 1e-9*u^2 + 3*sin(u)") == 0.0


@pytest.mark.parametrize(
    ("usual", "odd"),
    [
        ("u' = 2*u^1.5", "u' = 2*u^34.2"),
        ("u' = 2*cos(1.3*t)", "u' = 2*cos(40*t)"),
        ("u' = 2*cos(1.3*t)", "u' = 2*cos(0.01*t)"),
        ("u' = u/(u + 2)", "u' = u/(u + 400)"),
        ("u' = u/(u + 2)", "u' = u/(u - 4)"),
        ("u' = exp(-0.5*u)", "u' = exp(-50*u)"),
        ("u' = tanh(1.2*u)", "u' = tanh(0.001*u)"),
    ],
)
def test_the_far_fetched_costs_more(usual: str, odd: str):
    assert price(usual) < 2.5
    assert price(odd) > price(usual) + 5


def test_a_wave_without_a_constant_costs_where_it_makes_many_cycles():
    wide = columns_of_run(np.linspace(0, 10, 101), 30 + 28 * np.sin(np.linspace(0, 10, 101)), np.ones(101))
    assert price("u' = u + sin(u)") == price("u' = u + sin(t)") == 0.0
    assert improbability_of_constants(parse_equation("u' = u + sin(u)"), wide) > 2
    assert improbability_of_constants(parse_equation("u' = u + sin(t)"), wide) == 0.0


def test_units_do_not_matter():
    t = np.linspace(0, 10, 101)
    u, slope = 2 + np.sin(t), np.cos(t)
    scaled = columns_of_run(t / 60, 1000 * u, 60_000 * slope)
    same = improbability_of_constants(parse_equation("u' = u/(u + 3000) + cos(78*t)"), scaled)
    assert same == pytest.approx(price("u' = u/(u + 3) + cos(1.3*t)"))


def test_a_phase_is_free():
    assert price("u' = sin(1.3*t + 0.001)") == pytest.approx(price("u' = sin(1.3*t)"))


def test_a_fit_that_ran_away_has_a_finite_price():
    power = Equation(parse_skeleton("u' = C*u^C"), (2.0, 1e250))
    assert 1e5 < improbability_of_constants(power, columns()) < 1e7
    for text in ("u' = C*exp(C*u)", "u' = C*u/(u + C)"):
        far = Equation(parse_skeleton(text), (2.0, 1e300))
        assert np.isfinite(improbability_of_constants(far, columns()))
        assert np.isfinite(improbability_of_factors(far, columns()))
