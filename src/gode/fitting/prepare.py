"""Data -> what every skeleton is judged on: smoothed columns, cheap problems, the trajectory.

One equation of a system sees its own state as measured and the other states as inputs: an ordinary record
of one signal with known inputs, so that the search for one equation of a system is the search for a scalar
equation.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gode.arrays import Float
from gode.data import Columns, Dataset, Interpolation, Run, Samples, Smooth, columns_of_states, join_runs
from gode.data.dataset import Input, held_inputs
from gode.data.noise import (
    FLOOR,
    noise_levels,
    noise_profiles,
    outliers_told,
    smoothed_without_outliers,
    spread_over_noise,
    without_outliers,
)
from gode.data.smoothing import LENDERS, Memo, evenly, resampled, smooth_runs
from gode.data.states import values_at
from gode.equation import Law, Term, parse_tree
from gode.equation.system import input_seen, state_seen
from gode.equation.tape import COLUMNS, compile_tape, evaluate
from gode.equation.tree import TIME, has_constant, variables
from gode.errors import DataError
from gode.fitting.cheap import TRUSTED, cheap_problems, is_blind, problems_of_each
from gode.fitting.problem import Regression
from gode.fitting.target import Target, condensed, first_part, screened
from gode.solve import solve
from gode.solve.signals import joined

CERTAIN = 2.0  # So many standard deviations from zero a state has a sign.
MOST_RUNS = LENDERS  # that are screened, where each has constants of its own: smoothed by themselves


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
    chosen: tuple[int, ...] = ()  # the runs of the target, where these are not all
    each: tuple[tuple[Regression, ...], ...] = ()  # the problems of each run, if it has its own constants
    solved: bool = False  # whether the smoothed runs are the solution of a law

    @property
    def blind(self) -> bool:
        """Whether nothing but accelerations was measured."""
        return is_blind(self.dataset)

    @property
    def outliers(self) -> list[str]:
        """A sentence about the readings that are not fitted, if there are such."""
        return outliers_told(condensed(self.dataset), self.whole.dataset)

    def portable(self) -> "Prepared":
        """Return what a worker process needs: all but the cheap problems."""
        return replace(self, problems=(), each=())

    def number_of(self, run: int, *, whole: bool) -> int:
        """Return which run of the data is number `run` of those that were fitted."""
        return run if whole or not self.chosen else self.chosen[run]


def prepare(
    dataset: Dataset,
    order: int,
    floor: float,
    *,
    individual: bool = False,
    hurried: Callable[[], bool] = lambda: False,
) -> Prepared:
    """Smooth the runs and set up the problems of this order.

    Args:
        individual: whether the runs have constants of their own. Then a few of many runs are screened.
        hurried: tells whether smoothing has taken so long that the rest is to be smoothed less carefully.
    """
    fitted = condensed(dataset)
    known = [known_values(run, order) for run in fitted.runs]
    memo: Memo = {}
    smooths = smoothed_without_outliers(
        fitted, lambda data: smooth_runs(data.runs, known, memo, hurried, data.noise)
    )
    return assemble(dataset, fitted, smooths, order, floor, individual=individual)


def assemble(
    dataset: Dataset,
    fitted: Dataset,
    smooths: tuple[Smooth, ...],
    order: int,
    floor: float,
    *,
    individual: bool = False,
    solved: bool = False,
) -> Prepared:
    """Set up the problems of this order on smoothed runs; readings far from the curves are not fitted.

    Args:
        solved: whether the smoothed runs are the solution of a law.
    """
    fitted = replace(without_outliers(fitted, smooths), held=())  # no fit looks at what was held back
    noise = noise_levels(fitted, smooths)
    weights = np.where(np.isfinite(noise), 1.0 / np.where(np.isfinite(noise), noise, 1.0), 0.0)
    profiles = noise_profiles(fitted, smooths, noise)
    whole = Target(fitted, weights, _guides(fitted, smooths), _scales(fitted, smooths), profiles)
    columns = _joined_columns(fitted, smooths)
    chosen = _screened_runs(dataset) if individual else ()
    some = fitted.of_runs(chosen) if chosen else fitted
    of_chosen = [smooths[i] for i in chosen] or list(smooths)
    shorter = screened(some, of_chosen)
    scored, few, target = shorter, columns, whole
    if shorter is not fitted:
        parts = tuple(resampled(s, r.t) for r, s in zip(shorter.runs, of_chosen, strict=True))
        few = _joined_columns(shorter, parts)
        profiles = noise_profiles(some, parts, noise)
        target = first_part(
            replace(whole, dataset=shorter, guides=_guides(shorter, parts), profiles=profiles)
        )
        if not resolves_inputs(shorter, some):  # cheap scores then see windows of all samples
            scored, few = some, _joined_columns(some, of_chosen)
    problems: tuple[Regression, ...] = ()  # those of several states are the problems of their views
    if is_its_view(dataset):
        problems = cheap_problems(scored, few, order, noise, solved=solved)
    each: tuple[tuple[Regression, ...], ...] = ()
    if problems and individual:
        each = problems_of_each(scored, few, order, noise, problems, solved=solved)
    least = tuple(floor * spread_over_noise(fitted, noise, s) for s in range(len(dataset.states)))
    return Prepared(dataset, smooths, columns, problems, target, whole, noise, least, chosen, each, solved)


def _screened_runs(dataset: Dataset) -> tuple[int, ...]:
    """Return the runs to screen where there are many, spread evenly; none if these are all."""
    n = len(dataset.runs)
    if n <= MOST_RUNS or not is_its_view(dataset):  # other views are taken along the solution of all runs
        return ()
    return tuple(evenly(n, MOST_RUNS))


def _scales(fitted: Dataset, smooths: Sequence[Smooth]) -> tuple[float, ...]:
    """Return the size of each state; no solution is too large for one that was never measured.

    A curve may miss a short rise in a long record, so that its readings count, too.
    """
    read = [
        np.abs(run.observed[::3]).max(axis=1, initial=0.0, where=np.isfinite(run.observed[::3]))
        for run in fitted.runs
    ]
    sizes = np.max([*read, *(np.abs(s.values[::3]).max(axis=1) for s in smooths)], axis=0)
    unknown = np.all([np.isnan(s.noise.reshape(-1, 3)).all(axis=1) for s in smooths], axis=0)
    return tuple(
        np.inf if hidden else float(size) or 1.0 for size, hidden in zip(sizes, unknown, strict=True)
    )


def _guides(dataset: Dataset, smooths: tuple[Smooth, ...]) -> tuple[Float, ...]:
    return tuple(_of_one_sign(r, s) for r, s in zip(dataset.runs, smooths, strict=True))


def input_values(run: Run, t: Float) -> dict[str, Float]:
    """Return the values of the run's inputs at its own times."""
    return {name: _sampled(name, signal, t) for name, signal in run.inputs.items()}


