"""Predictions of a fitted law with a band, also for an individual that is not among the data.

Before any of an individual was seen, its constants are those of the population, as uncertain as that is
wide. Points of its own are weighed against that by Bayes' rule: the most probable constants by a fit with a
prior, and a normal law about them, from which solutions are drawn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from gode.arrays import Bool, Float
from gode.data import Run
from gode.data.dataset import NEGLIGIBLE, Input, unit_of
from gode.data.states import as_numbers, table_of
from gode.discovery.quality import quality_of
from gode.discovery.reported_constants import VAGUE
from gode.discovery.simulate import Forces, Scenario, Start, make_start, simulate
from gode.equation.system import make_law
from gode.errors import ConfigError, DataError, Failure
from gode.fitting.covariance import CHANCE, covariances, inverse
from gode.fitting.population import population_of
from gode.fitting.prepare import Prepared
from gode.fitting.target import Target, state_places
from gode.fitting.trajectory import Prior, ShootConfig, Trajectories
from gode.search.zero_starts import fitted_target
from gode.selection import Candidate, SelectionConfig, probabilities
from gode.solve import Signal, Solution, solve
from gode.solve.solution import state_number

HALVINGS = 40  # An interval that holds a quantile is halved so many times.


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
        i = state_number(self.states, state)
        bands = (self.u, self.du, self.error, self.spread, self.lower, self.upper)
        u, du, error, spread, lower, upper = (np.atleast_2d(band)[i] for band in bands)
        return Prediction(
            self.t, u, du, error, spread, lower, upper, self.level, self.failure, (self.states[i],)
        )

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
    u, du, error, spread, lower, upper = _alone(rows)
    return Prediction(best.t, u, du, error, spread, lower, upper, level, best.failure, best.states)


def forecast_horizon(named: Candidate, prepared: Prepared, config: ShootConfig) -> float | None:
    """Return for how long the records can be forecast beyond their ends; inf if as long as they are.

    A forecast ends where the error that comes from constants and initial values, carried along the solution
    to first order, is half the standard deviation of a state, or where the solution ends. Of several runs it
    is the shortest. None where inputs are known along the records only, where states were never measured,
    where runs have constants of their own, or where fewer values were measured than numbers were fitted.
    """
    dataset = prepared.dataset
    known = all(callable(x) or isinstance(x, str) for run in dataset.runs for x in run.inputs.values())
    if dataset.hidden or named.own is not None or not known:
        return None
    problem = Trajectories(named.equation.skeleton, fitted_target(named, prepared), config)
    table = np.tile(np.array(named.equation.constants), (len(named.initial), 1))
    fitted = problem.solve(problem.parameters.joined(table, named.initial))
    if fitted is None:
        return None
    noise = fitted.sse / max(named.n_values - named.n_free, 1) * named.n_values / max(named.independent, 1.0)
    design = problem.jacobian(fitted).T / np.sqrt(max(noise, 1e-300))
    root = np.asarray(np.linalg.qr(design, mode="r"))
    if len(root) < problem.parameters.size:
        return None
    return min(_horizon(named, prepared, problem, root, i) for i in range(len(dataset.runs)))


def _horizon(named: Candidate, prepared: Prepared, problem: Trajectories, root: Float, i: int) -> float:
    """Return for how long one run can be forecast.

    With R^T R the normal matrix of the fit, the variance of a value with slopes s is |R^-T s|^2. The inverse
    of the matrix itself is lost in rounding where errors grow by many powers of ten along the record.
    """
    run, k = prepared.whole.dataset.runs[i], problem.parameters.n_constants
    beyond = np.unique(run.t - run.t[0])[1:]
    path = simulate(named, prepared, Scenario(run.t[-1] + beyond, run=i), sensitivities=True)
    rows = np.append(np.arange(k), k + np.flatnonzero(problem.parameters.free[i]))
    units = np.maximum(np.abs(root).max(axis=0), 1e-300)
    horizon = np.inf
    for s, guide in enumerate(prepared.whole.guides[i][::3]):
        slopes = np.zeros((len(root), len(beyond)))
        slopes[problem.parameters.places[i]] = path.sensitivities[rows, 3 * s]
        with np.errstate(all="ignore"):
            carried = np.nan_to_num(slopes) / units[:, None]
            error = np.linalg.norm(np.linalg.lstsq((root / units).T, carried, rcond=None)[0], axis=0)
        size = np.nanstd(np.append(guide, path.values[3 * s]))
        lost = ~(error <= size / 2) | ~np.isfinite(slopes).all(axis=0)  # also where the solution has ended
        horizon = min(horizon, float(np.min(beyond[lost], initial=np.inf)))
    return horizon


def remark_on_forecast(
    named: Candidate, prepared: Prepared, config: ShootConfig, *, supported: bool = True
) -> list[str]:
    """Return a sentence on how long the records can be forecast, where that is not for long.

    A law that does not explain the records foretells nothing.
    """
    of_all = named.whole or prepared.target is prepared.whole
    if not of_all or named.rms > config.far:
        return []
    if quality_of(named, prepared, supported=supported).verdict.is_failure:
        return []
    horizon = forecast_horizon(named, prepared, config)
    if horizon is None or not np.isfinite(horizon):
        return []
    unit = unit_of(prepared.dataset, "t")
    span = f"{horizon:.2g} {unit}" if unit else f"{horizon:.2g} units of time"
    where = "the record" if len(prepared.dataset.runs) == 1 else "each run"
    return [f"predictable for about {span} beyond the end of {where}: errors are then half the signal"]


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


MOST = 30  # At most so many rivals are followed.


def with_weights(
    candidates: Sequence[Candidate], config: SelectionConfig, floor: Sequence[float] = ()
) -> list[tuple[Candidate, float]]:
    """Return the others with their posterior probabilities; with that of the first, the sum is one."""
    first, *shares = probabilities(candidates, config, floor).tolist()
    others = sorted(zip(candidates[1:], shares, strict=True), key=lambda pair: -pair[1])
    chosen = [(c, share) for c, share in others[:MOST] if share > NEGLIGIBLE]
    total = first + sum(share for _, share in chosen)
    return [(c, share / total) for c, share in chosen]


DRAWS = 400  # A band consists of quantiles of so many solutions.


@dataclass(frozen=True)
class _Belief:
    """A normal law of the constants and then the initial values of one individual."""

    mean: Float
    covariance: Float


def predict_new(
    candidate: Candidate,
    prepared: Prepared,
    config: ShootConfig,
    t: ArrayLike,
    initial: Start | None,
    force: Forces | None,
    seen: tuple[ArrayLike, object] | None,
    level: float,
) -> Prediction:
    """Return the solution of a new individual with a band that holds it with probability `level`.

    Args:
        initial: values at t[0], or at the first time that was seen; by default those of the population.
        seen: times and values of points of its own.

    Raises:
        DataError: if the times or the points are not usable.
    """
    check_level(level)
    if prepared.dataset.is_dosed:
        raise DataError(
            "a new individual is not predicted where runs have doses; use predict(..., run=, doses=) with a "
            "run that is like it"
        )
    times = _times(t, "t")
    orders = candidate.equation.skeleton.orders
    start = None if initial is None else np.asarray(make_start(initial, prepared.dataset.states, orders))
    if start is not None and (start.shape != (sum(orders),) or not np.isfinite(start).all()):
        raise DataError(
            f"initial must have {sum(orders)} finite values, got {np.shape(start)}; give one for each"
        )
    belief = _population(candidate, start)
    if seen is not None:
        run = _run(seen, prepared, force)
        if times[0] < run.t[0]:
            raise DataError(
                f"t starts at {times[0]:g}, before the first point seen at {run.t[0]:g}; start later"
            )
        belief = _updated(candidate, belief, prepared, run, start, config)
        times = np.union1d(run.t[:1], times)
    rng = np.random.default_rng(0)
    draws = rng.multivariate_normal(belief.mean, belief.covariance, DRAWS, method="eigh")
    inputs = _inputs(prepared, force)
    found = [_solved(candidate, each, times, inputs) for each in (belief.mean, *draws)]
    kept = np.isin(times, _times(t, "t"))
    return _band(prepared, times[kept], [None if f is None else f[:, kept] for f in found], level)


def _band(prepared: Prepared, t: Float, found: Sequence[Float | None], level: float) -> Prediction:
    """Return the middle solution with the quantiles of those that could be solved."""
    solved = np.array([f for f in found[1:] if f is not None])
    if found[0] is None or len(solved) < DRAWS // 2:
        raise DataError(
            "most solutions for a new individual diverge before the last time; ask for fewer times"
        )
    low, high = np.quantile(solved, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    middle, error = found[0], np.std(solved, axis=0)
    rows = [middle[::3], middle[1::3], error[::3], np.zeros_like(error[::3]), low[::3], high[::3]]
    u, du, deviation, spread, lower, upper = _alone(rows)
    states = prepared.dataset.states
    return Prediction(t, u, du, deviation, spread, lower, upper, level, None, states)


def _alone(rows: Sequence[Float]) -> Sequence[Float]:
    """Return arrays (d, n) as they are told: of a single state (n,)."""
    return [row[0] if len(row) == 1 else row for row in rows]


def _population(candidate: Candidate, start: Float | None) -> _Belief:
    """Return what is known of an individual before it is seen."""
    own, k = candidate.own, len(candidate.equation.constants)
    covariance = np.array(candidate.covariance)
    if own is not None:
        places = list(own.places)
        everyone = population_of(own.values, own.covariances)
        covariance[np.ix_(places, places)] = everyone.covariance + everyone.spread
    first, n = candidate.initial, candidate.initial.shape[1]
    whole = np.zeros((k + n, k + n))
    whole[:k, :k] = covariance
    if start is None:
        whole[k:, k:] = np.atleast_2d(np.cov(first.T, ddof=min(1, len(first) - 1)))
        start = first.mean(axis=0)
    return _Belief(np.append(candidate.equation.constants, start), whole)


def _updated(
    candidate: Candidate,
    belief: _Belief,
    prepared: Prepared,
    run: Run,
    start: Float | None,
    config: ShootConfig,
) -> _Belief:
    """Return what is known after some points were seen, whose noise is that of the other runs."""
    skeleton, everyone = candidate.equation.skeleton, prepared.whole
    k = skeleton.n_constants
    places = state_places(skeleton.orders)
    if start is not None:
        initial = run.initial.copy()
        initial[places] = start
        run = replace(run, initial=initial)
    dataset = replace(everyone.dataset, runs=(run,), names=())
    guide = _guide(run)
    target = Target(dataset, everyone.weights, (guide,), everyone.scales)
    free = ~np.isfinite(run.initial[places])
    mean = np.append(belief.mean[:k], guide[[3 * (p // 2) + p % 2 for p in places], 0][free])
    scales = np.repeat(everyone.scales, skeleton.orders)[free]
    precision = np.zeros((len(mean), len(mean)))
    precision[:k, :k] = inverse(belief.covariance[:k, :k])
    precision[range(k, len(mean)), range(k, len(mean))] = 1.0 / (VAGUE * scales) ** 2
    variance = max(
        candidate.rms**2 * candidate.n_values / max(candidate.n_values - candidate.n_free, 1), 1e-300
    )
    # The residuals are in units of the assumed noise, of which the noise that the runs have is a multiple.
    patient = replace(config, rough=config.tolerance)
    problem = Trajectories(skeleton, target, patient, prior=Prior(mean, variance * precision))
    path = problem.minimise(mean)
    if path is None:
        raise DataError("the law has no solution along the points seen; check them")
    covariance = np.zeros((k + len(free),) * 2)
    chosen = [*range(k), *(k + np.flatnonzero(free)).tolist()]
    covariance[np.ix_(chosen, chosen)] = inverse(path.normals[0].matrix / variance)
    return _Belief(np.append(path.p[:k], problem.parameters.initial(path.p)[0]), covariance)


def _solved(candidate: Candidate, p: Float, t: Float, inputs: Mapping[str, Signal]) -> Float | None:
    """Return the states and slopes along `t` from constants and initial values; None where that fails."""
    k = len(candidate.equation.constants)
    law = make_law(candidate.equation.skeleton, p[:k])
    times = t if len(t) > 1 else np.append(t, t[-1] + 1e-6 * (abs(t[-1]) + 1.0))
    path = solve(law, times, p[k:].tolist(), inputs=inputs)
    return None if path.failure is not None else path.values[:, : len(t)]


def _times(t: ArrayLike, what: str) -> Float:
    times = np.atleast_1d(as_numbers(t, what))
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or np.any(np.diff(times) <= 0):
        raise DataError(f"{what} must hold finite, increasing times; sort them and drop repeats")
    return times


def _run(seen: tuple[ArrayLike, object], prepared: Prepared, force: Forces | None) -> Run:
    """Return the points of a new individual as a run, however few."""
    if not isinstance(seen, tuple) or len(seen) != 2:
        raise DataError("seen must be a pair: the times and the values of a new individual")
    times, dataset = _times(seen[0], "the times seen"), prepared.dataset
    values = table_of(seen[1], dataset.states, "seen", len(times), renamed=False)
    rows = np.zeros((0, 0)) if values is None else values.T
    if rows.shape != (len(dataset.states), len(times)) or not np.isfinite(rows).any():
        raise DataError(f"seen has {len(times)} times, but values of shape {rows.T.shape}; give one for each")
    observed = np.full((3 * len(rows), len(times)), np.nan)
    observed[::3] = rows
    inputs: dict[str, Input] = dict(_inputs(prepared, force))  # type: ignore[arg-type]
    return Run(times, observed, np.full(2 * len(rows), np.nan), inputs)


def _guide(run: Run) -> Float:
    """Return a guess of states and slopes at the points of a run."""
    out = np.zeros(run.observed.shape)
    for s in range(0, len(out), 3):
        seen = np.isfinite(run.observed[s])
        out[s] = np.interp(run.t, run.t[seen], run.observed[s, seen]) if seen.any() else 0.0
        out[s + 1] = np.gradient(out[s], run.t) if len(run.t) > 1 else 0.0
    return out


def _inputs(prepared: Prepared, force: Forces | None) -> dict[str, Signal]:
    """Return the inputs of a new individual: those given, else formulas that all runs share."""
    names = prepared.dataset.inputs
    given = force if isinstance(force, Mapping) else dict.fromkeys(names, force)
    found: dict[str, Signal] = {}
    for name in names:
        signal = given.get(name)
        known = prepared.dataset.runs[0].inputs[name]
        if signal is None and (isinstance(known, str) or callable(known)):
            signal = known
        if signal is None:
            raise DataError(f"a new individual needs the input {name}; give it as force=")
        found[name] = signal
    return found
