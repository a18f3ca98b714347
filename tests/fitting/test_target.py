from dataclasses import replace

import numpy as np
import pytest

from gode.data import Dataset, make_run
from gode.fitting.target import Target

T = np.array([0.0, 1.0, 2.0, 4.0, 5.0, 6.0])
GUIDE = np.vstack([T**2, np.full(6, -7.0), np.full(6, 2.0)])  # with a slope at the start that is far off


def target(*guides, weights=(10.0, 0.0, 0.0)):
    runs = tuple(make_run(T, u=guide[0]) for guide in guides)
    return Target(Dataset(runs), np.array(weights), guides, (36.0,))


def test_initial_values_start_from_the_smoothed_ones():
    (start,) = target(GUIDE, GUIDE + 1).starts((1,))
    assert start.tolist() == [[0.0], [1.0]]


def test_slopes_start_from_the_smoothed_one_and_from_differences_over_one_and_three_samples():
    starts = target(GUIDE).starts((2,))
    assert [start.tolist() for start in starts] == [[[0.0, -7.0]], [[0.0, 1.0]], [[0.0, 4.0]]]


def test_the_noise_is_a_share_of_the_spread_of_its_channel():
    assert target(GUIDE).noise_share == pytest.approx(0.1 / np.std(T**2))
    both = target(GUIDE, 0.5 * GUIDE, weights=(10.0, 0.0, 0.0))
    assert both.noise_share == pytest.approx(0.1 / np.std(T**2)), "the widest run counts"


def test_the_channel_with_the_least_noise_counts():
    guide = np.vstack([T**2, 2 * T, np.zeros(6)])
    assert target(guide, weights=(10.0, 1000.0, 0.0)).noise_share == pytest.approx(1e-3 / np.std(2 * T))


def test_averages_have_less_noise():
    one = target(GUIDE)
    run = replace(one.dataset.runs[0], counts=np.full(6, 4.0))
    averaged = replace(one, dataset=Dataset((run,)))
    assert averaged.noise_share == pytest.approx(one.noise_share / 2)
