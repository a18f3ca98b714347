"""The covariance of fitted numbers, wide enough that 1.96 standard errors hold 95 % of them.

The process behind autocorrelated residuals is white noise, AR(1), a random walk, or white noise on top of
one of these. It enters the error bars, which the correlation of the residuals widens, and the test whether
an equation is supported: it must explain the data better than such a process alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import polygamma, stdtrit

from gode.arrays import Bool, Float, Int
from gode.data.from_arrays import MAX_SIZE
from gode.equation import Law
from gode.fitting.population import NORMAL_95, Individuals
from gode.fitting.target import FEWEST, Target
from gode.fitting.trajectory import Path, ShootConfig, Trajectories
from gode.numba_cache import cached_njit

GRID = (-0.6, 0.0, 0.4, 0.7, 0.9, 0.98)  # These are the starting values of phi, and of -theta.
LARGEST = 0.999  # This bounds |phi| and |theta|; it is in practice a random walk.
MIXED = 6.0  # White noise on top of AR(1) must raise twice the log-likelihood by this much: three per number.
CERTAIN = 3.0  # What is so many standard errors from zero is taken to be there.
DOUBT = 0.01  # What is less probable than this is taken not to be.
CHANCE = 2.5  # What is within so many standard errors of zero, or of a round number, may be that by chance.


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
    if gain < CERTAIN**2 or phi <= 0:
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


OPEN = 1e-14  # Smaller eigenvalues of the scaled normal matrix are rounding errors.
MOST_TAKEN = 0.75  # A fit takes at most this fraction of the values as its degrees of freedom.
LEAST_FREEDOM = 3.0  # Student's law has at least so many degrees of freedom, so that it has a variance.
ALIKE = 1e9  # So many degrees of freedom stand for noise that is the same in all runs.
FEWEST_RUNS = 3  # The scatter of the variances of fewer runs says nothing.


@dataclass(frozen=True)
class Covariances:
    """The covariances of the numbers of a fit."""

    shared: Float  # (shared, shared) of the constants that all runs share
    runs: list[Float]  # of each run: of all constants as it has them, then of its fitted initial values
    free: Bool  # (runs, sum of orders) which initial values were fitted


def covariances(
    law: Law, own: Individuals | None, initial: Float, target: Target, *, config: ShootConfig
) -> Covariances | None:
    """Return the covariances of a law that was fitted to all runs; None if it has no solution.

    Args:
        own: the constants that each run has for itself.
        initial: (runs, sum of orders) the initial values.
    """
    table = np.tile(np.array(law.constants), (len(initial), 1))
    if own is not None:
        table[:, list(own.places)] = own.values
    per_run = () if own is None else own.places
    problem = Trajectories(law.skeleton, target, config, per_run=per_run)
    path = problem.solve(problem.parameters.joined(table, initial))
    if path is None:
        return None
    likely = problem.with_likely_noise(path)
    again = path if likely is problem else likely.solve(path.p)
    return covariances_at(likely, again or path)


def covariances_at(problem: Trajectories, path: Path) -> Covariances:
    """Return the covariances of the numbers at the minimum."""
    if problem.parameters.per_run:
        with np.errstate(over="ignore", invalid="ignore"):  # of what the data do not determine
            return _arrow_covariances(problem, path)
    scored = [part for part, _ in problem.series(path)]
    joint = sandwich(problem.residuals(path), problem.jacobian(path), scored)
    k, places = problem.parameters.n_constants, problem.parameters.places
    runs = [joint[np.ix_(place, place)] for place in places]
    return Covariances(joint[:k, :k], runs, problem.parameters.free)


def independent_residuals(problem: Trajectories, path: Path) -> float:
    """Return the effective number of independent residuals of ordinary readings."""
    return float(sum(effective_sample_size(part) * (n / len(part)) for part, n in problem.series(path)))


def quick_covariance(problem: Trajectories, path: Path) -> Float:
    """Return the covariance of constants that all runs share, for a search: without the form of correlations.

    It is wider than that of white noise by the number of values over the number of independent ones.
    """
    independent = independent_residuals(problem, path)
    freedom = max(problem.n_values - problem.parameters.size, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        found = inverse(path.normals[0].matrix) * (path.sse / freedom * problem.n_values / independent)
    k = problem.parameters.n_constants
    return np.asarray(np.clip(np.nan_to_num(found, nan=MAX_SIZE), -MAX_SIZE, MAX_SIZE)[:k, :k])


def sandwich(series: Sequence[Float], j: Float, scored: Sequence[Float] | None = None) -> Float:
    """Return the covariance of fitted numbers, given some series of residuals and their derivatives (k, n).

    Columns of `j` beyond the residuals are those of limited readings, which `scored` has among the residuals.

    It is that of least squares under correlated noise, (J J^T)^-1 J R J^T (J J^T)^-1 times its variance,
    widened by Student's law, so that 1.96 standard errors hold the truth in 95 % of cases. The correlations R
    end where a series does.
    """
    r = np.concatenate(series)
    n, k = len(r), len(j)
    phi, fraction = residual_correlation(scored or series, k)
    spread = correlated_parts(j, phi, fraction, _ends(series))
    with np.errstate(over="ignore", invalid="ignore"):
        bread = inverse(j @ j.T)
        meat = j @ spread.T
        taken = float(np.trace(bread @ meat))  # degrees of freedom of the fit: k for white noise
        freedom = max(n - np.clip(taken, k, MOST_TAKEN * n), 1.0)
        found = (bread @ meat @ bread if phi else bread) * (float(r @ r) / freedom)
        found *= _student(max(n / autocorrelation_time(phi, fraction) - k, LEAST_FREEDOM))
    found = np.asarray(np.clip(np.nan_to_num(found, nan=MAX_SIZE), -MAX_SIZE, MAX_SIZE))
    return as_covariance(found) if np.any(np.diag(found) < 0) else found


def correlated_parts(j: Float, phi: float, fraction: float, ends: Int) -> Float:
    """Return derivatives (k, n) times the correlations of the noise, which end where a series does."""
    return np.hstack([correlated(part, phi, fraction) for part in np.split(j, ends, axis=1)])


def correlated(rows: Float, phi: float, fraction: float) -> Float:
    """Return the product of `rows` (k, n) with correlations fraction * phi^|i - j|, 1 on the diagonal."""
    ahead, back = np.array(rows, np.float64, order="C"), np.array(rows, np.float64, order="C")
    _add_neighbours(ahead, back, phi)
    return np.asarray(rows + fraction * (ahead + back - 2 * rows))


@cached_njit
def _add_neighbours(ahead: Float, back: Float, phi: float) -> None:
    """Add to each value those before it in its row, in `back` those after it, weighted by phi^distance."""
    n = ahead.shape[1]
    for k in range(len(ahead)):
        for i in range(1, n):
            ahead[k, i] += phi * ahead[k, i - 1]
            back[k, n - 1 - i] += phi * back[k, n - i]


def inverse(normal: Float) -> Float:
    """Return the inverse of a normal matrix; huge, not zero, in directions that the data do not determine.

    It is scaled to a unit diagonal first: the units may differ by many powers of ten. That of a matrix with
    entries that are not finite is NaN.
    """
    if not np.isfinite(normal).all():
        return np.full(normal.shape, np.nan)
    size = np.sqrt(np.maximum(np.diag(normal), 0.0))
    size[size < 1e-150] = 1.0
    weights, axes = np.linalg.eigh(normal / np.outer(size, size))
    return np.asarray((axes / np.maximum(weights, OPEN)) @ axes.T / np.outer(size, size))


def as_covariance(found: Float) -> Float:
    """Return a matrix that was computed as a covariance as one: symmetric, bounded, no variance negative.

    Where the data leave directions open, the products that it is made of lose all digits to rounding.
    """
    if not np.isfinite(found).all():
        return np.asarray(MAX_SIZE * np.eye(len(found)))  # nothing is known
    even = np.clip((found + found.T) / 2, -MAX_SIZE, MAX_SIZE)
    size = np.sqrt(np.maximum(np.abs(np.diag(even)), 1 / MAX_SIZE))
    weights, axes = np.linalg.eigh(even / np.outer(size, size))
    if not len(weights) or weights[0] >= 0:
        return np.asarray(even)
    return np.asarray((axes * np.maximum(weights, 0.0)) @ axes.T * np.outer(size, size))


def _ends(series: Sequence[Float]) -> Int:
    """Return where the series end in the row of all their values; limited readings may follow."""
    return np.cumsum([len(part) for part in series])


def _student(freedom: float) -> float:
    """Return the square by which the 95 % interval of Student's law is wider than that of a normal law."""
    return float((stdtrit(freedom, 0.975) / NORMAL_95) ** 2)


