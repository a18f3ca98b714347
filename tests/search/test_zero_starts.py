from dataclasses import replace

import numpy as np
import pytest

import gode
from gode.data import Dataset, make_run
from gode.fitting.prepare import prepare
from gode.search.zero_starts import may_be_zero, with_zeros


def response(start, noise=0.02, seed=3):
    """A body of first order that is switched on: u' = 1.2 - 0.8*u, from a start that is not told."""
    t = np.linspace(0, 6, 80)
    u = 1.5 + (start - 1.5) * np.exp(-0.8 * t)
    return t, u + noise * np.random.default_rng(seed).normal(size=80)


def test_a_record_that_begins_at_zero_is_fitted_from_zero():
    found = gode.discover(*response(0.0), order=1, effort="quick")
    assert found.candidates[0].initial[0, 0] == 0
    assert [c.value for c in found.equation.constants] == pytest.approx([-0.8, 1.2], rel=0.05)


@pytest.mark.parametrize("start", [0.2, -0.2])
def test_another_start_is_fitted(start):
    found = gode.discover(*response(start), order=1, effort="quick")
    assert found.candidates[0].initial[0, 0] == pytest.approx(start, abs=0.05)
    assert found.candidates[0].initial[0, 0] != 0


def test_a_given_structure_gets_a_fitted_start():
    t, u = response(0.0)
    assert gode.fit("u' = C*u + C", t, u).candidates[0].initial[0, 0] != 0


def test_a_swing_released_at_rest():
    t = np.linspace(0, 10, 120)
    u = np.cos(1.3 * t) * np.exp(-0.1 * t) + 0.1 / 1.3 * np.sin(1.3 * t) * np.exp(-0.1 * t)
    found = gode.discover(t, u + 0.02 * np.random.default_rng(1).normal(size=120), order=2, effort="quick")
    u0, v0 = found.candidates[0].initial[0]
    assert v0 == 0
    assert u0 == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(("deviations", "expected"), [(2.4, True), (-2.4, True), (2.6, False), (-2.6, False)])
def test_a_start_may_be_zero_within_two_and_a_half_deviations_of_the_smoothed_one(deviations, expected):
    t, u = response(0.1)
    prepared = prepare(Dataset((make_run(t, u=u),)), 1, 1e-5)
    (smooth,) = prepared.smooths
    values = smooth.values.copy()
    values[0, 0] = deviations * smooth.deviations[0, 0]
    moved = replace(prepared, smooths=(replace(smooth, values=values),))
    assert may_be_zero(moved, (1,)).tolist() == [[expected]]


def test_a_start_that_is_known_is_not_held_at_zero():
    t, u = response(0.0)
    prepared = prepare(Dataset((make_run(t, u=u, initial=[0.0]),)), 1, 1e-5)
    assert may_be_zero(prepared, (1,)).tolist() == [[False]]
    assert prepared.dataset.runs[0].initial[0] == 0


def test_only_the_marked_initial_values_become_zero():
    t, u = response(0.1)
    target = prepare(Dataset((make_run(t, u=u), make_run(t, u=u))), 2, 1e-5).target
    starts = [
        run.initial for run in with_zeros(target, (2,), np.array([[True, False], [False, True]])).dataset.runs
    ]
    np.testing.assert_array_equal(starts, [[0.0, np.nan], [np.nan, 0.0]])
