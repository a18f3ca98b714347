"""Remedies for a law that does not explain the data: each is one change, and a fit that shows what it leaves.

The law that was found, and a linear one beside it, are fitted again with another start, with constants of
each run, with an input that acts later or only within limits, with friction that sticks, with a spring that
engages at a place, or to pieces of the record.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gode.arrays import Float
from gode.data import Interpolation, Run, Samples
from gode.data.dataset import unit_of
from gode.data.noise import LEAST
from gode.data.smoothing import evenly
from gode.discovery.delays import FLAGS, interpolation_of, later
from gode.discovery.framing import display_name
from gode.equation import Equation, Law, Skeleton, System, SystemSkeleton, parse_equation, parse_skeleton
from gode.equation.system import input_seen, with_names
from gode.equation.tree import TIME, delays, variables
from gode.errors import EquationError
from gode.fitting.prepare import MOST_RUNS, Prepared, input_values, view
from gode.fitting.smoothed_fit import FITS, fit_constants
from gode.fitting.target import Target, state_places
from gode.fitting.trajectory_fit import Shot, shoot
from gode.options.checks import LATE_INPUT
from gode.search.settings import Settings
from gode.selection import Candidate
from gode.solve import solve

# All numbers here were set by hand on records with one known fault each (tests/discovery/test_remedies.py).
SHOWN = 0.5  # The part for screening stands for all data if it shows this fraction of their misfit.
CHEAP = FITS[:4]  # Four cheap starts.
ROUGH_ITERATIONS = 8  # Iterations of a fit that only says which change is worth a full one.
LINEAR = {1: "u' = C*u + C", 2: "u'' = C*u' + C*u + C"}  # By order: a law that is linear but for the change.
LAGS = (-8, -5, -3, -2, -1, 1, 2, 3, 5, 8, 13, 21, 34, 55)  # Delays of an input tried first, in samples.
FINEST = 0.5  # A delay is sought to half a sample.
LIMITS = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)  # Fractions of the range of an input at which it may be limited.
DEAD_ZONES = (0.05, 0.1, 0.2, 0.35)  # Fractions of the largest input within which it may do nothing.
LIMIT_STEP = 0.06  # Limits are refined by steps of this fraction of the range, halved each time.
REFINEMENTS = 3  # How often limits and dead zones are refined about the best.
BOTH_SIGNS = 0.1  # A state may be a speed if it has this fraction of its range on each side of zero.
KINKS = (0.1, 0.3, 0.5, 0.7, 0.9)  # Quantiles of a state at which a law may change.
SMALL = 1e-6  # A new term starts with this fraction of the largest coefficient; from there the fit finds it.
FULLY_FITTED = 2  # Of the laws with a new term, as many as this are fitted fully.
KINK = r"abs\(u ([+-]) ([0-9.e+-]+)\)"  # The term of a kink as it is written.
PIECES = (10, 40)  # Numbers of pieces into which a record is cut to see whether it is sensitive to its start.
SENSITIVE = 30.0  # Small changes of the start grow at least so many times along a record called sensitive.


@dataclass(frozen=True)
class Remedy:
    """What was tried: its name, the fraction of the misfit that it leaves, and what to say if it helps."""

    name: str
    left: float = np.inf
    words: str = ""
    of_linear: bool = False  # Whether a linear law leaves so little with it, not the one that was found.

    @property
    def left_words(self) -> str:
        """The misfit that it leaves, in words, which claim no more than was tried."""
        tried = "with that a linear law" if self.of_linear else "that"
        return f"{tried} would leave {100 * self.left:.2g} % of the misfit"


def tried_remedies(
    best: Candidate,
    prepared: Prepared,
    settings: Settings,
    misfit: float = 0.0,
    may_go_on: Callable[[], bool] = lambda: True,
) -> list[Remedy]:
    """Return all remedies that make sense for these data, each fitted; none if the time ends."""
    refits = make_refits(best, prepared, settings, misfit)
    if not np.isfinite(refits.rms_before):
        return []
    found: list[Remedy] = []
    for remedy in (
        _free_start,
        _constants_per_run,
        _delayed_input,
        _limited_input,
        _friction,
        _kink,
        _pieces,
    ):
        if not may_go_on():
            return []  # What is known by then depends on the speed of the machine.
        found += remedy(refits)
    return found


@dataclass(frozen=True)
class Refits:
    """Fits of the law that was found, and of a linear one, to data that were changed."""

    best: Candidate
    prepared: Prepared
    settings: Settings
    target: Target  # What is fitted: of many runs some.
    run_numbers: tuple[int, ...]  # Which runs of the data these are.

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs that are fitted."""
        return self.target.dataset.runs

    @cached_property
    def rms_before(self) -> float:
        """The root mean square residual of the law as it is."""
        return rms_of(self.fit(self.best.equation))

    @cached_property
    def laws(self) -> list[Law]:
        """The law that was found, and a linear one where it is not linear itself."""
        out: list[Law] = [self.best.equation]
        prepared = self.prepared
        if prepared.problems:
            inputs = prepared.dataset.inputs
            text = LINEAR[self.best.equation.order] + "".join(f" + C*{name}" for name in inputs)
            linear = parse_skeleton(text, inputs=inputs)
            if linear.key != self.best.equation.skeleton.key:
                found = _cheap_fits(linear, prepared)
                out += [min(found, key=lambda law: rms_of(self.fit(law, roughly=True)))] if found else []
        return out

    def with_runs(self, runs: Sequence[Run]) -> Target:
        """Return what is fitted, with runs that were changed."""
        return replace(self.target, dataset=replace(self.target.dataset, runs=tuple(runs)))

    def fit(self, law: Law, target: Target | None = None, *, roughly: bool = False) -> Shot:
        """Return the fit of a law to the runs or to another target; roughly, to compare many.

        Where runs have constants of their own, another law has all of its constants in each run.
        """
        config = self.settings.shooting
        config = replace(config, max_iterations=ROUGH_ITERATIONS, segments=1) if roughly else config
        constants = np.array(law.constants)
        per_run: tuple[int, ...] = ()
        if self.best.own is not None and law is self.best.equation:
            per_run = self.best.own.places
            constants = np.tile(constants, (len(self.run_numbers), 1))
            constants[:, list(per_run)] = self.best.own.values[list(self.run_numbers)]
        elif self.best.own is not None:
            per_run = tuple(range(law.skeleton.n_constants))
        return shoot(law.skeleton, constants, target or self.target, per_run, config=config)

    def left(self, runs: Sequence[Run]) -> tuple[float, bool]:
        """Return the fraction of the misfit left of changed runs, and whether it is the linear law's."""
        left = [rms_of(self.fit(law, self.with_runs(runs))) / self.rms_before for law in self.laws]
        return min(left), left[0] > min(left)

    def left_roughly(self, changes: Mapping[float, list[Run]]) -> dict[float, float]:
        """Return the least residual of the laws with each of these changes of the runs, by a rough fit."""
        return {
            x: min(rms_of(self.fit(law, self.with_runs(runs), roughly=True)) for law in self.laws)
            for x, runs in changes.items()
        }

    def with_terms(self, law: Law, state_index: int, terms: Sequence[str]) -> Iterator[Law]:
        """Yield the law with each of the terms in the equation of one state, and minima of cheap fits."""
        wider = [each for each in (with_term(law, state_index, term) for term in terms) if each is not None]
        yield from wider
        if not wider:
            return
        equations, order = list(wider[0].equations), law.skeleton.orders[state_index]
        seen = view(self.prepared, state_index, order, self.settings.selection.floor)
        for fitted in _cheap_fits(equations[state_index].skeleton, seen):
            equations[state_index] = fitted
            yield _law_of(equations, law)

    def values_of(self, state_index: int) -> Float:
        """Return the smoothed values of a state in all runs."""
        return np.concatenate([guide[3 * state_index] for guide in self.target.guides])

    def duration(self, time: float) -> str:
        """Return a time with its unit."""
        return f"{time:.3g} {unit_of(self.prepared.dataset, 't') or 'units of time'}"

    def name_of(self, signal: str) -> str:
        """Return an input in words."""
        if len(self.prepared.dataset.inputs) == 1:
            return "the input"
        return f"the input {display_name(self.prepared.dataset, signal)}"


