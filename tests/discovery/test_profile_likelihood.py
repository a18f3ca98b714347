"""Intervals of constants from the likelihood."""

import numpy as np
import pytest

import gode


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
