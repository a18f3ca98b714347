"""Delays in a search: when an input acts is found first, then the law, then both on the trajectory.

A delayed input is the input, later by some time. Simple models see by how much, by cheap fits at every delay;
the law is sought along the inputs as late as that, and the best laws are fitted to the data as they were
recorded, with the delay as a constant. It counts in the criterion, in which laws without it are their rivals.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Float, Int, Rows, rows_of
from gode.data import Dataset, Interpolation, Run, Samples
from gode.data.columns import INPUT
from gode.discovery.framing import display_name
from gode.discovery.inputs import simple_models
from gode.discovery.result import Discovery
from gode.equation import Law, LawSkeleton, Skeleton
from gode.equation.frame import put_in
from gode.equation.skeleton import Parameter
from gode.equation.system import joined, make_law
from gode.equation.tree import (
    STATE,
    Node,
    const,
    delayed,
    delays,
    index,
    mul,
    num,
    replace_constants,
    replaced,
    var,
)
from gode.errors import ConfigError, pointed
from gode.fitting import fit_constants
from gode.fitting.prepare import Prepared, assemble, input_values, inputs_seen, view
from gode.fitting.smoothed_fit import Fit
from gode.fitting.target import condensed
from gode.fitting.trajectory_fit import shoot
from gode.identifiers import identifiers
from gode.options.checks import AUTO, LATE_INPUT, LATE_STATE
from gode.search.settings import Settings
from gode.search.simplify import leading
from gode.search.workers import Start, Workers
from gode.selection import Candidate, Pool, rank

Delays = Mapping[str, float]  # by the columns of the inputs, or that of the state
FLAGS = {what: f"--delay {what}" for what in (LATE_INPUT, LATE_STATE)}  # in the words of a remedy
# Numbers set by hand on first- and second-order plants with dead time.
LONGEST = 0.25  # The longest delay tried, as a share of the shortest run: what is later is hardly seen.
TRIED = 100  # So many delays are tried first, at most one a sample.
STARTS = 4  # Models are fitted to the trajectory from so many of the deepest minima of the cheap fits.
SWEEPS = 2  # Of several inputs, the delay of each is sought so often with those of the others.


def check_delay(delay: str | None, dataset: Dataset) -> None:
    """Raise ConfigError if an input is to be late and there is none, or a state among others."""
    measured = [name for i, name in enumerate(dataset.states) if i not in dataset.hidden]
    nothing_late = len(measured) > 1 if delay == AUTO else delay == LATE_INPUT  # one state alone may be late
    if delay == LATE_STATE and inputs_seen(dataset, 1):
        reason = "a late state is sought where there is one state and no input; write u(t - tau) for gode.fit"
        raise ConfigError(pointed(reason, f"delay={delay!r}", 0))
    if nothing_late and not dataset.inputs:
        one, *rest = measured
        flags = f", not as a state (--u {one} --force {','.join(rest)} on the command line)" if rest else ""
        reason = f"no input was given that could be late; pass it as force={flags}, or leave delay= out"
        raise ConfigError(pointed(reason, f"delay={delay!r}", 0))


def later(run: Run, delays: Delays) -> Run:
    """Return the run with some inputs later, and constant where nothing is known of them."""
    inputs = dict(run.inputs)
    first, last, gap = run.t[0], run.t[-1], 1e-6 * np.ptp(run.t)
    known = input_values(run, run.t)
    for name, delay in delays.items():
        t, values = run.t + delay, known[name]
        inside = (t > first + gap) & (t < last - gap)
        how = interpolation_of(run, name)
        before = np.interp(first, t, values)
        if how is Interpolation.HOLD:
            before = values[max(int(np.searchsorted(t, first + gap)) - 1, 0)]
        times = np.concatenate([[first], t[inside], [last]])
        moved = np.concatenate([[before], values[inside], [np.interp(last, t, values)]])
        inputs[name] = Samples(times, moved, how)
    return replace(run, inputs=inputs)


def interpolation_of(run: Run, name: str) -> Interpolation:
    """Return how the samples of an input are joined; a formula by a spline."""
    signal = run.signals[name]
    return signal.resolved if isinstance(signal, Samples) else Interpolation.CUBIC


def with_late_inputs(dataset: Dataset, delays: Delays) -> Dataset:
    """Return the data with inputs as late as these delays; the same where none is."""
    late = {name: delay for name, delay in delays.items() if delay}
    if not late:
        return dataset
    runs, held = (tuple(later(run, late) for run in part) for part in (dataset.runs, dataset.held))
    return replace(dataset, runs=runs, held=held)


def with_late(prepared: Prepared, delays: Delays) -> Dataset:
    """Return the data with inputs as late as these delays, or with the late state as a further input."""
    if STATE not in delays:
        return with_late_inputs(prepared.dataset, delays)
    runs = []
    for run, smooth in zip(prepared.dataset.runs, prepared.smooths, strict=True):
        late = np.interp(smooth.t - delays[STATE], smooth.t, smooth.values[0])
        runs.append(replace(run, inputs={INPUT: Samples(smooth.t, late, Interpolation.CUBIC)}))
    return replace(prepared.dataset, runs=tuple(runs), held=())


def with_data(prepared: Prepared, dataset: Dataset, settings: Settings) -> Prepared:
    """Return the same curves with other inputs."""
    if dataset is prepared.dataset:
        return prepared
    individual, floor, curves = bool(settings.individual), settings.selection.floor, prepared.smooths
    fitted = condensed(dataset)
    return assemble(
        dataset, fitted, curves, settings.order, floor, individual=individual, solved=prepared.solved
    )


def delays_of(prepared: Prepared, settings: Settings) -> dict[str, float]:
    """Return the delay of each input with which simple models follow the data best; zero where there is none.

    A sum of squares has several minima along the delay. Cheap fits find the deepest, the trajectory decides.
    """
    places = _places(prepared)
    step = float(np.median(np.concatenate([np.diff(run.t) for run in prepared.dataset.runs])))
    is_state = settings.delay == LATE_STATE
    places = places[1:] if is_state else places
    found = dict.fromkeys([STATE] if is_state else prepared.dataset.inputs, 0.0)
    for _ in range(SWEEPS if len(found) > 1 else 1):
        for name in found:
            left = np.array([_left_by_simple(prepared, {**found, name: x}, settings) for x in places])
            starts = [*places[_lowest(left)[:STARTS]].tolist(), step]
            fits = [_followed(prepared, {**found, name: x}, settings) for x in starts]
            found = min(fits, key=lambda fit: fit[0])[1]
    return found


def _lowest(values: Float) -> Int:
    """Return the places of the local minima, the least first."""
    padded = np.concatenate([[np.inf], values, [np.inf]])
    places = np.flatnonzero((values <= padded[:-2]) & (values <= padded[2:]))
    return places[np.argsort(values[places], kind="stable")]


def _simple_fits(prepared: Prepared, delays: Delays, settings: Settings) -> list[tuple[Prepared, list[Fit]]]:
    """Return the cheap fits of the simple models to each measured state, with the data as these see them."""
    late = with_data(prepared, with_late(prepared, delays), settings)
    out = []
    for state in range(len(prepared.dataset.states)):
        if state not in prepared.dataset.hidden:
            seen = view(late, state, settings.order, settings.selection.floor)
            models = simple_models(settings.order, seen.dataset.inputs)
            fits = [fit_constants(model, seen.problems[0], config=settings.constants) for model in models]
            out.append((view(prepared, state, settings.order, settings.selection.floor), fits))
    return out


def _left_by_simple(prepared: Prepared, delays: Delays, settings: Settings) -> float:
    """Return what the simple models leave of all measured states by cheap fits, as a sum of logarithms."""
    found = _simple_fits(prepared, delays, settings)
    return sum(float(np.log(max(min(fit.loss for fit in fits), 1e-300))) for _, fits in found)


def _followed(
    prepared: Prepared, delays: dict[str, float], settings: Settings
) -> tuple[float, dict[str, float]]:
    """Return the least squared error of a simple model whose delays are fitted, too, and these delays."""
    best = np.inf, delays
    for seen, fits in _simple_fits(prepared, delays, settings):
        columns = dict(zip(prepared.dataset.inputs, seen.dataset.inputs, strict=False)) or {STATE: STATE}
        taus = _names_of(columns.values(), seen.dataset)
        for law in [fit.equation for fit in fits if fit.equation is not None]:
            late = late_law(law, {columns[name]: delay for name, delay in delays.items()}, seen.dataset)
            shot = shoot(late.skeleton, late.constants, seen.target, config=settings.shooting)
            if shot.equation is not None and shot.sse < best[0]:
                names = [p.name for p in late.skeleton.parameters]
                values = dict(zip(names, shot.equation.constants, strict=False))
                own = {name: values.get(taus[columns[name]].name, delay) for name, delay in delays.items()}
                best = shot.sse, own
    return best


def with_delays(
    leaders: Sequence[Candidate], workers: Workers, delays: Delays, *, whole: bool
) -> list[Candidate]:
    """Return laws found along late inputs as they fit recorded ones: with constant delays, and without."""
    dataset = workers.prepared.dataset
    starts = []
    for leader in leading(leaders):
        for late in (delays,) if STATE in delays else (delays, {}):
            laws = [late_law(leader.law_of(run), late, dataset) for run in range(len(leader.initial))]
            each: Rows = tuple(law.constants for law in laws) if leader.own is not None else ()
            law = late_law(leader.equation, late, dataset)
            starts.append(Start(law, whole, patient=True, initial=rows_of(leader.initial), each=each))
    found = (workers.fit(start) for start in dict.fromkeys(starts))
    return [candidate for candidate in found if candidate is not None]


def late_law(law: Law, delays: Delays, dataset: Dataset) -> Law:
    """Return a law with some inputs as they were some time ago, each delay a constant; the others stay.

    Where the state is late, it is what the law calls its input.
    """
    skeleton = law.skeleton
    used = {
        name for state in range(len(skeleton.parts)) for name in _acting(skeleton, state, delays).values()
    }
    delays = {name: delay for name, delay in delays.items() if delay and name in used}
    if not delays:
        return law
    taus = _names_of(delays, dataset)
    signs = _signs(skeleton)
    values = dict(zip(_constant_names(skeleton), (signs * law.constants).tolist(), strict=True))
    values |= {taus[name].name: delay for name, delay in delays.items()}
    parts = [_late_part(skeleton, state, taus, signs) for state in range(len(dataset.states))]
    skeleton = joined(skeleton.states, dataset.inputs, parts)
    return make_law(skeleton, [values[p.name] for p in skeleton.parameters])


def _acting(skeleton: LawSkeleton, state: int, delays: Collection[str]) -> dict[str, str]:
    """Return what stands behind each input of one equation: an input of the data, or the late state."""
    columns = {column: skeleton.columns(state).get(column, column) for column in skeleton.parts[state].inputs}
    return dict.fromkeys(columns, STATE) if STATE in delays else columns


def _names_of(columns: Iterable[str], dataset: Dataset) -> dict[str, Parameter]:
    """Return the delay of each input as a constant: tau, or of several inputs tau_ and the name of each."""
    alone = len(dataset.inputs) < 2
    words = {name: "tau" if alone else f"tau_{display_name(dataset, name)}" for name in columns}
    taken = {display_name(dataset, name) for name in (*dataset.states, *dataset.inputs)}
    return {name: Parameter(identifiers([word], taken)[0], 0.0) for name, word in words.items()}


def _constant_names(skeleton: LawSkeleton) -> list[str]:
    """Return the names of the free constants: their own, or C1, C2, ..."""
    return [p.name for p in skeleton.parameters] or [f"C{i + 1}" for i in range(skeleton.n_constants)]


def _signs(skeleton: LawSkeleton) -> Float:
    """Return -1 for factors of terms, which are written on the other side than in the normal form."""
    signs = np.ones(skeleton.n_constants)
    for part, first in zip(skeleton.parts, skeleton.offsets, strict=False):
        factors = [term.constant for term in part.terms if term.constant is not None]
        signs[[p for p in skeleton.places[[first + i for i in factors]] if p >= 0]] = -1.0
    return signs if not skeleton.parameters else np.ones(skeleton.n_constants)


def _late_part(skeleton: LawSkeleton, state: int, taus: Mapping[str, Parameter], signs: Float) -> Skeleton:
    """Return the equation of one state with named constants and late inputs."""
    part, first = skeleton.parts[state], skeleton.offsets[state]
    free = skeleton.parameters or tuple(Parameter(name) for name in _constant_names(skeleton))
    here = range(first, first + part.n_constants)
    parameters = list(dict.fromkeys(free[p] for p in skeleton.places[here].tolist() if p >= 0))
    acting = {column: name for column, name in _acting(skeleton, state, taus).items() if name in taus}
    parameters += [taus[name] for name in acting.values()]

    def constant(i: int) -> Node:
        place, factor = int(skeleton.places[first + i]), float(skeleton.factors[first + i])
        if place < 0:
            return num(factor)
        return mul(num(factor * signs[place]), const(parameters.index(free[place])))

    trees = {
        column: delayed(STATE if name == STATE else column, const(parameters.index(taus[name])))
        for column, name in acting.items()
    }
    tree = put_in(replace_constants(part.normal, constant), trees)
    return Skeleton(tree, tuple(parameters), called=part.called)


def late_starts(skeleton: LawSkeleton, prepared: Prepared, settings: Settings) -> list[Law]:
    """Return starts for a given equation in which its state is late by one constant; none for other laws.

    Along the smoothed record as it was some time ago its other constants follow from cheap fits. Where small
    changes grow, as in chaos, no random start leads there.
    """
    part = skeleton.parts[0]
    late = {node: var(INPUT) for node in delays(part.tree)}
    numbers = {node.args[1] for node in late}
    free = [by for by in numbers if by.op == "const"]
    alone = len(skeleton.parts) == 1 and part.parameters and not prepared.dataset.inputs
    if not (alone and prepared.problems and len(numbers) == len(free) == 1):
        return []
    tau = index(free[0])
    kept = [i for i in range(part.n_constants) if i != tau]
    tree = replace_constants(replaced(part.tree, late), lambda i: const(kept.index(i)))
    model = Skeleton(tree, tuple(part.parameters[i] for i in kept))
    fits, config = [], replace(settings.constants, max_constants=part.n_constants)
    places = _places(prepared)[1:]
    for place in places:
        along = with_data(prepared, with_late(prepared, {STATE: float(place)}), settings)
        fits.append(fit_constants(model, along.problems[0], config=config))
    left = np.array([fit.loss for fit in fits])
    begins = [(fits[i].equation, places[i]) for i in _lowest(left)[:STARTS]]
    return [
        make_law(skeleton, np.insert(law.constants, tau, place)) for law, place in begins if law is not None
    ]


def _places(prepared: Prepared) -> Float:
    """Return the delays that are tried first."""
    runs = prepared.dataset.runs
    step = float(np.median(np.concatenate([np.diff(run.t) for run in runs])))
    longest = LONGEST * min(float(np.ptp(run.t)) for run in runs)
    gap = max(longest / TRIED, step)
    return np.asarray(gap * np.arange(int(longest / gap) + 1), np.float64)


def better_with_delay(
    search: Callable[[str | None], Discovery],
    on_all: Callable[[Discovery, Discovery], Candidate | None],
    support: float,
) -> Discovery:
    """Return what is found without a delay; with one, if the causes suggest it and it pays in the criterion.

    Args:
        on_all: judges the law of one discovery on the data and weights of another.
        support: the least gain.
    """
    found = search(None)
    named = [what for what, flag in FLAGS.items() if any(flag in cause for cause in found.causes)]
    if found.interrupted or not named:
        return found
    late = search(named[0])
    gain = _gain(on_all(found, found), on_all(late, found), found)
    if not gain > support:
        told = f"a late {named[0]} was tried, and pays too little: {gain:.3g} units of the criterion"
        return replace(found, remarks=(*found.remarks, told))
    told = f"a late {named[0]} explains the data better, by {gain:.3g} units of the criterion"
    return replace(late, n_fitted=found.n_fitted + late.n_fitted, remarks=(*late.remarks, told))


def _gain(one: Candidate | None, other: Candidate | None, found: Discovery) -> float:
    """Return by how much the criterion falls from one law to another, of the same data."""
    if one is None or other is None:
        return -np.inf if other is None else np.inf
    pool = Pool([one, other], found.prepared.floor)
    ranked = {c.equation.skeleton.key: c.criterion for c in rank(pool, found.settings.selection).candidates}
    return ranked[one.equation.skeleton.key] - ranked[other.equation.skeleton.key]
