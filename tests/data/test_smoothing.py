import time
from dataclasses import replace

import numpy as np
import pytest

from gode.data import make_run
from gode.data.dataset import Samples, Smooth, cycles
from gode.data.noise import cuts_corners
from gode.data.smoothing import averaged, evenly, resampled, smooth, smooth_runs, stride_averaged


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


def test_a_short_record_stays_as_it_is():
    run = make_run(np.linspace(0.0, 1.0, 900), u=np.sin(np.linspace(0.0, 6.0, 900)))
    assert averaged(run, 1000, 64) is run


def test_averages_lie_on_the_curve_to_fourth_order_in_their_width():
    t = np.linspace(0.0, 2 * np.pi, 6401)
    run = stride_averaged(make_run(t, u=np.sin(3 * t), velocity=3 * np.cos(3 * t)), 50)
    inside = slice(3, -3)  # at the ends the correction is one-sided
    assert np.abs(run.observed[0] - np.sin(3 * run.t))[inside].max() < 1e-5
    assert np.abs(run.observed[1] - 3 * np.cos(3 * run.t))[inside].max() < 3e-5


def test_averages_about_a_smoothed_curve_lie_on_it_however_it_bends():
    t = np.linspace(0.0, 2 * np.pi, 201)
    rows = np.vstack([np.sin(9 * t), 9 * np.cos(9 * t), -81 * np.sin(9 * t)])
    curve = Smooth(t, rows, 0 * rows, np.full(3, 0.01), np.zeros(4))
    alone, along = (stride_averaged(make_run(t, u=rows[0]), 5, known) for known in (None, curve))
    assert np.nanmax(np.abs(alone.observed[0] - np.sin(9 * alone.t))) > 0.02
    assert np.nanmax(np.abs(along.observed[0] - np.sin(9 * along.t))) < 1e-4


def test_noise_falls_with_the_root_of_the_stride(rng):
    t = np.linspace(0.0, 1.0, 50_000)
    run = stride_averaged(make_run(t, u=t + rng.standard_normal(len(t))), 100)
    rest = (run.observed[0] - run.t)[1:]
    assert np.std(rest) == pytest.approx(0.1, rel=0.15)
    assert run.counts is not None
    assert np.all(run.counts[1:] == 100)
    assert run.t[0] == 0.0
    assert np.isnan(run.observed[0, 0]), "the start is a time, not a sample"


def test_gaps_leave_no_slope_behind(rng):
    t = np.linspace(0.0, 1.0, 5000)
    u = np.where(rng.random(5000) < 0.4, np.nan, 7.0 * t)
    run = stride_averaged(make_run(t, u=u, velocity=np.full(5000, 7.0)), 20)
    assert np.nanmax(np.abs(run.observed[0] - 7.0 * run.t)) < 1e-10


def test_sampled_inputs_keep_their_samples():
    t = np.linspace(0.0, 1.0, 4000)
    run = stride_averaged(make_run(t, u=t, inputs={"F": np.sin(t)}), 4)
    given = run.inputs["F"]
    assert isinstance(given, Samples)
    assert len(given.values) == 4000
    assert replace(run).n_points == 1001


def test_loud_noise_does_not_pass_for_cycles(rng):
    t = np.linspace(0.0, 10.0, 20_000)
    run = make_run(t, u=5 / (1 + 9 * np.exp(-0.8 * t)) + 2.0 * rng.standard_normal(len(t)))
    assert averaged(run, 1000, 64).n_points < 2100


def test_sparse_samples_of_an_uneven_record_are_left_alone(rng):
    t = np.concatenate([np.linspace(0.0, 1.0, 20_000), np.linspace(2.0, 12.0, 20)])
    u = np.sin(t) + 0.01 * rng.standard_normal(len(t))
    run = averaged(make_run(t, u=u), 1000, 64)
    assert run.counts is not None
    assert np.sum(run.t >= 2.0) == 20
    np.testing.assert_array_equal(run.observed[0, run.t >= 2.0], u[t >= 2.0])
    assert np.all(run.counts[run.t >= 2.0] == 1)


def test_the_fastest_channel_says_how_far_to_average():
    t = np.linspace(0.0, 10.0, 10_000)
    fast = 300.0 * np.sin(2 * np.pi * 50 * t)
    run = averaged(make_run(t, u=np.sin(t), acceleration=fast), 1000, 64)
    assert run.n_points == 10_000


def test_every_state_is_averaged(rng):
    t = np.linspace(0.0, 10.0, 5000)
    x = np.column_stack([np.sin(t), np.cos(t)])
    run = stride_averaged(make_run(t, u=x, states=("x", "y")), 20)
    assert run.observed.shape == (6, len(run.t))
    assert np.nanmax(np.abs(run.observed[3] - np.cos(run.t))) < 1e-3


T = np.linspace(0.0, 6.0, 20)


def _runs(n):
    rng = np.random.default_rng(0)
    levels = rng.uniform(4.0, 9.0, n)
    clean = [k / (1 + 9 * np.exp(-1.1 * T)) for k in levels]
    return [make_run(T, u=u + 0.1 * rng.standard_normal(len(T))) for u in clean], clean


def test_runs_that_borrow_are_as_smooth_as_those_tuned_alone():
    runs, clean = _runs(48)
    begin = time.process_time()
    together = smooth_runs(runs, [run.initial for run in runs])
    both = time.process_time() - begin
    borrowed = [i for i in range(48) if i not in {*range(4), *evenly(48, 20)}][:6]
    alone = [smooth(runs[i]) for i in borrowed]
    errors = [np.std(together[i].values[0] - clean[i]) for i in borrowed]
    assert np.mean(errors) < 1.3 * np.mean(
        [np.std(s.values[0] - clean[i]) for s, i in zip(alone, borrowed, strict=True)]
    )
    assert [together[i].noise[0] for i in borrowed] == pytest.approx([s.noise[0] for s in alone], rel=0.5)
    assert both < 60


def servo(n=4000):
    """Return times, positions and velocities of a slide that goes to and fro with short stops.

    Its velocity is made of straight lines, as under a controller, and four cycles hide them.
    """
    t = np.linspace(0.0, 20.0, n)
    stops = np.arange(0.0, 20.01, 1.25)
    levels = np.where(np.arange(len(stops)) // 2 % 2 == 0, 1.0, -1.0) * (
        0.6 + 0.4 * (np.arange(len(stops)) % 2)
    )
    knots, values = [0.0], [0.0]
    for stop, level in zip(stops, levels, strict=True):
        knots += [stop + 0.1, stop + 1.15, stop + 1.25]
        values += [level, level, 0.0]
    v = np.interp(t, knots, values)
    u = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(t) * (v[1:] + v[:-1]))])
    return t, u, v


def test_corners_that_few_cycles_hide_are_not_rounded_off(rng):
    t, u, v = servo()
    found = smooth(make_run(t, u=u + 1e-4 * rng.standard_normal(len(t))))
    assert cycles(make_run(t, u=u)) < 12
    assert relative(found.values[1], v) < 0.05
    assert found.noise[0] < 5e-4


def test_noise_is_not_taken_for_corners(rng):
    t = np.linspace(0.0, 20.0, 4000)
    for shift in (0.0, 1.0):
        run = make_run(t, u=np.sin(t) + shift + 0.1 * rng.standard_normal(len(t)))
        assert not cuts_corners(run, smooth(run))
