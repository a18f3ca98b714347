"""Data -> what every skeleton is judged on: smoothed columns, cheap problems, the trajectory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import SupportsFloat

import numpy as np

from gode.arrays import Float
from gode.data import Columns, Dataset, Run, Smooth, columns_of_states, join_runs
from gode.data.columns import split_at_jumps
from gode.data.joining import Samples
from gode.data.runs import cycles, held_inputs
from gode.data.smoothing import resampled, smooth_runs
from gode.equation import Equation, Term, parse_tree
from gode.equation.tape import COLUMNS, compile_tape, evaluate
from gode.equation.tree import TIME, has_constant, is_other, variables
from gode.errors import DataError
from gode.fitting import Regression, integral_problem, residual_problem
from gode.fitting.long_records import SCREENED, SHORTEST, condensed, first_part, screened
from gode.fitting.noise import noise_levels, noise_profiles, spread_over_noise
from gode.fitting.target import Target
from gode.solve import Signal, solve
from gode.solve.signals import joined

TRUSTED = 0.2  # drift of integrated accelerations, in swings of u, that is borne with
SLOW = 5  # degree of the drift that is no swing
FEWEST = 50  # points that are kept whatever the drift
CERTAIN = 2.0  # standard deviations from zero at which u has a sign
CYCLES = 1.5  # of a piece with its own initial values
FEWEST_IN_PIECE = 10  # points
COARSE = 10  # points a cycle, below which integrals over the samples are poor


@dataclass(frozen=True)
class Prepared:
    """The data in the forms that the stages need."""

    dataset: Dataset
    smooths: tuple[Smooth, ...]
    columns: Columns
    problems: tuple[Regression, ...]  # the first one ranks
    target: Target  # the first part of long records
    whole: Target  # all of them
    noise: Float  # (3,) standard deviation of each observed channel
    floor: tuple[float, ...]  # weighted residual of each state that counts as none

    @property
    def blind(self) -> bool:
        """Whether nothing but accelerations was measured."""
        return _is_blind(self.dataset)

    @property
    def passes(self) -> int:
        """How often the search goes over the data: again where an equation tells what u was."""
        return 2 if self.blind else 1

    def portable(self) -> "Prepared":
        """Return what a worker process needs: all but the cheap problems."""
        return replace(self, problems=())


def prepare(dataset: Dataset, order: int, floor: float) -> Prepared:
    """Smooth the runs and set up the problems of this order."""
    fitted = condensed(dataset)
    smooths = smooth_runs(fitted.runs, [known_values(run, order) for run in fitted.runs])
    return assemble(dataset, fitted, smooths, order, floor)


def assemble(
    dataset: Dataset, fitted: Dataset, smooths: tuple[Smooth, ...], order: int, floor: float
) -> Prepared:
    """Set up the problems of this order on runs that have been smoothed as they are fitted."""
    noise = noise_levels(fitted, smooths)
    weights = np.where(np.isfinite(noise), 1.0 / np.where(np.isfinite(noise), noise, 1.0), 0.0)
    profiles = noise_profiles(fitted, smooths, noise)
    whole = Target(fitted, weights, _guides(fitted, smooths), _scales(smooths), profiles)
    columns = _joined_columns(fitted, smooths)
    shorter = screened(fitted)
    few, target = columns, whole
    if shorter is not fitted:
        parts = tuple(resampled(s, r.t) for r, s in zip(shorter.runs, smooths, strict=True))
        few = _joined_columns(shorter, parts)
        profiles = noise_profiles(fitted, parts, noise)
        target = first_part(
            replace(whole, dataset=shorter, guides=_guides(shorter, parts), profiles=profiles)
        )
    problems: tuple[Regression, ...] = ()  # those of a system are the problems of its views
    if len(dataset.states) == 1:
        problems = _problems(shorter, before_drift(shorter, few, noise), order)
    if problems and _is_blind(dataset):
        problems += (residual_problem(_windows(without_drift(shorter, few))),)
    least = tuple(floor * spread_over_noise(fitted, noise, s) for s in range(len(dataset.states)))
    return Prepared(dataset, smooths, columns, problems, target, whole, noise, least)


def _scales(smooths: Sequence[Smooth]) -> tuple[float, ...]:
    sizes = np.max([np.abs(s.values[::3]).max(axis=1) for s in smooths], axis=0)
    return tuple(float(size) or 1.0 for size in sizes)


def _guides(dataset: Dataset, smooths: tuple[Smooth, ...]) -> tuple[Float, ...]:
    return tuple(_of_one_sign(r, s) for r, s in zip(dataset.runs, smooths, strict=True))


def retraced(prepared: Prepared, equation: Equation, initial: Float) -> Prepared | None:
    """Return the data with u and u' along the solution of an equation, where only u'' was measured.

    What an equation near the truth makes of the initial values is closer to u than any integral of noisy
    accelerations. None if u was measured, or the equation has no solution along all runs.
    """
    if not prepared.blind:
        return None
    parts, dataset = [], screened(prepared.whole.dataset)
    for run, smooth_whole, start in zip(dataset.runs, prepared.smooths, initial, strict=True):
        smooth_run = resampled(smooth_whole, run.t)
        inputs: dict[str, Signal] = dict(run.signals)
        guide = smooth_run.values[equation.order]
        path = solve(equation, run.t, start, inputs=inputs, guide=guide)
        if path.failure is not None:
            return None
        values = np.vstack([path.u, path.du, smooth_run.values[2]])
        parts.append(_columns(run, replace(smooth_run, values=values), dataset.states))
    columns = join_runs(parts)
    problems = _problems(dataset, columns, equation.order)
    return replace(prepared, columns=columns, problems=problems)


def input_values(run: Run, t: Float) -> dict[str, Float]:
    """Return the values of the run's inputs at its own times."""
    return {name: _sampled(name, signal, t) for name, signal in run.inputs.items()}


