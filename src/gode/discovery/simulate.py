"""A fitted law beyond its data: solutions, and predictions with an uncertainty band."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Bool, Float
from gode.data import Interpolation, Run, Samples, Smooth
from gode.data.numbers import as_numbers
from gode.discovery.states import initial_of
from gode.errors import ConfigError, DataError, Failure
from gode.fitting.group import joint_covariance, uncertainty
from gode.fitting.prepare import Prepared
from gode.fitting.shooting import STEPS, ShootConfig
from gode.fitting.target import state_places
from gode.search.zero_starts import fitted_target
from gode.selection import Candidate
from gode.solve import Signal, Solution, SolveConfig, solve

DEFAULT_STEPS = SolveConfig().max_steps


Start = Sequence[float] | Sequence[Sequence[float]] | Mapping[str, float | Sequence[float]] | Float
Forces = Signal | Mapping[str, Signal]  # one known input, or several by their names


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


@dataclass(frozen=True)
class Scenario:
    """What to simulate: times, initial values (None: those of the run), the force if not that of the run."""

    t: Float
    initial: Sequence[float] | None = None
    force: Forces | None = None
    run: int = 0


def make_scenario(
    prepared: Prepared,
    t: ArrayLike | None,
    initial: Start | None,
    force: Forces | None,
    run: int | str,
    orders: Sequence[int],
) -> Scenario:
    """Return a checked scenario of a law of these orders; by default the times of the run.

    Raises:
        DataError: for a run that does not exist, or times that are not usable.
    """
    number = prepared.dataset.number_of(run)
    data = prepared.dataset.runs[number]
    times = data.t if t is None else np.atleast_1d(as_numbers(t, "t"))
    if times.ndim != 1 or not len(times) or not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0):
        raise DataError("t must hold finite, increasing times; sort them and drop repeats")
    if initial is None and times[0] < data.t[0]:
        raise DataError(
            f"t starts at {times[0]:g}, before the data, which start at {data.t[0]:g}; "
            "pass initial= with the values at the first of your times"
        )
    if isinstance(force, Mapping) and not force:
        raise DataError("force is an empty mapping; name the known inputs, or leave it out")
    start = None if initial is None else make_start(initial, prepared.dataset.states, orders)
    return Scenario(times, start, force, number)


def make_start(initial: Start, states: Sequence[str], orders: Sequence[int]) -> Sequence[float]:
    """Return the state vector at the start: one state after the other, with slopes where they are needed."""
    if len(states) == 1 and not isinstance(initial, Mapping):
        return initial  # type: ignore[return-value]  # the solver checks it
    if isinstance(initial, Mapping):
        table = np.reshape(np.asarray(initial_of(initial, states, ""), np.float64), (-1, 2))
        return list(table.ravel()[state_places(orders)].tolist())
    rows = [np.atleast_1d(as_numbers(row, "initial")).ravel() for row in initial]
    return [float(x) for row in rows for x in row]


def simulate(
    candidate: Candidate,
    prepared: Prepared,
    scenario: Scenario,
    *,
    sensitivities: bool = False,
    guided: bool = True,
) -> Solution:
    """Solve a fitted equation in a scenario; without initial values of its own, from the start of the run.

    Args:
        guided: whether the smoothed data select the branch where the equation has several, or any.

    Raises:
        DataError: if new times need a force that is not given.
    """
    data, smooth = prepared.dataset.runs[scenario.run], prepared.smooths[scenario.run]
    initial = candidate.initial[scenario.run] if scenario.initial is None else scenario.initial
    before = [] if scenario.initial is not None else [data.t[0]]
    times = np.concatenate([[t for t in before if t < scenario.t[0]], scenario.t])
    if len(times) < 2:  # the solver needs a span
        times = np.append(times, times[-1] + 1e-6 * (data.t[-1] - data.t[0]))
    solved = solve(
        candidate.law_of(scenario.run),
        times,
        initial,
        inputs=_inputs(data, times, scenario),
        guide=_guide(candidate, smooth, times) if guided else None,
        sensitivities=sensitivities,
        config=SolveConfig(max_steps=DEFAULT_STEPS + 20 * len(times) + STEPS * data.n_samples),
    )
    first = int(np.searchsorted(times, scenario.t[0]))
    here = slice(first, first + len(scenario.t))
    return replace(
        solved,
        t=solved.t[here],
        values=solved.values[:, here],
        sensitivities=solved.sensitivities[..., here],
    )


def _guide(candidate: Candidate, smooth: Smooth, times: Float) -> Float:
    """Return the smoothed highest derivative of each state."""
    orders = candidate.equation.skeleton.orders
    rows = [np.interp(times, smooth.t, smooth.values[3 * s + order]) for s, order in enumerate(orders)]
    return np.array(rows)


def predict(
    named: Candidate,
    rivals: Sequence[tuple[Candidate, float]],
    prepared: Prepared,
    scenario: Scenario,
    config: ShootConfig,
    level: float,
) -> Prediction:
    """Return the solution of a candidate with a band that holds the truth with probability `level`.

    The variance is that of constants and initial values, carried along the solution to first order, plus
    the squared distance to its rivals, each times its weight.

    Raises:
        ConfigError: if the level is no probability.
    """
    check_level(level)
    best = simulate(named, prepared, scenario, sensitivities=True)
    joint = covariance_in(named, prepared, config, scenario.run)
    u, du = best.values[::3], best.values[1::3]
    error = np.array([propagated_error(joint, scenario, best, 3 * s) for s in range(len(u))])
    spread = _spread(rivals, prepared, scenario, u)
    width = NormalDist().inv_cdf(0.5 + level / 2) * np.hypot(error, spread)
    rows = [u, du, error, spread, u - width, u + width]
    u, du, error, spread, lower, upper = rows if len(u) > 1 else [row[0] for row in rows]
    return Prediction(best.t, u, du, error, spread, lower, upper, level, best.failure, best.states)


def check_level(level: float) -> None:
    """Raise ConfigError if the level is no probability."""
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < level < 1:
        raise ConfigError(f"level must lie between 0 and 1, got {level!r}")


def covariance_in(
    candidate: Candidate, prepared: Prepared, config: ShootConfig, run: int = 0
) -> tuple[Float, Bool]:
    """Return the covariance of the constants that a run has and of initial values, as `joint_covariance`."""
    target, law = fitted_target(candidate, prepared), candidate.equation
    if candidate.own is None:
        return joint_covariance(law, candidate.initial, target, config=config)
    found = uncertainty(law, candidate.own, candidate.initial, target, config=config)
    if found is not None:
        return found.of_run(run)
    k = len(law.constants)
    return np.zeros((k, k)), np.zeros(candidate.initial.shape, bool)


def propagated_error(joint: tuple[Float, Bool], scenario: Scenario, solved: Solution, channel: int) -> Float:
    """Return the standard deviation of a channel (n,) that comes from the fitted numbers.

    `joint` is what `covariance_in` says; initial values given by the scenario are exact.
    """
    covariance, free = joint
    k = len(covariance) - int(free.sum())
    places, rows = list(range(k)), list(range(k))
    if scenario.initial is None:
        own = np.flatnonzero(free[scenario.run])
        first = k + int(free[: scenario.run].sum())
        places += range(first, first + len(own))
        rows += (k + own).tolist()
    slopes = solved.sensitivities[rows, channel]
    part = covariance[np.ix_(places, places)]
    with np.errstate(over="ignore", invalid="ignore"):
        variance = np.einsum("in,ij,jn->n", slopes, part, slopes)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def _spread(
    rivals: Sequence[tuple[Candidate, float]], prepared: Prepared, scenario: Scenario, u: Float
) -> Float:
    """Return the weighted distance (d, n) of the rivals from `u`, less those that cannot be solved.

    A rival that runs away counts as one that is as far off as the data reach: beyond that it says no more.
    """
    total, lost = np.zeros(u.shape), 0.0
    reach = np.ptp(np.hstack([guide[::3] for guide in prepared.whole.guides]), axis=1)[:, None]
    for rival, weight in rivals:
        solved = simulate(rival, prepared, scenario)
        if solved.failure is None:
            total += weight * np.minimum(np.abs(solved.values[::3] - u), reach) ** 2
        else:
            lost += weight
    return np.asarray(np.sqrt(total / max(1 - lost, 1e-9)))


def _inputs(run: Run, times: Float, scenario: Scenario) -> dict[str, Signal]:
    """Return the inputs of the scenario; samples are joined as those of the run were."""
    given = scenario.force
    forces = given if isinstance(given, Mapping) else dict.fromkeys(run.inputs, given)
    unknown = [name for name in forces if name not in run.inputs]
    if unknown:
        raise DataError(
            f"force is given for {unknown[0]!r}, which is no input; "
            f"the inputs are {', '.join(run.inputs) or 'none'}"
        )
    found: dict[str, Signal] = dict(run.signals)
    for name in run.inputs:
        force = forces.get(name)
        if force is None:
            _check_span(run, name, times)
        elif isinstance(force, str | Samples) or callable(force):
            found[name] = force
        else:
            found[name] = _joined(force, scenario.t, run.interpolation)
    return found


def _joined(force: ArrayLike | tuple[ArrayLike, ArrayLike], t: ArrayLike, how: Interpolation) -> Samples:
    """Return samples at the times `t`, or a pair (times, samples); the solver checks them."""
    samples: object = force
    if isinstance(force, tuple) and len(force) == 2 and np.ndim(force[0]) == 1:
        t, samples = force
    return Samples(t, samples, how)  # type: ignore[arg-type]


def _check_span(run: Run, name: str, times: Float) -> None:
    if isinstance(run.inputs[name], np.ndarray) and (times[0] < run.t[0] or times[-1] > run.t[-1]):
        raise DataError(
            f"the input {name} is known from {run.t[0]:g} to {run.t[-1]:g} only; "
            "give a force for other times (force=, on the command line --force)"
        )
