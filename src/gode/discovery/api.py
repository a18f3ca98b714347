"""discover(): the call on which everything else is built; and the choice between first and second order."""

from __future__ import annotations  # help() then shows types by their names

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Unpack

import numpy as np

from gode.arrays import Float, Series, Signals
from gode.choices import EffortName, Preset
from gode.data import Dataset
from gode.data.columns import INPUT
from gode.data.from_arrays import dataset_of_call
from gode.discovery.causes import with_causes
from gode.discovery.delays import (
    better_with_delay,
    check_delay,
    delays_of,
    with_data,
    with_delays,
    with_late,
    with_late_inputs,
)
from gode.discovery.framing import (
    at_rest,
    check_names,
    frame_of,
    individuals_asked,
    named_steps,
    names_with_hidden,
    with_dose_named,
    with_formulas,
)
from gode.discovery.given import fit_known
from gode.discovery.hidden import better_number, filled_in, with_hidden
from gode.discovery.identifiability import remark_on_hidden
from gode.discovery.inputs import with_held_input
from gode.discovery.natural_forms import told_of_starts
from gode.discovery.noise_kind import remark_on_noise
from gode.discovery.notebook import shown_in_notebook
from gode.discovery.options import Options, chosen_options
from gode.discovery.populations import expecting, preferred
from gode.discovery.prediction import remark_on_forecast
from gode.discovery.quality import best_foretold_first, remark_on_ranking
from gode.discovery.result import Discovery
from gode.discovery.shortlist import (
    make_pool,
    plainest_first,
    remark_on_errors,
    remark_on_part,
    with_error_bars,
)
from gode.equation.frame import Frame, split_equations
from gode.equation.system import written_states
from gode.errors import ConfigError, DataError, GodeError
from gode.fitting.prepare import inputs_seen, prepare
from gode.fitting.trajectory_fit import shoot
from gode.model import LatentSpace, Listing, load_model
from gode.options.calls import completed, takes_options
from gode.options.checks import AUTO, LATE_STATE, MOST_HIDDEN
from gode.options.table import DiscoverOptions
from gode.search.archive import Step
from gode.search.explore import spaces_of
from gode.search.interrupts import Interrupts
from gode.search.law import LawSearch
from gode.search.settings import GRAMMARS, Settings, check_start
from gode.search.workers import Start, Workers, one_thread, processes
from gode.selection import Candidate, Pool, SelectionConfig, judge, rank

Search = Callable[[Settings], Discovery]


def better_order(
    search: Search, tasks: Sequence[Settings], interrupts: Interrupts, max_seconds: float | None
) -> Discovery:
    """Return what the search found for the task whose equation explains the data better.

    Each task has an equal share of the time; after Ctrl-C no other is begun.

    Raises:
        DataError: if none of them finds an equation.
    """
    found: list[Discovery] = []
    failure: DataError | None = None
    for number, settings in enumerate(tasks):
        interrupts.limit(None if max_seconds is None else max_seconds * (number + 1) / len(tasks))
        try:
            found.append(search(settings))
        except DataError as error:
            failure = error
        except KeyboardInterrupt:
            if not found:
                raise
            found[-1] = replace(found[-1], interrupted=True)
        if found and found[-1].interrupted:
            break
    if not found:
        assert failure is not None
        raise failure
    return found[0] if len(tasks) == 1 else _best(found, len(tasks))


def _best(found: Sequence[Discovery], n_tried: int) -> Discovery:
    """Return the discovery with the least criterion, or that foretells best, and a remark on it."""
    tests = [one.quality.forecast for one in found]
    held = [np.inf if test is None else test.misfit for test in tests]
    scores = np.array(held) if tests[0] is not None else _criteria(found)
    best = int(np.argmin(scores))
    return replace(
        found[best],
        n_fitted=sum(one.n_fitted for one in found),
        timed_out=any(one.timed_out for one in found),
        interrupted=any(one.interrupted for one in found),
        remarks=(*found[best].remarks, _remark(found, n_tried, scores, best)),
    )