def make_refits(best: Candidate, prepared: Prepared, settings: Settings, misfit: float = 0.0) -> Refits:
    """Return the fits of a law that was found; of all data where the part for screening shows no misfit."""
    refits = _refits_of(best, prepared, settings, prepared.target, whole=False)
    if refits.rms_before < SHOWN * misfit and prepared.target is not prepared.whole:
        return _refits_of(best, prepared, settings, prepared.whole, whole=True)
    return refits


def _refits_of(
    best: Candidate, prepared: Prepared, settings: Settings, target: Target, *, whole: bool
) -> Refits:
    chosen = evenly(len(target.dataset.runs), MOST_RUNS)
    numbers = tuple(prepared.number_of(i, whole=whole) for i in chosen)
    return Refits(best, prepared, settings, target.of_runs(chosen), numbers)


def rms_of(shot: Shot) -> float:
    """Return the root mean square residual of a fit for its degrees of freedom; inf for a failure."""
    free = max(shot.n_values - shot.n_free, 1)
    return float(np.sqrt(shot.sse / free)) if shot.equation is not None else np.inf


def _cheap_fits(skeleton: Skeleton, prepared: Prepared) -> list[Equation]:
    """Return the minima of the cheap problems of an equation."""
    pairs = [(problem, config) for problem in prepared.problems for config in CHEAP]
    found = [fit_constants(skeleton, problem, config=config).equation for problem, config in pairs]
    distinct = {tuple(f"{c:.3g}" for c in each.constants): each for each in found if each is not None}
    return list(distinct.values())


