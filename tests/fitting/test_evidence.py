import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import multivariate_normal

from gode.fitting.evidence import CORRELATIONS, PRIOR, Residuals, deviance, residuals_of


def test_innovations_are_those_of_each_series(rng):
    series = [rng.standard_normal(30), rng.standard_normal(12)]
    own = residuals_of(series, 84)
    assert own.share == 0.5
    for phi in (0.0, 0.3, 0.9):
        parts = [np.append(np.sqrt(1 - phi**2) * y[0], y[1:] - phi * y[:-1]) for y in series]
        expected = sum(float(part @ part) for part in parts) / 42
        assert own.innovations(np.array([phi]))[0] == pytest.approx(expected)


def test_the_evidence_is_the_mean_of_the_likelihoods_of_all_correlations(rng):
    y = lfilter([1.0], [1.0, -0.6], rng.standard_normal(40))
    n, total = len(y), 0.0
    for phi, weight in zip(CORRELATIONS, PRIOR, strict=True):
        shape = phi ** np.abs(np.subtract.outer(range(n), range(n))) / (1 - phi**2)
        variance = float(y @ np.linalg.solve(shape, y)) / n  # of the innovations that is most likely
        likelihood = multivariate_normal(np.zeros(n), variance * shape).pdf(y)
        total += weight * likelihood
    constant = n * (np.log(2 * np.pi) + 1)  # of every likelihood at its maximum
    assert deviance([residuals_of([y], n)], n, 0, [0.0], None) == pytest.approx(-2 * np.log(total) - constant)


def test_white_residuals_are_judged_as_before_but_for_the_prior_of_whiteness(rng):
    y = rng.standard_normal(400)
    own = residuals_of([y], 400)
    white = deviance([Residuals(own.square, 1.0)], 400, 3, [0.0], [50.0])
    assert white - 0.5 < deviance([own], 400, 3, [0.0], [50.0]) < white + 2 * np.log(2)


def test_a_number_costs_less_where_slow_noise_hides_it(rng):
    y = lfilter([1.0], [1.0, -0.8], rng.standard_normal(200))
    own = residuals_of([y], 200)
    price = deviance([own], 200, 1, [0.0], [1e6]) - deviance([own], 200, 0, [0.0], [1e6])
    white = Residuals(own.square, 1.0)
    as_white = deviance([white], 200, 1, [0.0], [1e6]) - deviance([white], 200, 0, [0.0], [1e6])
    assert price < as_white
    schwarz = deviance([white], 200, 1, [0.0], None) - deviance([white], 200, 0, [0.0], None)
    assert schwarz == pytest.approx(np.log(200) + 200 * np.log(200 / 199))


def test_states_have_variances_of_their_own(rng):
    quiet, loud = rng.standard_normal(50), 100 * rng.standard_normal(50)
    states = [residuals_of([quiet], 100), residuals_of([loud], 100)]
    both = deviance([s._replace(series=0.0) for s in states], 100, 0, [0.0, 0.0], None)
    assert both == pytest.approx(sum(50 * np.log(np.mean(y**2)) for y in (quiet, loud)))


def test_scaled_residuals_scale_all_squares(rng):
    y = rng.standard_normal(30)
    assert residuals_of([y], 30).scaled(4.0) == pytest.approx(residuals_of([2 * y], 30))


def test_nothing_below_rounding_is_evidence_however_many_values_there_are(rng):
    errors = 1e-3 * np.cumsum(rng.standard_normal(1000)) / 30
    larger, smaller = (residuals_of([factor * errors], 1000) for factor in (1.0, 0.3))
    assert larger.square**0.5 < 0.01
    costs = [deviance([own], 1000, 3, [0.01], [1e6]) for own in (larger, smaller)]
    assert costs[0] == costs[1]
    assert deviance([larger.scaled(1e3)], 1000, 3, [0.01], [1e6]) > costs[0]
