"""From solved laws to those that are reported: baselines, forms of one function, error bars."""

from dataclasses import replace

import numpy as np
import pytest

import gode
from gode.discovery import fit
from gode.discovery.shortlist import make_pool, plainest_first, same_function, with_error_bars
from gode.discovery.simulate import Scenario, simulate
from gode.equation import parse_equation
from gode.selection import rank
from gode.solve import solve

T = np.linspace(0.0, 4.0, 40)


@pytest.fixture(scope="module")
def found():
    noise = 0.02 * np.random.default_rng(1).standard_normal(len(T))
    return fit("u' = C*u", T, 2 * np.exp(-0.7 * T) + noise)


def pooled(found, candidates):
    return make_pool(candidates, found.prepared, found.prepared.whole, found.settings)


def test_what_explodes_within_the_data_is_passed_over(found):
    right = found.candidates[0]
    exploding = replace(right, equation=parse_equation("u' = 9*u^2"), rms=0.1 * right.rms, by_state=())
    texts = [str(c.equation) for c in pooled(found, [exploding, right]).candidates]
    assert texts == [str(right.equation)]
    assert len(pooled(found, [exploding]).candidates) == 1  # rather than none


def test_the_pool_holds_the_residuals_of_the_best_and_what_plainer_models_leave(found):
    right = found.candidates[0]
    worse = replace(right, equation=parse_equation("u' = -0.5*u + 0.1"), rms=5 * right.rms, by_state=())
    pool = pooled(found, [worse, right])
    ((observed, residual),) = pool.series
    noise = found.prepared.noise[0]
    assert observed * noise == pytest.approx(found.prepared.dataset.runs[0].observed[0])
    assert np.sqrt(np.mean(residual**2)) == pytest.approx(right.rms, rel=1e-3)
    ((constant,), k0), ((line,), k1) = pool.polynomials
    assert (k0, k1) == (1, 2)
    assert constant > line > right.rms**2
    assert rank(pool, found.settings.selection).supported


def test_an_equation_that_leaves_its_highest_derivative_open_is_passed_over():
    noise = 0.1 * np.random.default_rng(2).standard_normal(len(T))
    found = fit("u'' = C*t", T, 0.8 * T**3 + noise, initial=[0.0, 0.0])
    right = found.candidates[0]
    vague = replace(
        right, equation=parse_equation("u'' = 1.856*u'/u^0.3337"), rms=0.1 * right.rms, by_state=()
    )
    assert simulate(vague, found.prepared, Scenario(T)).failure is None, (
        "0/0 at the start is what was smoothed"
    )
    assert [str(c.equation) for c in pooled(found, [vague, right]).candidates] == [str(right.equation)]


@pytest.fixture(scope="module")
def fits():
    t = np.linspace(0, 12, 200)
    path = solve(gode.parse_equation("u'' = -0.1*u' - 2*u - 0.35*u^3"), t, [0.6, 0.0])
    u = path.u + 0.01 * np.random.default_rng(0).standard_normal(len(t))
    texts = ("u'' = C*u' + C*u + C*u^3", "u'' = C*u' + C*u + C*sin(u)", "u'' = C*u' + C*u")
    return [gode.fit(text, t, u, initial=[0.6, 0.0]) for text in texts]


def test_forms_of_one_function_are_recognised(fits):
    cubic, sine, linear = (fit.candidates[0] for fit in fits)
    found = same_function(cubic, [cubic, sine, linear], fits[0].prepared)
    assert found == [cubic, sine]


def test_of_several_forms_the_most_plausible_is_named(fits):
    cubic, sine, _ = (fit.candidates[0] for fit in fits)
    selection = fits[0].settings.selection
    order = sorted([cubic, sine], key=lambda c: c.criterion)
    assert plainest_first(order, fits[0].prepared, selection)[0] is cubic
    assert plainest_first([sine], fits[0].prepared, selection) == [sine]


def test_near_ties_and_front_get_error_bars():
    t = np.linspace(0.0, 10.0, 80)
    noise = 0.02 * np.random.default_rng(5).standard_normal(80)
    good = fit("u'' = C*u", t, np.cos(2 * t) + noise)
    first = good.candidates[0]
    bare = [replace(first, covariance=np.zeros((1, 1)), criterion=1e6 + i) for i in range(30)]
    bars = with_error_bars([first, *bare], good.prepared, good.settings)
    assert [c.covariance[0, 0] > 0 for c in bars] == [True] + [False] * 30
    assert bars[0].covariance == pytest.approx(first.covariance, rel=1e-3)
