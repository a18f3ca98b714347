from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

from gode.data import Dataset
from gode.discovery import fit
from gode.errors import ConfigError, DataError
from gode.fitting.trajectory_fit import shoot
from gode.selection import SelectionConfig, in_order, judge

T = np.linspace(0.0, 4.0, 40)


@pytest.fixture(scope="module")
def found():
    noise = 0.02 * np.random.default_rng(1).standard_normal(len(T))
    return fit("u' = C*u", T, 2 * np.exp(-0.7 * T) + noise)


def test_the_band_holds_the_truth_as_often_as_it_says(found, rng):
    later, truth = np.array([6.0, 9.0]), 2 * np.exp(-0.7 * np.array([6.0, 9.0]))
    inside = []
    for _ in range(200):
        band = measured_again(found, rng).predict(later, level=0.8)
        inside.append((band.lower <= truth) & (truth <= band.upper))
    assert np.mean(inside) == pytest.approx(0.8, abs=0.08)


def measured_again(found, rng):
    """The same equation fitted to new noise; what was smoothed stays, as it only starts the fit."""
    prepared, settings = found.prepared, found.settings
    observed = prepared.dataset.runs[0].observed.copy()
    observed[0] = 2 * np.exp(-0.7 * T) + 0.02 * rng.standard_normal(len(T))
    dataset = Dataset((replace(prepared.dataset.runs[0], observed=observed),))
    target = replace(prepared.target, dataset=dataset)
    equation = found.equation.equation
    shot = shoot(equation.skeleton, equation.constants, target, config=settings.shooting)
    best = judge(shot, prepared.floor, settings.selection, prepared.columns)
    return replace(found, candidates=[best], prepared=replace(prepared, dataset=dataset, target=target))


def test_the_error_is_what_the_constants_make_of_it(found):
    later = np.array([1.0, 8.0])
    band = found.predict(later, initial=[1.0])
    rate, error = found.equation.constants[0].value, found.equation.constants[0].error
    wanted = (later - later[0]) * np.exp(rate * (later - later[0])) * error
    assert band.error == pytest.approx(wanted, rel=1e-3)
    assert np.all(band.spread == 0)


def test_a_time_after_the_data_is_reached_from_their_start(found):
    whole = found.predict(np.linspace(0.0, 8.0, 9))
    part = found.predict([7.0, 8.0])
    assert part.u == pytest.approx(whole.u[-2:], rel=1e-6)
    assert part.upper == pytest.approx(whole.upper[-2:], rel=1e-4)
    assert found.predict(5.0).u == pytest.approx(found.simulate([0.0, 5.0]).u[1:], rel=1e-6)
    assert found.simulate([3.0, 5.0]).u[0] == pytest.approx(2 * np.exp(-2.1), rel=0.1)


def test_near_ties_widen_the_band(rng):
    u = 2 * np.exp(-0.7 * T) + 0.02 * rng.standard_normal(len(T))
    rivals = [fit(text, T, u) for text in ("u' = C*u", "u' = C*u + C")]
    settings = replace(rivals[0].settings, selection=SelectionConfig(level=1.0))
    both = replace(rivals[0], candidates=in_order([r.candidates[0] for r in rivals]), settings=settings)
    later = [12.0]
    alone = replace(both, candidates=both.candidates[:1]).predict(later)
    together = both.predict(later)
    assert together.spread[0] > 0
    assert together.upper[0] - together.lower[0] > alone.upper[0] - alone.lower[0]
    assert together.u == pytest.approx(alone.u)


def test_runs_have_their_own_initial_values():
    starts = (1.0, 3.0)
    found = fit("u' = C*u", [T, T], [s * np.exp(-T) for s in starts])
    assert [found.predict([1.0], run=i).u[0] for i in range(2)] == pytest.approx(
        [s * np.exp(-1.0) for s in starts], rel=1e-4
    )


def test_samples_of_a_new_force_belong_to_the_new_times():
    force = np.cos(T)
    u = 0.5 * (np.sin(T) + np.cos(T)) + 0.5 * np.exp(-T)  # u' = -u + F
    found = fit("u' = C*u + C*F", T, u, force=force)
    t = np.linspace(0.0, 8.0, 80)
    later = found.predict(t, force=np.cos(t))
    assert later.u == pytest.approx(0.5 * (np.sin(t) + np.cos(t)) + 0.5 * np.exp(-t), abs=0.01)
    assert found.predict(t, force="cos(t)").u == pytest.approx(later.u, abs=1e-3)
    with pytest.raises(DataError, match="known from 0 to 4 only; give force="):
        found.predict([5.0])


@pytest.mark.parametrize(
    ("arguments", "kind", "sentence"),
    [
        ({"t": [-1.0, 0.0]}, DataError, "before the data, which start at 0"),
        ({"t": [2.0, 1.0]}, DataError, "finite, increasing times"),
        ({"t": []}, DataError, "finite, increasing times"),
        ({"t": [np.nan, 1.0]}, DataError, "finite, increasing times"),
        ({"t": [1.0, 2.0], "run": 1}, DataError, "there is one run only, number 0, got 1"),
        ({"t": [1.0, 2.0], "level": 95}, ConfigError, "level must lie between 0 and 1"),
        ({"t": [1.0, 2.0], "initial": [1.0, 2.0]}, DataError, "initial value"),
    ],
)
def test_bad_questions_get_a_sentence(found, arguments, kind, sentence):
    with pytest.raises(kind, match=sentence):
        found.predict(**arguments)


def test_a_solution_that_ends_says_so():
    found = fit("u' = C*u^2", T[:20], 1 / (5 - T[:20]))
    band = found.predict(np.linspace(0.0, 20.0, 50))
    assert band.failure is not None
    assert np.isnan(band.u[-1])


def test_a_band_is_wider_where_the_residuals_are_correlated():
    t = np.linspace(0.0, 10.0, 200)
    rng = np.random.default_rng(3)
    shocks = 0.02 * rng.standard_normal(len(t))
    slow = lfilter([1.0], [1.0, -0.9], shocks)
    curve = np.exp(-0.5 * t)
    white, not_white = (fit("u' = C*u", t, curve + noise) for noise in (shocks, slow))
    half = (not_white.predict(t).upper - not_white.predict(t).lower) / 2
    assert np.all(half > 1.5 * np.std(slow))
    assert np.all(white.predict(t).upper - white.predict(t).lower < 0.04)
