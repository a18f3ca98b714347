"""The search for laws with hidden states: the trajectory decides, from the first term on.

A hidden state has no curve along which its equation could be sought by itself, and no scale of its own. It is
given one by coordinates: it enters the equation of a measured state, or of a hidden state before it, with the
factor one, as w, as w*u or as sqrt(w), and in no other way. In each of these coordinates the search begins
with few terms, whose constants come from many random starts, and then moves in all equations at once. With r
the residuals of a fitted law and J their derivatives with respect to the constants of all terms that are in
the law or may be added, which one solution gives, a change d of the constants leaves about

    |r - J d|^2  =  r.r - 2 g.d + d.N d,     g = J^T r,  N = J^T J,

so that all laws that differ by one or two terms are compared by linear algebra. Only the best of them are
fitted to the trajectory, from the constants and initial values that this comparison gives.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gode.arrays import Bool, Float
from gode.data import Dataset, Run
from gode.equation import Equation, Law, Node, Term, parse_tree
from gode.equation.system import columns_seen, law_of, make_law, state_seen
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import STATE, has_constant, is_other, mul, symbols, var, variables
from gode.fitting.multistart import MultistartConfig, minima
from gode.fitting.prepare import input_values
from gode.fitting.trajectory import Path, Trajectories
from gode.prior import log_prior
from gode.search.archive import Archive, Initial, Key, Stage
from gode.search.templates import Bodies, SumTemplate
from gode.search.templates.template import Space, grammar_terms
from gode.selection import Candidate

Place = tuple[int, Node]  # a term, and the number of the state in whose equation it stands


@dataclass(frozen=True, kw_only=True)
class HiddenConfig:
    """How laws with hidden states are sought; set by hand on simulated records (gode_bench.hidden_models)."""

    entries: tuple[str, ...] = ("{w}", "{w}*u", "sqrt({w})")  # how a hidden state may enter
    begin: MultistartConfig = field(
        default_factory=lambda: MultistartConfig(draws=300, refined=6, rounds=2)
    )  # the first laws
    words: float = 0.5  # Each equation may have so many terms, as a fraction of the vocabulary of a search.
    early: int = (
        2  # From so many laws the search moves on in each of the coordinates, before the best decide.
    )
    compared: int = 60  # Of the laws that leave least by linear algebra so many are weighed by their prior.
    seen: float = 1e-4  # The part of an effect that others must leave unexplained to be a number of its own.


@dataclass(frozen=True)
class Coordinates:
    """What the equation of each state looks like, and the terms that may be in it."""

    templates: tuple[SumTemplate, ...]
    words: tuple[tuple[Node, ...], ...]

    def law(self, dataset: Dataset, places: frozenset[Place], values: dict[Place, float]) -> Law:
        """Return the law of some terms; those without a value have the factor zero."""
        equations = []
        for s, template in enumerate(self.templates):
            skeleton = template.skeleton(frozenset(body for state, body in places if state == s))
            owners = self.owners(s, template.terms_of(skeleton))
            equations.append(Equation(skeleton, tuple(values.get(owner, 0.0) for owner in owners)))
        return law_of(dataset.states, dataset.inputs, equations)

    def owners(self, state: int, bodies: Bodies) -> list[Place]:
        """Return the term of each constant of the equation of one state."""
        template = self.templates[state]
        terms = template.sums(template.skeleton(bodies))[""]
        factors = {term.constant: term.body for term in terms if term.constant is not None}
        return [(state, factors[i]) for i in range(len(factors))]

    def values(self, law: Law) -> dict[Place, float]:
        """Return the factor of each term of a law."""
        found: dict[Place, float] = {}
        for s, (template, equation) in enumerate(zip(self.templates, law.equations, strict=True)):
            owners = self.owners(s, template.terms_of(equation.skeleton))
            found.update(zip(owners, equation.constants, strict=True))
        return found


class Neighbour(NamedTuple):
    """A law that differs from a fitted one by a term or two, and where its fit may start."""

    criterion: float  # expected, up to a constant
    stepped: Law  # with the constants that linear algebra gives
    initial: Float  # (runs, sum of orders) the same of initial values
    kept: Law  # with the constants of the fitted law


class HiddenSearch:
    """A search for laws with hidden states; what it finds is in the archive."""

    def __init__(
        self, archive: Archive, space: Space, rng: np.random.Generator, config: HiddenConfig | None = None
    ) -> None:
        self.archive, self.rng = archive, rng
        self.config = config or HiddenConfig()
        self.dataset = archive.prepared.dataset
        self.orders = [
            1 if s in self.dataset.hidden else archive.settings.order for s in range(len(self.dataset.states))
        ]
        self.forms = list(self._coordinates(space))
        self.homes: dict[Key, Coordinates] = {}
        self.expanded: set[Key] = set()

    def run(self) -> None:
        """Search until the effort is spent."""
        effort = self.archive.settings.budget
        for form in self.forms:
            for places in self._plainest(form):
                self._begin(form, places)
            for _ in range(self.config.early):
                self._expand_first([c for c in self.archive.leaders() if self._home(c) is form])
        self._spread_out(effort.rounds)
        if self.archive.widen():
            self._spread_out(max(effort.rounds // 2, 1))  # a first part may prefer another law
        far = [c for c in self.archive.leaders()[:2] if c.rms > self.archive.settings.shooting.far]
        self.archive.improve([c.equation for c in far], Stage.DIGITS)

    def _spread_out(self, rounds: int) -> None:
        for _ in range(rounds):
            self._expand_first(self.archive.leaders()[:4])

    def _home(self, candidate: Candidate) -> Coordinates:
        return self.homes[candidate.equation.skeleton.key]

    def _coordinates(self, space: Space) -> Iterator[Coordinates]:
        """Yield the coordinates in which the hidden states have a scale."""
        dataset, n = self.dataset, len(self.dataset.states)
        words = [self._words(s, space) for s in range(n)]
        for entry in self.config.entries:
            for measured in (s for s in range(n) if s not in dataset.hidden):
                texts = [STATE + "'" * order + " = {sentence}" for order in self.orders]
                owner, how = measured, entry
                for hidden in dataset.hidden:
                    inside = how.format(w=state_seen(owner, hidden)) + " + {sentence}"
                    texts[owner] = texts[owner].replace("{sentence}", inside)
                    owner, how = hidden, self.config.entries[0]
                templates = tuple(
                    SumTemplate(text, order, s)
                    for s, (text, order) in enumerate(zip(texts, self.orders, strict=True))
                )
                allowed = [_entering(template) for template in templates]
                yield Coordinates(
                    templates,
                    tuple(
                        tuple(body for body in each if not variables(body) & barred)
                        for each, barred in zip(words, allowed, strict=True)
                    ),
                )

    def _words(self, own: int, space: Space) -> tuple[Node, ...]:
        """Return the terms that may stand in the equation of a state, the most frequent first.

        Those of the grammar have no inner constants here. A few are added that people write for what is not
        measured: roots of states, inputs over and times states, and for hysteresis products with absolute
        values.
        """
        settings, n = self.archive.settings, len(self.dataset.states)
        names, inputs = self._seen(own)
        slopes = [state_seen(own, s) + "'" for s in range(n) if self.orders[s] > 1]
        known, barred = {"t", *names, *inputs, *slopes}, frozenset(settings.without)
        size = max(int(self.config.words * settings.budget.vocabulary), 1)
        found: list[Node] = []
        for body in grammar_terms(space, sorted(known - {"t", STATE, STATE + "'"})):
            if variables(body) <= known and not has_constant(body) and len(found) < size:
                found.append(body)
        texts = [f"sqrt({name})" for name in names]
        texts += [f"{f}{sign}{name}" for f in inputs for name in names for sign in "/*"]
        if own in self.dataset.hidden:
            texts += [text for v in slopes for text in (f"abs({v})*u", f"{v}*abs(u)")]
        found += [parse_tree(text, inputs=inputs, states=names) for text in texts]
        return tuple(body for body in dict.fromkeys(found) if not symbols(body) & barred)

    def _seen(self, own: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what the equation of a state calls all states and the inputs."""
        n = len(self.dataset.states)
        names = tuple(state_seen(own, s) for s in range(n))
        return names, columns_seen(own, n, len(self.dataset.inputs))[1 + 3 * n :]

    def _plainest(self, form: Coordinates) -> Iterator[frozenset[Place]]:
        """Yield sets of terms to begin with: all linear ones, and products of hidden with measured states."""
        linear: set[Place] = set()
        products: set[Place] = set()
        for s in range(len(self.dataset.states)):
            names, inputs = self._seen(s)
            hidden = s in self.dataset.hidden
            own = [var(name) for name in ((*names, *inputs) if hidden else (STATE,))]
            own += [var(STATE + "'"), *map(var, inputs)] if self.orders[s] > 1 else []
            times = [
                mul(var(STATE), var(names[m])) for m in range(len(names)) if m not in self.dataset.hidden
            ]
            bilinear = [var(STATE), *times, *map(var, inputs)] if hidden else own
            linear |= {(s, body) for body in own if body in form.words[s]}
            products |= {(s, body) for body in bilinear if body in form.words[s]}
        yield frozenset(linear)
        direct = [(s, var(name)) for s in range(len(form.words)) for name in self._seen(s)[1]]
        driven = linear | {(s, body) for s, body in direct if body in form.words[s]}
        if driven != linear:  # an input may act on what was measured at once, and on what was not later
            yield frozenset(driven)
        if products != linear:
            yield frozenset(products)

    def _begin(self, form: Coordinates, places: frozenset[Place]) -> None:
        """Fit a law from random starts."""
        archive = self.archive
        skeleton = form.law(self.dataset, places, {}).skeleton
        self.homes.setdefault(skeleton.key, form)
        if skeleton.key in archive.candidates:
            return
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
        archive.n_fitted += 1
        if found:
            law = make_law(skeleton, found[0].constants)
            archive.solve([law], Stage.TRAJECTORIES, starts={skeleton.key: _rows(found[0].initial)})

    def _expand_first(self, candidates: Sequence[Candidate]) -> None:
        """Fit the neighbours of the first of these whose neighbours were not fitted yet."""
        leader = next((c for c in candidates if c.equation.skeleton.key not in self.expanded), None)
        if leader is None:
            return
        self.expanded.add(leader.equation.skeleton.key)
        starts: dict[Key, Initial] = {}
        laws: list[Law] = []
        for near in self._neighbours(leader):
            key = near.kept.skeleton.key
            if key in self.archive.candidates or key in starts:
                continue
            if len(laws) == self.archive.settings.budget.per_round:
                break
            law, initial = self._better_start(near, leader.initial)
            laws.append(law)
            starts[key] = _rows(initial)
            self.homes.setdefault(key, self._home(leader))
        self.archive.solve(laws, Stage.NEIGHBOURS, starts=starts)

    def _better_start(self, near: Neighbour, initial: Float) -> tuple[Law, Float]:
        """Return the constants and initial values of a neighbour that leave less before they are fitted."""
        options = [(near.stepped, near.initial), (near.kept, initial)]
        problem = self._problem(near.kept)
        errors = [problem.error(_point(problem, law, start)) for law, start in options]
        return options[int(np.argmin(errors))]

    def _neighbours(self, leader: Candidate) -> list[Neighbour]:
        """Return laws that differ from a fitted one by one or two terms, the most promising first."""
        form = self._home(leader)
        before = form.values(leader.equation)
        words = [(s, body) for s, bodies in enumerate(self._usable(leader, form)) for body in bodies]
        wide = form.law(self.dataset, frozenset([*before, *words]), before)
        owners = [
            owner
            for s, (template, e) in enumerate(zip(form.templates, wide.equations, strict=True))
            for owner in form.owners(s, template.terms_of(e.skeleton))
        ]
        problem = self._problem(wide)
        path = problem.solve(_point(problem, wide, leader.initial))
        if path is None:
            return []
        changes = Changes(path, np.array([owner in before for owner in owners]), self.config.seen)
        prices = np.array([self._price(form, frozenset(before), owner) for owner in owners])
        m, found = leader.n_values, []
        for left, kept, out in changes.best(m, prices, self.config.compared):
            values = changes.point(kept, out)
            places = frozenset(owners[i] for i in kept)
            stepped = form.law(self.dataset, places, {owners[i]: float(values[i]) for i in kept})
            plain = form.law(self.dataset, places, before)
            criterion = left - float(prices[kept].sum()) - 2 * log_prior(plain.skeleton)
            found.append(Neighbour(criterion, stepped, problem.parameters.initial(values), plain))
        return sorted(found, key=lambda near: near.criterion)

    def _price(self, form: Coordinates, places: frozenset[Place], term: Place) -> float:
        """Return -2 log of the prior odds of a term in a law."""
        with_it, without = (form.law(self.dataset, each, {}) for each in (places | {term}, places - {term}))
        return -2 * (log_prior(with_it.skeleton) - log_prior(without.skeleton))

    def _problem(self, law: Law) -> Trajectories:
        archive = self.archive
        return Trajectories(law.skeleton, archive.target, archive.settings.shooting, archive.interrupts.check)

    def _usable(self, leader: Candidate, form: Coordinates) -> list[list[Node]]:
        """Return the terms of each equation that are finite along the solution of a law."""
        problem = self._problem(leader.equation)
        path = problem.solve(_point(problem, leader.equation, leader.initial))
        if path is None:
            return [[] for _ in form.words]
        runs = zip(self.archive.target.dataset.runs, path.runs, strict=True)
        columns = np.hstack([_columns(run, solved.values, self.dataset) for run, solved in runs])
        n, usable = len(self.dataset.states), []
        for s, bodies in enumerate(form.words):
            order = [s, *(i for i in range(n) if i != s)]
            rows = [0, *(1 + 3 * i + k for i in order for k in range(3)), *range(1 + 3 * n, len(columns))]
            names = ("t", *(state_seen(s, i) + "'" * k for i in order for k in range(3)), *self._seen(s)[1])
            usable.append([body for body in bodies if _is_finite(body, names, columns[rows])])
        return usable


class Changes:
    """What laws leave that differ from a fitted one by one or two terms, by linear algebra."""

    def __init__(self, path: Path, active: Bool, seen: float) -> None:
        normal = path.normals[0]
        self.p, self.sse, self.seen = path.p, path.sse, seen
        self.size = np.sqrt(np.maximum(np.diag(normal.matrix), 1e-300))
        self.matrix = normal.matrix / self.size[:, None] / self.size
        self.gradient = normal.gradient / self.size
        self.active = np.flatnonzero(active).tolist()
        self.idle = np.flatnonzero(~active).tolist()
        self.starts = list(range(len(active), len(path.p)))

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
        free, moved = [*kept, *self.starts], self._moved(out)
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
        base = [i for i in self.active if i not in out] + self.starts
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


def _entering(template: SumTemplate) -> set[str]:
    """Return the hidden states that enter an equation by its coordinates, and so in no other way."""
    return {str(name) for name in variables(template.fixed) if is_other(str(name))}


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


def _rows(table: Float) -> Initial:
    return tuple(map(tuple, table.tolist()))
