"""Predictions of a fitted law, also beyond its data, with a band of uncertainty."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.special import ndtr

from gode.arrays import Bool, Float
from gode.discovery.simulate import Scenario, simulate
from gode.equation.tree import STATE
from gode.errors import ConfigError, DataError, Failure
from gode.fitting.covariance import covariances
from gode.fitting.prepare import Prepared
from gode.fitting.trajectory import ShootConfig
from gode.search.zero_starts import fitted_target
from gode.selection import Candidate
from gode.solve import Solution

HALVINGS = 40  # of an interval that holds a quantile
CHANCE = 2.0  # standard deviations of a correlation of neighbours that is none


@dataclass(frozen=True, repr=False)
class Prediction:
    """The solution u, u' at the times `t`, with the interval that holds the true signal at some level.

    `error` is the standard deviation of u that comes from constants and initial values, `spread` the one
    from the equations that the data cannot tell apart; both are zero where there is nothing to doubt.
    Noise of a new measurement comes on top. NaN from the point on where the solution failed.

    Of several states, each of these has a row for each state, and `prediction["prey"]` is that of one.
    """

    t: Float
    u: Float
    du: Float
    error: Float
    spread: Float
    lower: Float
    upper: Float
    level: float
    failure: Failure | None
    states: tuple[str, ...] = ("u",)

    @property
    def values(self) -> Float:
        """The states (d, n)."""
        return np.atleast_2d(self.u)

    def __getitem__(self, state: str) -> "Prediction":
        """Return the prediction of one state."""
        state = self.states[0] if state == STATE and len(self.states) == 1 else state
        if state not in self.states:
            raise DataError(f"no state is called {state!r}; the states are {', '.join(self.states)}")
        i = self.states.index(state)
        bands = (self.u, self.du, self.error, self.spread, self.lower, self.upper)
        u, du, error, spread, lower, upper = (np.atleast_2d(band)[i] for band in bands)
        return Prediction(self.t, u, du, error, spread, lower, upper, self.level, self.failure, (state,))

    def __repr__(self) -> str:
        lower, upper = np.atleast_2d(self.lower), np.atleast_2d(self.upper)
        ends = [
            f"{name}({self.t[-1]:.4g}) = {u[-1]:.4g} in [{low[-1]:.4g}, {high[-1]:.4g}]"
            for name, u, low, high in zip(self.states, self.values, lower, upper, strict=True)
        ]
        return f"<Prediction at {len(self.t)} times, {', '.join(ends)} at {100 * self.level:g} %>"


def predict(
    named: Candidate,
    rivals: Sequence[tuple[Candidate, float]],
    prepared: Prepared,
    scenario: Scenario,
    config: ShootConfig,
    level: float,
) -> Prediction:
    """Return the solution of a candidate with a band that holds the truth with probability `level`.

    Each of the equations that may be the law has its probability, and about its solution a normal
    distribution with the error that comes from constants and initial values, carried along the solution to
    first order; that of the one named serves for all. Where the residuals are not white, the law misses
    something slow, and goes on missing it: their slow part adds to that error. The band is from quantile to
    quantile of this mixture.

    Raises:
        ConfigError: if the level is no probability.
    """
    check_level(level)
    best = simulate(named, prepared, scenario, sensitivities=True)
    joint = covariance_in(named, prepared, config, scenario.run)
    u, du = best.values[::3], best.values[1::3]
    error = np.array([propagated_error(joint, scenario, best, 3 * s) for s in range(len(u))])
    weights, paths = _paths(rivals, prepared, scenario, u)
    spread = np.sqrt(np.einsum("j,jsn->sn", weights, (paths - u) ** 2))
    wide = np.hypot(error, slow_part(named, prepared)[:, None])
    lower, upper = (mixture_quantile(weights, paths, wide, p) for p in ((1 - level) / 2, (1 + level) / 2))
    rows = [u, du, error, spread, np.minimum(lower, u), np.maximum(upper, u)]
    u, du, error, spread, lower, upper = rows if len(u) > 1 else [row[0] for row in rows]
    return Prediction(best.t, u, du, error, spread, lower, upper, level, best.failure, best.states)


def slow_part(named: Candidate, prepared: Prepared) -> Float:
    """Return the standard deviation (d,) of what is correlated in the residuals of each state.

    The mean product of neighbours is the variance of what they share; it counts where it is not by chance.
    """
    root = max(float(np.median(run.roots)) for run in prepared.whole.dataset.runs)
    noise, parts = prepared.noise[::3] / root, []
    for unit, state in zip(noise, named.states, strict=True):
        chance = CHANCE * state.square / np.sqrt(max(named.n_values * state.share, 1.0))
        parts.append(unit * np.sqrt(state.product) if np.isfinite(unit) and state.product > chance else 0.0)
    return np.array(parts)


def check_level(level: float) -> None:
    """Raise ConfigError if the level is no probability."""
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < level < 1:
        raise ConfigError(f"level must lie between 0 and 1, got {level!r}")


def covariance_in(
    candidate: Candidate, prepared: Prepared, config: ShootConfig, run: int = 0
) -> tuple[Float, Bool]:
    """Return the covariance of the constants of a run and of its initial values, and which are fitted."""
    target, law = fitted_target(candidate, prepared), candidate.equation
    found = covariances(law, candidate.own, candidate.initial, target, config=config)
    if found is not None:
        return found.runs[run], found.free[run]
    k = len(law.constants)
    return np.zeros((k, k)), np.zeros(candidate.initial.shape[1], bool)


def propagated_error(joint: tuple[Float, Bool], scenario: Scenario, solved: Solution, channel: int) -> Float:
    """Return the standard deviation of a channel (n,) that comes from the fitted numbers.

    `joint` is what `covariance_in` says; initial values given by the scenario are exact.
    """
    covariance, free = joint
    k = len(covariance) - int(free.sum())
    rows = list(range(k))
    if scenario.initial is None:
        rows += (k + np.flatnonzero(free)).tolist()
    slopes = solved.sensitivities[rows, channel]
    part = covariance[: len(rows), : len(rows)]
    with np.errstate(over="ignore", invalid="ignore"):
        variance = np.einsum("in,ij,jn->n", slopes, part, slopes)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def _paths(
    rivals: Sequence[tuple[Candidate, float]], prepared: Prepared, scenario: Scenario, u: Float
) -> tuple[Float, Float]:
    """Return the weights (j,) and solutions (j, d, n) of the equation named and of its rivals with one.

    A rival that runs away counts as one that is as far off as the data reach: beyond that it says no more.
    """
    reach = np.ptp(np.hstack([guide[::3] for guide in prepared.whole.guides]), axis=1)[:, None]
    weights, paths = [1 - sum(weight for _, weight in rivals)], [u]
    for rival, weight in rivals:
        solved = simulate(rival, prepared, scenario)
        if solved.failure is None:
            weights.append(weight)
            paths.append(u + np.clip(solved.values[::3] - u, -reach, reach))
    return np.array(weights) / sum(weights), np.array(paths)


def mixture_quantile(weights: Float, centres: Float, error: Float, p: float) -> Float:
    """Return the quantile (d, n) of mixtures of normal distributions of the same error, by bisection."""
    wide = 10 * error + 1e-12 * np.abs(centres).max(axis=0)
    low, high = centres.min(axis=0) - wide, centres.max(axis=0) + wide
    size = np.maximum(error, 1e-300)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        below = np.einsum("j,jsn->sn", weights, ndtr((middle - centres) / size)) < p
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(0.5 * (low + high))
