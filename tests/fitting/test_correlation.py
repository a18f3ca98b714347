import numpy as np
import pytest
from scipy.signal import lfilter

from gode.fitting.covariance import (
    Arma,
    autocorrelation_time,
    effective_sample_size,
    fit_arma,
    innovations,
    residual_correlation,
)


def ar(n, phi, rng):
    e = rng.standard_normal(n)
    y = np.empty(n)
    y[0] = e[0]
    for i in range(1, n):
        y[i] = phi * y[i - 1] + np.sqrt(1 - phi**2) * e[i]
    return y


def test_white_noise_has_no_correlation(rng):
    found = [residual_correlation([rng.standard_normal(100)], 3) for _ in range(40)]
    assert sum(phi > 0 for phi, _ in found) <= 2


def test_the_correlation_that_a_fit_takes_out_is_put_back(rng):
    q, _ = np.linalg.qr(np.vander(np.linspace(-1, 1, 100), 3))
    found = []
    for _ in range(60):
        y = ar(100, 0.7, rng)
        found.append(residual_correlation([y - q @ (q.T @ y)], 3)[0])
    assert np.median(found) == pytest.approx(0.7, abs=0.05)


def test_a_random_walk_is_one(rng):
    assert fit_arma([np.cumsum(rng.standard_normal(400))], levels=True).phi > 0.95


def test_a_level_of_its_own_for_each_series_explains_steps(rng):
    parts = [rng.standard_normal(80) + level for level in (0.0, 50.0)]
    assert fit_arma(parts, levels=True).variance == pytest.approx(1.0, rel=0.3)


def autocorrelations(phi, theta):
    """Those of an ARMA(1, 1) process, from its response to one innovation."""
    response = np.concatenate([[1.0], (phi + theta) * phi ** np.arange(2000)])
    return np.array([response[k:] @ response[: len(response) - k] for k in range(4)]) / (response @ response)


def test_the_correlation_of_an_arma_process_is_a_share_of_powers_of_phi():
    for phi, theta in ((0.8, 0.0), (0.8, -0.4), (0.95, -0.7)):
        share = Arma(phi, theta, 1.0, 10).correlated_fraction
        assert share * phi ** np.arange(1, 4) == pytest.approx(autocorrelations(phi, theta)[1:])
    assert Arma(-0.5, 0.0, 1.0, 10).correlated_fraction == 0
    assert Arma(0.3, 0.9, 1.0, 10).correlated_fraction == 1


def test_the_deviance_is_that_of_normal_innovations():
    assert Arma(0.5, 0.0, np.e**2, 30).deviance == pytest.approx(60)


def test_correlated_values_are_worth_fewer():
    share, phi = 0.6, 0.9
    assert autocorrelation_time(phi, share) == pytest.approx(1 + 2 * share * np.sum(phi ** np.arange(1, 400)))
    assert autocorrelation_time(0.0, 0.0) == 1


def test_an_arma_process_is_found_again(rng):
    e = rng.standard_normal(6000)
    found = fit_arma([lfilter([1.0, -0.5], [1.0, -0.9], e)], levels=False)
    assert (found.phi, found.theta) == pytest.approx((0.9, -0.5), abs=0.04)
    assert found.variance == pytest.approx(1.0, rel=0.05)
    assert found.n == 6000


def test_white_noise_on_top_takes_its_share_of_the_correlation(rng):
    phi, share = residual_correlation([ar(4000, 0.95, rng) + rng.standard_normal(4000)], 2)
    assert phi == pytest.approx(0.95, abs=0.02)
    assert share == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    "series",
    [np.ones(7), np.zeros(50), np.tile([1.0, -1.0], 50)],
    ids=["too short", "nothing left", "alternating"],
)
def test_a_series_that_tells_nothing_counts_as_white(series):
    assert residual_correlation([series], 1) == (0.0, 0.0)


def test_without_white_noise_on_top_all_of_the_variance_is_correlated(rng):
    phi, share = residual_correlation([ar(2000, 0.7, rng)], 0)
    assert phi == pytest.approx(0.7, abs=0.04)
    assert share == 1


@pytest.mark.parametrize("level", [False, True])
def test_innovations_are_those_of_a_linear_filter(rng, level):
    y = 1e6 * level + rng.standard_normal(50)
    e, one = (lfilter([1.0, -0.7], [1.0, 0.2], x) for x in (y, np.ones(50)))
    plain = e - one * (one @ e) / (one @ one) if level else e
    assert innovations(y, 0.7, 0.2, level) == pytest.approx(plain @ plain, rel=1e-6)


def test_white_residuals_are_worth_their_number_and_slow_ones_less(rng):
    white = rng.standard_normal(400)
    slow = np.convolve(rng.standard_normal(440), np.ones(40), mode="valid")[:400]
    ringing = np.sin(np.arange(400) * 0.9)
    assert effective_sample_size(white) > 330
    assert effective_sample_size(slow) < 60
    assert effective_sample_size(ringing) < 60
    assert effective_sample_size(np.zeros(400)) == 400


@pytest.mark.parametrize("phi", [0.5, 0.8])
def test_an_autoregressive_series_is_worth_what_theory_says(phi, rng):
    e = rng.standard_normal(8000)
    expected = 8000 * (1 - phi) / (1 + phi)
    assert effective_sample_size(lfilter([1.0], [1.0, -phi], e)) == pytest.approx(expected, rel=0.3)


def test_a_series_is_worth_eight_values_at_least_or_its_number(rng):
    assert effective_sample_size(np.ones(400)) == 8
    assert effective_sample_size(np.ones(12)) == 8
    assert effective_sample_size(np.arange(7.0)) == 7
