"""fit(): the constants of a given equation, and which of the minima is told where others fit as well.

Where two constants may change places, as absorption and elimination of a drug, the data choose neither. Then
the minimum is told whose hidden states forget their start sooner: what is fast is seldom measured. The other
is told in a remark.
"""

from __future__ import annotations  # help() then shows types by their names

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Unpack

import numpy as np

from gode.arrays import Series, Signals, rows_of
from gode.choices import EffortName
from gode.data import Dataset
from gode.data.from_arrays import dataset_of_call
from gode.data.smoothing import evenly
from gode.data.states import shape_of
from gode.discovery.causes import with_causes
from gode.discovery.delays import late_starts
from gode.discovery.framing import (
    check_enough,
    display_name,
    display_names,
    frame_of,
    individuals_asked,
    names_with_hidden,
    read_frame,
    with_dose_named,
    with_formulas,
)
from gode.discovery.hidden import filled_in
from gode.discovery.identifiability import Undetermined, undetermined
from gode.discovery.inputs import with_held_input
from gode.discovery.natural_forms import told_of_doses, told_of_starts
from gode.discovery.noise_kind import remark_on_noise
from gode.discovery.prediction import remark_on_forecast
from gode.discovery.reported_constants import is_unnamed
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
from gode.equation.tree import delays, variables
from gode.errors import ConfigError, DataError, EquationError, pointed
from gode.fitting.multistart import (
    Minimum,
    MultistartConfig,
    as_good,
    memory_of_starts,
    minima,
    with_images,
)
from gode.fitting.population import CHOSEN
from gode.fitting.prepare import Prepared, prepare, view
from gode.fitting.problem import is_resolved
from gode.fitting.smoothed_fit import FITS, fit_constants
from gode.fitting.target import Target, shorter
from gode.fitting.trajectory_fit import start_error
from gode.options.calls import completed, takes_options
from gode.options.table import Bounds, FitOptions, Texts
from gode.search.assumptions import Known, make_known
from gode.search.law import best_combinations
from gode.search.settings import Settings
from gode.search.simplify import with_common
from gode.search.workers import Start, Workers, one_thread
from gode.selection import Candidate, Pool, rank
from gode.tables.petab import read_problem

GUESSES = 60  # So many random starts are tried where no cheap fit is good, as for u^0.5 of values below 0.
POOR = 10.0  # A start is poor if its rms error exceeds this multiple of the noise.
CLOSE = 1.5  # Within this multiple of the least rms, a fit that the samples resolve is preferred.
ADVICE = "check its signs and the units of the data, or limit its constants by bounds="
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
    return _fit_texts(equation, t, u, completed("fit", FitOptions, options))


def fit_petab(path: str | PathLike[str]) -> Discovery:
    """Fit the parameters of a PEtab problem (version 1, a model in SBML), whose file of YAML is named.

    Conditions are runs with their names, observables formulas of what was measured; numbers as noise are the
    errors of the readings. Needs the extra: pip install 'gode-engine[petab]'.

    Raises:
        FileError: if a file is missing, or holds what a fit has no place for.
    """
    problem = read_problem(path)
    options = completed("fit", FitOptions, problem.options)
    found = _fit_texts(problem.equations, problem.t, problem.values, options, problem.conditions)
    return replace(found, remarks=(*problem.remarks, *found.remarks))


def _fit_texts(
    equation: Texts, t: Series, u: Signals | None, given: FitOptions, runs: tuple[str, ...] = ()
) -> Discovery:
    """Return the fit to measurements, whose runs have these names."""
    equation = with_formulas(equation, given["observe"]) or equation
    names, velocity, acceleration = given["names"], given["velocity"], given["acceleration"]
    if names is None and isinstance(u, Mapping) and velocity is None and acceleration is None:
        names = names_with_hidden(equation, u)
    elif names is None and all(isinstance(x, np.ndarray | list | None) for x in (u, velocity, acceleration)):
        names = _written(equation, u if u is not None else velocity if velocity is not None else acceleration)
    known = make_known(equation, given["fixed"], given["bounds"], given["units"], guess=given["guess"])
    dataset = dataset_of_call(t, u, given, names)
    dataset = replace(dataset, names=runs) if len(runs) > 1 else dataset
    return fit_known(dataset, known, individual=individuals_asked(given["individual"], dataset))


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
    skeleton = shown_as(skeleton, display_names(dataset))
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
    guess = _places_guessed(skeleton, settings.known.guess)
    individual = bool(settings.individual)
    prepared = prepare(dataset, settings.order, settings.selection.floor, individual=individual)
    begins: list[Start] = []
    reached: list[Minimum] = []
    delayed = any(delays(part.normal) for part in skeleton.parts)
    if dataset.hidden or 0 in skeleton.orders or delayed:
        starts: Sequence[Law] = []
        reached = reached_minima(skeleton, prepared, settings)
        begins = [
            Start(make_law(skeleton, each.constants), patient=True, initial=rows_of(each.initial))
            for each in reached[:MINIMA]
        ]
        guessed = [begin._replace(equation=_with_guess(begin.equation, guess)) for begin in begins[:1]]
        begins = [*guessed, *begins] if guess else begins
        begins += [Start(law, patient=True) for law in late_starts(skeleton, prepared, settings)]
    else:
        prepared = with_held_input(prepared, settings, skeleton) if skeleton.inputs else prepared
        starts = _starts_of_law(skeleton, prepared, settings)
        starts = [*(_with_guess(law, guess) for law in starts[:1]), *starts] if guess else starts
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
        reached = []  # their errors are those of other samples than the fit's
        initial = [rows_of(c.initial) if dataset.hidden else () for c in best]
        longer = zip(best, initial, strict=True)
        all_along = _fitted(
            workers, [Start(c.equation, whole=True, patient=True, initial=x) for c, x in longer]
        )
        best = all_along if all_along or prepared.chosen else best  # an answer is for all runs
    if best and settings.individual == CHOSEN:
        fit = partial(workers.fit, strict=False)
        best = [with_common(best[0], fit, prepared.floor, settings.selection)]
    if not best:
        raise DataError(f"{skeleton} cannot be fitted to these data: its solution diverges; {ADVICE}")
    prepared = filled_in(best[0], prepared, settings)
    told = [*remark_on_part(best[0], prepared), *remark_on_errors(best[0], prepared)]
    open_ones = undetermined(best[0], prepared, settings.shooting)
    told += [f"{each}{_columns_told(each, skeleton, dataset)}" for each in open_ones] or others_as_good(
        best[0], reached
    )
    bars = with_error_bars(best, prepared, settings)
    told += [*told_of_doses(bars[0], dataset), *told_of_starts(bars[0], dataset)]
    told += remark_on_forecast(bars[0], prepared, settings.shooting)
    told += remark_on_noise(bars[0], prepared, settings)
    return with_causes(Discovery(bars, prepared, settings, 1, remarks=tuple(told)))