def _free_start(refits: Refits) -> Iterator[Remedy]:
    """Fit the initial values, where some were given."""
    if not any(np.isfinite(run.initial).any() for run in refits.runs):
        return
    free = [replace(run, initial=np.full_like(run.initial, np.nan)) for run in refits.runs]
    after = rms_of(refits.fit(refits.best.equation, refits.with_runs(free)))
    yield Remedy(
        "fitted initial values",
        after / refits.rms_before,
        "the initial values given do not suit the data; leave them out, so that they are fitted",
    )


def _constants_per_run(refits: Refits) -> Iterator[Remedy]:
    """Fit each run alone."""
    if len(refits.runs) < 2 or refits.best.own is not None:
        return
    law = refits.best.equation
    shots = [refits.fit(law, refits.target.of_run(i)) for i in range(len(refits.runs))]
    n, k = sum(s.n_values for s in shots), sum(s.n_free for s in shots)
    if n <= 2 * k or any(s.equation is None for s in shots):
        return  # There are too few points for constants of each run.
    after = float(np.sqrt(sum(s.sse for s in shots) / (n - k)))
    words = "the runs differ; give each run constants of its own (--individual all, or individual=True)"
    yield Remedy("constants of each run", after / refits.rms_before, words)


def _delayed_input(refits: Refits) -> Iterator[Remedy]:
    """Look for the delay of the inputs: coarsely, then finely about the best."""
    dataset, law = refits.prepared.dataset, refits.best.equation
    if not dataset.inputs or any(delays(part.normal) for part in law.skeleton.parts):
        return
    step = float(np.median(np.concatenate([np.diff(run.t) for run in refits.runs])))
    lag = _best_lag(refits, step)
    name = "an input that acts later or earlier"
    if abs(lag) <= FINEST:
        yield Remedy(name)
        return
    left, of_linear = refits.left([_all_later(run, lag * step) for run in refits.runs])
    size, error = refits.duration(abs(lag) * step), f"{FINEST * step:.2g}"
    called = [display_name(dataset, each) for each in dataset.inputs]
    words = (
        f"the input acts about {size} (± {error}) {'later' if lag > 0 else 'earlier'} than it was recorded: "
    )
    if lag > 0 and refits.settings.grammar and not refits.settings.known.frame:
        words += FLAGS[LATE_INPUT]
    elif lag > 0:
        words += f"write {called[0]}(t - tau) for {called[0]}"
    else:
        by = lag * step
        words += f"--edit 'shift {','.join(called)} by {by:.4g}', in Python force=(times {by:+.3g}, values)"
    yield Remedy(name, left, words, of_linear)


def _best_lag(refits: Refits, step: float) -> float:
    """Return the delay of the inputs, in steps of this size, with which a rough fit leaves least."""
    shortest = min(run.n_points for run in refits.runs)
    coarse = [lag for lag in LAGS if abs(lag) < shortest / 3]
    found = refits.left_roughly({lag: [_all_later(run, lag * step) for run in refits.runs] for lag in coarse})
    found[0] = refits.rms_before
    gap = 4.0
    while gap >= FINEST:
        tried = sorted(found)
        i = tried.index(min(found, key=lambda x: found[x]))
        sides = [j for j in (i - 1, i) if 0 <= j < len(tried) - 1]
        between = [(tried[j] + tried[j + 1]) / 2 for j in sides]
        new = [x for x in between if min(abs(x - y) for y in tried) >= FINEST / 2]
        found |= refits.left_roughly({x: [_all_later(run, x * step) for run in refits.runs] for x in new})
        gap = max((tried[j + 1] - tried[j] for j in sides), default=0.0) / 2
    return min(found, key=lambda x: found[x])


