"""discover() and fit(): the calls on which everything else is built."""

from collections.abc import Callable, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from gode.data import Dataset, Run, make_run
from gode.discovery.interrupts import Interrupts
from gode.discovery.paper import discover_by_paper, paper_grammar
from gode.discovery.prepare import Prepared, prepare, retraced
from gode.discovery.progress import Progress, Step
from gode.discovery.result import Discovery
from gode.discovery.settings import GRAMMARS, IMPLICIT, Settings, check_start, whole, words
from gode.discovery.stages import Territory, explore, make_vocabulary, refine
from gode.discovery.workers import Workers
from gode.equation import Skeleton, parse_skeleton
from gode.errors import ConfigError, DataError, GrammarError
from gode.fitting import ConstantsConfig, Form, fit_constants
from gode.fitting.shooting import start_error
from gode.model import LatentSpace, load_model
from gode.search import Objective, ObjectiveConfig, Scored
from gode.selection import Candidate, by_forecast, headline_first, is_misfit, is_supported, ranked

INPUT = "F"
FITS = (  # how fit() looks for minima: from each of a dozen starts, and from the best of many more
    *(ConstantsConfig(max_constants=60, n_skipped=i, n_refined=1) for i in range(12)),
    ConstantsConfig(max_constants=60, n_starts=144, n_frequencies=400, n_refined=16),
)
MINIMA = 6  # of these, from which fit() goes on along the trajectory
RESERVE = 4  # times as many terms, where the usual ones do not explain the data
IMPLICIT_SHARE = 0.25  # of the effort, for the implicit grammar


def discover(
    t: ArrayLike | Sequence[ArrayLike],
    u: ArrayLike | Sequence[ArrayLike] | None = None,
    *,
    velocity: ArrayLike | Sequence[ArrayLike] | None = None,
    acceleration: ArrayLike | Sequence[ArrayLike] | None = None,
    force: object = None,
    order: int = 1,
    initial: ArrayLike | Sequence[ArrayLike] | None = None,
    grammar: str | None = None,
    preset: str = "default",
    effort: str = "normal",
    start: str | None = None,
    without: Sequence[str] = (),
    seed: int = 0,
    n_jobs: int = 1,
    on_step: Callable[[Step], None] | None = None,
    memo: MutableMapping[Scored, Candidate | None] | None = None,
) -> Discovery:
    """Find the equation of this order behind some measurements.

    Args:
        t: times of one run, or a list of them for several runs; so are all other data.
        u, velocity, acceleration: what was measured, NaN where it was not.
        force: the known input F as samples at `t`, a formula in t, or a callable.
        initial: known initial values, [u(t0)] or [u(t0), u'(t0)].
        grammar: a model that comes with gode, or the path of one made by `gode train`.
        preset: default, or paper for the method of the paper as it was published.
        effort: quick, normal or thorough.
        start: a guess, such as ``u'' = C*u`` or ``C*u'' + C*u = 0``.
        without: symbols that the equation may not have, such as log or t.
        n_jobs: processes to fit trajectories with; the answer does not depend on it.
        on_step: called with the progress; Ctrl-C returns the best equation so far.
        memo: what is known of the fits from an earlier, unfinished call; it is filled as the work goes on.

    Raises:
        DataError, ConfigError: with a sentence that says what to do.

    Example:
        >>> d = discover(t, u, order=1)  # doctest: +SKIP
        >>> print(d.equation)  # doctest: +SKIP
    """
    by_paper = preset == "paper"
    usual = paper_grammar(order, forced=force is not None) if by_paper else GRAMMARS.get(whole(order), "")
    settings = Settings(
        order=order,
        grammar=grammar or usual,
        implicit=grammar is None and not by_paper,
        preset=preset,
        effort=effort,
        start=start,
        without=words(without),
        seed=seed,
    )
    dataset = make_dataset(t, u, velocity, acceleration, force, initial)
    check_start(settings, dataset.inputs)
    if by_paper:
        with threadpool_limits(1):
            return discover_by_paper(
                dataset, _space(settings.grammar, settings, dataset.inputs), settings, on_step
            )
    with threadpool_limits(1), Interrupts() as interrupts:
        return discover_in(
            dataset, settings, interrupts=interrupts, n_jobs=n_jobs, on_step=on_step, memo=memo
        )


