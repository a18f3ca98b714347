"""What laws with hidden states look like: in coordinates that give these a scale, or in a frame.

In both, a law is a sum of terms with a factor each, beside what is known of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, islice, permutations
from typing import Protocol

import numpy as np

from gode.arrays import Float
from gode.data import Dataset
from gode.equation import Equation, Law, LawSkeleton, Node, parse_tree
from gode.equation.frame import Frame
from gode.equation.sums import to_sum
from gode.equation.system import columns_seen, law_of, make_law, state_seen
from gode.equation.terms import linear_terms
from gode.equation.tree import (
    FREE,
    STATE,
    add,
    const,
    has_constant,
    is_other,
    mul,
    renumber,
    symbols,
    unlabelled,
    var,
    variables,
)
from gode.search.templates import FrameTemplate, SumTemplate
from gode.search.templates.frame_template import function_terms, term_of
from gode.search.templates.template import Space, grammar_terms

Place = tuple[int, Node]  # a term, and the number of the state in whose equation it stands
NAMED = "named"  # the op of a constant of a frame that belongs to no unknown function
ENTRIES = ("{w}", "{w}*u", "sqrt({w})")  # how a hidden state may enter, with the factor one


class Form(Protocol):
    """Laws with some terms in common."""

    @property
    def words(self) -> Sequence[Place]:
        """The terms that may be in a law."""

    def law(self, places: frozenset[Place], values: dict[Place, float]) -> Law:
        """Return the law of some terms; those without a value have the factor zero."""

    def owners(self, skeleton: LawSkeleton) -> list[Place]:
        """Return the term of each constant of a law."""

    def added(self, place: Place) -> Node:
        """Return what a term adds to the equation of its state, up to a factor."""

    def plainest(self) -> Iterator[frozenset[Place]]:
        """Yield sets of terms to begin with."""


def values_of(form: Form, law: Law) -> dict[Place, float]:
    """Return the factor of each term of a law, and its other constants."""
    return dict(zip(form.owners(law.skeleton), law.constants, strict=True))


@dataclass(frozen=True)
class Coordinates:
    """What the equation of each state looks like, and the terms that may be in it."""

    dataset: Dataset
    templates: tuple[SumTemplate, ...]
    words: tuple[Place, ...]
    entry: str  # how the first hidden state enters,
    measured: int  # and the equation of which measured state
    entries: frozenset[Place] = frozenset()  # where hidden states enter that doses give a scale

    def law(self, places: frozenset[Place], values: dict[Place, float]) -> Law:
        """Return the law of some terms; those without a value have the factor zero."""
        equations = []
        for s, template in enumerate(self.templates):
            skeleton = template.skeleton(frozenset(body for state, body in places if state == s))
            owners = self._owners(s, skeleton)
            equations.append(Equation(skeleton, tuple(values.get(owner, 0.0) for owner in owners)))
        return law_of(self.dataset.states, self.dataset.inputs, equations)

    def owners(self, skeleton: LawSkeleton) -> list[Place]:
        """Return the term of each constant of a law."""
        return [owner for s, part in enumerate(skeleton.parts) for owner in self._owners(s, part)]

    def _owners(self, state: int, part: LawSkeleton) -> list[Place]:
        factors = {term.constant: term.body for term in part.parts[0].terms if term.constant is not None}
        return [(state, factors[i]) for i in range(len(factors))]

    def added(self, place: Place) -> Node:
        """Return the term."""
        return place[1]

    def plainest(self) -> Iterator[frozenset[Place]]:
        """Yield sets of terms to begin with: all linear ones, and products of hidden with measured states."""
        linear: set[Place] = set()
        products: set[Place] = set()
        words, states = set(self.words), range(len(self.dataset.states))
        for s in states:
            names, inputs = names_seen(self.dataset, s)
            hidden, second = s in self.dataset.hidden, self.templates[s].order > 1
            own = [var(name) for name in ((*names, *inputs) if hidden else (STATE,))]
            own += [var(STATE + "'"), *map(var, inputs)] if second else []
            slopes = [names[m] + "'" for m in states if self.templates[m].order > 1]
            own += [var(name) for name in slopes if hidden]  # as the force of a spring that yields follows
            times = [mul(var(STATE), var(names[m])) for m in states if m not in self.dataset.hidden]
            bilinear = [var(STATE), *times, *map(var, inputs)] if hidden else own
            linear |= {(s, body) for body in own} & words
            products |= {(s, body) for body in bilinear} & words
        linear, products = linear | self.entries, products | self.entries
        yield frozenset(linear)
        direct = {(s, var(name)) for s in states for name in names_seen(self.dataset, s)[1]}
        driven = linear | (direct & words)
        if driven != linear:  # an input may act on what was measured at once, and on what was not later
            yield frozenset(driven)
        if products != linear:
            yield frozenset(products)


@dataclass(frozen=True)
class Framed:
    """Equations of which a part is known, whose unknown functions are sums of terms."""

    frame: Frame
    words: tuple[Place, ...]

    @cached_property
    def _templates(self) -> tuple[FrameTemplate, ...]:
        return tuple(FrameTemplate(self.frame, s) for s in range(len(self.frame.trees)))

    def law(self, places: frozenset[Place], values: dict[Place, float]) -> Law:
        """Return the law of some terms of its functions; those without a value have the factor zero."""
        filling = {}
        for function in self.frame.functions:
            here = sorted(term.args[0] for _, term in places if term.value == function.name)
            filling[function.name] = renumber(add(*(mul(const(0), body) for body in here)))
        skeleton = self.frame.law(filling)
        return make_law(skeleton, [values.get(owner, 0.0) for owner in self.owners(skeleton)])

    def owners(self, skeleton: LawSkeleton) -> list[Place]:
        """Return the term of each constant of a law, and the other constants by their names."""
        homes = {function.name: function.home for function in self.frame.functions}
        inside = {
            term.constant: (homes[found.name], term_of(found.name, term.body))
            for found in skeleton.functions
            for term in linear_terms(found.tree)
        }
        names = [p.name for p in skeleton.parameters]
        return [inside.get(i, (0, Node(NAMED, name, ()))) for i, name in enumerate(names)]

    def added(self, place: Place) -> Node:
        """Return what a term of an unknown function adds to the first equation in which that stands."""
        return self._templates[place[0]].added(place[1])

    def plainest(self) -> Iterator[frozenset[Place]]:
        """Yield sets of terms to begin with: the arguments of all functions, their products, and both."""
        words = set(self.words)
        linear, products = set[Place](), set[Place]()
        for function in self.frame.functions:
            names = [var(name) for name in function.formal]
            pairs = [mul(*pair) for pair in combinations(names, 2)] or names
            linear |= {(function.home, term_of(function.name, body)) for body in names} & words
            products |= {(function.home, term_of(function.name, body)) for body in pairs} & words
        for places in dict.fromkeys(map(frozenset, (linear, products, linear | products))):
            if places:
                yield places


def entered_by(entry: str, entering: Float, measured: Float) -> tuple[Float, Float]:
    """Return a hidden state from what it adds to a measured equation, and the derivative of that by it.

    Both are NaN where no value of the hidden state adds that.
    """
    with np.errstate(all="ignore"):
        if entry == "sqrt({w})":
            root = np.where(entering > 0, entering, np.nan)
            return root**2, 0.5 / root
        slope = np.broadcast_to(measured if entry == "{w}*u" else 1.0, entering.shape)
        return entering / slope, slope


def seen_by(dataset: Dataset, own: int, columns: Float) -> tuple[tuple[str, ...], Float]:
    """Return what the equation of a state sees of columns: time, states with derivatives, inputs."""
    n = len(dataset.states)
    order = [own, *(i for i in range(n) if i != own)]
    rows = [0, *(1 + 3 * i + k for i in order for k in range(3)), *range(1 + 3 * n, len(columns))]
    names = ("t", *(state_seen(own, i) + "'" * k for i in order for k in range(3)))
    return (*names, *names_seen(dataset, own)[1]), columns[rows]


def names_seen(dataset: Dataset, index: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what the equation of a state calls all states and the inputs."""
    n = len(dataset.states)
    names = tuple(state_seen(index, s) for s in range(n))
    return names, columns_seen(index, n, len(dataset.inputs))[1 + 3 * n :]