def _remark(found: Sequence[Discovery], n_tried: int, scores: Float, best: int) -> str:
    order = found[best].settings.order
    if len(found) < n_tried:
        return f"order {order} was taken: nothing was found for the other"
    tried = " and ".join(str(one.settings.order) for one in found)
    other = float(np.min(np.delete(scores, best)))
    if not np.isfinite(other):
        return f"orders {tried} were tried: order {order} was taken, the other has no solution"
    if found[best].prepared.dataset.held:
        told = f"{scores[best]:.3g} against {other:.3g} times the noise"
        return f"orders {tried} were tried: order {order} foretells better what was held back, {told}"
    gap = other - float(scores[best])
    better = f"order {order} explains the data better, by {gap:.3g} units of the criterion"
    return f"orders {tried} were tried: {better}"


def _criteria(found: Sequence[Discovery]) -> Float:
    """Return the criterion of the equation of each, all on the same whole records."""
    judged = [c for one in found if (c := _on_all(one, found[0])) is not None]
    pool = Pool(judged, found[0].prepared.floor)
    known = {c.equation.order: c.criterion for c in rank(pool, found[0].settings.selection).candidates}
    return np.array([known.get(one.settings.order, np.inf) for one in found])


def _on_all(one: Discovery, other: Discovery) -> Candidate | None:
    """Return the equation of a discovery, unchanged, judged on the data and weights of another."""
    best, settings = one.candidates[0], one.settings
    fixed = replace(settings.shooting, max_iterations=0, segments=1)
    target = other.prepared.whole
    constants: Sequence[float] | Float = best.equation.constants
    own: Sequence[int] = ()
    if best.own is not None:
        constants = np.array([best.law_of(i).constants for i in range(len(best.initial))])
        own = best.own.places
    skeleton = best.equation.skeleton
    shot = shoot(skeleton, constants, target, own, config=fixed, start=best.initial)
    judged = judge(shot, other.prepared.floor, settings.selection, other.prepared.columns)
    return None if judged is None else replace(judged, n_free=best.n_free)


UNSOLVED = (
    "no equation of this grammar can be solved along these data, not even along their first few values; "
    "try another order or grammar, or leave out readings that jump"
)


@takes_options(DiscoverOptions)
def discover(
    t: Series,
    u: Signals | None = None,
    *,
    on_step: Callable[[Step], None] | None = None,
    **options: Unpack[DiscoverOptions],
) -> Discovery:
    """Find the equation of this order behind some measurements, or the equations of several states.

    Args:
        t: times of one run, or a list of them for several runs; so are all other data. Dates and durations
            become seconds from the first.
        u: what was measured, NaN where it was not. Several states are the columns of an array (n, d) or a
            DataFrame, or a mapping of names to arrays.
        **options: see `gode.options`.
        on_step: called with the progress, which a notebook shows without it; Ctrl-C returns the best
            equation so far.

    Raises:
        DataError, ConfigError: with a sentence that says what to do.

    Example:
        >>> d = discover(t, u, order=1)  # doctest: +SKIP
        >>> print(d.equation)  # doctest: +SKIP
    """
    given = completed("discover", DiscoverOptions, options)
    given["frame"] = with_formulas(given["frame"], given["observe"])
    chosen = chosen_options(given)
    names, frame = given["names"], given["frame"]
    if frame is not None and names is None and isinstance(u, np.ndarray | list) and np.ndim(u) > 1:
        names = written_states(split_equations(frame))
    elif frame is not None and names is None and isinstance(u, Mapping):
        names = names_with_hidden(frame, u)
    if isinstance(chosen.hidden, tuple) and names is None and isinstance(u, Mapping):
        names, chosen = (*u, *chosen.hidden), replace(chosen, hidden=0)  # initial= and doses= may name them
    dataset = dataset_of_call(t, u, given, names)
    chosen = replace(chosen, individual=individuals_asked(given["individual"], dataset))
    with shown_in_notebook(on_step) as show:
        return discover_in(dataset, chosen, n_jobs=given["n_jobs"], on_step=show)


