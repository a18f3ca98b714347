"""The search for laws with hidden states: the trajectory decides, from the first term on.

A hidden state has no curve along which its equation could be sought by itself, and no scale of its own. It is
given one by coordinates: it enters the equation of a measured state, or of a hidden state before it, with the
factor one, as w, as w*u or as sqrt(w). In each of these coordinates the search begins with few terms, whose
constants come from many random starts. From there it moves in all equations at once. With r the residuals of
a fitted law and J their derivatives with respect to the constants of all terms that may be added, kept or
dropped, taken in one solution, a change d of the constants leaves about

    |r - J d|^2  =  r.r - 2 g.d + d.N d,     g = J^T r,  N = J^T J,

so that all laws that differ by a term or two are compared by linear algebra, and only the best of them are
fitted to the trajectory.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gode.arrays import Float
from gode.data import Dataset
from gode.equation import Equation, Law, Node, Term, parse_tree
from gode.equation.system import columns_seen, make_law, state_seen
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import STATE, has_constant, is_other, symbols, variables
from gode.fitting.multistart import MultistartConfig, minima
from gode.fitting.prepare import input_values
from gode.fitting.trajectory import Path, Trajectories
from gode.prior import log_prior
from gode.search.archive import Archive, Initial, Key, Stage
from gode.search.coupling import initial_of
from gode.search.templates import Bodies, SumTemplate, law_of
from gode.search.templates.template import Space, grammar_terms
from gode.search.workers import Start
from gode.selection import Candidate

ENTRIES = ("{w}", "{w}*u", "sqrt({w})")  # how a hidden state enters the equation that gives it its scale
ROUNDS = 6
ROUNDS_OF_FORM = 2
CHOSEN = 8
PRICED = 60
SEEN = 1e-4  # of the size of an effect: what is left of it where others explain the rest


@dataclass(frozen=True)
class Coordinates:
    """What the equation of each state looks like, and the terms that may be in it."""

    templates: tuple[SumTemplate, ...]
    words: tuple[tuple[Node, ...], ...]

    def law(self, dataset: Dataset, terms: Sequence[Bodies]) -> Law:
        """Return the law of these terms, with all constants zero."""
        skeletons = [t.skeleton(bodies) for t, bodies in zip(self.templates, terms, strict=True)]
        return law_of(dataset, [Equation(s, (0.0,) * s.n_constants) for s in skeletons])


@dataclass(frozen=True)
class Place:
    """A law in the search: its coordinates and the terms of each equation."""

    form: Coordinates
    terms: tuple[Bodies, ...]


def coordinates(dataset: Dataset, order: int, space: Space, size: int, barred: frozenset[str]) -> Iterator[Coordinates]:
    """Yield the coordinates in which the hidden states have a scale."""
    n = len(dataset.states)
    orders = [1 if s in dataset.hidden else order for s in range(n)]
    measured = [s for s in range(n) if s not in dataset.hidden]
    words = tuple(_words(dataset, s, orders, space, size, barred) for s in range(n))
    for entry in ENTRIES:
        for s in measured:
            texts = [STATE + "'" * k + " = {sentence}" for k in orders]
            owner = s
            for hidden in dataset.hidden:
                how = entry if owner == s else ENTRIES[0]
                inside = how.format(w=state_seen(owner, hidden))
                texts[owner] = texts[owner].replace("{sentence}", inside + " + {sentence}")
                owner = hidden
            made = [SumTemplate(text, k, i) for i, (text, k) in enumerate(zip(texts, orders, strict=True))]
            fitting = [
                tuple(b for b in each if not variables(b) & variables(t.fixed) - {STATE})
                for t, each in zip(made, words, strict=True)
            ]
            yield Coordinates(tuple(made), tuple(fitting))


def _words(
    dataset: Dataset, own: int, orders: Sequence[int], space: Space, size: int, barred: frozenset[str]
) -> tuple[Node, ...]:
    """Return the terms that may stand in the equation of a state, the most frequent first."""
    n = len(dataset.states)
    seen = {state_seen(own, s) + "'" * k for s in range(n) for k in range(orders[s])}
    inputs = set(columns_seen(own, n, len(dataset.inputs))[1 + 3 * n :])
    known = seen | inputs
    found: list[Node] = []
    for body in grammar_terms(space, sorted(known - {STATE, "u'"})):
        if variables(body) <= known and not has_constant(body) and not symbols(body) & barred:
            found.append(body)
        if len(found) == size:
            break
    return tuple(dict.fromkeys([*found, *_usual(own, dataset, orders)]))


def _usual(own: int, dataset: Dataset, orders: Sequence[int]) -> Iterator[Node]:
    """Yield terms of hidden states that scalar grammars seldom write: quotients, roots, sizes."""
    n = len(dataset.states)
    names = [state_seen(own, s) for s in range(n)]
    states = tuple(names)
    inputs = columns_seen(own, n, len(dataset.inputs))[1 + 3 * n :]
    texts = [f"sqrt({name})" for name in names]
    texts += [f"{f}/{name}" for f in inputs for name in names] + [f"{f}*{name}" for f in inputs for name in names]
    slopes = [state_seen(own, s) + "'" for s in range(n) if orders[s] > 1 and s != own]
    for w in names if own in dataset.hidden else []:
        texts += [f"abs({v})*{w}" for v in slopes] + [f"{v}*abs({w})" for v in slopes]
    for text in texts:
        yield parse_tree(text, inputs=inputs, states=states)


class HiddenSearch:
    """A search for laws with hidden states; what it finds is in the archive."""

    def __init__(self, archive: Archive, space: Space, rng: np.random.Generator) -> None:
        self.archive, self.rng = archive, rng
        dataset, settings = archive.prepared.dataset, archive.settings
        barred = frozenset(settings.without)
        self.dataset = dataset
        self.forms = list(coordinates(dataset, settings.order, space, 24, barred))
        self.places: dict[Key, Place] = {}
        self.expanded: set[Key] = set()

    def run(self) -> None:
        """Search until the effort is spent."""
        for form in self.forms:
            self._begin(form)
            for _ in range(ROUNDS_OF_FORM):
                mine = [c for c in self.archive.leaders() if self.places[c.equation.skeleton.key].form is form]
                fresh = [c for c in mine[:3] if c.equation.skeleton.key not in self.expanded]
                if fresh:
                    self._expand(fresh[0])
        for _ in range(ROUNDS):
            fresh = [c for c in self.archive.leaders()[:4] if c.equation.skeleton.key not in self.expanded]
            if not fresh:
                break
            self._expand(fresh[0])

    def _begin(self, form: Coordinates) -> None:
        """Fit the plainest laws of some coordinates from random starts."""
        for terms in self._plainest(form):
            law = form.law(self.dataset, terms)
            self._restart(law, Place(form, terms))

    def _plainest(self, form: Coordinates) -> Iterator[tuple[Bodies, ...]]:
        """Yield sets of terms to begin with: linear ones, and in each equation of a hidden state products."""
        n = len(self.dataset.states)
        chosen = []
        for s, template in enumerate(form.templates):
            names = [state_seen(s, i) for i in range(n)]
            own = columns_seen(s, n, len(self.dataset.inputs))[1 + 3 * n :]
            fixed = variables(template.fixed)
            linear = {STATE} if s not in self.dataset.hidden else {*names, *own}
            if template.order > 1:
                linear |= {STATE + "'", *own}
            chosen.append(frozenset(parse_tree(x, inputs=own, states=tuple(names)) for x in sorted(linear)))
        yield tuple(chosen)
        products = list(chosen)
        for s in self.dataset.hidden:
            names = [state_seen(s, i) for i in range(n)]
            own = columns_seen(s, n, len(self.dataset.inputs))[1 + 3 * n :]
            texts = [STATE, *(f"{STATE}*{name}" for name in names[:1] if name != STATE), *own]
            products[s] = frozenset(parse_tree(x, inputs=own, states=tuple(names)) for x in texts)
        if products != chosen:
            yield tuple(products)

    def _restart(self, law: Law, place: Place, how: MultistartConfig | None = None) -> None:
        """Fit a law from random starts."""
        archive = self.archive
        key = law.skeleton.key
        self.places.setdefault(key, place)
        how = how or MultistartConfig(draws=200, refined=4, rounds=1)
        found = minima(
            law.skeleton, archive.target, archive.prepared.columns, self.dataset.hidden,
            rng=self.rng, config=archive.settings.shooting, how=how, check=archive.interrupts.check,
        )
        archive.n_fitted += 1
        if found:
            best = found[0]
            rows = tuple(map(tuple, best.initial.tolist()))
            archive.solve([make_law(law.skeleton, best.constants)], Stage.TRAJECTORIES, rows)

    def _expand(self, leader: Candidate) -> None:
        """Fit the neighbours of a law that seem best by its sensitivities."""
        key = leader.equation.skeleton.key
        self.expanded.add(key)
        laws = []
        for terms, law in self.neighbours(leader, self.places[key]):
            if law.skeleton.key in self.archive.candidates:
                continue
            self.places.setdefault(law.skeleton.key, Place(self.places[key].form, terms))
            laws.append(law)
            if len(laws) == CHOSEN:
                break
        self.archive.solve(laws, Stage.NEIGHBOURS, initial_of(leader))

    def neighbours(self, leader: Candidate, place: Place) -> list[tuple[tuple[Bodies, ...], Law]]:
        """Return laws that differ by a term or two, the most promising first, with constants to start from."""
        form, archive = place.form, self.archive
        before = self._values(leader.equation, place)
        wide, path, owners = self._sensitivities(leader, place, before)
        if path is None:
            return []
        normal, gradient = path.normals[0].matrix, path.normals[0].gradient
        active = [i for i, owner in enumerate(owners) if owner in before]
        values = np.array([before.get(owner, 0.0) for owner in owners])
        options = list(_changes(path.sse, normal, gradient, values, active))
        m, k = leader.n_values, len(active)
        scores = np.array(
            [m * np.log(max(sse, 1e-9) / m) + (k - len(out) + len(new)) * np.log(m) for sse, out, new in options]
        )
        order = np.argsort(scores)[:PRICED]
        ranked = []
        for i in order:
            _, out, new = options[i]
            kept = {owners[j] for j in active if j not in out} | {owners[j] for j in new}
            terms = tuple(
                frozenset(body for s, body in kept if s == state) for state in range(len(form.templates))
            )
            law = form.law(self.dataset, terms)
            law = _with_values(law, form, terms, before)
            price = -2 * log_prior(law.skeleton)
            ranked.append((scores[i] + price, i, terms, law))
        ranked.sort(key=lambda row: row[:2])
        return [(terms, law) for _, _, terms, law in ranked]

    def _values(self, law: Law, place: Place) -> dict[tuple[int, Node], float]:
        """Return the factor of each term of a law."""
        found = {}
        for s, (template, equation) in enumerate(zip(place.form.templates, law.equations, strict=True)):
            for term in template.sums(equation.skeleton)[""]:
                if term.constant is not None:
                    found[(s, term.body)] = equation.constants[term.constant]
        return found

    def _sensitivities(
        self, leader: Candidate, place: Place, before: dict[tuple[int, Node], float]
    ) -> tuple[Law, Path | None, list[tuple[int, Node]]]:
        """Return the law with all terms that may be added, its solution, and the term of each constant."""
        form, archive = place.form, self.archive
        usable = self._usable(leader, form)
        terms = tuple(bodies | frozenset(usable[s]) for s, bodies in enumerate(place.terms))
        law = _with_values(form.law(self.dataset, terms), form, terms, before)
        owners: list[tuple[int, Node]] = []
        for s, (template, equation) in enumerate(zip(form.templates, law.equations, strict=True)):
            by_constant = {t.constant: t.body for t in template.sums(equation.skeleton)[""] if t.constant is not None}
            owners += [(s, by_constant[i]) for i in range(equation.skeleton.n_constants)]
        problem = Trajectories(law.skeleton, archive.target, archive.settings.shooting, archive.interrupts.check)
        p = problem.parameters.joined(np.array([law.constants] * len(problem.models)), leader.initial)
        return law, problem.solve(p), owners

    def _usable(self, leader: Candidate, form: Coordinates) -> list[list[Node]]:
        """Return the terms of each equation that are finite along the solution of a law."""
        problem = Trajectories(leader.equation.skeleton, self.archive.target, self.archive.settings.shooting)
        p = problem.parameters.joined(
            np.array([leader.law_of(i).constants for i in range(len(problem.models))]), leader.initial
        )
        path = problem.solve(p)
        n = len(self.dataset.states)
        if path is None:
            return [[] for _ in range(n)]
        runs = self.archive.target.dataset.runs
        blocks = []
        for run, solved in zip(runs, path.runs, strict=True):
            inputs = input_values(run, run.t)
            blocks.append(np.vstack([run.t, solved.values, *(inputs[name] for name in self.dataset.inputs)]))
        x = np.hstack(blocks)
        usable = []
        for s in range(n):
            names = columns_seen(s, n, len(self.dataset.inputs))
            order = [0]
            for name in names[1 : 1 + 3 * n]:
                state = name.rstrip("'")
                number = next(i for i in range(n) if state_seen(s, i) == state)
                order.append(1 + 3 * number + len(name) - len(state))
            order += range(1 + 3 * n, len(x))
            here = x[order]
            usable.append([body for body in form.words[s] if _is_finite(body, names, here)])
        return usable


def _is_finite(body: Node, names: tuple[str, ...], x: Float) -> bool:
    tape = compile_tape([Term(1.0, None, body)], names, 0)
    with np.errstate(all="ignore"):
        values = evaluate(tape, [], x).value
    return bool(np.isfinite(values).all())


def _with_values(
    law: Law, form: Coordinates, terms: Sequence[Bodies], values: dict[tuple[int, Node], float]
) -> Law:
    """Return a law with known factors of its terms; those that are not known are zero."""
    constants: list[float] = []
    for s, (template, equation) in enumerate(zip(form.templates, law.equations, strict=True)):
        row = [0.0] * equation.skeleton.n_constants
        for term in template.sums(equation.skeleton)[""]:
            if term.constant is not None:
                row[term.constant] = values.get((s, term.body), 0.0)
        constants += row
    return make_law(law.skeleton, constants)


def _changes(
    sse: float, normal: Float, gradient: Float, values: Float, active: Sequence[int]
) -> Iterator[tuple[float, tuple[int, ...], tuple[int, ...]]]:
    """Yield what is left with up to two terms less and up to two more, and which these are."""
    k = len(values)
    idle = [i for i in range(k) if i not in active]
    starts = range(k, len(gradient))
    pairs = list(combinations(range(len(idle)), 2))
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    size = np.sqrt(np.maximum(np.diag(normal), 1e-300))
    n, g, v = normal / size[:, None] / size, gradient / size, values * size[:k]
    for out in [(), *((i,) for i in active), *combinations(active, 2)]:
        base = [i for i in active if i not in out] + list(starts)
        fixed = -v[list(out)]
        left = sse - 2 * g[list(out)] @ fixed + fixed @ n[np.ix_(out, out)] @ fixed
        inverse = np.linalg.pinv(n[np.ix_(base, base)], rcond=1e-9, hermitian=True)
        moved = g - n[:, list(out)] @ fixed
        left -= moved[base] @ inverse @ moved[base]
        across = n[np.ix_(idle, base)] @ inverse
        g_new = moved[idle] - across @ moved[base]
        n_new = n[np.ix_(idle, idle)] - across @ n[np.ix_(base, idle)]
        own = np.maximum(np.diag(n_new), SEEN)
        if out:
            yield float(left), out, ()
        gains = g_new**2 / own
        for i, gain in enumerate(gains):
            yield float(max(left - gain, 0.0)), out, (idle[i],)
        if len(out) == 2 or not pairs:
            continue
        a, b, c = own[first], own[second], n_new[first, second]
        determinant = np.maximum(a * b - c**2, SEEN * a * b)
        both = (b * g_new[first] ** 2 - 2 * c * g_new[first] * g_new[second] + a * g_new[second] ** 2) / determinant
        for j in np.argsort(-both)[:PRICED]:
            yield float(max(left - both[j], 0.0)), out, (idle[first[j]], idle[second[j]])
