"""Error bars of fitted numbers, where the noise is correlated and where runs have constants of their own."""

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as t_law

from gode.data import Dataset, make_run
from gode.equation import parse_equation
from gode.fitting.covariance import as_covariance, correlated, covariances, inverse, moderated, sandwich
from gode.fitting.population import Individuals
from gode.fitting.prepare import prepare
from gode.fitting.trajectory import ShootConfig

CONFIG = ShootConfig()
RUNS, POINTS, PHI = 12, 60, 0.95
R, K = 0.6, 1.2


def ar(n, phi, rng):
    e = rng.standard_normal(n)
    y = np.empty(n)
    y[0] = e[0]
    for i in range(1, n):
        y[i] = phi * y[i - 1] + np.sqrt(1 - phi**2) * e[i]
    return y


def test_no_variance_is_negative_where_errors_of_two_directions_differ_by_far(rng):
    base = np.vander(np.linspace(0, 1, 120), 5).T
    j = np.vstack([base, base[0] + 1e-7 * rng.standard_normal(120)])
    found = sandwich([np.cumsum(rng.standard_normal(120))], j)
    assert np.all(np.diag(found) > 0)
    np.testing.assert_allclose(found, found.T, rtol=1e-9)


def test_what_the_data_leave_open_has_huge_errors():
    normal = np.array([[4.0, 2.0], [2.0, 3.0]])
    assert inverse(normal) @ normal == pytest.approx(np.eye(2))
    units = np.diag([1.0, 1e9])
    assert inverse(units @ normal @ units) == pytest.approx(np.linalg.inv(units @ normal @ units), rel=1e-9)
    twins = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])  # only their sum is known
    found = np.diag(inverse(twins))
    assert np.all(found[:2] > 1e12)
    assert found[2] == pytest.approx(0.5)


def test_the_product_with_the_correlation_matrix_is_that_of_the_matrix(rng):
    rows, lag = rng.standard_normal((2, 30)), np.abs(np.subtract.outer(np.arange(30), np.arange(30)))
    matrix = np.where(lag == 0, 1.0, 0.6 * 0.8**lag)
    np.testing.assert_allclose(correlated(rows, 0.8, 0.6), rows @ matrix, rtol=1e-10)


@pytest.mark.parametrize(("phi", "least"), [(0.0, 0.90), (0.7, 0.86)])
def test_intervals_of_a_linear_fit_hold_the_truth(phi, least, rng):
    j = np.vander(np.linspace(-1, 1, 100), 2).T
    held = 0
    for _ in range(300):
        y = ar(100, phi, rng)
        c = np.linalg.lstsq(j.T, y, rcond=None)[0]
        errors = np.sqrt(np.diag(sandwich([y - j.T @ c], j)))
        held += int(np.sum(np.abs(c) < 1.96 * errors))
    assert least < held / 600 < 0.985


def test_errors_of_white_residuals_are_those_of_least_squares_with_student_s_law():
    n, k = 12, 2
    r, j = np.tile([1.0, -1.0], n // 2), np.vstack([np.ones(n), np.arange(n)])
    expected = np.linalg.inv(j @ j.T) * (r @ r / (n - k)) * (t_law.ppf(0.975, n - k) / norm.ppf(0.975)) ** 2
    assert sandwich([r], j) == pytest.approx(expected, rel=1e-5)


def test_the_error_of_a_mean_of_correlated_values_is_what_theory_says(rng):
    y, phi = ar(5000, 0.8, rng), 0.8
    (variance,) = sandwich([y - y.mean()], np.ones((1, 5000)))[0]
    assert variance == pytest.approx((1 + phi) / (1 - phi) / 5000, rel=0.25)


def test_series_are_not_correlated_with_each_other(rng):
    halves = ar(300, 0.7, rng), ar(300, 0.7, rng)
    j = np.vstack([np.repeat([1.0, 0.0], 300), np.repeat([0.0, 1.0], 300)])
    cut = sandwich(halves, j)
    assert cut[0, 1] == pytest.approx(0.0, abs=1e-12)
    assert sandwich([np.concatenate(halves)], j)[0, 1] > 0


def test_runs_with_the_same_noise_share_its_variance(rng):
    squares = rng.chisquare(5, 200)
    variances, freedom = moderated(squares, np.full(200, 5.0))
    assert np.ptp(variances) < 0.5
    assert freedom > 40


def test_runs_with_different_noise_keep_some_of_it(rng):
    noise = np.repeat([1.0, 25.0], 100)
    variances, freedom = moderated(noise * rng.chisquare(5, 200), np.full(200, 5.0))
    assert np.median(variances[100:]) > 5 * np.median(variances[:100])
    assert freedom < 20


def wells(phi):
    rng = np.random.default_rng(5)
    t = np.linspace(0.0, 24.0, POINTS)
    truth = K / (1 + (K / 0.05 - 1) * np.exp(-R * t))
    for _ in range(RUNS):
        noise = rng.normal(size=POINTS)
        for i in range(1, POINTS):
            noise[i] = phi * noise[i - 1] + np.sqrt(1 - phi**2) * noise[i]
        yield make_run(t, u=truth + 0.01 * noise)


def errors(phi):
    """Standard errors of the growth rate: among all runs, and of each run alone."""
    law = parse_equation(f"u' = {R}*u - {R / K}*u^2")
    dataset = Dataset(tuple(wells(phi)))
    target = prepare(dataset, 1, 1e-5, individual=True).whole
    initial = np.full((RUNS, 1), 0.05)
    own = Individuals((0, 1), np.tile(law.constants, (RUNS, 1)), np.zeros((RUNS, 2, 2)))
    found = covariances(law, own, initial, target, config=CONFIG)
    together = [np.sqrt(found.runs[i][0, 0]) for i in range(RUNS)]
    alone = [
        covariances(law, None, initial[:1], target.of_run(i), config=CONFIG).shared[0, 0] ** 0.5
        for i in range(RUNS)
    ]
    return np.median(together), np.median(alone)


def test_many_runs_make_no_error_bar_of_a_run_much_wider():
    together, alone = errors(PHI)
    assert 0.7 * alone < together < 2.0 * alone


def test_under_white_noise_a_run_has_the_error_bar_it_has_alone():
    together, alone = errors(0.0)
    assert 0.8 * alone < together < 1.2 * alone


def test_a_covariance_that_rounding_spoiled_is_made_one():
    """Where data leave directions open, its two halves differed, and a variance was negative."""
    spoiled = np.array([[1e13, -6.4e12], [-9.8e12, 2e12]])
    found = as_covariance(spoiled)
    assert (found == found.T).all()
    assert np.linalg.eigvalsh(found)[0] >= -1e-9 * found[0, 0]
    negative = as_covariance(np.array([[4.0, 1.0], [1.0, -1.0]]))
    assert np.diag(negative).min() >= 0
    right = np.array([[4.0, 1e-3], [1e-3, 1e-6]])
    assert (as_covariance(right) == right).all()
    assert np.isfinite(as_covariance(np.full((2, 2), np.nan))).all()


def test_the_inverse_of_what_overflowed_is_not_known():
    assert np.isnan(inverse(np.array([[np.inf, 0.0], [0.0, 1.0]]))).all()
