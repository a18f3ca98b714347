from dataclasses import replace

import numpy as np
import pytest

from gode.data import make_run
from gode.data.averaging import averaged, stride_averaged
from gode.data.joining import Samples


def test_a_short_record_stays_as_it_is():
    run = make_run(np.linspace(0.0, 1.0, 900), u=np.sin(np.linspace(0.0, 6.0, 900)))
    assert averaged(run, 1000, 64) is run


def test_averages_lie_on_the_curve_to_fourth_order_in_their_width():
    t = np.linspace(0.0, 2 * np.pi, 6401)
    run = stride_averaged(make_run(t, u=np.sin(3 * t), velocity=3 * np.cos(3 * t)), 50)
    inside = slice(3, -3)  # at the ends the correction is one-sided
    assert np.abs(run.observed[0] - np.sin(3 * run.t))[inside].max() < 1e-5
    assert np.abs(run.observed[1] - 3 * np.cos(3 * run.t))[inside].max() < 3e-5


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