def _sampled(name: str, signal: object, t: Float) -> Float:
    if isinstance(signal, str):
        tree = parse_tree(signal, inputs=())
        if variables(tree) - {TIME} or has_constant(tree):
            raise DataError(f"the input {name} = {signal!r} may depend on t alone, and has no free C")
        x = np.zeros((len(COLUMNS), len(t)))
        x[0] = t
        values = evaluate(compile_tape([Term(1.0, None, tree)], COLUMNS, 0), [], x).value
    elif callable(signal):
        values = np.array([_one_number(signal(float(s)), name) for s in t])
    elif isinstance(signal, Samples):
        values = joined(signal, t)
    else:
        values = np.asarray(signal, np.float64)
    if not np.all(np.isfinite(values)):
        raise DataError(
            f"the input {name} is not finite at every time of the data; restrict the data or fix it"
        )
    return values


def _one_number(value: object, name: str) -> float:
    if isinstance(value, SupportsFloat) and np.asarray(value).ndim == 0:
        return float(value)
    raise DataError(f"the input {name} must be one number at each time, got {type(value).__name__}")


def known_values(run: Run, order: int) -> Float:
    """Return u(t0) and u'(t0) of each state where they are known and below the order; NaN elsewhere."""
    known = run.initial.reshape(-1, 2).copy()
    known[:, order:] = np.nan
    return known.ravel()


def _joined_columns(dataset: Dataset, smooths: Sequence[Smooth]) -> Columns:
    pairs = zip(dataset.runs, smooths, strict=True)
    return join_runs([_columns(run, s, dataset.states) for run, s in pairs])


def _columns(run: Run, smooth: Smooth, states: tuple[str, ...]) -> Columns:
    """Return the columns of one run; where only the acceleration was measured, it is used as it is."""
    values = _of_one_sign(run, smooth)
    seen = np.isfinite(run.observed)
    for s in range(0, len(values), 3):
        if not seen[s].any():
            values[s + 2] = np.where(seen[s + 2], run.observed[s + 2], values[s + 2])
    inputs: Mapping[str, Float] = input_values(run, run.t)
    return columns_of_states(run.t, values, states=states, inputs=dict(inputs))


def _of_one_sign(run: Run, smooth: Smooth) -> Float:
    """Return the smoothed values, without the doubtful signs of a u that has but one where it is certain.

    A decay to zero is smoothed to values on either side of it, where log(u) and u^C are not defined.
    """
    values = smooth.values.copy()
    for s in range(0, len(values), 3):
        doubt = smooth.deviations[s]
        signs = np.unique(np.sign(values[s, np.abs(values[s]) > CERTAIN * doubt]))
        if np.isfinite(run.observed[s]).any() and len(signs) == 1:
            values[s] = signs[0] * np.maximum(signs[0] * values[s], 0.1 * doubt)
    return values


