"""Autocorrelated residuals: an ARMA(1, 1) process behind them, and how many independent values they hold.

The process is white noise, AR(1), a random walk, or white noise on top of one of these. It enters the error
bars, which the correlation of the residuals widens, and the test whether an equation is supported: it must
explain the data better than such a process alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from gode.arrays import Float
from gode.compiling import cached_njit

GRID = (-0.6, 0.0, 0.4, 0.7, 0.9, 0.98)  # These are the starting values of phi, and of -theta.
LARGEST = 0.999  # This bounds |phi| and |theta|; it is in practice a random walk.
MIXED = 6.0  # White noise on top of AR(1) must raise twice the log-likelihood by this much: three per number.
CERTAIN = 9.0  # Residuals count as white if correlation raises twice the log-likelihood by less: three sigma.
FEWEST = 8  # Of fewer values nothing is told about correlation, and no longer series counts as fewer.
CHANCE = 2.5  # Autocorrelations within so many standard errors of those of white noise count as zero.


@dataclass(frozen=True)
class Arma:
    """y[i] = phi*y[i-1] + e[i] + theta*e[i-1], about a level or zero, with innovations e of this variance."""

    phi: float
    theta: float
    variance: float
    n: int  # values that were fitted

    @property
    def deviance(self) -> float:
        """Twice the negative log-likelihood, less a constant."""
        return self.n * float(np.log(self.variance))

    @property
    def correlated_fraction(self) -> float:
        """The factor g of autocorrelations g * phi^lag: below 1 where white noise is added to AR(1)."""
        phi, theta = self.phi, self.theta
        first = (1 + phi * theta) * (phi + theta) / (1 + 2 * phi * theta + theta**2)
        return float(np.clip(first / phi, 0.0, 1.0)) if phi > 0 else 0.0


def fit_arma(series: Sequence[Float], *, levels: bool) -> Arma:
    """Return the process that explains some series best, each about its own level if `levels`, else zero."""
    series = [np.array(y, np.float64) for y in series]
    n = sum(len(y) for y in series)
    tiny = max(1e-30 * sum(float(y @ y) for y in series), 1e-250)

    def squares(p: Float) -> float:
        phi, theta = LARGEST * np.tanh(p)
        return float(sum(innovations(y, phi, theta, levels) for y in series)) + tiny

    grid = [(np.arctanh(phi), np.arctanh(theta)) for phi in GRID for theta in (*(-g for g in GRID), 0.3)]
    start = min(grid, key=lambda p: squares(np.array(p)))
    found = minimize(squares, start, method="Nelder-Mead", options={"maxiter": 120, "xatol": 1e-3})
    phi, theta = (float(v) for v in LARGEST * np.tanh(found.x))
    return Arma(phi, theta, float(found.fun) / n, n)


@cached_njit
def innovations(y: Float, phi: float, theta: float, level: bool) -> float:
    """Return the sum of squared innovations, about the level of least squares if `level`."""
    mean = 0.0
    for again in range(2 if level else 1):
        e, one, before = 0.0, 0.0, 0.0
        squares, product, ones = 0.0, 0.0, 0.0
        for i in range(len(y)):
            e = y[i] - phi * before - theta * e
            one = 1.0 - (phi if i > 0 else 0.0) - theta * one  # innovations of a level of 1
            before = y[i]
            squares += (e - mean * one) ** 2
            product += e * one
            ones += one * one
        if level and again == 0:
            mean = product / max(ones, 1e-300)
    return squares


def residual_correlation(series: Sequence[Float], n_free: int) -> tuple[float, float]:
    """Return phi and g of residuals with autocorrelations g * phi^lag; (0, 0) if they may be white.

    A fit of k numbers biases phi by about -(1 + 3 phi + k (1 + phi))/n, which is corrected.
    """
    n = sum(len(y) for y in series)
    power = sum(float(y @ y) for y in series)
    if n < FEWEST or power <= 0:
        return 0.0, 0.0
    phi = sum(float(y[1:] @ y[:-1]) for y in series) / power
    fraction = 1.0
    gain = -n * np.log(1 - min(phi**2, LARGEST))
    mixed = fit_arma(series, levels=False)
    if n * np.log(power / n) - mixed.deviance > gain + MIXED:
        phi = mixed.phi
        fraction = mixed.correlated_fraction
        gain = n * np.log(power / n) - mixed.deviance
    if gain < CERTAIN or phi <= 0:
        return 0.0, 0.0
    return float(min(phi + (1 + 3 * phi + n_free * (1 + phi)) / n, LARGEST)), fraction


def autocorrelation_time(phi: float, fraction: float) -> float:
    """Return the number of values per independent one, 1 + 2 sum_l g phi^l."""
    return 1 + 2 * fraction * phi / (1 - phi)


def effective_sample_size(residuals: Float) -> float:
    """Return the effective number of independent values of a series: n over its correlation time.

    The correlation time is 1 + 2 times the sum of the autocorrelations up to the first that is not positive
    (drift), or times the sum of all squares (oscillation) if that is larger. Autocorrelations within the
    scatter of white noise count as zero.
    """
    n = len(residuals)
    power = float(residuals @ residuals)
    if n < FEWEST or power == 0:
        return float(n)
    spectrum = np.abs(np.fft.rfft(residuals, 2 * n)) ** 2
    correlations = np.fft.irfft(spectrum)[1 : max(n // 4, 3)] / power
    correlations[np.abs(correlations) < CHANCE / np.sqrt(n)] = 0.0
    end = np.flatnonzero(correlations <= 0)
    drift = correlations[: end[0] if len(end) else len(correlations)].sum()
    return float(max(n / (1 + 2 * max(drift, correlations @ correlations)), min(n, float(FEWEST))))
