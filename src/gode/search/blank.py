"""Blank: one equation of a frame, and how sums of terms fill its unknown functions.

A search without a frame fills the whole right-hand side. With one, a term belongs to an unknown function, of
which it is a node, and the equation that is fitted is the frame with these terms in it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from gode.equation import Equation, Node, Parameter, Skeleton
from gode.equation.frame import Filling, Frame, Unknown, put_in
from gode.equation.names import HOLE
from gode.equation.sums import from_sum, to_sum
from gode.equation.terms import linear_terms, term_node
from gode.equation.tree import (
    MINUS_ONE,
    ONE,
    ZERO,
    add,
    const,
    has_constant,
    mul,
    renumber,
    replace_constants,
    unlabelled,
    var,
    variables,
    walk,
)

Bodies = frozenset[Node]
OF = "of"  # the op of a term of an unknown function


def term_of(function: str, body: Node) -> Node:
    """Return a term of an unknown function."""
    return Node(OF, function, (body,))


@dataclass(frozen=True)
class Blank:
    """The equation of one state in a frame."""

    frame: Frame
    own: int = 0

    @cached_property
    def unknowns(self) -> tuple[Unknown, ...]:
        """The unknown functions in it."""
        return tuple(self.frame.unknowns(self.own))

    @cached_property
    def scaled(self) -> frozenset[str]:
        """The functions that a constant left out here scales, so that their constants mean something else."""
        whole = self._part({f.name: ONE for f in self.unknowns}, alone=False)
        names = {p.name for p in whole.parameters} - {p.name for p in self.known.parameters}
        return frozenset(f.name for f in self.unknowns) if names else frozenset()

    @cached_property
    def known(self) -> Skeleton:
        """The equation with its unknown functions zero."""
        return self._part({f.name: ZERO for f in self.unknowns}, alone=True)

    @cached_property
    def fixed(self) -> Node:
        """What the known part fixes: its terms without constants, the highest derivative among them."""
        terms = Skeleton(renumber(self.known.tree)).terms
        return add(*(term_node(t) for t in terms if t.constant is None and not has_constant(t.body)))

    @cached_property
    def linear(self) -> tuple[Node, ...]:
        """The terms of the known part that a constant multiplies."""
        terms = Skeleton(renumber(self.known.tree)).terms
        return tuple(t.body for t in terms if t.constant is not None and not has_constant(t.body))

    @cached_property
    def is_linear(self) -> bool:
        """Whether the unknown functions enter linearly."""
        return _is_linear(self.frame.trees[self.own])

    def skeleton(self, bodies: Bodies) -> Skeleton:
        """Return the equation with these terms in its unknown functions, each with a free constant."""
        return _filled(self, bodies)

    def terms_of(self, skeleton: Skeleton) -> Bodies:
        """Return the terms of the unknown functions of an equation."""
        return frozenset(
            term_of(found.name, body)
            for found in skeleton.functions
            for body in to_sum(unlabelled(found.tree))
        )

    def complete(self, sentences: Iterable[Skeleton]) -> Skeleton | None:
        """Return the equation with the right-hand sides of some sentences as its unknown functions."""
        bodies: set[Node] = set()
        for function, sentence in zip(self.unknowns, sentences, strict=True):
            top = var(sentence.highest)
            bodies |= {term_of(function.name, b) for b in to_sum(sentence.key) if b != top}
        return self.skeleton(frozenset(bodies)) if bodies else None

    def sentence(self, skeleton: Skeleton, order: int) -> Skeleton:
        """Return what was found for the only unknown function as an equation of its own."""
        (found,) = skeleton.functions
        tree = replace_constants(found.tree, lambda _: const(0))
        return Skeleton(renumber(add(var("u" + "'" * order), mul(MINUS_ONE, tree))))

    def added(self, term: Node) -> Node:
        """Return what a term of an unknown function adds to the equation, up to a factor."""
        (body,) = term.args
        ones = replace_constants(self.frame.trees[self.own], lambda _: ONE)
        function = next(f for f in self.unknowns if f.name == term.value)
        whole, rest = (
            _with_holes(ones, {f.name: (f, body if f is function else ZERO) for f in self.unknowns}),
            _with_holes(ones, {f.name: (f, ZERO) for f in self.unknowns}),
        )
        return from_sum(to_sum(add(unlabelled(whole), mul(MINUS_ONE, rest))))

    def _part(self, filling: Filling, *, alone: bool) -> Skeleton:
        return self.frame.part(self.own, filling, alone=alone)


@lru_cache(maxsize=5_000)
def _filled(blank: Blank, bodies: Bodies) -> Skeleton:
    return blank._part(filling_of(bodies, blank.unknowns), alone=True)


def filling_of(bodies: Bodies, unknowns: Iterable[Unknown]) -> dict[str, Node]:
    """Return the sum of the terms of each unknown function; zero for one without any."""
    filling = {}
    for function in unknowns:
        own = sorted(term.args[0] for term in bodies if term.value == function.name)
        filling[function.name] = renumber(add(*(mul(const(0), body) for body in own)))
    return filling


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


def borrowed_by_name(skeleton: Skeleton, near: Equation, other: Iterable[float]) -> Equation:
    """Return `skeleton` with the constants that `near` has under the same names and in the same terms.

    A term that `near` lacks starts with coefficient zero and its inner constants from `other`.
    """
    constants = list(other)
    known = values_by_name(near)
    own = {p.name: i for i, p in enumerate(skeleton.parameters)}
    inside = {p.name for f in skeleton.functions for p in _parameters(skeleton, f.tree)}
    for name, i in own.items():
        if name in known and name not in inside:
            constants[i] = known[name]
    old = {f.name: f for f in near.skeleton.functions}
    for found in skeleton.functions:
        terms = (
            {unlabelled(t.body): t for t in linear_terms(old[found.name].tree)} if found.name in old else {}
        )
        for term in linear_terms(found.tree):
            before = terms.get(unlabelled(term.body))
            pairs = zip(_labels(term.body), _labels(before.body) if before else (), strict=False)
            for i, j in pairs:
                constants[i] = near.constants[j]
            if term.constant is not None:
                same = before is not None and before.constant is not None
                constants[term.constant] = near.constants[before.constant or 0] if same and before else 0.0
    return replace(near, skeleton=skeleton, constants=tuple(constants))


def values_by_name(equation: Equation) -> dict[str, float]:
    """Return the constants of an equation by their names."""
    return {p.name: c for p, c in zip(equation.skeleton.parameters, equation.constants, strict=True)}


def _parameters(skeleton: Skeleton, tree: Node) -> list[Parameter]:
    return [skeleton.parameters[i] for i in _labels(tree)]


def _labels(tree: Node) -> list[int]:
    return [int(node.value) for node in walk(tree) if node.op == "const"]


def within(body: Node, unknown: Unknown) -> bool:
    """Tell whether a body is a function of the arguments of an unknown function."""
    return variables(body) <= set(unknown.formal)


def projected_out(rows: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return rows without their parts along the rows of a basis."""
    if not len(basis):
        return rows
    directions = np.linalg.qr(basis.T)[0].T
    return np.asarray(rows - (rows @ directions.T) @ directions)
