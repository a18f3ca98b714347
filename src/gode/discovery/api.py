"""discover(): the call on which everything else is built."""

from collections.abc import Callable, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from gode.data import Dataset
from gode.data.joining import chosen_interpolation
from gode.discovery.arguments import INPUT, make_dataset
from gode.discovery.consensus import risks
from gode.discovery.interrupts import Interrupts
from gode.discovery.paper import discover_by_paper, paper_grammar
from gode.discovery.prepare import Prepared, prepare, retraced
from gode.discovery.progress import Progress, Step
from gode.discovery.result import Discovery
from gode.discovery.settings import GRAMMARS, IMPLICIT, Settings, check_start, whole, words
from gode.discovery.simulate import from_solvable, strain, tuning
from gode.discovery.stages import Territory, explore, make_vocabulary, refine
from gode.discovery.workers import Workers
from gode.errors import ConfigError, DataError, GrammarError
from gode.fitting import Form
from gode.model import LatentSpace, load_model
from gode.search import Objective, ObjectiveConfig, Scored
from gode.selection import (
    Candidate,
    by_forecast,
    by_smoothness,
    headline_first,
    is_misfit,
    is_supported,
    ranked,
)

RESERVE = 4  # times as many terms, for sums and where the usual ones do not explain the data
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
    hold: bool | None = None,
    interpolation: str = "auto",
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
        hold: whether each sample of the force lasts until the next, as the output of a controller does; a
            callable is then read at `t`. None leaves it to the data.
        interpolation: hold, linear or cubic, of which hold=True and hold=False are the first and the last.
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
    joined = chosen_interpolation(hold, interpolation)
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
        interpolation=joined.value,
    )
    dataset = make_dataset(t, u, velocity, acceleration, force, initial, interpolation=joined)
    check_start(settings, dataset.inputs)
    with threadpool_limits(1), Interrupts() as interrupts:
        if by_paper:
            space = _space(settings.grammar, settings, dataset.inputs)
            return discover_by_paper(dataset, space, settings, interrupts, on_step)
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
    if not interrupted:
        found = _named(_weighed(found, prepared, settings), prepared, settings)
    found = from_solvable(found, prepared)
    return Discovery(found, prepared, settings, progress.n_fitted, interrupted, supported)


def _weighed(found: list[Candidate], prepared: Prepared, settings: Settings) -> list[Candidate]:
    """Return the candidates, ranked with regard to what the errors at the samples do not tell."""
    if is_misfit(found):
        return by_forecast(found, prepared.whole, settings.shooting)
    return by_smoothness(found, lambda c: strain(c, prepared))


def _named(found: list[Candidate], prepared: Prepared, settings: Settings) -> list[Candidate]:
    """Return the candidates with the one to name first."""
    return headline_first(
        found,
        settings.selection,
        lambda near: risks(near, prepared, settings.shooting),
        lambda c: tuning(c, prepared),
    )


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
        words, more = (
            make_vocabulary(space, objective, prepared.dataset.inputs, n) for n in (size, RESERVE * size)
        )
        lands.append(Territory(space, words, objective, more, (IMPLICIT_SHARE if number else 1.0) / passes))
    return lands


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