def discover_in(
    dataset: Dataset,
    options: Options,
    *,
    n_jobs: int = 1,
    on_step: Callable[[Step], None] | None = None,
    memo: MutableMapping[Start, Candidate | None] | None = None,
) -> Discovery:
    """Find the equation behind checked data; see `discover`.

    Args:
        memo: what is known of the fits from an earlier, unfinished call; it is filled as the work goes on.
    """
    if options.hidden == AUTO:
        search = partial(_with_so_many_hidden, dataset, options, n_jobs=n_jobs, on_step=on_step, memo=memo)
        return better_number(search)
    if options.delay == AUTO:
        check_delay(AUTO, dataset)
        late = partial(_with_late_input, dataset, options, n_jobs=n_jobs, on_step=on_step, memo=memo)
        return better_with_delay(late, _on_all, SelectionConfig.support)
    dataset = with_hidden(dataset, options.hidden)
    check_delay(options.delay, dataset)
    if options.hold_out is not None:
        if dataset.held:
            raise ConfigError("hold_out= and an edit both hold back a part of the data; give one of them")
        dataset = dataset.hold_back(options.hold_out)
    options = replace(options, known=at_rest(options.known, dataset, options.order))
    dataset = with_dose_named(dataset, list(options.known.frame))
    given = frame_of(options.known, dataset) if options.known.frame else None
    tasks, tell = options.settings(dataset, given), on_step and named_steps(on_step, dataset)
    check_names(options.individual, given.parameters if given else ())
    if given is not None and not given.functions:
        return fit_known(dataset, options.known, individual=options.individual)
    for settings in tasks:
        check_start(settings, dataset.inputs)
    with one_thread(), Interrupts(options.max_seconds) as interrupts:
        known = {} if memo is None else memo
        seek = partial(_search, interrupts=interrupts, n_jobs=n_jobs, on_step=tell, memo=known)
        search = partial(seek, dataset, given)
        found = better_order(search, tasks, interrupts, options.max_seconds)
        hidden = partial(_hidden_state, seek, dataset, options)
        found = with_causes(found, _other_order(search, tasks), hidden, lambda: interrupts.left > 0)
    if found.timed_out:
        found = replace(found, remarks=(options.told_of_time(interrupts.spent), *found.remarks))
    return found


def _with_so_many_hidden(
    dataset: Dataset,
    options: Options,
    number: int,
    *,
    n_jobs: int,
    on_step: Callable[[Step], None] | None,
    memo: MutableMapping[Start, Candidate | None] | None,
) -> Discovery:
    """Return what is found with so many hidden states in a share of the time; without any, of both orders."""
    limit = None if options.max_seconds is None else options.max_seconds / (MOST_HIDDEN + 1)
    order = AUTO if number == 0 and options.order == 1 and not options.known.frame else options.order
    of_number = replace(options, hidden=number, order=order, max_seconds=limit)
    return discover_in(dataset, of_number, n_jobs=n_jobs, on_step=on_step, memo=memo)


def _with_late_input(
    dataset: Dataset,
    options: Options,
    delay: str | None,
    *,
    n_jobs: int,
    on_step: Callable[[Step], None] | None,
    memo: MutableMapping[Start, Candidate | None] | None,
) -> Discovery:
    """Return what is found with or without a late input in half of the time."""
    limit = None if options.max_seconds is None else options.max_seconds / 2
    options = replace(options, delay=delay, max_seconds=limit)
    return discover_in(dataset, options, n_jobs=n_jobs, on_step=on_step, memo=memo)


def _other_order(
    search: Callable[[Settings], Discovery], tasks: Sequence[Settings]
) -> Callable[[Settings], Discovery | None] | None:
    """Return the search for an equation of second order, where it was left open."""
    return partial(_second_order, search) if len(tasks) == 1 and not tasks[0].known.frame else None


def _second_order(search: Callable[[Settings], Discovery], settings: Settings) -> Discovery | None:
    """Return what a quick search for an equation of second order finds, if that makes sense."""
    if settings.order == 2 or settings.grammar != GRAMMARS[1]:
        return None
    other = replace(
        settings, order=2, grammar=GRAMMARS[2], implicit=False, effort=EffortName.QUICK.value, start=None
    )
    known = load_model(GRAMMARS[2]).grammar.terminals
    other = replace(other, without=tuple(word for word in settings.without if word in known))
    try:
        return search(other)
    except (GodeError, KeyboardInterrupt):  # the result stands without it
        return None


def _hidden_state(search: Callable[..., Discovery], dataset: Dataset, options: Options) -> Discovery | None:
    """Return what a quick search with a state that was not measured finds, if that makes sense."""
    if options.known.frame or dataset.hidden or options.order == 2:
        return None
    try:
        wider = with_hidden(dataset, 1)
        asked = replace(options, hidden=1, effort=EffortName.QUICK, start=None, order=1)
        return search(wider, None, asked.settings(wider, None)[0])
    except (GodeError, KeyboardInterrupt):  # the result stands without it
        return None


