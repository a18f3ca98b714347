"""The search for laws with hidden states: the trajectory decides, from the first term on.

A hidden state has no curve along which its equation could be sought by itself, and no scale of its own. It is
given one by coordinates: it enters the equation of a measured state, or of a hidden state before it, with the
factor one, as w, as w*u or as sqrt(w), and in no other way; a frame says itself where it enters. In each of
these forms the search begins with few terms, whose constants come from many random starts, and then moves in
all equations at once. With r the residuals of a fitted law and J their derivatives with respect to the
constants of all terms that are in the law or may be added, which one solution gives, a change d of the
constants leaves about

    |r - J d|^2  =  r.r - 2 g.d + d.N d,     g = J^T r,  N = J^T J,

so that all laws that differ by one or two terms are compared by linear algebra. Only the best of them are
fitted to the trajectory, from the constants and initial values that this comparison gives.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gode.arrays import Bool, Float, Rows, rows_of
from gode.choices import EffortName
from gode.data import Dataset, Run
from gode.equation import Law, LawSkeleton, Node, Term
from gode.equation.frame import Frame
from gode.equation.system import make_law
from gode.equation.tape import compile_tape, evaluate
from gode.fitting.multistart import Minimum, MultistartConfig, as_good, memory_of_starts, minima, with_images
from gode.fitting.prepare import input_values
from gode.fitting.target import state_places
from gode.fitting.trajectory import Path, Trajectories
from gode.prior import log_prior
from gode.search.archive import Archive, Key, Stage
from gode.search.hidden_curves import Curves
from gode.search.hidden_forms import NAMED, Coordinates, Form, Place, coordinates, framed, seen_by, values_of
from gode.search.templates.template import Space
from gode.search.workers import Start
from gode.selection import Candidate


@dataclass(frozen=True, kw_only=True)
class HiddenConfig:
    """How laws with hidden states are sought; set by hand on simulated records (gode_bench.hidden_models)."""

    # How the first laws are fitted.
    begin: MultistartConfig = field(default_factory=lambda: MultistartConfig(refined=6, rounds=2))
    words: float = 0.5  # Each equation may have so many terms, as a fraction of the vocabulary of a search.
    early: int = 2  # From so many laws the search moves on in all coordinates, before the best decide.
    compared: int = 60  # Of the laws that leave least by linear algebra so many are weighed by their prior.
    seen: float = 1e-4  # The part of an effect that others must leave unexplained to be a number of its own.


class Neighbour(NamedTuple):
    """A law that differs from a fitted one by a term or two, and where its fit may start."""

    criterion: float  # expected, up to a constant
    stepped: Law  # with the constants that linear algebra gives
    initial: Float  # (runs, sum of orders) the same of initial values
    kept: Law  # with the constants of the fitted law


class HiddenSearch:
    """A search for laws with hidden states; what it finds is in the archive."""

    def __init__(
        self,
        archive: Archive,
        space: Space,
        rng: np.random.Generator,
        frame: Frame | None = None,
        config: HiddenConfig | None = None,
    ) -> None:
        self.archive, self.rng = archive, rng
        self.config = config or HiddenConfig()
        self.dataset, settings = archive.prepared.dataset, archive.settings
        size = max(int(self.config.words * settings.budget.vocabulary), 1)
        barred = frozenset(settings.without)
        self.forms: list[Form] = (
            [framed(frame, space, size, barred)]
            if frame is not None
            else [*coordinates(self.dataset, settings.order, space, size, barred)]
        )
        self.homes: dict[Key, Form] = {}
        self.fitted: set[Key] = set()  # all laws so far, also those without a solution
        self.expanded: set[Key] = set()
        self.leapt: set[Key] = set()
        self.settled: set[Key] = set()

    def run(self) -> None:
        """Search until the effort is spent."""
        effort = self.archive.settings.budget
        for form in self.forms:
            for places in form.plainest():
                self._begin(form, places)
            for _ in range(self.config.early):
                self._expand_first([c for c in self.archive.leaders() if self._home(c) is form])
        if self.archive.settings.effort == EffortName.QUICK:  # as for a remedy: no more than the neighbours
            self._spread_out(effort.rounds)
        else:
            for rounds in (effort.rounds - effort.rounds // 2, effort.rounds // 2):
                self._leap()
                self._spread_out(rounds)
            self._settle(2)
        if self.archive.widen():
            self._spread_out(max(effort.rounds // 2, 1))  # a first part may prefer another law
        far = [c for c in self.archive.leaders()[:2] if c.rms > self.archive.settings.shooting.far]
        self.archive.improve([c.equation for c in far], Stage.DIGITS)
        self._take_away()
        self._exchange()

    def _exchange(self) -> None:
        """Let two constants of the best law change places, as absorption and elimination can.

        Of those that explain the data as well the law is told whose hidden states forget their start sooner.
        """
        order = self.archive.settled()
        if not order or order[0].equation.skeleton.n_constants < 2 or self.archive.settings.individual:
            return
        best, archive = order[0], self.archive
        skeleton, config = best.equation.skeleton, archive.settings.shooting
        now = Minimum(np.array(best.equation.constants), best.initial, best.rms**2 * best.n_values)
        found = with_images(skeleton, archive.target, [now], config=config, check=archive.interrupts.check)
        enough = as_good(found[0].sse, best.n_values)
        equal = [each for each in found if each.sse <= enough]
        laws = [make_law(skeleton, each.constants) for each in equal]
        memories = [
            memory_of_starts(law, archive.target, each.initial) for law, each in zip(laws, equal, strict=True)
        ]
        chosen = int(np.argmin(memories))
        if equal[chosen] is not now:
            begun = rows_of(equal[chosen].initial)
            start = Start(laws[chosen], archive.whole, patient=True, view=archive.view, initial=begun)
            other = archive.workers.fit(start)
            if other is not None and other.rms**2 <= as_good(best.rms**2, best.n_values):
                archive.candidates[skeleton.key] = other

    def _take_away(self) -> None:
        """Fit the best law without each of its terms until it is the best: it may be the last to come."""
        tried: set[Key] = set()
        while (order := self.archive.settled()) and order[0].equation.skeleton.key not in tried:
            leader, form = order[0], self._home(order[0])
            tried.add(leader.equation.skeleton.key)
            values = values_of(form, leader.equation)
            terms = frozenset(place for place in values if place[1].op != NAMED)
            laws = [form.law(terms - {place}, values) for place in sorted(terms)] if len(terms) > 1 else []
            for law in laws:
                self.homes.setdefault(law.skeleton.key, form)
            begun = rows_of(leader.initial)
            starts = {law.skeleton.key: begun for law in laws}
            self._solve(laws, Stage.NEIGHBOURS, starts)

    def _spread_out(self, rounds: int) -> None:
        for _ in range(rounds):
            self._expand_first(self.archive.leaders()[:4])

    def _leap(self) -> None:
        """Fit other laws for the curve of the best, in all coordinates."""
        leader = next(iter(self.archive.leaders()), None)
        noise = self._noise(leader) if leader else np.nan
        forms = [form for form in self.forms if isinstance(form, Coordinates)]
        doses = any(run.doses for run in self.dataset.runs)  # by which the curve jumps
        columns = self._solution(leader) if leader else None
        if leader is None or columns is None or not forms or len(self.dataset.hidden) > 1 or doses:
            return
        if not np.isfinite(noise) or leader.equation.skeleton.key in self.leapt:
            return
        self.leapt.add(leader.equation.skeleton.key)
        starts: dict[Key, Rows] = {}
        laws: list[Law] = []
        place = state_places(leader.equation.skeleton.orders).index(2 * self.dataset.hidden[0])
        settings = self.archive.settings
        curves = Curves(self.dataset, columns, noise, settings, self.rng)
        old = values_of(self._home(leader), leader.equation)
        for guess in curves.guesses(forms, old, 2 * settings.budget.per_round):
            law, initial = guess.form.law(frozenset(guess.values), guess.values), leader.initial.copy()
            initial[:, place] = guess.start
            self.homes.setdefault(law.skeleton.key, guess.form)
            laws.append(law)
            starts[law.skeleton.key] = rows_of(initial)
        self._solve(laws, Stage.NEIGHBOURS, starts)
        self._settle(1)

    def _noise(self, leader: Candidate) -> float:
        """Return what a law leaves of the first measured state."""
        measured = next(s for s in range(len(self.dataset.states)) if s not in self.dataset.hidden)
        return float(self.archive.prepared.noise[3 * measured] * max(leader.rms, 1.0))

    def _home(self, candidate: Candidate) -> Form:
        return self.homes[candidate.equation.skeleton.key]

    def _begin(self, form: Form, places: frozenset[Place]) -> None:
        """Fit a law from random starts."""
        archive = self.archive
        skeleton = form.law(places, {}).skeleton
        self.homes.setdefault(skeleton.key, form)
        if skeleton.key in archive.candidates:
            return
        found = self._minimum(skeleton)
        if found:
            law = make_law(skeleton, found.constants)
            self._solve([law], Stage.TRAJECTORIES, {skeleton.key: rows_of(found.initial)})

    def _solve(self, laws: Sequence[Law], stage: Stage, starts: dict[Key, Rows]) -> None:
        """Fit laws to the trajectory, and count those that are new; after an interruption what was fitted."""
        archive = self.archive
        archive.n_fitted = len(self.fitted | {law.skeleton.key for law in laws})
        try:
            archive.solve(laws, stage, starts=starts)
        finally:
            self.fitted |= archive.candidates.keys()
            archive.n_fitted = len(self.fitted)

    def _minimum(self, skeleton: LawSkeleton) -> Minimum | None:
        """Return the best fit of a law that many random starts lead to."""
        archive = self.archive
        self.fitted.add(skeleton.key)
        archive.n_fitted = len(self.fitted)
        found = minima(
            skeleton,
            archive.target,
            archive.prepared.columns,
            self.dataset.hidden,
            rng=self.rng,
            config=archive.settings.shooting,
            how=self.config.begin,
            check=archive.interrupts.check,
        )
        return found[0] if found else None

    def _settle(self, number: int) -> None:
        """Fit so many of the best laws from random starts, too: one start may end in a poor minimum."""
        for leader in self.archive.leaders()[:number]:
            skeleton = leader.equation.skeleton
            if skeleton.key in self.settled:
                continue
            self.settled.add(skeleton.key)
            found = self._minimum(skeleton)
            if found:
                start = {skeleton.key: rows_of(found.initial)}
                law = make_law(skeleton, found.constants)
                self.archive.improve([law], Stage.NEIGHBOURS, start)

    def _expand_first(self, candidates: Sequence[Candidate]) -> None:
        """Fit the neighbours of the first of these whose neighbours were not fitted yet."""
        leader = next((c for c in candidates if c.equation.skeleton.key not in self.expanded), None)
        if leader is None:
            return
        self.expanded.add(leader.equation.skeleton.key)
        starts: dict[Key, Rows] = {}
        laws: list[Law] = []
        for near in self._neighbours(leader):
            key = near.kept.skeleton.key
            if key in self.archive.candidates or key in starts:
                continue
            if len(laws) == self.archive.settings.budget.per_round:
                break
            law, initial = self._better_start(near, leader.initial)
            laws.append(law)
            starts[key] = rows_of(initial)
            self.homes.setdefault(key, self._home(leader))
        self._solve(laws, Stage.NEIGHBOURS, starts)

    def _better_start(self, near: Neighbour, initial: Float) -> tuple[Law, Float]:
        """Return the constants and initial values of a neighbour that leave less before they are fitted."""
        options = [(near.stepped, near.initial), (near.kept, initial)]
        problem = self._problem(near.kept)
        errors = [problem.error(_point(problem, law, start)) for law, start in options]
        return options[int(np.argmin(errors))]

    def _neighbours(self, leader: Candidate) -> list[Neighbour]:
        """Return laws that differ from a fitted one by one or two terms, the most promising first."""
        form = self._home(leader)
        before = values_of(form, leader.equation)
        wide = form.law(frozenset([*before, *self._usable(leader, form)]), before)
        owners = form.owners(wide.skeleton)
        known = [i for i, (_, term) in enumerate(owners) if term.op == NAMED]
        problem = self._problem(wide)
        path = problem.solve(_point(problem, wide, leader.initial))
        if path is None:
            return []
        active = np.array([owner in before for owner in owners])
        changes = Changes(path, active, known, self.config.seen)
        prices = np.array([self._price(form, frozenset(before), owner) for owner in owners])
        m, found = leader.n_values, []
        for left, kept, out in changes.best(m, prices, self.config.compared):
            values = changes.point(kept, out)
            places = frozenset(owners[i] for i in kept)
            stepped = form.law(places, {owners[i]: float(values[i]) for i in [*kept, *known]})
            plain = form.law(places, before)
            criterion = left - float(prices[kept].sum()) - 2 * log_prior(plain.skeleton)
            found.append(Neighbour(criterion, stepped, problem.parameters.initial(values), plain))
        return sorted(found, key=lambda near: near.criterion)

    def _price(self, form: Form, places: frozenset[Place], term: Place) -> float:
        """Return -2 log of the prior odds of a term in a law."""
        if term[1].op == NAMED:
            return 0.0
        with_it, without = (form.law(each, {}) for each in (places | {term}, places - {term}))
        return -2 * (log_prior(with_it.skeleton) - log_prior(without.skeleton))

    def _problem(self, law: Law) -> Trajectories:
        archive = self.archive
        return Trajectories(law.skeleton, archive.target, archive.settings.shooting, archive.interrupts.check)

    def _usable(self, leader: Candidate, form: Form) -> list[Place]:
        """Return the terms that are finite along the solution of a law."""
        parts = self._solution(leader)
        if parts is None:
            return []
        columns = np.hstack(parts)
        seen = [seen_by(self.dataset, s, columns) for s in range(len(self.dataset.states))]
        return [place for place in form.words if _is_finite(form.added(place), *seen[place[0]])]

    def _solution(self, leader: Candidate) -> list[Float] | None:
        """Return of each run time, the states along the solution of a law, with derivatives, and inputs."""
        problem = self._problem(leader.equation)
        path = problem.solve(_point(problem, leader.equation, leader.initial))
        if path is None:
            return None
        runs = zip(self.archive.target.dataset.runs, path.runs, strict=True)
        return [_columns(run, solved.values, self.dataset) for run, solved in runs]


class Changes:
    """What laws leave that differ from a fitted one by one or two terms, by linear algebra."""

    def __init__(self, path: Path, active: Bool, known: Sequence[int], seen: float) -> None:
        normal = path.normals[0]
        self.p, self.sse, self.seen = path.p, path.sse, seen
        self.size = np.sqrt(np.maximum(np.diag(normal.matrix), 1e-300))
        self.matrix = normal.matrix / self.size[:, None] / self.size
        self.gradient = normal.gradient / self.size
        terms = [i for i in range(len(active)) if i not in known]
        self.active = [i for i in terms if active[i]]
        self.idle = [i for i in terms if not active[i]]
        self.others = [*known, *range(len(active), len(path.p))]  # which no change leaves out

    def best(
        self, n_values: int, prices: Float, limit: int
    ) -> list[tuple[float, list[int], tuple[int, ...]]]:
        """Return the expected criterion, the terms kept and those left out, of laws that have some.

        Args:
            prices: of each term, beside the logarithm of the number of values.
        """
        rows = []
        for out in [(), *((i,) for i in self.active), *combinations(self.active, 2)]:
            for left, new in self._additions(out, limit):
                kept = sorted({*self.active, *new} - {*out})
                price = prices[kept].sum() + len(kept) * np.log(n_values)
                rows.append((float(n_values * np.log(max(left, 1e-9) / n_values) + price), kept, out))
        return sorted((row for row in rows if row[1]), key=lambda row: row[:2])[:limit]

    def point(self, kept: Sequence[int], out: Sequence[int]) -> Float:
        """Return the numbers at which a law is expected to leave least."""
        free, moved = [*kept, *self.others], self._moved(out)
        inverse = np.linalg.pinv(self.matrix[np.ix_(free, free)], rcond=self.seen**2, hermitian=True)
        p = self.p.copy()
        p[list(out)] = 0.0
        p[free] += inverse @ moved[free] / self.size[free]
        return p

    def _moved(self, out: Sequence[int]) -> Float:
        """Return the gradient after some numbers became zero."""
        gone = list(out)
        return self.gradient + self.matrix[:, gone] @ (self.p * self.size)[gone]

    def _additions(self, out: tuple[int, ...], limit: int) -> Iterator[tuple[float, tuple[int, ...]]]:
        """Yield what is left without some terms, alone, with one more and, with at most one out, with two."""
        gone = list(out)
        base = [i for i in self.active if i not in out] + self.others
        zeroed = -(self.p * self.size)[gone]
        rest = self.sse - 2 * self.gradient[gone] @ zeroed
        rest += zeroed @ self.matrix[np.ix_(gone, gone)] @ zeroed
        moved = self._moved(out)
        inverse = np.linalg.pinv(self.matrix[np.ix_(base, base)], rcond=self.seen**2, hermitian=True)
        left = max(float(rest - moved[base] @ inverse @ moved[base]), 0.0)
        if out:
            yield left, ()
        across = self.matrix[np.ix_(self.idle, base)] @ inverse
        g = moved[self.idle] - across @ moved[base]
        n = self.matrix[np.ix_(self.idle, self.idle)] - across @ self.matrix[np.ix_(base, self.idle)]
        own = np.maximum(np.diag(n), self.seen)
        for i, gain in zip(self.idle, g**2 / own, strict=True):
            yield max(left - float(gain), 0.0), (i,)
        if len(out) > 1 or len(self.idle) < 2:
            return
        a, b = np.triu_indices(len(self.idle), 1)
        determinant = np.maximum(own[a] * own[b] - n[a, b] ** 2, self.seen * own[a] * own[b])
        gains = (own[b] * g[a] ** 2 - 2 * n[a, b] * g[a] * g[b] + own[a] * g[b] ** 2) / determinant
        for j in np.argsort(-gains, kind="stable")[:limit]:
            yield max(left - float(gains[j]), 0.0), (self.idle[a[j]], self.idle[b[j]])


def _point(problem: Trajectories, law: Law, initial: Float) -> Float:
    """Return the fitted numbers of a law whose constants all runs share."""
    return problem.parameters.joined(np.array([law.constants] * len(problem.models)), initial)


def _columns(run: Run, values: Float, dataset: Dataset) -> Float:
    """Return time, the states and their derivatives along a solution, and the inputs."""
    inputs = input_values(run, run.t)
    return np.vstack([run.t, values, *(inputs[name] for name in dataset.inputs)])


def _is_finite(body: Node, names: tuple[str, ...], columns: Float) -> bool:
    tape = compile_tape([Term(1.0, None, body)], names, 0)
    with np.errstate(all="ignore"):
        return bool(np.isfinite(evaluate(tape, [], columns).value).all())
