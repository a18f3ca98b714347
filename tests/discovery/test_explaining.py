from dataclasses import replace

import numpy as np
import pytest

import gode
from gode.discovery.causes import UNMEASURED
from gode.discovery.explaining import with_causes, with_error_bars, with_helpful_columns

T = np.linspace(0.0, 10.0, 80)


def noisy(clean):
    return clean + 0.02 * np.random.default_rng(5).standard_normal(len(clean))


@pytest.fixture(scope="module")
def poor():
    """A swing, of which an equation of first order leaves nearly all."""
    return gode.fit("u' = C*u + C", T, noisy(np.cos(2 * T)))


@pytest.fixture(scope="module")
def good():
    return gode.fit("u'' = C*u", T, noisy(np.cos(2 * T)))


def test_a_good_fit_has_no_causes_and_asks_for_no_second_order(good):
    assert with_causes(good, lambda _: pytest.fail("asked")).causes == ()


def test_a_better_equation_of_second_order_is_the_cause(poor, good):
    (cause,) = with_causes(poor, lambda _: good).causes
    assert cause.endswith("times the noise: --order 2")


def test_another_equation_that_is_no_better_or_not_supported_is_no_cause(poor, good):
    for other in (poor, replace(good, supported=False), None):
        assert not any("--order 2" in cause for cause in with_causes(poor, lambda _, o=other: o).causes)


def test_a_poor_fit_without_a_remedy_says_so():
    walk = np.cumsum(np.random.default_rng(2).standard_normal(len(T)))
    found = gode.fit("u' = C*u", T, walk)
    (cause,) = found.causes
    assert cause.endswith(UNMEASURED)


@pytest.mark.parametrize("cut", ["interrupted", "timed_out"])
def test_a_search_that_was_cut_short_is_not_explained(poor, cut):
    bare = replace(poor, causes=(), **{cut: True})
    assert with_causes(bare, lambda _: pytest.fail("asked")).causes == ()
    assert with_helpful_columns(bare, {"x": [T]}).causes == ()


def test_a_column_that_helps_replaces_that_no_remedy_helps(rng):
    pump = np.sin(1.3 * T)
    u = np.zeros(len(T))
    for i in range(1, len(T)):
        u[i] = u[i - 1] + (T[1] - T[0]) * (pump[i - 1] - 0.5 * u[i - 1])
    found = replace(gode.fit("u' = C*u", T, noisy(u)), causes=("another", f"nothing helps; {UNMEASURED}"))
    helped = with_helpful_columns(found, {"pump": [pump]})
    assert helped.causes[0] == "another"
    assert "--force 'pump'" in helped.causes[1]
    assert len(helped.causes) == 2
    assert with_helpful_columns(found, {"noise": [rng.standard_normal(80)]}).causes == found.causes


def test_a_good_fit_needs_no_column(good):
    assert with_helpful_columns(good, {"swing": [np.cos(2 * T)]}).causes == ()


def test_near_ties_and_front_get_error_bars(good):
    first = good.candidates[0]
    bare = [replace(first, covariance=np.zeros((1, 1)), criterion=1e6 + i) for i in range(30)]
    bars = with_error_bars([first, *bare], good.prepared, good.settings)
    assert [c.covariance[0, 0] > 0 for c in bars] == [True] + [False] * 30
    assert bars[0].covariance == pytest.approx(first.covariance, rel=1e-3)
