"""Why an equation does not explain the data: likely causes, each found by trying the remedy.

The law that was found, and a linear one beside it, are fitted again with one change: another start, constants
of each run, an input that acts later or only within limits, friction that sticks, a spring that engages at a
place, pieces of the record. A remedy counts if it takes the misfit clearly down and no other one takes it
much further down; what was not tried is not told as a cause.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gode.arrays import Float
from gode.data import Interpolation, Run, Samples
from gode.data.labels import unit_of
from gode.data.smoothing import evenly
from gode.discovery.called import shown
from gode.discovery.remedies import (
    KINKS,
    SHARES,
    SMALL,
    confined,
    dead_zone,
    growth_rate,
    in_pieces,
    is_linear,
    later,
    limits,
    with_term,
)
from gode.equation import Equation, Law, Skeleton, parse_skeleton
from gode.errors import EquationError
from gode.fitting import ConstantsConfig, fit_constants
from gode.fitting.prepare import Prepared, input_values
from gode.fitting.shooting import Shot, shoot
from gode.fitting.target import Target
from gode.fitting.views import is_plain, view
from gode.search.coupling import law_of
from gode.search.moves import borrowed
from gode.search.settings import Settings
from gode.selection import Candidate

LEFT = 1.2  # times the noise: residuals beyond it have a cause
BETTER = 0.9  # share of what another law leaves, which has as many numbers, and
CLEARLY = 0.7  # share of the misfit that a remedy may leave, of what there is and of what others leave
MAX_RUNS = 20  # that are fitted
LAGS = (-8, -5, -3, -2, -1, 1, 2, 3, 5, 8, 13, 21, 34, 55)  # samples by which an input may be late
FINEST = 0.5  # samples: how finely a delay is sought
PIECES = (10, 40)  # into which a record is cut to see whether it is sensitive to its start
SHORTEST = 12  # points of such a piece
BOTH = 0.1  # share of its range that a speed has on each side of zero
SENSITIVE = 30.0  # times by which small changes of the start grow along a record that is called sensitive
FITS = tuple(ConstantsConfig(max_constants=60, n_skipped=i, n_refined=1) for i in range(4))  # cheap ones
MOST_NEW = 3  # numbers that a new term brings
FULL = 2  # of the laws with a new term that are fitted fully
ROUGHLY = 8  # iterations of a fit that only says which change is worth a full one
PLAIN = {1: "u' = C*u + C", 2: "u'' = C*u' + C*u + C"}  # of a system that is linear but for the change
DELAYS = 24  # delays of the state that are tried, up to half of the record
GAIN = 0.1  # share of the squared error of u' that a delayed state may leave, if u alone leaves
SHOWN = 0.5  # share of the misfit that a part of the data must show, to stand for all of them
UNEXPLAINED = 0.05  # of the variance of u'
KINK = r"abs\(u ([+-]) ([0-9.e+-]+)\)"  # as the term of a kink is written
UNMEASURED = "a quantity that was not measured may act on it, which cannot be tried"


@dataclass(frozen=True)
class Remedy:
    """What was tried: its name, the share of the misfit that it leaves, and what to tell if it helps."""

    name: str
    left: float = np.inf
    words: str = ""

    @property
    def share(self) -> str:
        """The misfit that it leaves, in words."""
        return f"would leave {100 * self.left:.2g} % of the misfit"


def likely_causes(
    best: Candidate,
    prepared: Prepared,
    settings: Settings,
    misfit: float,
    may_go_on: Callable[[], bool] = lambda: True,
) -> list[str]:
    """Return what may be wrong with the data or the question, in sentences; what helps most comes first.

    If nothing helps, there is none; `tried` says what was tried.
    """
    return told(tried(best, prepared, settings, misfit, may_go_on)) if misfit > LEFT else []


def told(remedies: Sequence[Remedy], rival: float = 1.0) -> list[str]:
    """Return those of the remedies that help, without what another one explains much better.

    Args:
        rival: the share of the misfit that another law leaves with a few numbers more and no remedy at all.
    """
    helpful = sorted((r for r in remedies if r.left < min(CLEARLY, BETTER * rival)), key=lambda r: r.left)
    return [f"{r.words}; that {r.share}" for r in helpful if helpful[0].left > CLEARLY * r.left]


def best_rival(candidates: Sequence[Candidate]) -> float:
    """Return the share of the misfit of the first that others leave with as many numbers as a remedy has."""
    first = candidates[0]
    alike = [c for c in candidates if c.n_free <= first.n_free + MOST_NEW and c.whole == first.whole]
    return min((c.rms / first.rms for c in alike), default=1.0) if first.rms > 0 else 1.0


def nothing_helps(remedies: Sequence[Remedy]) -> str:
    """Return the sentence on remedies none of which helps."""
    names = [r.name for r in remedies]
    several = ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else "".join(names)
    return f"none of what was tried takes the misfit clearly down ({several}); {UNMEASURED}"


def tried(
    best: Candidate,
    prepared: Prepared,
    settings: Settings,
    misfit: float = 0.0,
    may_go_on: Callable[[], bool] = lambda: True,
) -> list[Remedy]:
    """Return all remedies that make sense for these data, each fitted; none if the time ends."""
    refit = Refits(best, prepared, settings, misfit)
    if not np.isfinite(refit.before):
        return []
    found: list[Remedy] = []
    for remedy in (_wrong_start, _runs_that_differ, _late_input, _limited_input, _friction, _kink, _pieces):
        if not may_go_on():
            return []  # what is known by then depends on the speed of the machine
        found += remedy(refit)
    return found


class Refits:
    """Fits of the law that was found, and of a linear one, to data that were changed."""

    def __init__(self, best: Candidate, prepared: Prepared, settings: Settings, misfit: float = 0.0) -> None:
        """Take what was found; where the part for screening does not show the misfit, all data are fitted."""
        self.best, self.prepared, self.settings = best, prepared, settings
        self._take(prepared.target, whole=False)
        if self.before < SHOWN * misfit and prepared.target is not prepared.whole:
            self._take(prepared.whole, whole=True)
            self.__dict__.pop("before")

    def _take(self, target: Target, *, whole: bool) -> None:
        """Fit to this target from now on, of many runs to some."""
        chosen = evenly(len(target.dataset.runs), MAX_RUNS)
        self.numbers = [self.prepared.number_of(i, whole=whole) for i in chosen]
        self.target = replace(
            target,
            dataset=target.dataset.of_runs(chosen),
            guides=tuple(target.guides[i] for i in chosen),
            profiles=tuple(target.profiles[i] for i in chosen[: len(target.profiles)]),
        )

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs that are fitted."""
        return self.target.dataset.runs

    @cached_property
    def before(self) -> float:
        """The root mean square residual of the law as it is."""
        return self.rms(self.best.equation)

    @cached_property
    def laws(self) -> list[Law]:
        """The law that was found, and a linear one where it is not linear itself."""
        out: list[Law] = [self.best.equation]
        prepared = self.prepared
        if is_plain(prepared.dataset) and prepared.problems:
            text = PLAIN[self.best.equation.order] + (" + C*F" if prepared.dataset.inputs else "")
            plain = parse_skeleton(text)
            if plain.key != self.best.equation.skeleton.key:
                found = _cheap_fits(plain, prepared)
                out += [min(found, key=lambda law: self.rms(law, roughly=True))] if found else []
        return out

    def starts(self, law: Law, state: int, terms: Sequence[str]) -> Iterator[Law]:
        """Yield the law with each of the terms in the equation of one state, and minima of cheap fits."""
        wider = [each for each in (with_term(law, state, term) for term in terms) if each is not None]
        yield from wider
        if not wider:
            return
        equations, order = list(wider[0].equations), law.skeleton.orders[state]
        seen = view(self.prepared, state, order, self.settings.selection.floor)
        for fitted in _cheap_fits(equations[state].skeleton, seen):
            equations[state] = fitted
            yield fitted if len(equations) == 1 else law_of(self.prepared.dataset, equations)

    def shot(
        self,
        law: Law,
        runs: Sequence[Run] | None = None,
        target: Target | None = None,
        *,
        roughly: bool = False,
    ) -> Shot:
        """Return the fit of a law to the runs, or to runs that were changed; roughly, to compare many."""
        target = target or self.target
        if runs is not None:
            target = replace(target, dataset=replace(target.dataset, runs=tuple(runs)))
        config = self.settings.shooting
        config = replace(config, max_iterations=ROUGHLY, segments=1) if roughly else config
        constants = np.array(law.constants)
        own: tuple[int, ...] = ()
        if self.best.own is not None:
            if law is self.best.equation:
                own = self.best.own.places
                constants = np.tile(constants, (len(self.numbers), 1))
                constants[:, list(own)] = self.best.own.values[self.numbers]
            else:
                own = tuple(range(law.skeleton.n_constants))
        return shoot(law.skeleton, constants, target, own, config=config)

    def rms(
        self,
        law: Law,
        runs: Sequence[Run] | None = None,
        target: Target | None = None,
        *,
        roughly: bool = False,
    ) -> float:
        """Return the root mean square residual of such a fit, for its degrees of freedom."""
        return size_of(self.shot(law, runs, target, roughly=roughly))

    def changed(self, changes: Mapping[float, list[Run]]) -> dict[float, float]:
        """Return the least residual of the laws with each of these changes of the runs, by a rough fit."""
        return {x: min(self.rms(law, runs, roughly=True) for law in self.laws) for x, runs in changes.items()}

    def duration(self, time: float) -> str:
        """Return a time with its unit."""
        return f"{time:.3g} {unit_of(self.prepared.dataset, 't') or 'units of time'}"

    def name_of(self, signal: str) -> str:
        """Return an input in words."""
        return (
            "the input"
            if len(self.prepared.dataset.inputs) == 1
            else f"the input {shown(self.prepared.dataset, signal)}"
        )


