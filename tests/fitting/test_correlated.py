import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import norm
from scipy.stats import t as t_law

from gode.fitting.correlated import (
    Arma,
    correlated,
    correlation,
    fit_arma,
    innovations,
    longer,
    sandwich,
)

NO_CUTS = np.zeros(0, np.int64)


def ar(n, phi, rng):
    e = rng.standard_normal(n)
    y = np.empty(n)
    y[0] = e[0]
    for i in range(1, n):
        y[i] = phi * y[i - 1] + np.sqrt(1 - phi**2) * e[i]
    return y


def test_white_noise_has_no_correlation(rng):
    found = [correlation([rng.standard_normal(100)], 3) for _ in range(40)]
    assert sum(phi > 0 for phi, _ in found) <= 2


def test_the_correlation_that_a_fit_takes_out_is_put_back(rng):
    q, _ = np.linalg.qr(np.vander(np.linspace(-1, 1, 100), 3))
    found = []
    for _ in range(60):
        y = ar(100, 0.7, rng)
        found.append(correlation([y - q @ (q.T @ y)], 3)[0])
    assert np.median(found) == pytest.approx(0.7, abs=0.05)


def test_a_random_walk_is_one(rng):
    assert fit_arma([np.cumsum(rng.standard_normal(400))], levels=True).phi > 0.95


def test_a_level_of_its_own_for_each_series_explains_steps(rng):
    parts = [rng.standard_normal(80) + level for level in (0.0, 50.0)]
    assert fit_arma(parts, levels=True).variance == pytest.approx(1.0, rel=0.3)


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
        errors = np.sqrt(np.diag(sandwich(y - j.T @ c, j, NO_CUTS)))
        held += int(np.sum(np.abs(c) < 1.96 * errors))
    assert least < held / 600 < 0.985


def autocorrelations(phi, theta):
    """Those of an ARMA(1, 1) process, from its response to one innovation."""
    response = np.concatenate([[1.0], (phi + theta) * phi ** np.arange(2000)])
    return np.array([response[k:] @ response[: len(response) - k] for k in range(4)]) / (response @ response)


def test_the_correlation_of_an_arma_process_is_a_share_of_powers_of_phi():
    for phi, theta in ((0.8, 0.0), (0.8, -0.4), (0.95, -0.7)):
        share = Arma(phi, theta, 1.0, 10).share
        assert share * phi ** np.arange(1, 4) == pytest.approx(autocorrelations(phi, theta)[1:])
    assert Arma(-0.5, 0.0, 1.0, 10).share == 0
    assert Arma(0.3, 0.9, 1.0, 10).share == 1


def test_the_deviance_is_that_of_normal_innovations():
    assert Arma(0.5, 0.0, np.e**2, 30).deviance == pytest.approx(60)


def test_correlated_values_are_worth_fewer():
    share, phi = 0.6, 0.9
    assert longer(phi, share) == pytest.approx(1 + 2 * share * np.sum(phi ** np.arange(1, 400)))
    assert longer(0.0, 0.0) == 1


def test_an_arma_process_is_found_again(rng):
    e = rng.standard_normal(6000)
    found = fit_arma([lfilter([1.0, -0.5], [1.0, -0.9], e)], levels=False)
    assert (found.phi, found.theta) == pytest.approx((0.9, -0.5), abs=0.04)
    assert found.variance == pytest.approx(1.0, rel=0.05)
    assert found.n == 6000


def test_white_noise_on_top_takes_its_share_of_the_correlation(rng):
    phi, share = correlation([ar(4000, 0.95, rng) + rng.standard_normal(4000)], 2)
    assert phi == pytest.approx(0.95, abs=0.02)
    assert share == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    "series",
    [np.ones(7), np.zeros(50), np.tile([1.0, -1.0], 50)],
    ids=["too short", "nothing left", "alternating"],
)
def test_a_series_that_tells_nothing_counts_as_white(series):
    assert correlation([series], 1) == (0.0, 0.0)


def test_errors_of_white_residuals_are_those_of_least_squares_with_student_s_law():
    n, k = 12, 2
    r, j = np.tile([1.0, -1.0], n // 2), np.vstack([np.ones(n), np.arange(n)])
    expected = np.linalg.inv(j @ j.T) * (r @ r / (n - k)) * (t_law.ppf(0.975, n - k) / norm.ppf(0.975)) ** 2
    assert sandwich(r, j, NO_CUTS) == pytest.approx(expected, rel=1e-5)


def test_the_error_of_a_mean_of_correlated_values_is_what_theory_says(rng):
    y, phi = ar(5000, 0.8, rng), 0.8
    (variance,) = sandwich(y - y.mean(), np.ones((1, 5000)), NO_CUTS)[0]
    assert variance == pytest.approx((1 + phi) / (1 - phi) / 5000, rel=0.25)


def test_series_are_not_correlated_with_each_other(rng):
    halves = ar(300, 0.7, rng), ar(300, 0.7, rng)
    j = np.vstack([np.repeat([1.0, 0.0], 300), np.repeat([0.0, 1.0], 300)])
    cut = sandwich(np.concatenate(halves), j, np.array([300]))
    assert cut[0, 1] == pytest.approx(0.0, abs=1e-12)
    assert sandwich(np.concatenate(halves), j, NO_CUTS)[0, 1] > 0


def test_without_white_noise_on_top_all_of_the_variance_is_correlated(rng):
    phi, share = correlation([ar(2000, 0.7, rng)], 0)
    assert phi == pytest.approx(0.7, abs=0.04)
    assert share == 1


@pytest.mark.parametrize("level", [False, True])
def test_innovations_are_those_of_a_linear_filter(rng, level):
    y = 1e6 * level + rng.standard_normal(50)
    e, one = (lfilter([1.0, -0.7], [1.0, 0.2], x) for x in (y, np.ones(50)))
    plain = e - one * (one @ e) / (one @ one) if level else e
    assert innovations(y, 0.7, 0.2, level) == pytest.approx(plain @ plain, rel=1e-6)