class _RunBlock(NamedTuple):
    """A run at the minimum, with y its numbers alone, x the shared constants, J their derivatives."""

    alone: list[int]  # which of the run's numbers are y
    bread: Float  # (J_y J_y^T)^-1
    across: Float  # -dy/dx at the minimum: (J_y J_y^T)^-1 J_y J_x^T
    meat: Float  # J_y R J_y^T, with the correlations R of the noise
    left: Float  # L L^T, with L = J_x - across^T J_y what y does not explain of J_x
    left_meat: Float  # L R L^T
    mixed: Float  # J_y R L^T
    taken: float  # the degrees of freedom of y


def _arrow_covariances(problem: Trajectories, path: Path) -> Covariances:
    """Return the covariances where each run has numbers of its own, which are eliminated first."""
    parameters = problem.parameters
    phi, fraction = residual_correlation([part for part, _ in problem.series(path)], parameters.size)
    s = parameters.shared
    slow = autocorrelation_time(phi, fraction)
    blocks = [_run_block(problem, path, i, phi, fraction) for i in range(len(path.runs))]
    variances, freedom = _noise(problem, path, [block.taken for block in blocks])
    total = max(problem.n_values / slow - parameters.size, LEAST_FREEDOM)
    weighted = list(zip(blocks, variances, strict=True))
    nothing = np.zeros((len(s), len(s)))
    bread = inverse(sum((block.left / v for block, v in weighted), nothing))
    common = bread @ sum((block.left_meat / v for block, v in weighted), nothing) @ bread
    wider = _student(float(np.clip(freedom / slow, LEAST_FREEDOM, total)))
    runs = []
    for block, variance in weighted:
        y = block.alone
        joined = block.bread @ block.mixed @ bread  # covariance of y, with x held, and the estimate of x
        found = np.zeros((len(s) + len(y),) * 2)
        found[np.ix_(s, s)] = common
        found[np.ix_(y, s)] = joined - block.across @ common
        found[np.ix_(s, y)] = found[np.ix_(y, s)].T
        both = joined @ block.across.T
        found[np.ix_(y, y)] = (
            block.bread @ block.meat @ block.bread * variance
            + block.across @ common @ block.across.T
            - both
            - both.T
        )
        runs.append(as_covariance(found * wider))
    return Covariances(common * _student(total), runs, parameters.free)