def _cheap_fits(skeleton: Skeleton, prepared: Prepared) -> list[Equation]:
    """Return the minima of the cheap problems of an equation."""
    pairs = [(problem, way) for problem in prepared.problems for way in FITS]
    found = [fit_constants(skeleton, problem, config=way).equation for problem, way in pairs]
    distinct = {tuple(f"{c:.3g}" for c in each.constants): each for each in found if each is not None}
    return list(distinct.values())


def size_of(shot: Shot) -> float:
    """Return the root mean square residual of a fit for its degrees of freedom; inf for a failure."""
    free = max(shot.n_values - shot.n_free, 1)
    return float(np.sqrt(shot.sse / free)) if shot.equation is not None else np.inf


def _wrong_start(refit: Refits) -> Iterator[Remedy]:
    if not any(np.isfinite(run.initial).any() for run in refit.runs):
        return
    free = [replace(run, initial=np.full_like(run.initial, np.nan)) for run in refit.runs]
    after = refit.rms(refit.best.equation, free) / refit.before
    yield Remedy(
        "fitted initial values",
        after,
        "the initial values given do not suit the data; leave them out, so that they are fitted",
    )


def _runs_that_differ(refit: Refits) -> Iterator[Remedy]:
    if len(refit.runs) < 2 or refit.best.own is not None:
        return
    law = refit.best.equation
    shots = [refit.shot(law, target=refit.target.of_run(i)) for i in range(len(refit.runs))]
    n, k = sum(s.n_values for s in shots), sum(s.n_free for s in shots)
    if n <= 2 * k or any(s.equation is None for s in shots):
        return  # too few points for constants of their own
    after = float(np.sqrt(sum(s.sse for s in shots) / (n - k)))
    words = "the runs differ; give each run constants of its own (--individual all, or individual=True)"
    yield Remedy("constants of each run", after / refit.before, words)


