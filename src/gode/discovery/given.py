"""fit(): the constants of a given equation."""

from __future__ import annotations  # help() then shows types by their names

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Unpack

import numpy as np

from gode.arrays import Float, Series, Signals
from gode.choices import EffortName
from gode.data import Dataset
from gode.data.from_arrays import dataset_of_call
from gode.data.smoothing import evenly
from gode.data.states import shape_of
from gode.discovery.causes import with_causes
from gode.discovery.compartments import told_of_doses
from gode.discovery.delays import late_starts
from gode.discovery.framing import (
    called,
    check_enough,
    frame_of,
    individuals_asked,
    read_frame,
    with_dose_named,
    with_formulas,
)
from gode.discovery.hidden import filled_in
from gode.discovery.identifiability import undetermined
from gode.discovery.inputs import with_held_input
from gode.discovery.minima import in_order_of_fit, others_as_good, reached_minima
from gode.discovery.prediction import remark_on_forecast
from gode.discovery.result import Discovery
from gode.discovery.shortlist import remark_on_errors, remark_on_part, with_error_bars
from gode.equation import (
    Equation,
    Law,
    LawSkeleton,
    Skeleton,
)
from gode.equation.frame import split_equations
from gode.equation.system import law_of, make_law, shown_as, written_states
from gode.equation.tree import delays
from gode.errors import DataError, EquationError
from gode.fitting import ConstantsConfig, fit_constants
from gode.fitting.multistart import Minimum
from gode.fitting.population import CHOSEN
from gode.fitting.prepare import Prepared, prepare, view
from gode.fitting.problem import is_resolved
from gode.fitting.shooting import start_error
from gode.fitting.target import Target, shorter
from gode.options.calls import completed, takes_options
from gode.options.table import Bounds, FitOptions, Texts
from gode.search.known import Known, make_known
from gode.search.law import best_combinations
from gode.search.settings import Settings
from gode.search.simplify import with_common
from gode.search.workers import Start, Workers, one_thread
from gode.selection import Candidate, Pool, rank
from gode.tables.petab import read_problem

FITS = (  # starts of fit(): each of a dozen, and the best of many more
    *(ConstantsConfig(max_constants=60, n_skipped=i, n_refined=1) for i in range(12)),
    ConstantsConfig(max_constants=60, n_starts=144, n_frequencies=400, n_refined=16),
)
GUESSES = 60  # random starts where no cheap fit is good, as for u^0.5 if smoothed values are negative
POOR = 10.0  # A start is poor if its rms error exceeds this multiple of the noise.
FAR = 3.0  # Fits of one equation worse than this multiple of the noise come after starts that diverge.
CLOSE = 1.5  # Within this multiple of the least rms, a fit that the samples resolve is preferred.
MINIMA = 6  # So many starts are fitted to the trajectory.


@takes_options(FitOptions)
def fit(equation: Texts, t: Series, u: Signals | None = None, **options: Unpack[FitOptions]) -> Discovery:
    """Fit the constants of an equation to measurements, on the trajectory; see `discover` for the data.

    Each C is a constant of its own; any other name that is no state, input or function is a constant with
    that name, the same wherever it stands. Several states have a list of equations, one for each; without
    `names` they are called as there.

    Args:
        **options: see `gode.options`.

    Example:
        >>> g = fit("C*u'' + C*u' + C*u = F", t, u, force=f)  # doctest: +SKIP
        >>> g = fit("u' = r*u*(1 - u/K)", t, u, fixed={"K": 500}, bounds={"r": (0, None)})  # doctest: +SKIP
        >>> g = fit(["x' = C*x - C*x*y", "y' = C*x*y - C*y"], t, xy)  # doctest: +SKIP
    """
    given = completed("fit", FitOptions, options)
    equation = with_formulas(equation, given["observe"]) or equation
    names, velocity, acceleration = given["names"], given["velocity"], given["acceleration"]
    if names is None and isinstance(u, Mapping) and velocity is None and acceleration is None:
        names = _with_hidden(equation, u)
    elif names is None and all(isinstance(x, np.ndarray | list | None) for x in (u, velocity, acceleration)):
        names = _written(equation, u if u is not None else velocity if velocity is not None else acceleration)
    known = make_known(equation, given["fixed"], given["bounds"], given["units"])
    dataset = dataset_of_call(t, u, given, names)
    return fit_known(dataset, known, individual=individuals_asked(given["individual"], dataset))


