"""Solutions of a fitted law, also beyond its data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Float
from gode.data import Interpolation, Run, Samples, Smooth
from gode.data.doses import Dose
from gode.data.states import as_numbers, initial_of
from gode.errors import DataError
from gode.fitting.prepare import Prepared
from gode.fitting.target import state_places
from gode.fitting.trajectory import STEPS
from gode.selection import Candidate
from gode.solve import Signal, Solution, SolveConfig, solve

ACCURATE = 1e-9  # With this relative tolerance curves through sensitive motion stay where they were fitted.
DEFAULT_STEPS = SolveConfig().max_steps


Start = Sequence[float] | Sequence[Sequence[float]] | Mapping[str, float | Sequence[float]] | Float
Forces = Signal | Mapping[str, Signal]  # one known input, or several by their names


@dataclass(frozen=True)
class Scenario:
    """What to simulate: times, initial values (None: those of the run), the force if not that of the run."""

    t: Float
    initial: Sequence[float] | None = None
    force: Forces | None = None
    run: int = 0
    doses: tuple[Dose, ...] | None = None  # None: those of the run


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
            "give initial= with the values at the first of your times, or split records by time, as "
            "TimeSeriesSplit of scikit-learn does"
        )
    if isinstance(force, Mapping) and not force:
        raise DataError("force is an empty mapping; name the known inputs, or leave it out")
    start = None if initial is None else make_start(initial, prepared.dataset.states, orders)
    return Scenario(times, start, force, number)


def make_start(initial: Start, states: Sequence[str], orders: Sequence[int]) -> Sequence[float]:
    """Return the state vector at the start: one state after the other, with slopes where they are needed."""
    if isinstance(initial, Mapping):
        table = np.reshape(np.asarray(initial_of(initial, states, ""), np.float64), (-1, 2))
        return list(table.ravel()[state_places(orders)].tolist())
    given = initial if np.iterable(initial) and not isinstance(initial, str | bytes) else [initial]
    rows = [np.atleast_1d(as_numbers(row, "initial")).ravel() for row in given]
    return [float(x) for row in rows for x in row]  # The solver checks them.


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
        doses=data.doses if scenario.doses is None else scenario.doses,
        guide=_guide(candidate, smooth, times) if guided else None,
        sensitivities=sensitivities,
        config=SolveConfig(rtol=ACCURATE, max_steps=DEFAULT_STEPS + 20 * len(times) + STEPS * data.n_samples),
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
            f"the input {name} is known from {run.t[0]:g} to {run.t[-1]:g} only; give force= for other times"
        )