def _problems(dataset: Dataset, columns: Columns, order: int) -> tuple[Regression, ...]:
    """Return the cheap problems: the integral form if u was observed, and the residual."""
    residual = residual_problem(_windows(columns))
    if not all(np.isfinite(run.observed[0]).any() for run in dataset.runs):
        return (residual,)
    known = [run.initial[:order] for run in dataset.runs]
    short = columns.n_points <= SCREENED
    initial = known if short and np.all(np.isfinite(known)) else None
    held = held_inputs(dataset)
    pair = tuple(_pieces(dataset, _windows(each)) for each in (_observed(dataset, columns), columns))
    seen, smoothed = (split_at_jumps(each, held) for each in pair)
    integral = integral_problem(seen, order, initial=initial, columns=smoothed)
    fast = any(run.n_points < COARSE * cycles(run) for run in dataset.runs)
    return (residual, integral) if fast else (integral, residual)


def before_drift(dataset: Dataset, columns: Columns, noise: Float) -> Columns:
    """Return the columns, or where only accelerations were measured their part before u drifts away.

    Twice integrated, white noise of the accelerations grows like t^1.5; the part ends where that reaches a
    share of the swings of u about its own drift.
    """
    if not _is_blind(dataset):
        return columns
    pieces = []
    for run, low, high in zip(dataset.runs, columns.starts[:-1], columns.starts[1:], strict=True):
        t, u = run.t - run.t[0], columns.matrix[1, low:high]
        swing = np.std(u - _drift(t, u)(t))
        drift = noise[2] * np.sqrt(np.median(np.diff(t)) / 3) * t**1.5
        n = max(int(np.searchsorted(drift, TRUSTED * swing)), min(len(t), FEWEST))
        pieces.append(replace(columns, matrix=columns.matrix[:, low : low + n], starts=np.array([0, n])))
    return join_runs(pieces)


def without_drift(dataset: Dataset, columns: Columns) -> Columns:
    """Return all of the columns with u and u' about their own drift: many bodies swing about a place."""
    matrix = columns.matrix.copy()
    for run, low, high in zip(dataset.runs, columns.starts[:-1], columns.starts[1:], strict=True):
        drift = _drift(run.t, matrix[1, low:high])
        matrix[1, low:high] -= drift(run.t)
        matrix[2, low:high] -= drift.deriv()(run.t)
    return replace(columns, matrix=matrix)


def _drift(t: Float, u: Float) -> np.polynomial.Polynomial:
    found, _ = np.polynomial.Polynomial.fit(t, u, min(SLOW, len(t) // 2), full=True)  # and no warning
    return found


def _is_blind(dataset: Dataset) -> bool:
    """Tell whether of some state nothing but accelerations was measured."""
    lower = [
        np.isfinite(run.observed.reshape(-1, 3, run.n_points)[:, :2]).any(axis=(1, 2)) for run in dataset.runs
    ]
    return not np.any(lower, axis=0).all()


def _windows(columns: Columns) -> Columns:
    """Return the columns, or evenly spread windows of long ones, each a run of its own."""
    lengths = np.diff(columns.starts)
    if columns.n_points <= 1.5 * max(SCREENED, SHORTEST * len(lengths)):
        return columns
    number = max(6 // len(lengths), 1)
    size = max(SCREENED // (number * len(lengths)), SHORTEST)
    pieces, starts = [], [0]
    for low, n in zip(columns.starts[:-1], lengths, strict=True):
        wide = min(size, int(n))
        for begin in np.unique(np.linspace(0, n - wide, number).astype(int)):
            pieces.append(columns.matrix[:, low + begin : low + begin + wide])
            starts.append(starts[-1] + wide)
    return replace(columns, matrix=np.hstack(pieces), starts=np.array(starts))


def _pieces(dataset: Dataset, columns: Columns) -> Columns:
    """Return the columns cut into pieces of a cycle or two, each a run, where there are other states.

    A piece has initial values of its own: over many cycles the errors of smoothed states add up.
    """
    if not any(is_other(name) for name in dataset.inputs):
        return columns
    starts = [columns.starts[:1]]
    for run, low, high in zip(dataset.runs, columns.starts[:-1], columns.starts[1:], strict=True):
        n = int(np.clip(round(cycles(run) / CYCLES), 1, (high - low) / FEWEST_IN_PIECE))
        starts.append(np.linspace(low, high, n + 1).astype(np.int64)[1:])
    return replace(columns, starts=np.concatenate(starts))


def _observed(dataset: Dataset, columns: Columns) -> Columns:
    """Return the columns with the measured u instead of the smoothed one, where there is one."""
    u = np.concatenate([run.observed[0] for run in dataset.runs])
    matrix = columns.matrix.copy()
    matrix[1] = np.where(np.isfinite(u), u, matrix[1])
    return replace(columns, matrix=matrix)
