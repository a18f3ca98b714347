import numpy as np
import pytest

from gode.fitting.correlated import correlated, correlation, fit_arma, sandwich

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
