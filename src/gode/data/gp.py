"""Smoothing by a Gaussian process with a time warp, also through observations of u' or u''.

The hyperparameters (length, size, noise, warp) maximise the marginal likelihood with broad priors; the
posterior gives u, u', u'' at any times with their standard deviations. Known initial values are
observations without noise. A record that is too long for one process is cut into overlapping blocks
that share their hyperparameters; `gode.data.smoothing` decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize

from gode.arrays import Float
from gode.data.dataset import Run, Smooth, cycles

# The numbers below were set by hand on the problems of the tests and benchmarks, unless another reason is
# given. This fraction of its diagonal is added to that of a covariance, so that its Cholesky factor exists.
JITTER = 1e-9
# A linear trend has this prior variance, in units of the variance of the signal: a wide one.
TREND = 10.0
# Hyperparameters are tuned on this many observations of a record: the cost is cubic in them.
TUNING_POINTS = 160
# The posterior is computed at this many times at once, which bounds the memory.
CHUNK = 2000
# Tuning begins with the best of these: three lengths, each with time as it is and warped to either side.
STARTS = tuple((length, 0.0, -3.0, bend) for length in (-3.2, -2.0, -0.8) for bend in (0.0, 2.0, -2.0))


class Prior(NamedTuple):
    """The normal prior of a hyperparameter, and its bounds."""

    centre: float
    width: float  # standard deviation
    low: float
    high: float


# Of log length, log size, log noise, and warp.
PRIORS = (
    Prior(-1.2, 1.5, -7.0, 1.5),
    Prior(0.0, 2.0, -4.0, 4.0),
    Prior(-3.0, 1.5, -8.0, 1.0),
    Prior(0.0, 2.0, -6.0, 6.0),
)
BOUNDS = tuple((prior.low, prior.high) for prior in PRIORS)


class Tuning(NamedTuple):
    """How carefully hyperparameters are tuned."""

    starts: int  # the best ones, from which to go on
    iterations: int
    tolerance: float  # relative change of the objective that ends it
    known: tuple[tuple[float, ...], ...] = ()  # what similar runs have, to start from; by default many starts


# The last is for runs that begin with the hyperparameters of similar ones, the second is enough to compare
# kinds of noise. Set by hand.
CAREFUL = Tuning(starts=2, iterations=30, tolerance=1e-7)
BRIEF = Tuning(starts=1, iterations=8, tolerance=1e-4)
LENT = Tuning(starts=1, iterations=2, tolerance=1e-3)


@dataclass(frozen=True)
class Scale:
    """The units in which a run is smoothed: times in [0, 1], values of about unit size."""

    start: float
    span: float
    middle: float
    size: float

    @classmethod
    def of(cls, run: Run, share: float = 1.0) -> "Scale":
        """Return the scale of a run, or of this share of its length."""
        start, span = float(run.t[0]), float(run.t[-1] - run.t[0]) * share
        for i in range(3):
            seen = run.observed[i][np.isfinite(run.observed[i])]
            if len(seen) > 1:
                size = float(np.std(seen)) * span**i
                middle = float(np.mean(seen)) if i == 0 else 0.0
                return cls(start, span, middle, size or max(abs(middle), 1.0))
        return cls(start, span, 0.0, 1.0)

    def place(self, t: Float) -> Float:
        """Return scaled times."""
        return np.asarray((t - self.start) / self.span)

    def scaled(self, values: Float, order: int) -> Float:
        """Return scaled observations of the derivative of that order."""
        return np.asarray((values - (self.middle if order == 0 else 0.0)) * self.span**order / self.size)

    def unit(self, order: int) -> float:
        """Return the size of a scaled unit of the derivative of that order."""
        return self.size / self.span**order


@dataclass(frozen=True)
class _Task:
    """The observations of one run in scaled units: time, order of the derivative, value."""

    x: Float
    order: Float
    y: Float
    noisy: Float  # 1 for measurements, 0 for exact initial values
    spread: Float  # (3,) standard deviation of each channel
    profile: Float  # noise of each observation, relative to that of its channel

    @property
    def trend(self) -> float:
        """The prior variance of a trend: zero unless u itself was observed, as integrated noise drifts."""
        return TREND if np.any((self.order == 0) & (self.noisy > 0)) else 0.0


def smooth_gp(
    run: Run,
    *,
    known: Float | None = None,
    at: Float | None = None,
    profile: Float | None = None,
    tuning: Tuning = CAREFUL,
) -> Smooth:
    """Return a run of one state smoothed by one process at its own times or at the times `at`.

    Args:
        known: (2,) exact initial values, NaN where unknown; by default the run's own.
        profile: (3, n) noise of each sample, relative to that of its channel; by default 1.
    """
    scale = Scale.of(run)
    task = _task(run, scale, run.initial if known is None else known, profile)
    few = [_thinned(task, TUNING_POINTS)]
    starts = tuning.known or (*STARTS, *_starts_for(cycles(run)))
    best, evidence = _best(starts, few, BOUNDS, tuning)
    return replace(_posterior(run.t if at is None else at, best, task, scale), evidence=evidence)


def loss_with_noise(run: Run, noise: float, profile: Float) -> float:
    """Return by how much the log probability of a record falls if its noise is this large.

    Args:
        noise: standard deviation of a sample whose profile is 1.
        profile: (3, n) noise of each sample over that.
    """
    scale = Scale.of(run)
    task = _task(run, scale, run.initial, profile)
    few = [_thinned(task, TUNING_POINTS)]
    level = float(np.log(noise / (scale.size * task.spread[0])))
    starts = (*STARTS, *_starts_for(cycles(run)))
    _, free = _best(starts, few, BOUNDS, CAREFUL)
    fixed = [(length, size, level, bend) for length, size, _, bend in starts]
    _, held = _best(fixed, few, (*BOUNDS[:2], (level, level), BOUNDS[3]), CAREFUL)
    return free - held


def _starts_for(number: float) -> list[tuple[float, float, float, float]]:
    """Return starting hyperparameters whose length scale suits a signal with this number of cycles."""
    lengths = [float(shift - np.log(2 * np.pi * number)) for shift in (0.0, 0.7, 1.4)]
    return [(length, 0.5, noise, 0.0) for length in lengths for noise in (-3.0, -6.0)]


def smooth_blocks(
    run: Run, known: Float, size: int, profile: Float | None = None, tuning: Tuning = CAREFUL
) -> Smooth:
    """Return a long run smoothed in blocks of `size` points, without a warp of time.

    Each block is extended by a quarter of its length on either side.
    """
    n = run.n_points
    edges = np.linspace(0, n, max(round(n / size), 1) + 1).astype(int)
    scale = Scale.of(run, size / n)
    spread = _spread(_task(run, scale, known, None))
    noise = np.ones(run.observed.shape) if profile is None else profile
    tasks, scales = [], []
    for low, high in pairwise(edges):
        part = slice(max(low - size // 4, 0), high + size // 4)
        own = replace(scale, start=float(run.t[part][0]))
        piece = Run(run.t[part], run.observed[:, part], run.initial, {})
        task = _task(piece, own, known if low == 0 else np.full(2, np.nan), noise[:, part])
        tasks.append(replace(task, spread=spread))
        scales.append(own)
    chosen = [tasks[i] for i in sorted({0, len(tasks) // 2, len(tasks) - 1})]
    few = [_window(task, TUNING_POINTS) for task in chosen]
    p, evidence = _best(_starts_for(cycles(run) * size / n), few, (*BOUNDS[:3], (0.0, 0.0)), tuning)
    pieces = [
        _posterior(run.t[low:high], p, task, own)
        for low, high, task, own in zip(edges[:-1], edges[1:], tasks, scales, strict=True)
    ]
    values = np.hstack([piece.values for piece in pieces])
    deviations = np.hstack([piece.deviations for piece in pieces])
    return Smooth(run.t, values, deviations, pieces[0].noise, p, evidence=evidence)


def _best(
    starts: Sequence[tuple[float, ...]],
    few: list[_Task],
    bounds: Sequence[tuple[float, float]],
    tuning: Tuning,
) -> tuple[Float, float]:
    """Return the most probable hyperparameters, tuned from the best starts, and the log posterior.

    A process that has changed by the next sample is noise by another name, of which a curve would go through
    all of it. Where tuning ends there, it is begun again with longer processes alone.
    """
    trials = sorted(starts, key=lambda p: _total(np.array(p), few))[: tuning.starts]
    best, objective = min((_tuned(np.array(p), few, bounds, tuning) for p in trials), key=lambda r: r[1])
    shortest = float(np.log(_usual_spacing(few)))
    if best[0] < shortest and bounds[0][0] < shortest < bounds[0][1]:
        longer = [(max(length, shortest), *others) for length, *others in starts]
        return _best(longer, few, ((shortest, bounds[0][1]), *bounds[1:]), tuning)
    return best, -objective


def _usual_spacing(few: list[_Task]) -> float:
    """Return the median distance between times of measurements, the least of several tasks."""
    steps = [np.diff(np.unique(task.x[task.noisy > 0])) for task in few]
    return min(float(np.median(step)) if len(step) else 0.0 for step in steps) or 1e-300


def _task(run: Run, scale: Scale, known: Float, profile: Float | None) -> _Task:
    place = scale.place(run.t)
    x, order, y, noisy, sizes = [], [], [], [], []
    for i in range(3):
        seen = np.isfinite(run.observed[i])
        x.append(place[seen])
        order.append(np.full(seen.sum(), i))
        y.append(scale.scaled(run.observed[i][seen], i))
        noisy.append(np.ones(seen.sum()))
        sizes.append(np.ones(seen.sum()) if profile is None else profile[i][seen])
    for i in range(2):
        if np.isfinite(known[i]):
            x.append(np.zeros(1))
            order.append(np.full(1, i))
            y.append(scale.scaled(known[i : i + 1], i))
            noisy.append(np.zeros(1))
            sizes.append(np.ones(1))
    columns = [np.concatenate(part).astype(np.float64) for part in (x, order, y, noisy, sizes)]
    task = _Task(columns[0], columns[1], columns[2], columns[3], np.ones(3), columns[4])
    return replace(task, spread=_spread(task))


def _spread(task: _Task) -> Float:
    """Return the standard deviation of each observed channel, 1 where there is none."""
    parts = [task.y[(task.order == i) & (task.noisy > 0)] for i in range(3)]
    return np.array([(np.std(part) or 1.0) if len(part) else 1.0 for part in parts])


def _thinned(task: _Task, most: int) -> _Task:
    """Return about `most` evenly spaced observations and the exact initial values."""
    n = int(task.noisy.sum())
    if n <= most:
        return task
    keep = np.unique(np.linspace(0, n - 1, most).astype(int))
    return _kept(task, np.concatenate([keep, np.flatnonzero(task.noisy == 0)]))


def _window(task: _Task, most: int) -> _Task:
    """Return about `most` consecutive observations and the exact initial values."""
    n_channels = max(len(set(task.order[task.noisy > 0])), 1)
    last = np.sort(task.x)[: most // n_channels + 1][-1]
    return _kept(task, np.flatnonzero(task.x <= last))


def _kept(task: _Task, keep: np.ndarray) -> _Task:
    kept = {name: getattr(task, name)[keep] for name in ("x", "order", "y", "noisy", "profile")}
    return replace(task, **kept)


def _noise(task: _Task, level: float) -> Float:
    """Return the noise variances; `level` is relative to the standard deviation of each channel."""
    own = (level * task.spread[task.order.astype(int)] * task.profile) ** 2
    return np.where(task.noisy > 0, own, 1e-12)


def _hyperparameters(p: Float, task: _Task) -> tuple[float, float, float]:
    """Return length, size and noise level; p[1] is the log size of the lowest observed channel."""
    length, size, level = (float(v) for v in np.exp(p[:3]))
    lowest = int(task.order[task.noisy > 0].min())
    return length, size * (1.0, length, length**2 / 3**0.5)[lowest], level


def _factor(p: Float, task: _Task) -> Float:
    """Return the Cholesky factor of the covariance of the observations."""
    length, size, level = _hyperparameters(p, task)
    at = functionals(task.x, task.order, float(p[3]))
    k = covariance(at, at, length, size, task.trend)
    k[np.diag_indices(len(k))] += _noise(task, level) + JITTER * (1 + np.diag(k))
    return np.asarray(cholesky(k, lower=True, check_finite=False))


def _objective(p: Float, task: _Task) -> float:
    """Return the negative log posterior of the hyperparameters, up to a constant."""
    try:
        low = _factor(p, task)
    except np.linalg.LinAlgError:
        return 1e10
    white = solve_triangular(low, task.y, lower=True, check_finite=False)
    prior = sum(0.5 * ((v - one.centre) / one.width) ** 2 for v, one in zip(p, PRIORS, strict=True))
    return float(np.log(np.diag(low)).sum() + 0.5 * white @ white + prior)


def _total(p: Float, tasks: list[_Task]) -> float:
    return sum(_objective(p, task) for task in tasks)


def _tuned(
    start: Float, tasks: list[_Task], bounds: Sequence[tuple[float, float]], tuning: Tuning
) -> tuple[Float, float]:
    found = minimize(
        _total,
        start,
        args=(tasks,),
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": tuning.iterations, "ftol": tuning.tolerance},
    )
    return np.asarray(found.x), float(found.fun)


def _posterior(t: Float, p: Float, task: _Task, scale: Scale) -> Smooth:
    """Return posterior mean and standard deviation of u, u', u'' at the times `t`."""
    length, size, level = _hyperparameters(p, task)
    at = functionals(task.x, task.order, float(p[3]))
    low = _factor(p, task)
    weights = cho_solve((low, True), task.y, check_finite=False)
    place = scale.place(t)
    values, deviations = np.empty((3, len(place))), np.empty((3, len(place)))
    for i in range(3):
        for start in range(0, len(place), CHUNK):
            here = slice(start, start + CHUNK)
            to = functionals(place[here], np.full(len(place[here]), float(i)), float(p[3]))
            cross = covariance(to, at, length, size, task.trend)
            values[i, here] = cross @ weights * scale.unit(i) + (scale.middle if i == 0 else 0.0)
            known = solve_triangular(low, cross.T, lower=True, check_finite=False)
            left = _own_variance(to, length, size, task.trend) - np.einsum("ij,ij->j", known, known)
            deviations[i, here] = np.sqrt(np.maximum(left, 0.0)) * scale.unit(i)
    seen = {int(order) for order in task.order[task.noisy > 0]}
    noise = [level * task.spread[i] * scale.unit(i) if i in seen else np.nan for i in range(3)]
    return Smooth(t, values, deviations, np.array(noise), p)