def _late_input(refit: Refits) -> Iterator[Remedy]:
    """Look for the delay of the inputs: coarsely, then finely about the best."""
    if not refit.prepared.dataset.inputs:
        return
    step = float(np.median(np.concatenate([np.diff(run.t) for run in refit.runs])))
    shortest = min(run.n_points for run in refit.runs)
    lags = [lag for lag in LAGS if abs(lag) < shortest / 3]
    found = refit.changed({lag: [later(run, lag * step) for run in refit.runs] for lag in lags})
    found[0] = refit.before
    gap = 4.0
    while gap >= FINEST:
        known = sorted(found)
        i = known.index(min(found, key=lambda x: found[x]))
        between = [(known[j] + known[j + 1]) / 2 for j in (i - 1, i) if 0 <= j < len(known) - 1]
        new = [x for x in between if min(abs(x - y) for y in known) >= FINEST / 2]
        found |= refit.changed({x: [later(run, x * step) for run in refit.runs] for x in new})
        gap = max((known[j + 1] - known[j] for j in (i - 1, i) if 0 <= j < len(known) - 1), default=0.0) / 2
    lag = min(found, key=lambda x: found[x])
    if abs(lag) <= FINEST:
        yield Remedy("an input that acts later or earlier")
        return
    runs = [later(run, lag * step) for run in refit.runs]
    left = min(refit.rms(law, runs) for law in refit.laws) / refit.before
    size, error = refit.duration(abs(lag) * step), f"{FINEST * step:.2g}"
    rows = abs(round(lag))
    moved = (
        f"move its column {'down' if lag > 0 else 'up'} by {rows} row{'s' * (rows > 1)}"
        if rows
        else "shift it"
    )
    words = (
        f"the input acts about {size} (± {error}) {'later' if lag > 0 else 'earlier'} than it was recorded; "
        f"{moved} before it is read (in Python, force=(times {lag * step:+.3g}, values))"
    )
    yield Remedy("an input that acts later or earlier", left, words)