def _all_later(run: Run, delay: float) -> Run:
    return later(run, dict.fromkeys(run.inputs, delay))


def _limited_input(refits: Refits) -> Iterator[Remedy]:
    """Look for a limit of each input, beyond which more of it does no more, and for a zone without effect."""
    for name in refits.prepared.dataset.inputs:
        values = np.concatenate([input_values(run, run.t)[name] for run in refits.runs])
        if np.ptp(values) == 0:
            continue
        input_name = refits.name_of(name)
        options = {float(i): pair for i, pair in enumerate(_limits(values))}
        changes = {i: [_clipped(run, name, *pair) for run in refits.runs] for i, pair in options.items()}
        found = refits.left_roughly(changes)
        low, high = options[min(found, key=lambda i: found[i])]
        low, high = _refined_limits(refits, name, low, high, float(np.ptp(values)))
        left, of_linear = refits.left([_clipped(run, name, low, high) for run in refits.runs])
        ends = [f"{side} {x:.3g}" for side, x in (("below", low), ("above", high)) if np.isfinite(x)]
        where = " and ".join(ends)
        words = (
            f"{input_name} acts as if it were limited: more of it does no more {where}; clip its column there"
        )
        yield Remedy(f"a limit of {input_name}", left, words, of_linear)
        yield _dead_zone(refits, name, float(np.abs(values).max()))


def _limits(values: Float) -> Iterator[tuple[float, float]]:
    """Yield pairs of limits of an input: above, below, and on both sides alike; infinite for none."""
    low, high = float(values.min()), float(values.max())
    largest = max(abs(low), abs(high))
    for fraction in LIMITS:
        yield -np.inf, low + fraction * (high - low)
        yield low + (1 - fraction) * (high - low), np.inf
        if low < 0 < high:
            yield -fraction * largest, fraction * largest


def _refined_limits(refits: Refits, name: str, low: float, high: float, spread: float) -> tuple[float, float]:
    """Return the limits of an input near these that leave least; limits that are alike stay alike."""
    width = LIMIT_STEP * spread
    is_symmetric = low == -high
    best = (low, high)
    for _ in range(REFINEMENTS):
        lows = [best[0] + side * width for side in (-1, 1)] if np.isfinite(low) and not is_symmetric else []
        highs = [best[1] + side * width for side in (-1, 1)] if np.isfinite(high) else []
        pairs = [best, *((x, best[1]) for x in lows), *((-x if is_symmetric else best[0], x) for x in highs)]
        pairs = [pair for pair in pairs if pair[0] < pair[1]]
        changes = {float(i): [_clipped(r, name, *p) for r in refits.runs] for i, p in enumerate(pairs)}
        found = refits.left_roughly(changes)
        best = pairs[int(min(found, key=lambda i: found[i]))]
        width /= 2
    return best


def _clipped(run: Run, name: str, low: float, high: float) -> Run:
    """Return the run with one input kept within limits."""
    return _with_input(run, name, np.clip(input_values(run, run.t)[name], low, high))


def _dead_zone(refits: Refits, name: str, largest: float) -> Remedy:
    """Look for a zone about zero in which an input does nothing."""
    found: dict[float, float] = {}
    new = [fraction * largest for fraction in DEAD_ZONES]
    for _ in range(REFINEMENTS):
        found |= refits.left_roughly({x: [_with_dead_zone(run, name, x) for run in refits.runs] for x in new})
        tried = [0.0, *sorted(found), largest]
        i = tried.index(min(found, key=lambda x: found[x]))
        new = [(tried[i - 1] + tried[i]) / 2, (tried[i] + tried[i + 1]) / 2]
    width = min(found, key=lambda x: found[x])
    left, of_linear = refits.left([_with_dead_zone(run, name, width) for run in refits.runs])
    input_name = refits.name_of(name)
    words = (
        f"{input_name} acts as if it had a dead zone: within about ± {width:.2g} it does nothing; subtract "
        "that from the size of its values"
    )
    return Remedy(f"a dead zone of {input_name}", left, words, of_linear)


def _with_dead_zone(run: Run, name: str, width: float) -> Run:
    """Return the run with one input that is zero within ± `width`, and smaller by it beyond."""
    values = input_values(run, run.t)[name]
    return _with_input(run, name, np.sign(values) * np.maximum(np.abs(values) - width, 0.0))


