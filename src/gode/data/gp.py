"""Smoothing by a Gaussian process with a time warp, also through observations of u' or u''.

The hyperparameters (length, size, noise, warp) maximise the marginal likelihood with broad priors; the
posterior gives u, u', u'' at the sample times with their standard deviations. Known initial values are
observations without noise. Long records are smoothed on a subset of points for the hyperparameters.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize

from gode.arrays import Float
from gode.data.kernels import covariance, functionals
from gode.data.runs import Run

JITTER = 1e-9
TREND = 10.0  # prior variance of a straight line under the process, in units of the signal's variance
TUNING_POINTS = 160
MAX_POINTS = 700  # beyond that, neighbouring points are averaged first
CENTRES = (-1.2, 0.0, -3.0, 0.0)  # prior of log length, log size, log noise, warp
WIDTHS = (1.5, 2.0, 1.5, 2.0)
BOUNDS = ((-5.0, 1.5), (-4.0, 4.0), (-8.0, 1.0), (-6.0, 6.0))
STARTS = tuple((length, 0.0, -3.0, bend) for length in (-3.2, -2.0, -0.8) for bend in (0.0, 2.0, -2.0))


@dataclass(frozen=True)
class Smooth:
    """A smoothed run: u, u', u'' (3, n) at the run's times, their standard deviations, and the noise.

    `noise` (3,) is the standard deviation of each observed channel, NaN where nothing was observed.
    """

    t: Float
    values: Float
    deviations: Float
    noise: Float
    hyperparameters: Float


@dataclass(frozen=True)
class _Task:
    """One run in scaled units: places in [0, 1], orders of the observed derivatives, values, noise share."""

    x: Float
    order: Float
    y: Float
    loud: Float  # 1 for measurements, 0 for known values

    @property
    def trend(self) -> float:
        """Only a signal whose level was observed may have a trend; integrated noise would drift along it."""
        return TREND if np.any((self.order == 0) & (self.loud > 0)) else 0.0


def smooth_gp(run: Run, *, known: Float | None = None) -> Smooth:
    """Return `run` smoothed; `known` (2,) are initial values to be met, NaN where there is none."""
    scale = _Scale.of(run)
    task = _task(run, scale, run.initial if known is None else known)
    few = _thinned(task, TUNING_POINTS)
    trials = sorted(STARTS, key=lambda p: _objective(np.array(p), few))
    found = min((_tuned(np.array(p), few) for p in trials[:2]), key=lambda r: r[1])
    return _posterior(run, found[0], _thinned(task, MAX_POINTS), scale)


@dataclass(frozen=True)
class _Scale:
    start: float
    span: float
    middle: float
    size: float

    @classmethod
    def of(cls, run: Run) -> "_Scale":
        start, span = float(run.t[0]), float(run.t[-1] - run.t[0])
        for i in range(3):
            seen = run.observed[i][np.isfinite(run.observed[i])]
            if len(seen) > 1:
                size = float(np.std(seen)) * span**i
                middle = float(np.mean(seen)) if i == 0 else 0.0
                return cls(start, span, middle, size or max(abs(middle), 1.0))
        return cls(start, span, 0.0, 1.0)

    def scaled(self, values: Float, order: int) -> Float:
        """Return observations of the derivative of that order in units of the task."""
        return np.asarray((values - (self.middle if order == 0 else 0.0)) * self.span**order / self.size)


def _task(run: Run, scale: _Scale, known: Float) -> _Task:
    place = (run.t - scale.start) / scale.span
    x, order, y, loud = [], [], [], []
    for i in range(3):
        seen = np.isfinite(run.observed[i])
        x.append(place[seen])
        order.append(np.full(seen.sum(), i))
        y.append(scale.scaled(run.observed[i][seen], i))
        loud.append(np.ones(seen.sum()))
    for i in range(2):
        if np.isfinite(known[i]):
            x.append(np.zeros(1))
            order.append(np.full(1, i))
            y.append(scale.scaled(known[i : i + 1], i))
            loud.append(np.zeros(1))
    return _Task(*(np.concatenate(part).astype(np.float64) for part in (x, order, y, loud)))


def _thinned(task: _Task, most: int) -> _Task:
    """Return about `most` evenly spread observations; known values stay."""
    n = int(task.loud.sum())
    if n <= most:
        return task
    keep = np.unique(np.linspace(0, n - 1, most).astype(int))
    keep = np.concatenate([keep, np.flatnonzero(task.loud == 0)])
    return _Task(task.x[keep], task.order[keep], task.y[keep], task.loud[keep])


def _noise(task: _Task, level: float) -> Float:
    """Return the noise variances: the level is in units of each channel's own spread."""
    out = np.full(len(task.y), 1e-12)
    for i in range(3):
        here = (task.order == i) & (task.loud > 0)
        if here.any():
            out[here] = (level * (np.std(task.y[here]) or 1.0)) ** 2
    return out