def fit_petab(path: str | PathLike[str]) -> Discovery:
    """Fit the parameters of a PEtab problem (version 1, a model in SBML), whose file of YAML is named.

    Conditions are runs, observables formulas of what was measured; numbers as noise are the errors of the
    readings. Needs the extra: pip install 'gode-engine[petab]'.

    Raises:
        FileError: if a file is missing, or holds what a fit has no place for.
    """
    problem = read_problem(path)
    found = fit(problem.equations, problem.t, problem.values, **problem.options)
    return replace(found, remarks=(*problem.remarks, *found.remarks))


def _written(equation: Texts, values: object) -> tuple[str, ...] | None:
    """Return the states as the equations call them; None where one stands for what has no single column."""
    texts = split_equations(equation)
    if len(texts) > 1 or not isinstance(equation, str):
        return written_states(texts)
    if len(shape_of(values)) == 2 and shape_of(values)[1] > 1 and isinstance(values, np.ndarray):
        return None
    with suppress(EquationError):  # it is read again where its place can be told
        return written_states(texts)
    return None


def _with_hidden(equation: Texts, measured: Mapping[str, Series]) -> tuple[str, ...] | None:
    """Return the states of the equations where some of them were not measured; None where all were."""
    texts = split_equations(equation)
    if len(texts) <= len(measured):
        return None
    try:
        written = written_states(texts)
    except EquationError:  # it is read again where its place can be told
        return None
    other = [str(name) for name in measured if name not in written]
    if other:
        raise DataError(
            f"the data hold {other[0]!r}, but the equations are those of {', '.join(written)}; call what was "
            "measured as in the equations, and leave out what was not"
        )
    return written


def fit_known(dataset: Dataset, known: Known, *, individual: tuple[str, ...] = ()) -> Discovery:
    """Fit the constants of an equation that is known to checked data; see `fit`."""
    dataset = with_dose_named(dataset, list(known.frame))
    return fit_in(dataset, law_known(dataset, known), known, individual=individual)


def law_known(dataset: Dataset, known: Known) -> LawSkeleton:
    """Return the skeleton of an equation that is known, for these data."""
    frame = frame_of(known, dataset, functions=False)
    return frame.law({}) if frame.is_named else frame.unnamed_law()


def parse_law(
    equation: Texts,
    dataset: Dataset,
    fixed: Mapping[str, float] | None = None,
    bounds: Bounds | None = None,
) -> LawSkeleton:
    """Return the skeleton of an equation, or of a system whose states are those of the data.

    One without named constants is the same for all ways of writing it.
    """
    frame = read_frame(equation, dataset, functions=False, fixed=fixed, bounds=bounds)
    return frame.law({}) if frame.is_named else frame.unnamed_law()


def fit_in(
    dataset: Dataset,
    skeleton: LawSkeleton,
    known: Known | None = None,
    *,
    individual: tuple[str, ...] = (),
) -> Discovery:
    """Fit the constants of a skeleton to checked data; see `fit`.

    Args:
        known: what the skeleton was made of, for the record.
    """
    skeleton = shown_as(skeleton, called(dataset))
    settings = Settings(
        order=skeleton.order,
        grammar="",
        effort=EffortName.QUICK.value,
        interpolation=dataset.runs[0].interpolation.value,
        known=_kept(known or Known(), skeleton),
        individual=individual,
    )
    with one_thread():
        return _best_fit(dataset, skeleton, settings)


def _kept(known: Known, skeleton: LawSkeleton) -> Known:
    """Return what a record needs: a skeleton without names tells the equation itself."""
    return known if skeleton.parameters or known.fixed else Known(units=known.units)