def _with_input(run: Run, name: str, values: Float) -> Run:
    """Return the run with other values of an input; a spline would overshoot where they are cut."""
    how = interpolation_of(run, name)
    how = Interpolation.LINEAR if how is Interpolation.CUBIC else how
    return replace(run, inputs={**run.inputs, name: Samples(run.t, values, how)})


def _friction(refits: Refits) -> Iterator[Remedy]:
    """Try a friction of constant size against the motion of each state, in which it can stick.

    A state of first order may be a speed where it takes both signs.
    """
    terms = {}
    for s, order in enumerate(refits.best.equation.skeleton.orders):
        values = refits.values_of(s)
        if order == 2 or min(-values.min(), values.max()) > BOTH_SIGNS * np.ptp(values):
            terms[s] = ("sign(u')" if order == 2 else "sign(u)",)
    words = (
        "dry friction seems to act on {state}: add C*sign({speed}), in which it can stick, to its equation, "
        "where C is a constant to fit"
    )
    yield from _new_term(refits, terms, "dry friction", words, lambda shot, state_index: True)


def _kink(refits: Refits) -> Iterator[Remedy]:
    """Try a force that sets in, or changes, where a state passes some value."""
    terms = {}
    for s in range(len(refits.best.equation.states)):
        values = refits.values_of(s)
        places = np.quantile(values, KINKS).tolist()
        terms[s] = tuple(f"abs(u - {x!r}) + {SMALL}*{abs(x) + np.ptp(values)}" for x in places)
    words = (
        "the law seems to change where {state} passes about {place}, as if a stop or a gap acted on {state} "
        "there: add C*abs({state} - C) + C to its equation, where each C is a constant to fit"
    )
    yield from _new_term(refits, terms, "a kink in the law", words, lambda shot, s: has_kink(refits, shot, s))


def has_kink(refits: Refits, shot: Shot, state_index: int) -> bool:
    """Tell whether the kink lies among the data; beyond them its term is a straight line."""
    values, place = refits.values_of(state_index), _place_of_kink(shot, state_index)
    return bool(place) and float(values.min()) < float(place) < float(values.max())


def _place_of_kink(shot: Shot, state_index: int) -> str:
    """Return where the kink lies that was added last to an equation."""
    if shot.equation is None:
        return ""
    places = re.findall(KINK, shot.equation.equations[state_index].text(4, {}))
    return ("" if places[-1][0] == "-" else "-") + places[-1][1] if places else ""


def _new_term(
    refits: Refits,
    terms: Mapping[int, Sequence[str]],
    name: str,
    words: str,
    makes_sense: Callable[[Shot, int], bool],
) -> Iterator[Remedy]:
    """Yield what a new term leaves, in the equation of that state in which it leaves least.

    Args:
        terms: by the number of the state to whose equation they may be added.
        makes_sense: whether a fit with the term in the equation of a state is what the words say.
    """
    rough: list[tuple[float, int, Law, bool]] = []
    for law in refits.laws:
        for s, options in terms.items():
            for start in refits.with_terms(law, s, options):
                of_linear = law is not refits.best.equation
                rough.append((rms_of(refits.fit(start, roughly=True)), s, start, of_linear))
    if not rough:
        return
    first = sorted(rough, key=lambda row: row[0])[:FULLY_FITTED]
    fits = [(refits.fit(law), s, of_linear) for _, s, law, of_linear in first]
    fits = [row for row in fits if makes_sense(*row[:2])]
    if not fits:
        yield Remedy(name)
        return
    shot, s, of_linear = min(fits, key=lambda row: rms_of(row[0]))
    skeleton = refits.best.equation.skeleton
    state = skeleton.shown_states[s]
    speed = state + "'" * (skeleton.orders[s] - 1)
    told = words.format(state=state, speed=speed, place=_place_of_kink(shot, s))
    yield Remedy(name, rms_of(shot) / refits.rms_before, told, of_linear)


def with_term(law: Law, state_index: int, term: str) -> Law | None:
    """Return the law with a new term of small size in one equation, None if it cannot have it."""
    law = with_names(law, {})  # In u, F, v1, ..., whatever the user calls them.
    equations = list(law.equations)
    old = equations[state_index]
    size = SMALL * max(1.0, *map(abs, old.constants)) if old.constants else SMALL
    text = old.text(None, {})
    if term in text:
        return None
    try:
        wider = parse_equation(f"{text} + {size!r}*{term}", inputs=law.skeleton.seen(state_index))
    except EquationError:  # The equation is too long, or no sum.
        return None
    equations[state_index] = wider
    return _law_of(equations, law)