def _search(
    dataset: Dataset,
    frame: Frame | None,
    settings: Settings,
    *,
    interrupts: Interrupts,
    n_jobs: int,
    on_step: Callable[[Step], None] | None,
    memo: MutableMapping[Start, Candidate | None],
) -> Discovery:
    """Find the equation of one order: smooth, search by cheap scores, decide on the trajectory."""
    seen = (INPUT,) if settings.delay == LATE_STATE else inputs_seen(dataset, settings.order)
    spaces = spaces_of(settings, seen)
    if settings.preset == Preset.PAPER:
        return _by_paper(dataset, spaces[0], settings, interrupts, on_step)
    rng = np.random.default_rng(settings.seed)
    settings = expecting(replace(settings, listed=len(spaces[0].skeletons)), dataset)
    floor, individual = settings.selection.floor, bool(settings.individual)
    prepared = prepare(
        dataset, settings.order, floor, individual=individual, hurried=lambda: interrupts.hurried
    )
    delays = delays_of(prepared, settings) if settings.delay else {}
    if not interrupts.hurried:
        prepared = with_held_input(prepared, settings, late=partial(with_late_inputs, delays=delays))
    recorded, interrupted = prepared.dataset, False
    prepared = with_data(prepared, with_late(prepared, delays), settings)
    n_jobs = processes(n_jobs, dataset)
    memo = {} if delays else memo  # its fits are to other inputs
    with LawSearch(prepared, settings, spaces, interrupts, memo, on_step, n_jobs, frame) as search:
        try:
            search.run(rng)
        except KeyboardInterrupt:
            interrupted = True
            search.rescue()
    archive, prepared = search.archive, search.prepared
    leaders = [c for c in search.leaders() if c.whole or not prepared.chosen]  # of all runs
    searched, target = leaders, archive.target
    if prepared.dataset is not recorded:
        prepared = with_data(prepared, recorded, settings)
        target = prepared.whole if archive.whole else prepared.target
        leaders = with_delays(leaders, Workers(prepared, settings), delays, whole=archive.whole)
    pool = make_pool(leaders, prepared, target, settings, drawn=not interrupted)
    found = rank(pool, settings.selection)
    if not found.candidates and interrupted and not interrupts.timed_out:
        raise KeyboardInterrupt("before any equation was solved")
    if not found.candidates:
        raise DataError(UNSOLVED)
    order = plainest_first(found.candidates, prepared, settings.selection)
    by_criterion = order[0]
    if settings.hold_out is not None:
        order = best_foretold_first(order, prepared)
    candidates = with_error_bars(order, prepared, settings)
    timed_out = interrupted and interrupts.timed_out
    stopped = interrupted and not timed_out
    remarks = [
        *remark_on_ranking(candidates[0], by_criterion),
        *remark_on_part(candidates[0], prepared),
        *remark_on_errors(candidates[0], prepared),
        *remark_on_hidden(candidates[0], prepared, settings.shooting),
        *remark_on_forecast(candidates[0], prepared, settings.shooting, supported=found.supported),
        *remark_on_noise(candidates[0], prepared, settings),
        *told_of_starts(candidates[0], dataset),
        *([] if interrupted else search.assumed(_as_searched(candidates[0], searched))),
        *preferred(candidates, settings),
    ]
    prepared = filled_in(candidates[0], prepared, settings)
    flags = stopped, found.supported, timed_out
    return Discovery(candidates, prepared, settings, archive.n_fitted, *flags, remarks=tuple(remarks))


def _as_searched(named: Candidate, leaders: Sequence[Candidate]) -> Candidate:
    """Return the law that is named as the search weighed it."""
    key = named.equation.skeleton.key
    return next((c for c in leaders if c.equation.skeleton.key == key), leaders[0])


def _by_paper(
    dataset: Dataset,
    space: LatentSpace | Listing,
    settings: Settings,
    interrupts: Interrupts,
    on_step: Callable[[Step], None] | None,
) -> Discovery:
    from gode.paper import discover_by_paper  # another method, which few ask for

    found = discover_by_paper(dataset, space, settings, interrupts, on_step)
    if not found.candidates:
        raise DataError(UNSOLVED)
    late = found.interrupted and interrupts.timed_out
    ended = found.interrupted and not late
    return Discovery(found.candidates, found.prepared, found.settings, found.n_fitted, ended, timed_out=late)