def framed(frame: Frame, space: Space, size: int, barred: frozenset[str]) -> Framed:
    """Return the laws of a frame, with up to `size` terms for each of its unknown functions."""
    words: dict[Place, None] = {}
    for function in frame.functions:
        usual = (term.args[0] for term in function_terms(space, function))
        plain = islice((body for body in usual if not has_constant(body)), size)
        columns = tuple({name.rstrip("'"): None for name in function.formal})
        texts = [f"abs({a})*{b}" for a, b in permutations(function.formal, 2)]
        further = [parse_tree(text, states=columns) for text in texts]  # as hysteresis has them
        allowed = (body for body in chain(plain, further) if not symbols(body) & barred)
        words |= {(function.home, term_of(function.name, body)): None for body in allowed}
    return Framed(frame, tuple(words))


def coordinates(
    dataset: Dataset, order: int, space: Space, size: int, barred: frozenset[str]
) -> Iterator[Coordinates]:
    """Yield the coordinates in which the hidden states have a scale: that of a dose, or a factor of one.

    Args:
        order: of the equations of measured states.
        size: how many terms of the grammar each equation may have.
        barred: what no term may hold.
    """
    n = len(dataset.states)
    orders = [1 if s in dataset.hidden else order for s in range(n)]
    words = [_words(dataset, s, orders, space, size) for s in range(n)]
    dosed = {dose.channel // 3 for run in dataset.runs for dose in run.doses}
    for entry in ENTRIES:
        for measured in (s for s in range(n) if s not in dataset.hidden):
            texts = [STATE + "'" * of_state + " = {sentence}" for of_state in orders]
            owner, how = measured, entry
            entries: list[Place] = []
            for hidden in dataset.hidden:
                inside = how.format(w=state_seen(owner, hidden))
                if hidden in dosed:
                    entries.append((owner, parse_tree(inside, states=names_seen(dataset, owner)[0])))
                else:
                    texts[owner] = texts[owner].replace("{sentence}", inside + " + {sentence}")
                owner, how = hidden, ENTRIES[0]
            templates = [SumTemplate(*each) for each in zip(texts, orders, range(n), strict=True)]
            entering = [_entering(template) for template in templates]
            for s, body in entries:
                entering[s] |= {str(name) for name in variables(body)}
            allowed = (
                (s, body)
                for s, bodies in enumerate(words)
                for body in bodies
                if not variables(body) & entering[s] and not symbols(body) & barred
            )
            terms = tuple(dict.fromkeys([*entries, *allowed]))
            yield Coordinates(dataset, tuple(templates), terms, entry, measured, frozenset(entries))


def _words(dataset: Dataset, index: int, orders: Sequence[int], space: Space, size: int) -> list[Node]:
    """Return the terms that may stand in the equation of a state, the most frequent first.

    Those of the grammar have no inner constants here. A few are added that people write for what is not
    measured: roots of states, inputs over and times states, and for hysteresis products with absolute values.
    """
    names, inputs = names_seen(dataset, index)
    slopes = [state_seen(index, s) + "'" for s, order in enumerate(orders) if order > 1]
    known = {"t", *names, *inputs, *slopes}
    usual = (
        body
        for body in grammar_terms(space, sorted(known - {"t", STATE, STATE + "'"}))
        if variables(body) <= known and not has_constant(body)
    )
    texts = [f"sqrt({name})" for name in names]
    texts += [f"{f}{sign}{name}" for f in inputs for name in names for sign in "/*"]
    if index in dataset.hidden:
        texts += [text for v in slopes for text in (f"abs({v})*u", f"{v}*abs(u)")]
    further = [_term(text, inputs, names) for text in texts]
    return list(dict.fromkeys(chain(islice(usual, size), further)))


def _term(text: str, inputs: tuple[str, ...], states: tuple[str, ...]) -> Node:
    """Return a term as it stands in a sum."""
    (body,) = to_sum(unlabelled(mul(FREE, parse_tree(text, inputs=inputs, states=states))))
    return body


def _entering(template: SumTemplate) -> set[str]:
    """Return the hidden states that enter an equation by its coordinates, and so in no other way."""
    return {str(name) for name in variables(template.fixed) if is_other(str(name))}