def _own_variance(to: tuple[Float, Float], length: float, size: float, trend: float) -> Float:
    """Return the prior variance of each functional: the diagonal of its covariance."""
    w, weights = to
    g = size**2 * (weights[:, 0] ** 2 + weights[:, 1] ** 2 / length**2 + 3 * weights[:, 2] ** 2 / length**4)
    g -= 2 * size**2 * weights[:, 0] * weights[:, 2] / length**2
    line = weights[:, 0] ** 2 + (weights[:, 0] * (w - 0.5) + weights[:, 1]) ** 2
    return np.asarray(g + trend * line)


def warp(x: Float, bend: float) -> tuple[Float, Float, Float]:
    """Return w and its first two derivatives at `x` in [0, 1]."""
    if abs(bend) < 1e-4:
        return x, np.ones_like(x), np.zeros_like(x)
    s = np.expm1(bend)
    first = s / (1 + s * x) / bend
    return np.log1p(s * x) / bend, first, -s * first / (1 + s * x)


def functionals(x: Float, order: Float, bend: float) -> tuple[Float, Float]:
    """Return the places w (n,) and the weights (n, 3) of g, g', g'' in the derivative of that order."""
    w, first, second = warp(x, bend)
    weights = np.zeros((len(x), 3))
    weights[order == 0, 0] = 1.0
    weights[order == 1, 1] = first[order == 1]
    weights[order == 2, 1] = second[order == 2]
    weights[order == 2, 2] = first[order == 2] ** 2
    return w, weights