def discover_in(
    dataset: Dataset,
    settings: Settings,
    *,
    interrupts: Interrupts,
    n_jobs: int = 1,
    on_step: Callable[[Step], None] | None = None,
    memo: MutableMapping[Scored, Candidate | None] | None = None,
) -> Discovery:
    """Find the equation behind `dataset`: smooth, search by cheap scores, decide on the trajectory."""
    rng = np.random.default_rng(settings.seed)
    spaces = spaces_of(settings, dataset.inputs)
    prepared = prepare(dataset, settings.order, settings.selection.floor)
    lands = territories(spaces, prepared, settings, interrupts)
    interrupted = False
    with Workers(prepared, settings, _processes(n_jobs, dataset)) as workers:
        progress = Progress(
            prepared, settings, on_step, workers, interrupts, memo={} if memo is None else memo
        )
        try:
            explore(lands, progress, rng)
            refine(lands, progress)
            again = retraced(prepared, progress.leaders()[0]) if progress.leaders() else None
            if again is not None:
                lands = territories(spaces, again, settings, interrupts)
                progress.forget_failures()
                explore(lands, progress, rng)
                refine(lands, progress)
        except KeyboardInterrupt:
            interrupted = True
            if not progress.leaders():
                progress.solve(lands[0].objective.leaders(5), "interrupted")
    found = ranked(progress.leaders())
    if not found and interrupted:
        raise KeyboardInterrupt("before any equation was solved")
    if not found:
        raise DataError(
            "no equation of this grammar can be solved along these data; try another order or grammar"
        )
    supported = is_supported(found, workers.target, settings.selection)
    if not interrupted and is_misfit(found):
        found = by_forecast(found, prepared.whole, settings.shooting)
    found = headline_first(found, settings.selection)
    return Discovery(found, prepared, settings, progress.n_fitted, interrupted, supported)