def resolves_inputs(few: Dataset, dataset: Dataset) -> bool:
    """Tell whether the times of a few averages of the runs resolve the inputs that are not held.

    Lines through the values at these times may miss an input by a share of its standard deviation. Of
    simulated pulses, windows of all samples explain more from .4 on and averages below .2; of measured
    records the share is below .01, or above .5 for a motor under control, whose current has peaks.
    """
    names = set(dataset.inputs) - set(held_inputs(dataset))
    missed, total = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    for coarse, run in zip(few.runs, dataset.runs, strict=True):
        there = input_values(run, run.t)
        for name in names:
            between = np.interp(run.t, coarse.t, np.interp(coarse.t, run.t, there[name]))
            missed[name] += float(np.mean((there[name] - between) ** 2))
            total[name] += float(np.var(there[name]))
    return all(missed[name] <= TRUSTED**2 * total[name] for name in names)


def _sampled(name: str, signal: object, t: Float) -> Float:
    if isinstance(signal, str):
        tree = parse_tree(signal, inputs=())
        if variables(tree) - {TIME} or has_constant(tree):
            raise DataError(f"the input {name} = {signal!r} may depend on t alone, and has no free C")
        x = np.zeros((len(COLUMNS), len(t)))
        x[0] = t
        values = evaluate(compile_tape([Term(1.0, None, tree)], COLUMNS, 0), [], x).value
    elif callable(signal):
        values = values_at(signal, t, name)
    elif isinstance(signal, Samples):
        values = joined(signal, t)
    else:
        values = np.asarray(signal, np.float64)
    if not np.all(np.isfinite(values)):
        raise DataError(
            f"the input {name} is not finite at every time of the data; restrict the data or fix it"
        )
    return values


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