def _best_fit(dataset: Dataset, skeleton: LawSkeleton, settings: Settings) -> Discovery:
    """Return the best trajectory fit from many minima of the cheap problems."""
    dataset = _empty_before_doses(dataset)
    check_enough(dataset, skeleton, settings.individual)
    own = bool(settings.individual)
    prepared = prepare(dataset, settings.order, settings.selection.floor, individual=own)
    begins: list[Start] = []
    reached: list[Minimum] = []
    delayed = any(delays(part.normal) for part in skeleton.parts)
    if dataset.hidden or 0 in skeleton.orders or delayed:
        starts: Sequence[Law] = []
        reached = reached_minima(skeleton, prepared, settings)
        begins = [
            Start(make_law(skeleton, each.constants), patient=True, initial=_rows(each.initial))
            for each in reached[:MINIMA]
        ]
        begins += [Start(law, patient=True) for law in late_starts(skeleton, prepared, settings)]
    else:
        prepared = with_held_input(prepared, settings, skeleton) if skeleton.inputs else prepared
        starts = _starts_of_law(skeleton, prepared, settings)
    workers = Workers(prepared, settings)
    begins = begins or [Start(equation, patient=True) for equation in starts]
    if prepared.each:
        begins = [_start_of_each(skeleton.parts[0], prepared, settings), *begins[:1]]
    best = _fitted(workers, begins)
    while not (best or prepared.chosen) and (part := shorter(prepared.target)) is not None:
        prepared = replace(prepared, target=part)
        workers = Workers(prepared, settings)
        best = _fitted(workers, begins)
    if prepared.target is not prepared.whole:
        initial = [_rows(c.initial) if dataset.hidden else () for c in best]
        longer = zip(best, initial, strict=True)
        all_along = _fitted(
            workers, [Start(c.equation, whole=True, patient=True, initial=x) for c, x in longer]
        )
        best = all_along if all_along or prepared.chosen else best  # an answer is for all runs
    if best and settings.individual == CHOSEN:
        fit = partial(workers.fit, strict=False)
        best = [with_common(best[0], fit, prepared.floor, settings.selection)]
    if not best:
        raise DataError(f"{skeleton} cannot be fitted to these data: its solution diverges")
    prepared = filled_in(best[0], prepared, settings)
    told = [*remark_on_part(best[0], prepared), *remark_on_errors(best[0], prepared)]
    open_ones = undetermined(best[0], prepared, settings.shooting)
    told += [str(each) for each in open_ones] or others_as_good(best[0], reached)
    bars = with_error_bars(best, prepared, settings)
    told += told_of_doses(bars[0], dataset)
    told += remark_on_forecast(bars[0], prepared, settings.shooting)
    return with_causes(Discovery(bars, prepared, settings, 1, remarks=tuple(told)))


def _empty_before_doses(dataset: Dataset) -> Dataset:
    """Return the data with hidden states that start at zero in runs with doses, where nothing else is known.

    Nothing is in a body before the first dose; what was in it could not be told from what was given.
    """
    if not (dataset.is_dosed and dataset.hidden):
        return dataset
    places = [2 * s + k for s in dataset.hidden for k in range(2)]
    runs = []
    for run in dataset.runs:
        initial = run.initial.copy()
        initial[places] = np.where(np.isnan(initial[places]), 0.0, initial[places])
        runs.append(replace(run, initial=initial) if run.doses else run)
    return replace(dataset, runs=tuple(runs))


def _starts(skeleton: Skeleton, prepared: Prepared, settings: Settings) -> list[Equation]:
    """Return the minima of the cheap problems that are nearest to the data.

    Raises:
        DataError: if there is none, as where a term is not defined along the data.
    """
    cheap = [fit_constants(skeleton, problem, config=way) for problem in prepared.problems for way in FITS]
    known = {fit.equation.constants: fit.equation for fit in cheap if fit.equation is not None}
    tried = _nearest(known.values(), prepared.target, settings)
    if not tried or tried[0][0] > POOR**2 * len(prepared.columns.matrix[0]):
        tried += _nearest(_guesses(skeleton), prepared.target, settings)
    if not tried:
        failure = next((fit.failure for fit in cheap if fit.failure), "its solution diverges")
        raise DataError(f"{skeleton} cannot be fitted to these data: {failure}")
    return [equation for _, equation in tried]