def _meant(p: Float, task: _Task) -> tuple[float, float, float]:
    """Return length, size and noise level; p[1] is the log size of the lowest channel that was observed."""
    length, size, level = (float(v) for v in np.exp(p[:3]))
    lowest = int(task.order[task.loud > 0].min())
    return length, size * (1.0, length, length**2 / 3**0.5)[lowest], level


def _factor(p: Float, task: _Task) -> Float:
    """Return the Cholesky factor of the covariance of the observations."""
    length, size, level = _meant(p, task)
    at = functionals(task.x, task.order, float(p[3]))
    k = covariance(at, at, length, size, task.trend)
    k[np.diag_indices(len(k))] += _noise(task, level) + JITTER * (1 + np.diag(k))
    return np.asarray(cholesky(k, lower=True, check_finite=False))


def _objective(p: Float, task: _Task) -> float:
    """Return the negative log of likelihood times prior."""
    try:
        low = _factor(p, task)
    except np.linalg.LinAlgError:
        return 1e10
    white = solve_triangular(low, task.y, lower=True, check_finite=False)
    prior = sum(0.5 * ((v - c) / w) ** 2 for v, c, w in zip(p, CENTRES, WIDTHS, strict=True))
    return float(np.log(np.diag(low)).sum() + 0.5 * white @ white + prior)


def _tuned(start: Float, task: _Task) -> tuple[Float, float]:
    found = minimize(
        _objective,
        start,
        args=(task,),
        method="L-BFGS-B",
        bounds=BOUNDS,
        options={"maxiter": 30, "ftol": 1e-7},
    )
    return np.asarray(found.x), float(found.fun)


def _posterior(run: Run, p: Float, task: _Task, scale: _Scale) -> Smooth:
    """Return mean and deviation of u, u', u'' at the run's times."""
    length, size, level = _meant(p, task)
    at = functionals(task.x, task.order, float(p[3]))
    k = covariance(at, at, length, size, task.trend)
    noise = _noise(task, level)
    k[np.diag_indices(len(k))] += noise + JITTER * (1 + np.diag(k))
    factor = cho_factor(k, lower=True, check_finite=False)
    weights = cho_solve(factor, task.y, check_finite=False)
    place = (run.t - scale.start) / scale.span
    values, deviations = np.empty((3, len(place))), np.empty((3, len(place)))
    for i in range(3):
        to = functionals(place, np.full(len(place), float(i)), float(p[3]))
        cross = covariance(to, at, length, size, task.trend)
        unit = scale.size / scale.span**i
        values[i] = cross @ weights * unit + (scale.middle if i == 0 else 0.0)
        prior = _own_variance(to, length, size, task.trend)
        left = prior - np.einsum("ij,ji->i", cross, cho_solve(factor, cross.T, check_finite=False))
        deviations[i] = np.sqrt(np.maximum(left, 0.0)) * unit
    channel = np.full(3, np.nan)
    for i in range(3):
        here = (task.order == i) & (task.loud > 0)
        if here.any():
            channel[i] = np.sqrt(noise[here][0]) * scale.size / scale.span**i
    return Smooth(run.t, values, deviations, channel, p)


def _own_variance(to: tuple[Float, Float], length: float, size: float, trend: float) -> Float:
    """Return the prior variance of each functional, without the whole matrix."""
    w, weights = to
    g = size**2 * (weights[:, 0] ** 2 + weights[:, 1] ** 2 / length**2 + 3 * weights[:, 2] ** 2 / length**4)
    g -= 2 * size**2 * weights[:, 0] * weights[:, 2] / length**2
    line = weights[:, 0] ** 2 + (weights[:, 0] * (w - 0.5) + weights[:, 1]) ** 2
    return np.asarray(g + trend * line)