def _limited_input(refit: Refits) -> Iterator[Remedy]:
    """Look for a limit of each input, beyond which more of it does no more, and for a zone without effect."""
    for name in refit.prepared.dataset.inputs:
        values = np.concatenate([input_values(run, run.t)[name] for run in refit.runs])
        if np.ptp(values) == 0:
            continue
        what = refit.name_of(name)
        options = {float(i): pair for i, pair in enumerate(limits(values))}
        changes = {i: [confined(run, name, *pair) for run in refit.runs] for i, pair in options.items()}
        found = refit.changed(changes)
        low, high = options[min(found, key=lambda i: found[i])]
        low, high, runs = _finest(refit, name, low, high, float(np.ptp(values)))
        left = min(refit.rms(law, runs) for law in refit.laws) / refit.before
        ends = [f"{side} {x:.3g}" for side, x in (("below", low), ("above", high)) if np.isfinite(x)]
        where = " and ".join(ends)
        words = f"{what} acts as if it were limited: more of it does no more {where}; clip its column there"
        yield Remedy(f"a limit of {what}", left, words)
        yield _dead_zone(refit, name, float(np.abs(values).max()))


def _dead_zone(refit: Refits, name: str, largest: float) -> Remedy:
    """Look for a zone about zero in which an input does nothing."""
    found: dict[float, float] = {}
    new = [share * largest for share in SHARES]
    for _ in range(3):
        found |= refit.changed({x: [dead_zone(run, name, x) for run in refit.runs] for x in new})
        known = [0.0, *sorted(found), largest]
        i = known.index(min(found, key=lambda x: found[x]))
        new = [(known[i - 1] + known[i]) / 2, (known[i] + known[i + 1]) / 2]
    width = min(found, key=lambda x: found[x])
    runs = [dead_zone(run, name, width) for run in refit.runs]
    left = min(refit.rms(law, runs) for law in refit.laws) / refit.before
    what = refit.name_of(name)
    words = (
        f"{what} acts as if it had a dead zone: within about ± {width:.2g} it does nothing; subtract that "
        "from the size of its values"
    )
    return Remedy(f"a dead zone of {what}", left, words)


