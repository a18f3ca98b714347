"""The prediction for an individual that is not among the data, from the population and its first points.

Before any of it was seen, its constants are those of the population, as uncertain as that is wide. Points of
its own are weighed against that by Bayes' rule: the most probable constants by a fit with a prior, and a
normal law about them, from which solutions are drawn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Float
from gode.data import Run
from gode.data.convert import as_numbers
from gode.data.dataset import Input
from gode.data.states import table_of
from gode.discovery.prediction import Prediction, check_level
from gode.discovery.simulate import Forces, Start, make_start
from gode.equation.system import make_law
from gode.errors import DataError
from gode.fitting.covariance import inverse
from gode.fitting.population import population_of
from gode.fitting.prepare import Prepared
from gode.fitting.target import Target, state_places
from gode.fitting.trajectory import Prior, ShootConfig, Trajectories
from gode.selection import Candidate
from gode.solve import Signal, solve

DRAWS = 400  # A band consists of quantiles of so many solutions.
STEPS = 30  # The fit to a few points takes at most so many steps.
SETTLED = 1e-7  # It ends when a step gains a smaller fraction of the cost.
VAGUE = 1e6  # The standard deviation of an unknown initial value is so many sizes of its state.


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
    u, du, deviation, spread, lower, upper = (
        rows if len(prepared.dataset.states) > 1 else [r[0] for r in rows]
    )
    states = prepared.dataset.states
    return Prediction(t, u, du, deviation, spread, lower, upper, level, None, states)


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
    patient = replace(config, max_iterations=STEPS, tolerance=SETTLED, rough=SETTLED)
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
    rows = np.atleast_2d(as_numbers(values, "the values seen").T)
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
