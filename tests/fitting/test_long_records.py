from dataclasses import replace

import numpy as np
import pytest

from gode.data import Dataset, Smooth, make_run
from gode.data.from_arrays import make_dataset
from gode.fitting.prepare import prepare
from gode.fitting.target import Target, condensed, first_part, screened, shorter


def record(n, cycles=1.0, *, force=False):
    t = np.linspace(0.0, 1.0, n)
    u = np.sin(2 * np.pi * cycles * t)
    return make_run(t, u=u, inputs={"F": np.cos(t)} if force else None)


def sizes(dataset):
    return [run.n_points for run in dataset.runs]


def of_screening(*runs):
    return screened(Dataset(runs), [noisy_curve(run) for run in runs])


def noisy_curve(run):
    """The run itself as a smoothed curve, with noise of a tenth of it."""
    values = np.vstack([run.observed[0], np.zeros((2, run.n_points))])
    return Smooth(run.t, values, 0 * values, np.array([0.1, np.nan, np.nan]), np.log([0.1, 1.0, 0.1, 1.0]))


def target_of(*runs):
    guides = tuple(np.vstack([run.observed[0], np.gradient(run.observed[0]), run.t]) for run in runs)
    return Target(Dataset(runs), np.array([10.0, 0.0, 0.0]), guides, (1.0,))


def test_only_a_dense_record_is_averaged_for_the_fits_that_decide():
    runs = record(1999), record(2000), record(20_000)
    n, *dense = sizes(condensed(Dataset(runs)))
    assert n == 1999
    assert dense == [1001, 1001]  # a thousand averages and the initial time


def test_cycles_keep_sixty_four_averages_each():
    (n,) = sizes(condensed(Dataset((record(20_000, cycles=50),))))
    assert n >= 50 * 64


def test_long_records_are_screened_on_about_four_hundred_points():
    assert sizes(of_screening(record(600))) == [600]
    assert 400 <= sizes(of_screening(record(4000)))[0] <= 600


def test_runs_share_the_points_for_screening_but_keep_about_sixty_each():
    four = of_screening(*(record(1000),) * 4)
    many = of_screening(*(record(1000),) * 20)
    assert all(100 <= n <= 150 for n in sizes(four))
    assert all(55 <= n <= 90 for n in sizes(many))


def test_a_fast_record_is_screened_on_twenty_points_a_cycle():
    (n,) = sizes(of_screening(record(10_000, cycles=100)))
    assert n >= 100 * 20


def test_samples_without_noise_are_thinned_for_screening():
    run = record(1000, cycles=5)
    quiet = replace(noisy_curve(run), hyperparameters=np.log([0.1, 1.0, 1e-4, 1.0]))
    ((few,), (means,)) = (screened(Dataset((run,)), [curve]).runs for curve in (quiet, noisy_curve(run)))
    np.testing.assert_array_equal(few.observed[0], run.observed[0, ::3])
    assert few.counts is None
    assert means.counts is not None


def test_a_first_part_stands_for_a_record_of_many_cycles():
    whole = target_of(record(4000, cycles=100, force=True))
    part = first_part(whole)
    (run,) = part.dataset.runs
    assert run.n_points == 400
    assert part.guides[0].shape == (3, 400)
    assert len(run.inputs["F"]) == 400
    assert first_part(target_of(record(600))).dataset.runs[0].n_points == 600


@pytest.mark.parametrize(("quiet", "expected"), [(100, 400), (1200, 1600), (3900, 4000)])
def test_the_first_part_lasts_until_the_signal_moves_half_as_much_as_the_whole(quiet, expected):
    t = np.linspace(0.0, 1.0, 4000)
    u = np.where(np.arange(4000) < quiet, 0.0, np.sin(2000 * t))
    whole = target_of(make_run(t, u=u))
    assert first_part(whole).dataset.runs[0].n_points == expected


def test_a_shorter_target_is_half_as_long_until_few_values_are_left(rng):
    t = np.linspace(0.0, 10.0, 100)
    u = np.c_[np.sin(t), np.cos(t)]
    u[:30, 1] = np.nan
    whole = prepare(make_dataset(t, u, None, None, None, None), 1, 1e-5).target
    lengths, now = [], shorter(whole)
    while now is not None:
        lengths.append(now.dataset.runs[0].n_points)
        assert now.guides[0].shape[1] == lengths[-1]
        now = shorter(now)
    assert lengths == [50, 38]  # eight values of the second state