def _columns_told(found: Undetermined, skeleton: LawSkeleton, dataset: Dataset) -> str:
    """Return the names of columns, where an equation has none of them, which may be a slip."""
    own = {parameter.name for parameter in skeleton.parameters}
    bodies = [term.body for part in skeleton.parts for term in part.terms if term.body.value != part.highest]
    if not {*found.names} <= own or any(variables(body) for body in bodies):
        return ""
    columns = ["t", *(display_name(dataset, name) for name in (*dataset.states, *dataset.inputs))]
    return f"; if one of them was meant to be measured: the columns are {', '.join(columns)}"


def _places_guessed(skeleton: LawSkeleton, guess: Sequence[tuple[str, float]]) -> dict[int, float]:
    """Return the values from which constants are fitted first, by their places.

    Raises:
        ConfigError: if a name is that of no free constant.
    """
    names = [p.name for p in skeleton.parameters]
    for name, value in guess:
        if name not in names:
            shown = ", ".join(n for n in names if not is_unnamed(n)) or "unnamed"
            reason = f"guess= has {name}, which is no constant to fit; these are {shown}"
            raise ConfigError(pointed(reason, f"{name} = {value:g}", 0))
    return {names.index(name): value for name, value in guess}


def _with_guess(law: Law, guess: Mapping[int, float]) -> Law:
    """Return the law with guessed values of some constants."""
    return make_law(law.skeleton, [guess.get(i, value) for i, value in enumerate(law.constants)])


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
    for index, (part, order) in enumerate(zip(skeleton.parts, skeleton.orders, strict=True)):
        seen = view(prepared, index, order, settings.selection.floor)
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
    far = settings.shooting.far
    near = [c.single for c in known if c.rms <= far]
    diverged = [start for start, c in zip(starts, fits, strict=True) if c is None]
    return [*near, *diverged, *(c.single for c in known if c.rms > far)]


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


APART = 0.05  # Constants that differ by a smaller fraction are the same minimum.


def reached_minima(skeleton: LawSkeleton, prepared: Prepared, settings: Settings) -> list[Minimum]:
    """Return the minima from random starts; of those as good as the least, the one to be told comes first.

    Raises:
        DataError: if there is no solution from any start.
    """
    rng = np.random.default_rng(settings.seed)
    given = skeleton, prepared.target
    hidden, config = prepared.dataset.hidden, settings.shooting
    how = MultistartConfig(guess=tuple(_places_guessed(skeleton, settings.known.guess).items()))
    found = minima(*given, prepared.columns, hidden, rng=rng, config=config, how=how)
    if not found:
        raise DataError(
            f"{skeleton} cannot be fitted to these data: its solution diverges from every start; {ADVICE}"
        )
    found = with_images(*given, found, config=config)
    enough = as_good(found[0].sse, prepared.target.dataset.n_observed)
    good = [each for each in found if each.sse <= enough]
    if hidden and len(good) > 1:
        good.sort(
            key=lambda each: memory_of_starts(
                make_law(skeleton, each.constants), prepared.target, each.initial
            )
        )
    return [*good, *found[len(good) :]]


def in_order_of_fit(found: Sequence[Candidate], hidden: bool) -> list[Candidate]:
    """Return fits, the best first; with hidden states, those as good as the best keep their order."""
    if not found:
        return []
    least = min(found, key=lambda c: c.rms)
    enough = as_good(least.rms**2, least.n_values) if hidden else 0.0
    return sorted(found, key=lambda c: max(c.rms**2, enough))


def others_as_good(best: Candidate, reached: Sequence[Minimum]) -> list[str]:
    """Return a sentence on other constants that fit as well, if such a minimum was reached."""
    named = best.equation.skeleton.parameters
    values = np.array(best.equation.constants)
    enough = as_good(best.rms**2 * best.n_values, best.n_values)
    for other in reached if named else ():
        near = np.allclose(other.constants, values, rtol=APART)
        if not near and other.sse <= enough:
            told = ", ".join(f"{p.name} = {x:.4g}" for p, x in zip(named, other.constants, strict=True))
            return [f"these data are explained as well by {told}; bounds choose between the two"]
    return []