def _finest(
    refit: Refits, name: str, low: float, high: float, spread: float
) -> tuple[float, float, list[Run]]:
    """Return the limits of an input near these that leave least, and the runs with them."""
    width = 0.06 * spread
    best = (low, high)
    for _ in range(3):
        lows = [best[0] + side * width for side in (-1, 1)] if np.isfinite(low) and low != -high else []
        highs = [best[1] + side * width for side in (-1, 1)] if np.isfinite(high) else []
        pairs = [best, *((x, best[1]) for x in lows), *((-x if low == -high else best[0], x) for x in highs)]
        pairs = [pair for pair in pairs if pair[0] < pair[1]]
        found = refit.changed({i: [confined(r, name, *p) for r in refit.runs] for i, p in enumerate(pairs)})
        best = pairs[int(min(found, key=lambda i: found[i]))]
        width /= 2
    return (*best, [confined(run, name, *best) for run in refit.runs])


def _friction(refit: Refits) -> Iterator[Remedy]:
    """Try a friction of constant size against the motion of each state, in which it can stick.

    A state of first order may be a speed where it takes both signs.
    """
    terms = {}
    for s, order in enumerate(refit.best.equation.skeleton.orders):
        values = np.concatenate([guide[3 * s] for guide in refit.target.guides])
        if order == 2 or min(-values.min(), values.max()) > BOTH * np.ptp(values):
            terms[s] = ("sign(u')" if order == 2 else "sign(u)",)
    yield from _terms(
        refit,
        terms,
        "dry friction",
        "dry friction seems to act on {state}: add C*sign({speed}), in which it can stick, to its equation",
    )


def _kink(refit: Refits) -> Iterator[Remedy]:
    """Try a force that sets in, or changes, where a state passes some value."""
    options = {}
    for s in range(len(refit.best.equation.states)):
        values = np.concatenate([guide[3 * s] for guide in refit.target.guides])
        spots = np.quantile(values, KINKS).tolist()
        options[s] = tuple(f"abs(u - {x!r}) + {SMALL}*{abs(x) + np.ptp(values)}" for x in spots)
    words = (
        "the law seems to change where {state} passes about {place}, as at a stop or a gap: add "
        "C*abs({state} - C) + C to it"
    )
    yield from _terms(refit, options, "a kink in the law", words, _bends)


def _bends(refit: Refits, shot: Shot, state: int) -> bool:
    """Tell whether the kink lies among the data; beyond them its term is a straight line."""
    values = np.concatenate([guide[3 * state] for guide in refit.target.guides])
    place = _place_of(shot, state)
    return bool(place) and float(values.min()) < float(place) < float(values.max())


def _always(refit: Refits, shot: Shot, state: int) -> bool:
    return True


def _terms(
    refit: Refits,
    options: Mapping[int, Sequence[str]],
    name: str,
    words: str,
    makes_sense: Callable[[Refits, Shot, int], bool] = _always,
) -> Iterator[Remedy]:
    """Yield what a new term leaves, in the equation of that state in which it leaves least."""
    found: list[tuple[float, int, Law]] = []
    for law in refit.laws:
        for s, terms in options.items():
            for start in refit.starts(law, s, terms):
                found.append((refit.rms(start, roughly=True), s, start))
    if not found:
        return
    first = sorted(found, key=lambda row: row[0])[:FULL]
    fits = [(refit.shot(law), s) for _, s, law in first]
    fits = [(shot, s) for shot, s in fits if makes_sense(refit, shot, s)]
    if not fits:
        yield Remedy(name)
        return
    shot, s = min(fits, key=lambda pair: size_of(pair[0]))
    state = refit.best.equation.skeleton.shown_states[s]
    told = words.format(
        state=state,
        speed=state + "'" * (refit.best.equation.skeleton.orders[s] - 1),
        place=_place_of(shot, s),
    )
    yield Remedy(name, size_of(shot) / refit.before, told)


def _place_of(shot: Shot, state: int) -> str:
    """Return where the kink lies that was added last to an equation."""
    if shot.equation is None:
        return ""
    places = re.findall(KINK, shot.equation.equations[state].text(4, {}))
    return ("" if places[-1][0] == "-" else "-") + places[-1][1] if places else ""