def view(prepared: Prepared, state: int, order: int, floor: float, *, individual: bool = False) -> Prepared:
    """Return the data as the equation of one state sees them: as they are if it is the only one."""
    dataset = prepared.dataset
    if is_its_view(dataset):
        return prepared
    fitted = prepared.whole.dataset
    runs = [_seen(run, s, state, order) for run, s in zip(fitted.runs, prepared.smooths, strict=True)]
    kept, noise = dataset.keep_outliers, dataset.noise
    seen = Dataset(tuple(runs), names=dataset.names, keep_outliers=kept, noise=noise)
    smooths = tuple(s.state(state) for s in prepared.smooths)
    unsure = 0.0 if prepared.solved else _doubt(prepared.smooths, state, order)
    least = max(floor, unsure)  # nothing smaller can be told along signals that are known so well
    found = assemble(seen, seen, smooths, order, least, individual=individual, solved=prepared.solved)
    return replace(found, whole=found.target)  # whole records are for all equations together


def _doubt(smooths: Sequence[Smooth], state: int, order: int) -> float:
    """Return the error of the smoothed signals of all other states, as a share of their spread."""
    shares = [0.0]
    for s in range(len(smooths[0].values) // 3):
        for row in range(3 * s, 3 * s + order) if s != state else ():
            error = np.sqrt(np.mean([np.mean(smooth.deviations[row] ** 2) for smooth in smooths]))
            spread = np.std(np.concatenate([smooth.values[row] for smooth in smooths]))
            shares.append(float(error / spread) if spread > 0 else 0.0)
    return max(shares)


def inputs_seen(dataset: Dataset, order: int) -> tuple[str, ...]:
    """Return the names of all that an equation sees besides its own state and time."""
    d = len(dataset.states)
    inputs = [input_seen(i, d) for i in range(len(dataset.inputs))]
    return (*inputs, *(state_seen(0, s) + "'" * k for s in range(1, d) for k in range(order)))


def is_its_view(dataset: Dataset) -> bool:
    """Tell whether an equation sees the data as they are: nothing but its own state, time and the inputs."""
    return len(inputs_seen(dataset, 1)) == len(dataset.inputs)


def _seen(run: Run, smooth: Smooth, state: int, order: int) -> Run:
    """Return one run: the own state measured, the others as signals along the smoothed ones."""
    inputs: dict[str, Input] = {}
    for i, name in enumerate(run.inputs):
        inputs[input_seen(i, run.n_states)] = run.signals[name]
    for s in range(run.n_states):
        for k in range(order if s != state else 0):
            signal = Samples(smooth.t, smooth.values[3 * s + k], Interpolation.CUBIC)
            inputs[state_seen(state, s) + "'" * k] = signal
    return replace(run.state(state), inputs=inputs)


def along(
    prepared: Prepared, laws: Sequence[Law], initial: Float, sizes: Sequence[float] = ()
) -> tuple[Smooth, ...] | None:
    """Return the runs smoothed by the solution of a law, None if it has none along all of them.

    A law near the truth is a better smoother than any that knows nothing of the others.

    Args:
        laws: of each run: one law, whose constants may be those of the run.
        sizes: of the residuals of each state, in units of the noise: what the noise then was.
    """
    smooths = []
    rows = zip(prepared.whole.dataset.runs, prepared.smooths, laws, initial, strict=True)
    for run, smooth, law, start in rows:
        highest = [3 * s + k for s, k in enumerate(law.skeleton.orders)]
        path = solve(
            law, run.t, start, inputs=dict(run.signals), doses=run.doses, guide=smooth.values[highest]
        )
        if path.failure is not None:
            return None
        values = np.where(np.isfinite(path.values), path.values, smooth.values)
        smooths.append(_with_values(smooth, values, np.repeat(sizes, 3)))
    return tuple(smooths)


def _with_values(smooth: Smooth, values: Float, sizes: Float) -> Smooth:
    """Return a smoothed run with new values, and its noise about them `sizes` times as large.

    Noise that is a fraction of the value keeps the floor that it had; a logarithm has none.
    """
    found = replace(smooth, values=values)
    if not len(sizes):
        return found
    noise = smooth.noise * sizes
    if smooth.shares is None or smooth.profile is None:
        return replace(found, noise=noise)
    shares, profile = smooth.shares * sizes[:, None], smooth.profile.copy()
    for i in np.flatnonzero(shares[:, 1] > 0):
        rest = smooth.sigma[i] ** 2 - (smooth.shares[i, 1] * smooth.values[i]) ** 2
        smallest = FLOOR * smooth.sigma[i].min()
        floor = sizes[i] * max(float(np.sqrt(np.maximum(rest, 0.0).min())), smallest)
        sigma = np.hypot(floor, shares[i, 1] * values[i])
        noise[i] = np.sqrt(np.mean(sigma**2))
        profile[i] = sigma / noise[i]
    return replace(found, noise=noise, shares=shares, profile=profile)