def _run_block(problem: Trajectories, path: Path, i: int, phi: float, fraction: float) -> _RunBlock:
    """Return what run `i` says of its own numbers and of the shared ones, under correlated noise."""
    s, model, run, normal = problem.parameters.shared, problem.models[i], path.runs[i], path.normals[i].matrix
    alone = [k for k in range(len(normal)) if k not in s]
    series = [part for part in model.residuals(run) if len(part)]
    j = model.jacobian(run)
    bread = inverse(normal[np.ix_(alone, alone)])
    across = bread @ normal[np.ix_(alone, s)]
    of_y = j[alone]
    left = j[s] - across.T @ of_y
    spread = correlated_parts(np.vstack([of_y, left]), phi, fraction, _ends(series))
    meat = of_y @ spread[: len(alone)].T
    left_meat = left @ spread[len(alone) :].T
    mixed = of_y @ spread[len(alone) :].T
    n = sum(map(len, series))
    taken = float(np.clip(np.trace(bread @ meat), len(alone), MOST_TAKEN * n))
    return _RunBlock(alone, bread, across, meat, left @ left.T, left_meat, mixed, taken)


def _noise(problem: Trajectories, path: Path, taken: Sequence[float]) -> tuple[Float, float]:
    """Return the variance of the noise of each run over the assumed one, and its degrees of freedom."""
    squares = np.array([run.sse for run in path.runs])
    counts = np.array([(model.weights > 0).sum() for model in problem.models], np.float64)
    numbers = np.array(taken) + len(problem.parameters.shared) / len(path.runs)
    return moderated(squares, np.maximum(counts - numbers, 0.5))


def moderated(squares: Float, freedom: Float) -> tuple[Float, float]:
    """Return the variance of the noise of each run, from its sum of squares and from those of all runs.

    Empirical Bayes as in Smyth (2004): the scatter of the variances beyond that of their estimates tells how
    much the runs differ in their noise, and so how far one run is to be trusted against all of them. Also
    returns the degrees of freedom of such a variance.
    """
    pooled = max(float(squares.sum() / freedom.sum()), 1e-300)
    prior = _prior_freedom(np.maximum(squares / freedom, 1e-12 * pooled), freedom)
    return (squares + prior * pooled) / (freedom + prior), float(np.median(freedom) + prior)


def _prior_freedom(variances: Float, freedom: Float) -> float:
    """Return how many degrees of freedom the variance of all runs counts for in that of one."""
    usable = freedom >= 1
    if usable.sum() < FEWEST_RUNS:
        return ALIKE
    half = freedom[usable] / 2
    logs = np.log(variances[usable]) - polygamma(0, half) + np.log(half)
    extra = float(np.var(logs, ddof=1) - np.mean(polygamma(1, half)))
    return ALIKE if extra <= 0 else min(2 * _inverse_trigamma(extra), ALIKE)


def _inverse_trigamma(value: float) -> float:
    """Return x with trigamma(x) = value, by Newton's method."""
    x = 0.5 + 1 / value
    for _ in range(50):
        there = float(polygamma(1, x))
        step = there * (1 - there / value) / float(polygamma(2, x))
        x += step
        if abs(step) < 1e-8 * x:
            break
    return x
