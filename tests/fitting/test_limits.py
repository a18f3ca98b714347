"""Readings of which only limits are known: their residuals, and constants that they no longer bias."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import gode
from gode.data.dataset import Limits
from gode.data.from_arrays import make_dataset
from gode.discovery.given import fit_known
from gode.errors import DataError
from gode.fitting.limits import likely_noise, limited
from gode.report.repeat import python_call
from gode.search.assumptions import make_known
from gode.tables.dataset import DataOptions, read_dataset

X = np.linspace(-8.0, 8.0, 1601)
KINDS = [(-np.inf, 0.5), (0.5, np.inf), (0.0, 1.0), (-3.0, 3.0)]


@pytest.mark.parametrize(("low", "high"), KINDS)
def test_squared_residual_is_minus_twice_the_log_of_the_probability(low, high):
    r, _ = limited(X, np.full(X.shape, low), np.full(X.shape, high), np.full(X.shape, 2.0))
    chance = norm.cdf(high, X, 0.5) - norm.cdf(low, X, 0.5)
    likely = chance > 1e-12
    most = norm.cdf((high - low) / 2, 0, 0.5) - norm.cdf((low - high) / 2, 0, 0.5)
    assert np.allclose(r[likely] ** 2, 2 * np.log(most / chance[likely]), atol=1e-6)
    assert np.isfinite(r).all()


@pytest.mark.parametrize(("low", "high"), KINDS)
def test_derivative_is_that_of_differences(low, high):
    given = np.full(X.shape, low), np.full(X.shape, high), np.full(X.shape, 1.7)
    r, slope = limited(X, *given)
    numeric = (limited(X + 1e-6, *given)[0] - limited(X - 1e-6, *given)[0]) / 2e-6
    clear = r > 1e-3
    assert np.allclose(slope[clear], numeric[clear], atol=1e-6)
    assert np.isfinite(slope).all()


def test_noise_without_limited_readings_is_the_root_mean_square():
    assert likely_noise(40.0, 10.0, 0.0) == pytest.approx(2.0)


def decayed(seed, limit):
    """A decay of which readings below a limit are told as such: times, readings, and which were made."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.1, 16.0, 80)
    y = 10 * np.exp(-0.3 * t) + 0.8 * rng.standard_normal(len(t))
    return t, y, y >= limit


def test_rate_of_a_decay_below_the_limit_is_not_biased_by_what_could_not_be_read():
    limit, kept, left = 1.5, [], []
    for seed in range(6):
        t, y, seen = decayed(seed, limit)
        data = make_dataset(t[seen], y[seen], None, None, None, None)
        n = int(np.sum(~seen))
        limits = Limits(t[~seen], np.zeros(n, np.int64), np.full(n, -np.inf), np.full(n, limit))
        known = make_known("u' = -k*u", None, None, None)
        left.append(fit_known(data, known).equation.constants[0])
        runs = (replace(data.runs[0], limits=limits),)
        kept.append(fit_known(replace(data, runs=runs), known).equation.constants[0])
    error = np.mean([constant.error for constant in kept]) / np.sqrt(6)
    assert abs(np.mean([constant.value for constant in kept]) - 0.3) < 2 * error
    assert np.mean([constant.value for constant in left]) < 0.3 - 3 * error


def test_limits_in_a_file_enter_the_fit(tmp_path):
    t, y, seen = decayed(0, 1.5)
    rows = [
        f"{at:.4f},{value:.4f}" if here else f"{at:.4f},<1.5"
        for at, value, here in zip(t, y, seen, strict=True)
    ]
    for name, kept in (("all.csv", rows), ("read.csv", [row for row in rows if "<" not in row])):
        (tmp_path / name).write_text("t,u\n" + "\n".join(kept) + "\n")
    known = make_known("u' = -k*u", None, None, None)
    rates = []
    for name in ("all.csv", "read.csv"):
        data, told = read_dataset([str(tmp_path / name)], DataOptions())
        rates.append(fit_known(data, known).equation.constants[0].value)
        assert ("fitted by their probability" in " ".join(told.told)) == (name == "all.csv")
    assert rates[0] > rates[1]


def test_hidden_depot_is_fitted_with_limits_before_and_behind_the_readings():
    rng = np.random.default_rng(1)
    t = np.linspace(0.0, 24.0, 40)
    clean = 12 * (np.exp(-0.2 * t) - np.exp(-1.3 * t))
    y = clean + 0.2 * rng.standard_normal(len(t))
    seen = (y >= 0.5) | (t == 0.0)
    data = make_dataset(
        t[seen],
        {"c": y[seen]},
        None,
        None,
        None,
        {"c": 0.0},
        doses=[("d", 0.0, 100.0)],
        names=("d", "c"),
    )
    n = int(np.sum(~seen))
    limits = Limits(t[~seen], np.full(n, 3), np.full(n, -np.inf), np.full(n, 0.5))
    runs = (replace(data.runs[0], limits=limits),)
    law = ["d' = -ka*d", "c' = ka*d/V - ke*c"]
    found = fit_known(replace(data, runs=runs), make_known(law, None, None, None))
    rates = {each.place: each for each in found.equation.constants}
    assert abs(rates["ke"].value - 0.2) < 3 * rates["ke"].error
    assert found.simulate(np.linspace(0, 24, 5)).failure is None
    assert isinstance(found, gode.Discovery)