def _pieces(refit: Refits) -> Iterator[Remedy]:
    """Cut the record into pieces with starts of their own, and see how fast small changes of these grow."""
    law = refit.best.equation
    if refit.best.own is not None or sum(law.skeleton.orders) < 2 or is_linear(law):
        return  # what is linear does not stay within bounds and depends sensitively on its start
    longest = max(run.n_points for run in refit.runs)
    name = "a record in pieces, as where small changes of the start grow"
    best = Remedy(name)
    for n in PIECES:
        if longest < 3 * SHORTEST:
            break
        target, owners = in_pieces(refit.target, min(n, longest // SHORTEST), SHORTEST)
        shot = refit.shot(law, target=target)
        if shot.equation is None:
            continue
        rate = growth_rate(shot, target, owners)
        reach = max(np.log(1 / max(target.noise_share, 1e-12)), np.log(SENSITIVE))  # e-folds to the signal
        span = max(float(run.t[-1] - run.t[0]) for run in refit.runs)
        if rate * span < reach:
            continue
        length = refit.duration(reach / rate)
        words = (
            f"small changes of the start grow tenfold in about {refit.duration(np.log(10) / rate)}, so that "
            f"one solution can follow these data over about {length} only; cut the record into runs no "
            "longer than that"
        )
        best = min(best, Remedy(name, size_of(shot) / refit.before, words), key=lambda r: r.left)
    yield best


def helpful_columns(
    best: Candidate, prepared: Prepared, settings: Settings, others: Mapping[str, Sequence[Float]]
) -> Iterator[str]:
    """Yield which other measured columns (one array for each run) would help as an input."""
    if prepared.dataset.inputs or not is_plain(prepared.dataset):
        return
    try:
        wider = parse_skeleton(f"{best.single.skeleton.text({})} + C*F")
    except EquationError:  # too long, or no sum
        return
    refit = Refits(best, prepared, settings)
    start = borrowed(wider, best.single, [0.0] * wider.n_constants)
    raw, target = prepared.dataset.runs, prepared.target
    for name, columns in others.items():
        fits = zip(raw, columns, strict=True)
        if any(len(run.t) != len(x) or not np.isfinite(x).all() or np.ptp(x) == 0 for run, x in fits):
            continue
        pairs = zip(target.dataset.runs, raw, columns, strict=True)
        runs = [
            replace(run, inputs={"F": Samples(own.t, values, Interpolation.AUTO)})
            for run, own, values in pairs
        ]
        if refit.rms(start, runs, target) < CLEARLY * refit.before:
            yield f"the column {name!r} would help as a known input: --force {name!r}"


def delayed_state(prepared: Prepared) -> Iterator[str]:
    """Compare u' explained by u now, and by u now and some time before, on the smoothed data."""
    smooth = prepared.smooths[0]
    t = np.linspace(smooth.t[0], smooth.t[-1], 400)
    u, du = (np.interp(t, smooth.t, row) for row in smooth.values[:2])
    if not is_plain(prepared.dataset) or prepared.blind or prepared.dataset.inputs or np.std(u) == 0:
        return
    x = (u - u.mean()) / np.std(u)
    powers = [x**i for i in range(5)]
    share = {}
    if _left(np.array(powers), du) < UNEXPLAINED * float(np.sum((du - du.mean()) ** 2)):
        return
    for lag in np.unique(np.linspace(4, 200, DELAYS).astype(int)):
        late = np.concatenate([np.full(lag, np.nan), x[:-lag]])
        seen = np.isfinite(late)
        now = _left(np.array([p[seen] for p in powers]), du[seen])
        both = [*powers, late, late**2, late**3, late * x]
        share[int(lag)] = _left(np.array([p[seen] for p in both]), du[seen]) / max(now, 1e-300)
    lag = min(share, key=lambda k: share[k])
    if share[lag] < GAIN:
        name = shown(prepared.dataset, "u")
        size = f"{t[lag] - t[0]:.3g} {unit_of(prepared.dataset, 't')}".rstrip()
        yield (
            f"{name}' follows from {name} and from what {name} was about {size} earlier: a delay, or another "
            "quantity that was not measured; one equation without delay cannot say that"
        )


def _left(rows: Float, target: Float) -> float:
    fitted = rows.T @ np.linalg.lstsq(rows.T, target, rcond=None)[0]
    return float(np.sum((target - fitted) ** 2))
