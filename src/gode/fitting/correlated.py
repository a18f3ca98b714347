"""Correlated noise as an ARMA(1, 1) process: white noise, AR(1), a random walk, and white noise on top.

It enters the error bars, which the correlation of the residuals widens, and the test whether an equation is
supported: it must explain the data better than such a process alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import stdtrit

from gode.arrays import Float, Int
from gode.compiling import cached_njit

HUGE = 1e100  # stands for infinite variances, which a record could not hold
NORMAL = 1.959964  # standard deviations of the 95 % interval of a normal law
OPEN = 1e-14  # eigenvalues of the scaled normal matrix below this are rounding error
GRID = (-0.6, 0.0, 0.4, 0.7, 0.9, 0.98)  # starting values of phi, and of -theta
LARGEST = 0.999  # bound on |phi| and |theta|: in practice a random walk
MIXED = 6.0  # gain over AR(1) in twice the log-likelihood that white noise on top of it must bring
CERTAIN = 9.0  # gain in twice the log-likelihood below which residuals count as white


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
    def share(self) -> float:
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
    share = 0.0
    for again in range(2 if level else 1):
        e, one, before = 0.0, 0.0, 0.0
        squares, product, ones = 0.0, 0.0, 0.0
        for i in range(len(y)):
            e = y[i] - phi * before - theta * e
            one = 1.0 - (phi if i > 0 else 0.0) - theta * one  # innovations of a level of 1
            before = y[i]
            squares += (e - share * one) ** 2
            product += e * one
            ones += one * one
        if level and again == 0:
            share = product / max(ones, 1e-300)
    return squares


def correlation(series: Sequence[Float], n_free: int) -> tuple[float, float]:
    """Return phi and g of residuals with autocorrelations g * phi^lag; (0, 0) if they may be white.

    A fit of k numbers biases phi by about -(1 + 3 phi + k (1 + phi))/n, which is corrected.
    """
    n = sum(len(y) for y in series)
    power = sum(float(y @ y) for y in series)
    if n < 8 or power <= 0:
        return 0.0, 0.0
    phi, share = sum(float(y[1:] @ y[:-1]) for y in series) / power, 1.0
    gain = -n * np.log(1 - min(phi**2, LARGEST))
    mixed = fit_arma(series, levels=False)
    if n * np.log(power / n) - mixed.deviance > gain + MIXED:
        phi, share = mixed.phi, mixed.share
        gain = n * np.log(power / n) - mixed.deviance
    if gain < CERTAIN or phi <= 0:
        return 0.0, 0.0
    return float(min(phi + (1 + 3 * phi + n_free * (1 + phi)) / n, LARGEST)), share


def correlated(rows: Float, phi: float, share: float) -> Float:
    """Return the product of `rows` (k, n) with the correlations share * phi^|i - j|, 1 on the diagonal."""
    return np.asarray(rows + share * _neighbours(np.ascontiguousarray(rows), phi))


@cached_njit
def _neighbours(rows: Float, phi: float) -> Float:
    """Return for each value the sum of the others in its row, each weighted by phi^distance."""
    ahead, back, n = rows.copy(), rows.copy(), rows.shape[1]
    for k in range(len(rows)):
        for i in range(1, n):
            ahead[k, i] += phi * ahead[k, i - 1]
            back[k, n - 1 - i] += phi * back[k, n - i]
    return ahead + back - 2 * rows


def spread_by(j: Float, phi: float, share: float, cuts: Int) -> Float:
    """Return derivatives (k, n) times the correlations of the noise, which end where a series does."""
    return np.hstack([correlated(part, phi, share) for part in np.split(j, cuts, axis=1)])


def longer(phi: float, share: float) -> float:
    """Return the correlation time: the number of values per independent one."""
    return 1 + 2 * share * phi / (1 - phi)


def sandwich(r: Float, j: Float, cuts: Int) -> Float:
    """Return the covariance of fitted numbers, given residuals (n,) and their derivatives (k, n).

    It is that of least squares under correlated noise, widened by Student's law, so that 1.96 standard errors
    hold the truth in 95 % of cases. `cuts` is where one series of residuals ends and the next begins.
    """
    n, k = len(r), len(j)
    phi, share = correlation(np.split(r, cuts), k)
    spread = spread_by(j, phi, share, cuts)
    with np.errstate(over="ignore", invalid="ignore"):
        bread, meat = inverse(j @ j.T), j @ spread.T
        taken = float(np.trace(bread @ meat))  # degrees of freedom of the fit: k for white noise
        freedom = max(n - np.clip(taken, k, 0.75 * n), 1.0)
        found = (bread @ meat @ bread if phi else bread) * (float(r @ r) / freedom)
        found *= (stdtrit(max(n / longer(phi, share) - k, 3.0), 0.975) / NORMAL) ** 2
    return np.asarray(np.clip(np.nan_to_num(found, nan=HUGE), -HUGE, HUGE))


def inverse(normal: Float) -> Float:
    """Return the inverse of a normal matrix; huge, not zero, in directions that the data do not determine.

    It is scaled to a unit diagonal first: the units may differ by many powers of ten.
    """
    size = np.sqrt(np.maximum(np.diag(normal), 0.0))
    size[size < 1e-150] = 1.0
    weights, axes = np.linalg.eigh(normal / np.outer(size, size))
    return np.asarray((axes / np.maximum(weights, OPEN)) @ axes.T / np.outer(size, size))
