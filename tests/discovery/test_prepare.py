import numpy as np

from gode.discovery.arguments import make_dataset
from gode.discovery.prepare import prepare

T = np.linspace(0.0, 10.0, 120)


def smoothed(u):
    return prepare(make_dataset(T, u, None, None, None, None), 1, 1e-5).columns.matrix[1]


def test_a_decay_to_zero_stays_positive(rng):
    u = np.exp(-T) + 0.02 * rng.standard_normal(len(T))
    assert u.min() < 0
    assert smoothed(u).min() > 0
    assert smoothed(-u).max() < 0


def test_an_oscillation_keeps_both_signs(rng):
    u = np.sin(2 * T) + 0.02 * rng.standard_normal(len(T))
    assert smoothed(u).min() < -0.9
    assert smoothed(u).max() > 0.9


def test_five_accelerations_are_enough_and_raise_no_warning():
    dataset = make_dataset(np.arange(5.0), None, None, np.array([1.0, -0.2, -0.9, 0.3, 0.8]), None, None)
    assert prepare(dataset, 2, 1e-5).columns.n_points == 5