def _law_of(equations: Sequence[Equation], like: Law) -> Law:
    """Return the law of changed equations; constants that had names are free, two that act as one are one."""
    if len(equations) == 1:
        return equations[0]
    seen = like.skeleton.seen
    free = [
        parse_equation(e.text(None, {}), inputs=seen(i), formula=not e.skeleton.order)
        if e.skeleton.parameters
        else e
        for i, e in enumerate(equations)
    ]
    parts = tuple(Skeleton(e.skeleton.tree) for e in free)
    return System(
        SystemSkeleton(like.states, parts, like.skeleton.inputs),
        tuple(c for e in free for c in e.constants),
    )


def _pieces(refits: Refits) -> Iterator[Remedy]:
    """Cut the record into pieces with starts of their own, and see how fast small changes of these grow.

    A linear law is left out: it does not stay within bounds and depend sensitively on its start.
    """
    law = refits.best.equation
    if refits.best.own is not None or sum(law.skeleton.orders) < 2 or _is_linear(law):
        return
    longest = max(run.n_points for run in refits.runs)
    name = "a record in pieces, as where small changes of the start grow"
    best = Remedy(name)
    for n in PIECES:
        if longest < 3 * LEAST:
            break
        target, owners = in_pieces(refits.target, min(n, longest // LEAST))
        shot = refits.fit(law, target)
        if shot.equation is None:
            continue
        rate = _growth_rate(shot, target, owners)
        # Changes as small as the noise grow to the size of the signal within so many e-foldings.
        reach = max(np.log(1 / max(target.noise_share, 1e-12)), np.log(SENSITIVE))
        span = max(float(run.t[-1] - run.t[0]) for run in refits.runs)
        if rate * span < reach:
            continue
        words = (
            f"small changes of the start grow tenfold in about {refits.duration(np.log(10) / rate)}, so that "
            f"one solution can follow these data over about {refits.duration(reach / rate)} only; cut the "
            "record into runs no longer than that"
        )
        best = min(best, Remedy(name, rms_of(shot) / refits.rms_before, words), key=lambda r: r.left)
    yield best


def _is_linear(law: Law) -> bool:
    """Tell whether all states enter all equations linearly, with factors that do not depend on them."""
    inputs = {input_seen(i, len(law.states)) for i in range(len(law.skeleton.inputs))}
    terms = (term for equation in law.equations for term in equation.skeleton.terms)
    return all(term.body.op == "var" or not variables(term.body) - inputs - {TIME} for term in terms)


def in_pieces(target: Target, n: int) -> tuple[Target, list[int]]:
    """Return the target with each run cut into `n` pieces, each with a start of its own, and their runs."""
    edges, owners = [], []
    for i, run in enumerate(target.dataset.runs):
        pieces = max(min(n, run.n_points // LEAST), 1)
        edges.append(np.array([part[0] for part in np.array_split(np.arange(run.n_points), pieces)]))
        owners += [i] * pieces
    return target.in_segments(edges), owners


def _growth_rate(shot: Shot, target: Target, owners: Sequence[int]) -> float:
    """Return the rate at which small changes of the start grow along the pieces of each run; the largest."""
    law = shot.equation
    assert law is not None, "only what was fitted has a rate"
    places = state_places(law.skeleton.orders)
    rows = [3 * (p // 2) + p % 2 for p in places]
    spreads = np.maximum(np.std(np.hstack([guide[rows] for guide in target.guides]), axis=1), 1e-300)
    change = dict.fromkeys(owners, np.eye(len(rows)))
    log_growth = dict.fromkeys(owners, 0.0)
    spans = dict.fromkeys(owners, 0.0)
    for i, run, start in zip(owners, target.dataset.runs, shot.initial, strict=True):
        path = solve(law, run.t, start, inputs=dict(run.signals), doses=run.doses, sensitivities=True)
        slopes = path.sensitivities[-len(rows) :][:, rows, -1].T * spreads / spreads[:, None]
        if path.failure is not None or not np.isfinite(slopes).all():
            continue
        change[i] = slopes @ change[i]
        size = max(float(np.linalg.norm(change[i], 2)), 1e-300)
        change[i] = change[i] / size
        log_growth[i] += float(np.log(size))
        spans[i] += float(run.t[-1] - run.t[0])
    return max((log_growth[i] / spans[i] for i in spans if spans[i] > 0), default=0.0)
