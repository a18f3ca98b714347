"""FrameTemplate: one equation with holes, filled by sums of terms."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, islice, zip_longest
from typing import final

import numpy as np

from gode.arrays import Float
from gode.data import Dataset
from gode.equation import (
    Equation,
    Law,
    Node,
    Skeleton,
    SystemSkeleton,
    Term,
)
from gode.equation.frame import Filling, Frame, Unknown, put_in
from gode.equation.parse import HOLE
from gode.equation.skeleton import Parameter
from gode.equation.sums import from_sum, to_sum
from gode.equation.system import make_law
from gode.equation.terms import linear_terms, term_node
from gode.equation.tree import (
    MINUS_ONE,
    ONE,
    STATE,
    ZERO,
    add,
    const,
    constants_in,
    gathered,
    has_constant,
    is_other,
    mul,
    num,
    renamed,
    renumber,
    replace_constants,
    unlabelled,
    var,
    variables,
    walk,
)
from gode.errors import GrammarError
from gode.model import open_space
from gode.search.settings import GRAMMARS, SYSTEMS
from gode.search.templates.template import (
    Admission,
    AnyFloat,
    Bodies,
    Fit,
    Points,
    Space,
    grammar_terms,
    random_skeletons,
    values_by_name,
)

OF = "of"  # the op of a term of an unknown function


@final
@dataclass(frozen=True)
class FrameTemplate:
    """The equation of one state in a frame, whose unknown functions are sums of terms."""

    frame: Frame
    state: int = 0

    @property
    def order(self) -> int:
        """The order of the equation."""
        return self.known.order

    @cached_property
    def unknowns(self) -> tuple[Unknown, ...]:
        """The unknown functions in it."""
        return tuple(self.frame.unknowns(self.state))

    @cached_property
    def is_scaled(self) -> bool:
        """Whether a constant that only scales a function is left out, so that others mean something else."""
        complete = self._filled({f.name: ONE for f in self.unknowns}, alone=False)
        names = {p.name for p in complete.parameters} - {p.name for p in self.known.parameters}
        return bool(names) and bool(self.unknowns)

    @cached_property
    def known(self) -> Skeleton:
        """The equation with its unknown functions zero."""
        return self._filled({f.name: ZERO for f in self.unknowns})

    @cached_property
    def fixed(self) -> Node:
        """The known terms without constants, the highest derivative among them."""
        return add(*(term_node(term) for term in self._known_terms if term.constant is None))

    @cached_property
    def linear(self) -> tuple[Node, ...]:
        """The known terms that a constant multiplies."""
        return tuple(term.body for term in self._known_terms if term.constant is not None)

    @cached_property
    def _known_terms(self) -> tuple[Term, ...]:
        """The known terms without a constant inside."""
        return tuple(t for t in Skeleton(renumber(self.known.tree)).terms if not has_constant(t.body))

    @cached_property
    def is_linear(self) -> bool:
        """Whether the unknown functions enter linearly."""
        return _is_linear(self.frame.trees[self.state])

    @property
    def least_terms(self) -> int:
        """One: an unknown function may well be a single term, beside what is known."""
        return 1

    def of_space(self, space: Space, *, keeps_zero: bool) -> "FrameTemplate":
        """Return the same: a frame does not depend on the grammar."""
        return self

    def added(self, term: Node) -> Node:
        """Return what a term of an unknown function adds to the equation, up to a factor."""
        (body,) = term.args
        ones = replace_constants(self.frame.trees[self.state], lambda _: ONE)
        holes = {f.name: (f, body if f.name == term.value else ZERO) for f in self.unknowns}
        empty = {f.name: (f, ZERO) for f in self.unknowns}
        difference = add(unlabelled(_with_holes(ones, holes)), mul(MINUS_ONE, _with_holes(ones, empty)))
        return from_sum(to_sum(difference))

    def skeleton(self, bodies: Bodies) -> Skeleton:
        """Return the equation with these terms in its unknown functions, each with a free constant."""
        return _frame_with(self, bodies)

    def terms_of(self, skeleton: Skeleton) -> Bodies:
        """Return the terms of the unknown functions of an equation."""
        return frozenset(
            term_of(found.name, body)
            for found in skeleton.functions
            for body in to_sum(unlabelled(found.tree))
        )

    def sums(self, skeleton: Skeleton) -> Mapping[str, tuple[Term, ...]]:
        """Return the terms of each unknown function."""
        return {found.name: linear_terms(found.tree) for found in skeleton.functions}

    def named(self, skeleton: Skeleton) -> Mapping[str, int]:
        """Return the named constants outside of the unknown functions."""
        inside = {i for found in skeleton.functions for i in constants_in(found.tree)}
        return {p.name: i for i, p in enumerate(skeleton.parameters) if i not in inside}

    def with_numbers(self, skeleton: Skeleton, values: Mapping[int, float]) -> None:
        """Return nothing: a frame is kept as it was written, and has no place for other numbers."""

    def constant_rate(self) -> None:
        """Return nothing: only what the frame admits is of interest."""

    def sentences(self, space: Space, n: int, rng: np.random.Generator) -> Iterator[Skeleton]:
        """Yield the equation with its unknown functions zero, then with `n` random sentences for them."""
        yield self.skeleton(frozenset())
        spaces = [found for found in self._spaces(space) if found is not None]
        if len(spaces) < len(self.unknowns):
            return
        streams = [
            random_skeletons(found, n, stream)
            for found, stream in zip(spaces, rng.spawn(len(spaces)), strict=True)
        ]
        for sentences in zip(*streams, strict=False):
            skeleton = self.complete(sentences)
            if skeleton is not None:
                yield skeleton

    def points(self, space: Space) -> Points | None:
        """Return the space of the only unknown function, None where there are several."""
        spaces = self._spaces(space)
        return Completed(spaces[0], self) if len(spaces) == 1 and spaces[0] is not None else None

    def complete(self, sentences: Iterable[Skeleton]) -> Skeleton | None:
        """Return the equation with the right-hand sides of some sentences as its unknown functions."""
        bodies: set[Node] = set()
        for function, sentence in zip(self.unknowns, sentences, strict=True):
            top = var(sentence.highest)
            bodies |= {term_of(function.name, b) for b in to_sum(sentence.key) if b != top}
        return self.skeleton(frozenset(bodies)) if bodies else None

    def sentence(self, skeleton: Skeleton) -> Skeleton:
        """Return what was found for the only unknown function as an equation of its own."""
        (found,) = skeleton.functions
        tree = replace_constants(found.tree, lambda _: const(0))
        return Skeleton(renumber(add(var(STATE + "'" * self.order), mul(MINUS_ONE, tree))))

    def words(self, space: Space, inputs: Sequence[str], admission: Admission, size: int) -> tuple[Node, ...]:
        """Return the terms that may stand in the unknown functions, up to `size` of each in turn."""
        absent = {"F"} - set(inputs)

        def is_allowed(term: Node) -> bool:
            (body,) = term.args
            allowed = admission.allows(body) and not variables(body) & absent
            return allowed and admission.distinguishes(self.added(term))

        words = [
            list(islice(filter(is_allowed, function_terms(space, unknown)), size))
            for unknown in self.unknowns
        ]
        return tuple(term for terms in zip_longest(*words) for term in terms if term is not None)

    def further(self, space: Space, inputs: Sequence[str], admission: Admission) -> tuple[Node, ...]:
        """Return nothing: what may stand in an unknown function, its grammar writes."""
        return ()

    def laws(self, dataset: Dataset, equations: Sequence[Equation], fit: Fit) -> Iterator[Law]:
        """Yield the laws that the equations of single states suggest: several where they disagree.

        A function that several equations share was sought in each of them. A law has one of these answers in
        all of its places; the constants that are then unknown are fitted with the others held.
        """
        order = sorted(range(len(equations)), key=lambda s: (self._all[s].is_scaled, s))
        seen = []
        for first in order:
            filling: dict[str, Node] = {}
            for s in [first, *(s for s in order if s != first)]:
                filling = {**_filling(equations[s].skeleton), **filling}
            if filling not in seen:
                seen.append(filling)
                yield self._law(filling, self._values(filling, equations, order, fit))

    def part(self, law: Law) -> Equation | None:
        """Return the equation of this state without constants that only scale what is sought elsewhere."""
        if not self.unknowns or self.is_scaled:
            return None
        values, alone = values_by_name(law), self._filled(_filling(law.skeleton))
        return Equation(alone, tuple(values[p.name] for p in alone.parameters))

    def changed(self, law: Law, equation: Equation, dataset: Dataset) -> Law:
        """Return the law with the functions and constants of this equation."""
        filling = {**_filling(law.skeleton), **_filling(equation.skeleton)}
        return self._law(filling, {**values_by_name(law), **values_by_name(equation)})

    def without_rest(self, law: Law) -> Law:
        """Return the law with a free constant in each equation in place of its value at equilibrium."""
        first = len(self.frame.parameters)

        def freed(node: Node, state: int) -> Node:
            if node.op == HOLE and any(arg.op == "num" for arg in node.args):
                return const(first + state)
            return node._replace(args=tuple(freed(arg, state) for arg in node.args))

        trees = tuple(freed(tree, s) for s, tree in enumerate(self.frame.trees))
        levels = tuple(Parameter(f"C{s + 1}") for s in range(len(trees)))
        wider = replace(self.frame, trees=trees, parameters=(*self.frame.parameters, *levels))
        values = {**values_by_name(law), **{level.name: 0.0 for level in levels}}
        return FrameTemplate(wider)._law(_filling(law.skeleton), values)

    @cached_property
    def _all(self) -> "tuple[FrameTemplate, ...]":
        """The templates of all equations of the frame."""
        return tuple(FrameTemplate(self.frame, s) for s in range(len(self.frame.trees)))

    def _filled(self, filling: Filling, *, alone: bool = True) -> Skeleton:
        return self.frame.part(self.state, filling, alone=alone)

    def _spaces(self, space: Space) -> list[Space | None]:
        """Return the space of each unknown function; None where nothing can be drawn."""
        return [_function_space(space, each) if each.plain else None for each in self.unknowns]

    def _law(self, filling: Filling, values: Mapping[str, float]) -> Law:
        """Return the law with these functions and values of its constants."""
        skeleton = self.frame.law(filling)
        return make_law(skeleton, [values.get(p.name, 1.0) for p in skeleton.parameters])

    def _values(
        self, filling: Filling, equations: Sequence[Equation], order: Sequence[int], fit: Fit
    ) -> dict[str, float]:
        """Return the constants of a law: from equations that have its functions, or fitted cheaply."""
        values: dict[str, float] = {}
        for s in order:
            found = _filling(equations[s].skeleton)
            if not self._all[s].is_scaled and all(tree == filling[name] for name, tree in found.items()):
                values = {**values_by_name(equations[s]), **values}
        for s in order:
            part = self.frame.part(s, filling)
            if any(p.name not in values for p in part.parameters):
                values |= _fitted_rest(part, values, lambda skeleton, s=s: fit(s, skeleton))  # type: ignore[misc]
        return values


@dataclass(frozen=True)
class Completed:
    """A space whose points are the equation of a frame with a sentence as its only unknown function."""

    space: Space
    template: FrameTemplate

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return self.space.dimension

    def decode(self, z: Float) -> list[Skeleton | None]:
        """Return the completed skeleton at each point."""
        return [None if each is None else self.template.complete([each]) for each in self.space.decode(z)]

    def encode(self, skeletons: Sequence[Skeleton]) -> AnyFloat:
        """Return the points of some completed skeletons."""
        return self.space.encode([self.template.sentence(each) for each in skeletons])


def term_of(function: str, body: Node) -> Node:
    """Return a term of an unknown function."""
    return Node(OF, function, (body,))


@lru_cache(maxsize=5_000)
def _frame_with(template: FrameTemplate, bodies: Bodies) -> Skeleton:
    filling = {}
    for function in template.unknowns:
        here = sorted(term.args[0] for term in bodies if term.value == function.name)
        filling[function.name] = renumber(add(*(mul(const(0), body) for body in here)))
    return template._filled(filling)


def _filling(skeleton: Skeleton | SystemSkeleton) -> dict[str, Node]:
    """Return what was found for each unknown function, its constants numbered from 0."""
    return {found.name: renumber(found.tree) for found in skeleton.functions}


def _fitted_rest(
    part: Skeleton, known: Mapping[str, float], fit: Callable[[Skeleton], Equation | None]
) -> dict[str, float]:
    """Return the constants of an equation that are not known, fitted with the others held."""
    left = [i for i, p in enumerate(part.parameters) if p.name not in known]
    tree = replace_constants(
        part.tree, lambda i: const(left.index(i)) if i in left else num(known[part.parameters[i].name])
    )
    found = fit(Skeleton(gathered(tree), tuple(part.parameters[i] for i in left)))
    return values_by_name(found) if found is not None else {part.parameters[i].name: 1.0 for i in left}


def _with_holes(node: Node, found: dict[str, tuple[Unknown, Node]]) -> Node:
    args = tuple(_with_holes(arg, found) for arg in node.args)
    if node.op == HOLE:
        function, body = found[str(node.value)]
        return put_in(body, dict(zip(function.formal, args, strict=True)))
    return add(*args) if node.op == "+" else mul(*args) if node.op == "*" else node._replace(args=args)


def _is_linear(node: Node) -> bool:
    """Tell whether the unknown functions in a tree enter linearly."""
    inside = [any(n.op == HOLE for n in walk(arg)) for arg in node.args]
    if node.op == HOLE or not any(inside):
        return True
    return (node.op == "+" or (node.op == "*" and sum(inside) == 1)) and all(map(_is_linear, node.args))


def _function_space(space: Space, unknown: Unknown) -> Space | None:
    """Return the part of a space that is written with the arguments of a function alone, None without one."""
    signals = [
        name
        for name in space.grammar.terminals
        if name in ("t", "F") or name.rstrip("'") == STATE or is_other(name)
    ]
    absent = [name for name in signals if name not in unknown.formal]
    try:
        return space.without(*absent) if absent else space
    except GrammarError:  # nothing can be written with these alone
        return None


def function_terms(space: Space, unknown: Unknown) -> Iterator[Node]:
    """Yield the terms that may stand in an unknown function, the most frequent first, each once.

    Those of the grammar of the data come first, then those of general ones over the arguments.
    """
    seen: set[Node] = set()
    first = grammar_terms(space, unknown.formal) if unknown.plain else ()
    for body in chain(first, _general_terms(unknown)):
        if body not in seen and variables(body) <= set(unknown.formal):
            seen.add(body)
            yield term_of(unknown.name, body)


def _general_terms(unknown: Unknown) -> Iterator[Node]:
    names = tuple(STATE if i == 0 else f"v{i}" for i in range(len(unknown.formal)))
    called = dict(zip(names, unknown.formal, strict=True))
    grammars = [SYSTEMS] if len(names) > 1 else [GRAMMARS[1], SYSTEMS]
    for grammar in grammars:
        found = grammar_terms(open_space(grammar), names[1:])
        yield from (renamed(body, called) for body in found if variables(body) <= set(names))