def _processes(n_jobs: int, dataset: Dataset) -> int:
    """Return the number of processes to use; a callable input cannot be sent to another one."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs < 1:
        raise ConfigError(f"n_jobs must be a whole number from 1 on, got {n_jobs!r}")
    plain = all(isinstance(v, str | np.ndarray) for run in dataset.runs for v in run.inputs.values())
    return n_jobs if plain else 1


def territories(
    spaces: Sequence[LatentSpace], prepared: Prepared, settings: Settings, interrupts: Interrupts
) -> list[Territory]:
    """Return what is searched in each grammar; the second one is implicit and known by residuals only."""
    config = ObjectiveConfig(order=settings.order, max_constants=settings.constants.max_constants)
    residual = [p for p in prepared.problems if p.form is Form.RESIDUAL]
    passes = 2 if prepared.blind else 1  # each with its share of the effort
    lands = []
    for number, space in enumerate(spaces):
        problems = residual if number else prepared.problems
        objective = Objective(problems, config=config, fit=settings.constants, check=interrupts.check)
        size = settings.budget.vocabulary
        words, more = (make_vocabulary(space, prepared.dataset.inputs, n) for n in (size, RESERVE * size))
        lands.append(Territory(space, words, objective, (IMPLICIT_SHARE if number else 1.0) / passes, more))
    return lands


def fit(
    equation: str,
    t: ArrayLike | Sequence[ArrayLike],
    u: ArrayLike | Sequence[ArrayLike] | None = None,
    *,
    velocity: ArrayLike | Sequence[ArrayLike] | None = None,
    acceleration: ArrayLike | Sequence[ArrayLike] | None = None,
    force: object = None,
    initial: ArrayLike | Sequence[ArrayLike] | None = None,
) -> Discovery:
    """Fit the constants C of an equation to measurements, on the trajectory; see `discover` for the data.

    Example:
        >>> g = fit("C*u'' + C*u' + C*u = F", t, u, force=f)  # doctest: +SKIP
    """
    skeleton = parse_skeleton(equation)
    settings = Settings(order=skeleton.order, grammar="", effort="quick")
    dataset = make_dataset(t, u, velocity, acceleration, force, initial)
    with threadpool_limits(1):
        return _fit_in(dataset, skeleton, settings)


def _fit_in(dataset: Dataset, skeleton: Skeleton, settings: Settings) -> Discovery:
    """Return the best of the trajectory fits that start from many minima of the cheap problems."""
    prepared = prepare(dataset, settings.order, settings.selection.floor)
    workers = Workers(prepared, settings)
    cheap = [fit_constants(skeleton, problem, config=way) for problem in prepared.problems for way in FITS]
    starts = {fit.equation.constants: fit.equation for fit in cheap if fit.equation is not None}
    errors = [start_error(start, prepared.target, config=settings.shooting) for start in starts.values()]
    tried = [Scored(skeleton, start, error) for start, error in zip(starts.values(), errors, strict=True)]
    tried.sort(key=lambda scored: scored.score)
    best = _judged(workers, tried[:MINIMA], whole=False)
    if prepared.target is not prepared.whole:
        best = _judged(workers, [Scored(skeleton, c.equation, 0.0) for c in best], whole=True)
    if not best:
        failure = next((fit.failure for fit in cheap if fit.failure), "its solution diverges")
        raise DataError(f"{skeleton} cannot be fitted to these data: {failure}")
    return Discovery(best, prepared, settings, 1)


def _judged(workers: Workers, tried: Sequence[Scored], *, whole: bool) -> list[Candidate]:
    """Return the best trajectory fit, if there is one; one that the samples do not resolve if need be."""
    for strict in (True, False):
        found = [workers.judge_one(scored, whole=whole, strict=strict) for scored in tried]
        best = ranked([c for c in found if c is not None])
        if best:
            return best[:1]
    return []


def make_dataset(
    t: ArrayLike | Sequence[ArrayLike],
    u: ArrayLike | Sequence[ArrayLike] | None,
    velocity: ArrayLike | Sequence[ArrayLike] | None,
    acceleration: ArrayLike | Sequence[ArrayLike] | None,
    force: object,
    initial: ArrayLike | Sequence[ArrayLike] | None,
) -> Dataset:
    """Return the checked runs of what a user passed: arrays for one run, lists of arrays for several."""
    if not _holds_runs(t):
        return Dataset((_run(t, u, velocity, acceleration, force, initial, label=""),))
    assert isinstance(t, list | tuple)
    named = {"u": u, "velocity": velocity, "acceleration": acceleration, "force": force, "initial": initial}
    parts = {name: _per_run(values, name, len(t)) for name, values in named.items()}
    runs = [_run(times, *(part[i] for part in parts.values()), label=f"run {i}") for i, times in enumerate(t)]
    return Dataset(tuple(runs))


def _holds_runs(t: object) -> bool:
    if not isinstance(t, list | tuple) or len(t) == 0:
        return False
    try:
        return np.ndim(t[0]) > 0
    except ValueError:  # a list of unequal lists, which is refused where numbers are read
        return True


def _per_run(values: object, name: str, n: int) -> list[object]:
    if values is None or isinstance(values, str) or callable(values):
        return [values] * n
    if not isinstance(values, list | tuple) or len(values) != n:
        raise DataError(f"t holds {n} runs, so {name} must be a list of {n} arrays, one for each run")
    return list(values)


def _run(
    t: object,
    u: object,
    velocity: object,
    acceleration: object,
    force: object,
    initial: object,
    *,
    label: str,
) -> Run:
    inputs = {} if force is None else {INPUT: force}
    return make_run(
        t,  # type: ignore[arg-type]
        u=u,  # type: ignore[arg-type]
        velocity=velocity,  # type: ignore[arg-type]
        acceleration=acceleration,  # type: ignore[arg-type]
        inputs=inputs,
        initial=initial,  # type: ignore[arg-type]
        label=label,
    )


def spaces_of(settings: Settings, inputs: tuple[str, ...]) -> list[LatentSpace]:
    """Return the space of the grammar, and that of implicit equations where one is left and wanted."""
    spaces = [_space(settings.grammar, settings, inputs)]
    if settings.implicit:
        known = load_model(IMPLICIT).grammar.terminals
        fewer = replace(settings, without=tuple(word for word in settings.without if word in known))
        with suppress(GrammarError):  # nothing implicit can be written without them
            spaces.append(_space(IMPLICIT, fewer, inputs))
    return spaces


def _space(name: str, settings: Settings, inputs: tuple[str, ...]) -> LatentSpace:
    space = load_model(name)
    unwanted = list(settings.without)
    if (
        INPUT not in inputs
        and INPUT in space.grammar.terminals
        and "{sentence} = F" not in space.grammar.template
    ):
        unwanted.append(INPUT)
    return space.without(*unwanted) if unwanted else space