def decay(seed=0):
    t = np.linspace(0.0, 12.0, 40)
    return t, 8 * np.exp(-0.3 * t) + 0.8 * np.random.default_rng(seed).standard_normal(len(t))


def test_a_number_limits_all_readings_at_or_under_it_but_no_missing_one():
    t, u = decay()
    u[3] = np.nan
    run = make_dataset(t, np.where(u < 1.5, 0.0, u), below=1.5).runs[0]
    assert np.allclose(run.limits.t, t[u < 1.5])
    assert np.all(run.limits.high == 1.5)
    assert np.all(run.limits.low == -np.inf)
    assert np.nanmin(run.observed[0]) >= 1.5


def test_an_array_limits_missing_readings_and_those_that_it_covers():
    t, u = decay()
    low = u < 1.5
    whole = make_dataset(t, u, below=1.5).runs[0]
    for own in (np.where(low, np.nan, u), np.where(low, 1.5, u)):
        run = make_dataset(t, own, below=np.where(low, 1.5, np.nan)).runs[0]
        assert np.array_equal(run.limits.t, whole.limits.t)
        assert np.array_equal(run.observed, whole.observed, equal_nan=True)


def test_a_reading_between_two_limits_is_one_reading():
    t, u = decay()
    low = u < 1.5
    limits = {"below": np.where(low, 1.5, np.nan), "above": np.where(low, 0.1, np.nan)}
    run = make_dataset(t, np.where(low, np.nan, u), **limits).runs[0]
    assert np.array_equal(run.limits.t, t[low])
    assert np.all(run.limits.low == 0.1)
    assert np.all(run.limits.high == 1.5)


def test_a_reading_above_what_it_is_below_is_refused():
    t, u = decay()
    limits = {"below": np.where(u < 1.5, 1.5, np.nan), "above": np.where(u < 1.5, 2.0, np.nan)}
    with pytest.raises(DataError, match=r"u cannot lie below 1\.5 and above 2 at t = "):
        make_dataset(t, np.where(u < 1.5, np.nan, u), **limits)


def test_limits_of_several_states_and_runs_have_names_and_lists():
    t, u = decay()
    states = {"a": u, "b": 10 - u}
    run = make_dataset(t, states, below={"a": 1.5}, above={"b": 9.0}).runs[0]
    assert {*run.limits.channel} == {0, 3}
    assert np.all(np.diff(run.limits.t) >= 0)
    assert np.all(run.limits.low[run.limits.channel == 3] == 9.0)
    runs = make_dataset([t, t], [u, u + 1], below=[np.full(40, 1.5), np.full(40, np.nan)]).runs
    assert runs[0].limits is not None
    assert runs[1].limits is None
    assert all(each.limits is not None for each in make_dataset([t, t], [u, u + 0.1], below=1.5).runs)


def test_limits_of_arrays_mend_the_rate_that_leaving_readings_out_biases():
    rates = {"all": [], "limits": [], "left out": []}
    for seed in range(6):
        t, u = decay(seed)
        kept = u >= 1.5
        ways = {"all": (t, u, None), "limits": (t, u, 1.5), "left out": (t[kept], u[kept], None)}
        for way, (times, values, below) in ways.items():
            rates[way].append(gode.fit("u' = -k*u", times, values, below=below).equation.constants[0].value)
    mean = {way: np.mean(values) for way, values in rates.items()}
    assert abs(mean["limits"] - mean["all"]) < 0.02
    assert mean["left out"] < mean["all"] - 0.03


def test_the_regressor_takes_limits_and_a_call_repeats_them():
    t, u = decay()
    found = gode.fit("u' = -k*u", t, u, below=1.5)
    other = gode.ODERegressor(equation="u' = -k*u", below=1.5).fit(t, u).discovery_
    assert str(other.equation) == str(found.equation)
    assert "below=below" in python_call(found)
    assert "above" not in python_call(found)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"below": {"w": 1.0}}, "below is given for 'w', which is no state"),
        ({"below": np.zeros(3)}, "below"),
        ({"above": "high"}, "above"),
        ({"below": 100.0}, "nothing is observed"),
    ],
)
def test_limits_that_cannot_be_used_get_a_sentence(limits, message):
    with pytest.raises(DataError, match=message):
        gode.fit("u' = -k*u", *decay(), **limits)
