"""Likely causes of a fit that is not good: each record has one fault, which is what is reported."""

from dataclasses import replace

import numpy as np
import pytest

import gode
from gode.discovery.causes import UNMEASURED, helpful_columns, with_causes, with_helpful_columns
from gode.discovery.remedies import has_kink, make_refits

T = np.linspace(0.0, 10.0, 80)


def growth(rate=0.8, size=5.0):
    return size / (1.0 + 9.0 * np.exp(-rate * T))


@pytest.fixture
def noise(rng):
    return 0.05 * rng.standard_normal(len(T))


def test_a_good_fit_has_no_cause_to_tell(noise):
    assert gode.fit("u' = C*u - C*u^2", T, growth() + noise).causes == ()


def test_an_outlier_is_named_with_its_time(noise):
    u = growth() + noise
    u[30] += 2.5
    found = gode.fit("u' = C*u - C*u^2", T, u)
    assert not found.causes
    (words,) = found.prepared.outliers
    assert words.startswith("One reading of u lies far from the others and was left out: ")
    assert "at t = 3.79747" in words


def test_a_wrong_start_is_named(noise):
    (cause,) = gode.fit("u' = C*u - C*u^2", T, growth() + noise, initial=[1.5]).causes
    assert "initial values given do not suit" in cause


def test_runs_that_differ_are_named(noise):
    runs = [growth(0.8, 5.0) + noise, growth(0.4, 3.0) + noise, growth(1.2, 4.0) + noise]
    (cause,) = gode.fit("u' = C*u - C*u^2", [T] * 3, runs).causes
    assert "the runs differ" in cause


def test_an_input_that_acts_late_is_named(rng):
    t = np.linspace(0.0, 20.0, 200)
    force = np.sin(t) + np.sin(2.3 * t + 1) + (t > 7)
    late = np.interp(t - 0.8, t, force)
    u = np.zeros(200)
    for i in range(1, 200):
        u[i] = u[i - 1] + (t[1] - t[0]) * (late[i - 1] - 0.9 * u[i - 1])
    found = gode.fit("u' = C*F + C*u", t, u + 0.01 * rng.standard_normal(200), force=force)
    assert any("later than it was recorded" in cause for cause in found.causes)


@pytest.mark.slow
def test_another_order_is_named(rng):
    u = np.cos(2 * T) * np.exp(-0.05 * T) + 0.03 * rng.standard_normal(len(T))
    found = gode.discover(T, u, order=1, effort="quick", without=["t"])
    assert any("--order 2" in cause for cause in found.causes)


def test_a_column_that_would_help_as_an_input_is_named(rng):
    other, useless = np.sin(1.3 * T), rng.standard_normal(len(T))
    u = np.zeros(len(T))
    for i in range(1, len(T)):
        u[i] = u[i - 1] + (T[1] - T[0]) * (other[i - 1] - 0.5 * u[i - 1])
    found = gode.fit("u' = C*u", T, u + 0.01 * rng.standard_normal(len(T)))
    columns = {"useless": [useless], "pump": [other]}
    told = list(helpful_columns(found.candidates[0], found.prepared, found.settings, columns))
    assert len(told) == 1
    assert "--force 'pump'" in told[0]


def test_a_delay_is_named():
    (cause,) = gode.fit("u' = C*u + C", T, np.cos(2 * T)).causes
    assert cause.startswith("u' follows from u and from what u was about")


@pytest.mark.parametrize(("place", "told"), [(1e4, False), (-3.0, False), (2.5, True)])
def test_a_kink_is_a_cause_among_the_data_only(noise, place, told):
    d = gode.fit("u' = C*u - C*u^2", T, growth() + noise)
    refit = make_refits(d.candidates[0], d.prepared, d.settings)
    bent = gode.parse_equation(f"u' = 0.8*u - 0.16*u^2 + 1e-9*abs(u - {place})")
    fit = replace(refit.fit(d.candidates[0].equation), equation=bent)
    assert has_kink(refit, fit, 0) is told


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


def test_a_hidden_state_that_leaves_far_less_is_the_cause(poor, good):
    (cause,) = with_causes(poor, lambda _: None, lambda: good).causes
    assert cause.endswith("times the noise is left: --hidden 1")
    (cause,) = with_causes(
        poor, lambda _: good, lambda: pytest.fail("asked")
    ).causes  # nothing is left to explain
    assert "--order 2" in cause
    for other in (poor, None):
        causes = with_causes(poor, lambda _: None, lambda o=other: o).causes
        assert not any("is left: --hidden 1" in cause for cause in causes)


def test_a_poor_fit_without_a_remedy_says_so():
    walk = np.cumsum(np.random.default_rng(2).standard_normal(len(T)))
    found = gode.fit("u' = C*u", T, walk)
    (cause,) = found.causes
    assert cause.endswith(UNMEASURED)  # an equation that is given has no option to search for one


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