def covariance(
    a: tuple[Float, Float], b: tuple[Float, Float], length: float, size: float, trend: float
) -> Float:
    """Return the covariance of two sets of functionals under the kernel and a line of variance `trend`."""
    (wa, la), (wb, lb) = a, b
    derivatives = _derivatives((wa[:, None] - wb[None, :]) / length)
    total = np.zeros((len(wa), len(wb)))
    for i in range(3):
        for j in range(3):
            if la[:, i].any() and lb[:, j].any():
                sign = (-1.0) ** j / length ** (i + j)
                total += size**2 * sign * np.outer(la[:, i], lb[:, j]) * derivatives[i + j]
    trend_a = np.vstack([la[:, 0], la[:, 0] * (wa - 0.5) + la[:, 1]])
    trend_b = np.vstack([lb[:, 0], lb[:, 0] * (wb - 0.5) + lb[:, 1]])
    return np.asarray(total + trend * trend_a.T @ trend_b)


def _derivatives(r: Float) -> list[Float]:
    """Return the derivatives of exp(-r^2/2) up to the fourth."""
    k = np.exp(-0.5 * r * r)
    r2 = r * r
    return [k, -r * k, (r2 - 1) * k, (3 * r - r2 * r) * k, (r2 * r2 - 6 * r2 + 3) * k]
