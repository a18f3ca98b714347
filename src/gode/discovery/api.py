"""discover(): the call on which everything else is built; and the choice between first and second order."""

from __future__ import annotations  # help() then shows types by their names

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from gode.arrays import Float, Series
from gode.choices import EffortName, Preset
from gode.data import Dataset
from gode.data.dataset import chosen_interpolation
from gode.data.from_arrays import Force, Signals, make_dataset
from gode.discovery.causes import with_causes
from gode.discovery.framing import Individual, at_rest, check_names, frame_of, individuals_asked, named_steps
from gode.discovery.given import fit_known
from gode.discovery.hidden import AUTO as AUTO_HIDDEN
from gode.discovery.hidden import MOST as MOST_HIDDEN
from gode.discovery.hidden import Hidden, better_number, filled_in, hidden_asked, with_hidden
from gode.discovery.inputs import with_held_input
from gode.discovery.notebook import shown_in_notebook
from gode.discovery.options import Options
from gode.discovery.populations import expecting, preferred
from gode.discovery.ranking import make_pool, plainest_first, remark_on_part, with_error_bars
from gode.discovery.result import Discovery
from gode.equation.frame import Bounds, split_equations
from gode.equation.system import written_states
from gode.errors import DataError, GodeError
from gode.fitting.prepare import inputs_seen, prepare
from gode.fitting.shooting import shoot
from gode.model import LatentSpace, Listing, load_model
from gode.search.archive import Step
from gode.search.explore import spaces_of
from gode.search.interrupts import Interrupts
from gode.search.known import Texts, make_known
from gode.search.law import LawSearch
from gode.search.settings import AUTO, GRAMMARS, Settings, check_start, plain, words
from gode.search.workers import Start, one_thread, processes
from gode.selection import Candidate, Pool, judge, rank

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
    """Return the discovery with the least criterion, and a remark on it."""
    scores = _criteria(found)
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