def _rows(table: Float) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, table.tolist()))


def _start_of_each(skeleton: Skeleton, prepared: Prepared, settings: Settings) -> Start:
    """Return the start from the best cheap fit of each run, from the median of all where a run has none."""
    table = []
    n = len(prepared.target.dataset.runs)
    for number, i in enumerate(evenly(n, len(prepared.each[0]))):
        problems = tuple(each[number] for each in prepared.each)
        alone = replace(prepared, problems=problems, target=prepared.target.of_run(i))
        with suppress(DataError):
            table.append(_starts(skeleton, alone, settings)[0].constants)
            continue
        table.append((np.nan,) * skeleton.n_constants)
    known = np.array(table)
    centre = np.nanmedian(known, axis=0) if np.isfinite(known).any() else np.ones(skeleton.n_constants)
    rows = np.where(np.isfinite(known), known, centre).tolist() if len(known) == n else []
    return Start(Equation(skeleton, tuple(centre.tolist())), patient=True, each=tuple(map(tuple, rows)))


def _starts_of_law(skeleton: LawSkeleton, prepared: Prepared, settings: Settings) -> Sequence[Law]:
    """Return combinations of the best fits of each equation, with the other states given."""
    if prepared.problems:  # those of the only equation
        return _starts(skeleton.parts[0], prepared, settings)
    tops = []
    for own, (part, order) in enumerate(zip(skeleton.parts, skeleton.orders, strict=True)):
        seen = view(prepared, own, order, settings.selection.floor)
        tops.append(_alone(_starts(part, seen, settings), seen, settings))
    gaps = [list(range(len(top))) for top in tops]
    return [
        law_of(prepared.dataset.states, prepared.dataset.inputs, [tops[s][i] for s, i in enumerate(chosen)])
        for chosen in best_combinations(gaps, MINIMA)
    ]


def _alone(starts: Sequence[Equation], seen: Prepared, settings: Settings) -> list[Equation]:
    """Return the fits of one equation with the other states given, the best first.

    A start that diverges so may be right nonetheless, where the equation is unstable along smoothed states:
    it comes before fits that are far from the data.
    """
    fits = [Workers(seen, settings).fit(Start(equation), strict=False) for equation in starts]
    known = sorted((c for c in fits if c is not None), key=lambda c: c.criterion)
    near = [c.single for c in known if c.rms <= FAR]
    diverged = [start for start, c in zip(starts, fits, strict=True) if c is None]
    return [*near, *diverged, *(c.single for c in known if c.rms > FAR)]


def _nearest(starts: Iterable[Equation], target: Target, settings: Settings) -> list[tuple[float, Equation]]:
    """Return the starts nearest to the data, with their squared errors."""
    errors = [(start_error(e, target, config=settings.shooting), e) for e in starts]
    return sorted(errors, key=lambda pair: pair[0])[:MINIMA]


def _guesses(skeleton: Skeleton) -> Iterator[Equation]:
    """Yield the skeleton with random constants of order one and either sign."""
    rng = np.random.default_rng(0)
    for size in rng.uniform(0.3, 2.0, (GUESSES, skeleton.n_constants)):
        yield Equation(skeleton, tuple((size * rng.choice([-1.0, 1.0], len(size))).tolist()))


def _fitted(workers: Workers, starts: Sequence[Start]) -> list[Candidate]:
    """Return the best trajectory fit, if any; of nearly equal ones, one that the samples resolve."""
    fits = [workers.fit(start, strict=False) for start in starts]
    hidden = bool(workers.prepared.dataset.hidden)
    found = in_order_of_fit([c for c in fits if c is not None], hidden)
    columns = workers.prepared.columns
    near = (c for c in found if c.rms <= CLOSE * found[0].rms and is_resolved(c.equation, columns))
    pool = Pool([next(near, found[0])] if found else [], workers.prepared.floor)
    return rank(pool, workers.settings.selection).candidates
