from dataclasses import replace

import numpy as np
import pytest

import gode
from gode.discovery import fit
from gode.discovery.consensus import _distance, risks
from gode.equation import parse_equation
from gode.solve import solve

T = np.linspace(0.0, 6.0, 80)


def growth(start, seed=2):
    """u' = 1.2 - 0.8*u, measured with noise."""
    clean = 1.5 + (start - 1.5) * np.exp(-0.8 * T)
    return clean + 0.05 * np.random.default_rng(seed).standard_normal(len(T))


def test_an_equation_that_rests_where_the_other_starts_is_the_greater_risk():
    u = growth(0.0)
    moving, resting = fit("u' = C*u + C", T, u, initial=[0.0]), fit("u' = C*u + C*u^0.3", T, u)
    ties = [replace(found.order[0], criterion=0.0) for found in (moving, resting)]
    risk = risks(ties, resting.prepared, resting.settings.shooting)
    assert risk[1] > 0.3
    assert risk[0] < 0.1


def test_equations_that_agree_are_no_risk():
    found = fit("u' = C*u + C", T, growth(0.5))
    same = fit("u' = C*u + C + C*u^2", T, growth(0.5))
    risk = risks([found.order[0], same.order[0]], found.prepared, found.settings.shooting)
    assert np.all(risk < 0.05)
    assert np.all(risk > 0)


@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_named_leaves_zero_where_the_record_may_begin_there(seed):
    t = np.linspace(0.0, 8.0, 100)
    clean = solve(parse_equation("u' = 1.1 - 0.3*u - 0.9*exp(-1.3*u)"), t, [0.0]).u
    noise = 0.06 * np.random.default_rng(seed).standard_normal(len(t))
    found = gode.discover(t, clean + noise, order=1, effort="quick")
    assert found.simulate(initial=[0.0]).u == pytest.approx(clean, abs=0.1)


def test_a_start_that_the_data_leave_open_is_no_risk():
    t = np.linspace(0.0, 10.0, 150)
    true = solve(parse_equation("u'' = -0.5*u' - 2*u - 3*u^3 + F"), t, [0.5, 0.0], inputs={"F": "cos(2*t)"})
    noisy = true.d2u + 0.02 * np.random.default_rng(0).standard_normal(len(t))
    texts = "u'' = C*u' + C*u + C*u^3 + C*F", "u'' = C*u' + C*F"
    right, wrong = (fit(text, t, acceleration=noisy, force="cos(2*t)") for text in texts)
    ties = [replace(found.order[0], criterion=0.0) for found in (right, wrong)]
    risk = risks(ties, right.prepared, right.settings.shooting)
    assert risk[0] == pytest.approx(risk[1], abs=0.1)


def test_equations_that_agree_on_a_rest_agree():
    assert _distance(np.zeros((2, 5)), np.zeros((2, 5))) == 0
    assert _distance(np.full((2, 5), np.nan), np.zeros((2, 5))) == 1