def discover(
    t: Series,
    u: Signals | None = None,
    *,
    names: Sequence[str] | None = None,
    velocity: Signals | None = None,
    acceleration: Signals | None = None,
    force: Force | None = None,
    order: int | Literal["auto"] = 1,
    initial: Signals | None = None,
    hold: bool | None = None,
    interpolation: str = "auto",
    keep_outliers: bool = False,
    grammar: str | None = None,
    preset: str = "default",
    effort: str = "normal",
    start: str | None = None,
    without: Sequence[str] = (),
    frame: Texts | None = None,
    fixed: Mapping[str, float] | None = None,
    bounds: Bounds | None = None,
    individual: Individual = False,
    units: Mapping[str, str] | None = None,
    assume: str | Sequence[str] = (),
    hidden: Hidden = 0,
    seed: int = 0,
    n_jobs: int = 1,
    max_seconds: float | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Discovery:
    """Find the equation of this order behind some measurements, or the equations of several states.

    Args:
        t: times of one run, or a list of them for several runs; so are all other data. Dates and durations
            become seconds from the first.
        u, velocity, acceleration: what was measured, NaN where it was not. Several states are the columns of
            an array (n, d) or a DataFrame, or a mapping of names to arrays.
        names: of the states in an array.
        force: the known input F as samples at `t`, a formula in t, or a callable; several by their names.
        order: 1, 2, or auto to try both, each with half of the effort; the criterion decides.
        initial: known initial values, [u(t0)] or [u(t0), u'(t0)], of several states in turn or by name.
        hold: whether each sample of the force lasts until the next, as the output of a controller does; a
            callable is then read at `t`. None leaves it to the data.
        interpolation: hold, linear or cubic, of which hold=True and hold=False are the first and the last.
        keep_outliers: whether single readings that lie far from all others are fitted, too; by default they
            are left out and told.
        grammar: a model that comes with gode, the path of one made by `gode train`, or a grammar file
            of few equations, which are all tried.
        preset: default, or paper for the method of the paper as it was published.
        effort: quick, normal or thorough.
        start: a guess, such as ``u'' = C*u`` or ``C*u'' + C*u = 0``.
        without: symbols that the equation may not have, such as log or t.
        frame: what is known of the equation, such as ``u'' = -9.81*sin(u) - f(u')``; of several states, one
            each, in a list or separated by semicolons. A name with arguments is an unknown function of
            these, the same wherever it stands, ? one of everything; any other name is a constant to fit. The
            order is that of the frame.
        fixed: values of constants in the frame that are known.
        bounds: the least and the largest value of constants in the frame, None for no bound.
        individual: True if each of several runs has constants of its own, "auto" to let the criterion decide
            constant by constant, or names of constants of the frame. The law is the same for all.
        units: of time, states and inputs, such as {"t": "h", "u": "m"}. Constants are told with theirs, and
            laws that add metres to seconds are not looked at.
        assume: what the law keeps: odd (u -> -u), energy (second order), autonomous (no explicit time),
            rest-at-zero, rest-at=2.5 or rest-at=x:1,y:2 (a known equilibrium), nonnegative, no-spontaneous
            (a state that is zero stays zero); the remarks tell what each costs in the criterion. Of several
            states that are never negative, laws that are no-spontaneous are preferred, which is told.
        n_jobs: processes to fit trajectories with, at most one for each core; the answer does not
            depend on it.
        max_seconds: end with the best equation so far after this time. What was found then depends on the
            speed of the machine.
        on_step: called with the progress, which a notebook shows without it; Ctrl-C returns the best
            equation so far.

    Raises:
        DataError, ConfigError: with a sentence that says what to do.

    Example:
        >>> d = discover(t, u, order=1)  # doctest: +SKIP
        >>> print(d.equation)  # doctest: +SKIP
    """
    joined = chosen_interpolation(hold, interpolation)
    options = Options(
        order=plain(order),
        grammar=grammar,
        preset=preset,
        effort=effort,
        start=start,
        without=words(without),
        seed=plain(seed),
        max_seconds=max_seconds,
        known=make_known(frame, fixed, bounds, units, assume),
        hidden=hidden_asked(hidden),
    )
    if frame is not None and names is None and isinstance(u, np.ndarray | list) and np.ndim(u) > 1:
        names = written_states(split_equations(frame))
    dataset = make_dataset(
        t, u, velocity, acceleration, force, initial, names=names, interpolation=joined, units=units
    )
    dataset = replace(dataset, keep_outliers=bool(keep_outliers))
    options = replace(options, individual=individuals_asked(individual, dataset))
    with shown_in_notebook(on_step) as show:
        return discover_in(dataset, options, n_jobs=plain(n_jobs), on_step=show)


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
    if options.hidden == AUTO_HIDDEN:
        search = partial(_with_so_many_hidden, dataset, options, n_jobs=n_jobs, on_step=on_step, memo=memo)
        return better_number(search)
    dataset = with_hidden(dataset, options.hidden)
    options = replace(options, known=at_rest(options.known, dataset, options.order))
    tasks, tell = options.settings(dataset), on_step and named_steps(on_step, dataset)
    given = frame_of(options.known, dataset) if options.known.frame else None
    check_names(options.individual, given.parameters if given else ())
    if given is not None and not given.functions:
        return fit_known(dataset, options.known, individual=options.individual)
    for settings in tasks:
        check_start(settings, dataset.inputs)
    with one_thread(), Interrupts(options.max_seconds) as interrupts:
        known = {} if memo is None else memo
        search = partial(_search, dataset, interrupts=interrupts, n_jobs=n_jobs, on_step=tell, memo=known)
        found = better_order(search, tasks, interrupts, options.max_seconds)
        found = with_causes(found, _other_order(search, tasks), lambda: interrupts.left > 0)
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


def _search(
    dataset: Dataset,
    settings: Settings,
    *,
    interrupts: Interrupts,
    n_jobs: int,
    on_step: Callable[[Step], None] | None,
    memo: MutableMapping[Start, Candidate | None],
) -> Discovery:
    """Find the equation of one order: smooth, search by cheap scores, decide on the trajectory."""
    spaces = spaces_of(settings, inputs_seen(dataset, settings.order))
    if settings.preset == Preset.PAPER:
        return _by_paper(dataset, spaces[0], settings, interrupts, on_step)
    rng = np.random.default_rng(settings.seed)
    settings = expecting(replace(settings, listed=len(spaces[0].skeletons)), dataset)
    floor, own = settings.selection.floor, bool(settings.individual)
    prepared = prepare(dataset, settings.order, floor, individual=own, hurried=lambda: interrupts.hurried)
    if not interrupts.hurried:
        prepared = with_held_input(prepared, settings)
    interrupted = False
    n_jobs = processes(n_jobs, dataset)
    frame = frame_of(settings.known, dataset) if settings.known.frame else None
    with LawSearch(prepared, settings, spaces, interrupts, memo, on_step, n_jobs, frame) as search:
        try:
            search.run(rng)
        except KeyboardInterrupt:
            interrupted = True
            search.rescue()
    archive, prepared = search.archive, search.prepared
    leaders = [c for c in search.leaders() if c.whole or not prepared.chosen]  # of all runs
    found = rank(make_pool(leaders, prepared, archive.target, settings), settings.selection)
    if not found.candidates and interrupted and not interrupts.timed_out:
        raise KeyboardInterrupt("before any equation was solved")
    if not found.candidates:
        raise DataError(UNSOLVED)
    order = plainest_first(found.candidates, prepared, settings.selection)
    candidates = with_error_bars(order, prepared, settings)
    timed_out = interrupted and interrupts.timed_out
    stopped = interrupted and not timed_out
    remarks = [
        *remark_on_part(candidates[0], prepared),
        *([] if interrupted else search.assumed(leaders[0])),
        *preferred(candidates, settings),
    ]
    prepared = filled_in(candidates[0], prepared, settings)
    flags = stopped, found.supported, timed_out
    return Discovery(candidates, prepared, settings, archive.n_fitted, *flags, remarks=tuple(remarks))


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
