"""Constants of each run, and the population behind them."""

import numpy as np
import pytest

from gode.fitting.population import LARGEST, bounded, population_of


def _estimates(rng, n, spread, error, mean=(1.0, -5.0)):
    true = np.array(mean) + rng.standard_normal((n, 2)) * spread
    return true + rng.standard_normal((n, 2)) * error, np.tile(np.diag(np.square(error)), (n, 1, 1))


def test_the_spread_of_a_population_is_without_the_errors_of_the_estimates(rng):
    values, within = _estimates(rng, 400, (0.2, 1.0), (0.4, 0.5))
    found = population_of(values, within)
    assert found.deviations == pytest.approx([0.2, 1.0], rel=0.25)
    assert np.std(values[:, 0]) > 0.4  # what it would be with them


def test_individuals_that_are_all_alike_have_next_to_no_spread(rng):
    values, within = _estimates(rng, 200, (0.0, 0.0), (0.3, 2.0))
    assert np.all(population_of(values, within).deviations < (0.1, 0.7))


def test_an_individual_of_which_nothing_is_known_does_not_move_the_mean(rng):
    values, within = _estimates(rng, 30, (0.2, 1.0), (0.05, 0.1))
    before = population_of(values, within).mean
    values[0], within[0] = (50.0, 700.0), np.diag([1e6, 1e8])
    assert population_of(values, within).mean == pytest.approx(before, abs=0.2)


def test_the_interval_of_the_mean_of_a_dozen_individuals_covers_it():
    rng, inside = np.random.default_rng(1), []
    for _ in range(200):
        found = population_of(*_estimates(rng, 12, (0.2, 1.0), (0.1, 0.4)))
        inside.append(np.abs(found.mean - (1.0, -5.0)) < 1.96 * found.errors)
    assert np.all(np.abs(np.mean(inside, axis=0) - 0.95) < 0.045)


def test_a_population_of_runs_that_determine_nothing_has_a_mean():
    values = 1.0 + 1e-13 * np.array([[0.0, 0.0, 0.0], [1.0, -1.0, 1.0], [0.0, 1.0, 1.0]])
    found = population_of(values, np.ones((3, 3, 3)))
    np.testing.assert_allclose(found.mean, 1.0)
    assert np.isfinite(found.covariance).all()


def test_a_constant_that_is_zero_in_every_individual_is_zero_in_the_population():
    values = np.column_stack([np.zeros(3), [1.0, 1.1, 0.9]])
    found = population_of(values, np.tile(1e-4 * np.eye(2), (3, 1, 1)))
    assert found.mean == pytest.approx([0.0, 1.0], abs=0.1)
    assert np.all(np.isfinite(found.errors))


def test_a_variance_without_bounds_keeps_its_correlations():
    """Cut entry by entry, a matrix with one large variance was no covariance any more."""
    wide = np.array([[[1e13, -9e5], [-9e5, 1.0]]])
    found = bounded(wide)[0]
    assert found[0, 0] == pytest.approx(LARGEST)
    assert np.linalg.eigvalsh(found)[0] > 0
    assert found[0, 1] / np.sqrt(found[0, 0] * found[1, 1]) == pytest.approx(-9e5 / np.sqrt(1e13))
