import numpy as np
import pytest

from gode.data import make_run, smooth
from gode.data.runs import cycles
from gode.data.smoothing import resampled


def relative(found, true):
    return np.linalg.norm(found - true) / np.linalg.norm(true)


@pytest.mark.parametrize(("n", "rate"), [(150, 6.0), (300, 2.0), (3000, 6.0), (1500, 60.0), (6000, 60.0)])
def test_long_records_keep_their_cycles(n, rate, rng):
    t = np.linspace(0.0, 20.0, n)
    true = np.sin(rate * t)
    found = smooth(make_run(t, u=true + 0.05 * rng.standard_normal(n)))
    assert relative(found.values[0], true) < 0.05
    assert relative(found.values[1], rate * np.cos(rate * t)) < 0.12
    assert found.noise[0] == pytest.approx(0.05, rel=0.25)
    assert np.all(np.isfinite(found.deviations))


def test_cycles_are_those_of_the_signal_not_of_the_noise(rng):
    t = np.linspace(0.0, 10.0, 1000)
    slow = make_run(t, u=np.exp(-t) + 0.02 * rng.standard_normal(1000))
    fast = make_run(t, u=np.sin(2 * np.pi * 30 * t) + 0.02 * rng.standard_normal(1000))
    assert cycles(slow) < 30
    assert 290 < cycles(fast) < 320


def test_a_long_acceleration_is_integrated_from_known_initial_values():
    t = np.linspace(0.0, 20.0, 3000)
    found = smooth(make_run(t, acceleration=-400 * np.sin(20 * t), initial=[0.0, 20.0]))
    assert relative(found.values[0], np.sin(20 * t)) < 0.02
    assert relative(found.values[1], 20 * np.cos(20 * t)) < 0.01


def test_missing_values_in_a_long_record_are_bridged(rng):
    t = np.linspace(0.0, 20.0, 2000)
    u = np.sin(3 * t) + 0.05 * rng.standard_normal(2000)
    u[rng.random(2000) < 0.5] = np.nan
    found = smooth(make_run(t, u=u))
    assert len(found.t) < 1200  # times at which nothing was observed are left out
    assert relative(found.values[0], np.sin(3 * found.t)) < 0.04


@pytest.mark.parametrize("n", [60, 700])
def test_each_state_is_smoothed_as_if_it_were_alone(n, rng):
    t = np.linspace(0.0, 6.0, n)
    x = np.column_stack([np.sin(t), np.exp(-t)]) + 0.02 * rng.standard_normal((n, 2))
    run = make_run(t, u=x, states=("x", "y"), initial=[0.0, np.nan])
    found = smooth(run)
    for s in (0, 1):
        alone = smooth(make_run(t, u=x[:, s], initial=run.initial[2 * s : 2 * s + 2]))
        for name in ("t", "values", "deviations", "noise", "hyperparameters"):
            np.testing.assert_array_equal(getattr(found.state(s), name), getattr(alone, name))
    np.testing.assert_array_equal(
        resampled(found, t[5:50]).state(1).values, resampled(found.state(1), t[5:50]).values
    )


@pytest.mark.parametrize("n", [80, 1200])
def test_a_state_is_smoothed_over_the_times_of_another(n, rng):
    t = np.linspace(0.0, 6.0, n)
    x = np.column_stack([np.sin(t), np.cos(t)]) + 0.02 * rng.standard_normal((n, 2))
    x[n // 2 : n // 2 + n // 8, 1] = np.nan  # y has a gap, and every other sample
    x[1::2, 1] = np.nan
    found = smooth(make_run(t, u=x, states=("x", "y")))
    assert found.values.shape == (6, n)
    assert np.sqrt(np.mean((found.values[3] - np.cos(t)) ** 2)) < 0.02
