"""Neighbours of a good skeleton: delete, swap or add a term."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from gode.equation import Equation, Node, Skeleton, parse_tree
from gode.equation.sums import to_sum
from gode.equation.tree import (
    add,
    const,
    index,
    mul,
    renumber,
    unlabelled,
    walk,
)
from gode.search.blank import Blank, Bodies, borrowed_by_name


@dataclass(frozen=True)
class Vocabulary:
    """The terms a grammar can write, the most frequent first, and the part its template fixes."""

    bodies: tuple[Node, ...]
    template: str
    blank: Blank | None = None  # the equation whose unknown functions these are terms of

    @cached_property
    def frame(self) -> Node:
        """The equation without its sentence, as far as no constant is in it."""
        return self.blank.fixed if self.blank else parse_tree(self.template.replace("{sentence}", "0"))

    @cached_property
    def known(self) -> tuple[Node, ...]:
        """Further terms of the equation that a constant multiplies."""
        return self.blank.linear if self.blank else ()

    def written(self, body: Node) -> Node:
        """Return what a term adds to the equation."""
        return self.blank.added(body) if self.blank else body

    def terms_of(self, skeleton: Skeleton) -> Bodies:
        """Return the bodies of `skeleton` that the sentence writes."""
        if self.blank:
            return self.blank.terms_of(skeleton)
        return frozenset(to_sum(unlabelled(skeleton.key))) - frozenset(to_sum(self.frame))

    def skeleton(self, bodies: Bodies) -> Skeleton:
        """Return the sum of these terms, each with a free constant."""
        if self.blank:
            return self.blank.skeleton(bodies)
        return _sum_of(self.frame, bodies)


@lru_cache(maxsize=5_000)  # the neighbours of one skeleton are neighbours of others, too
def _sum_of(frame: Node, bodies: Bodies) -> Skeleton:
    terms = [mul(const(0), body) for body in sorted(bodies)]
    return Skeleton(renumber(add(frame, *terms)))


def borrowed(skeleton: Skeleton, near: Equation, other: Sequence[float]) -> Equation:
    """Return `skeleton` with the constants that `near` has in the same terms.

    A term that `near` lacks starts with coefficient zero and its inner constants from `other`.
    """
    if skeleton.parameters:
        return borrowed_by_name(skeleton, near, other)
    constants = list(other)
    known = {unlabelled(term.body): term for term in near.skeleton.terms}
    for term in skeleton.terms:
        old = known.get(unlabelled(term.body))
        if old is not None:
            for i, j in zip(labels(term.body), labels(old.body), strict=True):
                constants[i] = near.constants[j]
        if term.constant is not None:
            share = near.constants[old.constant] if old is not None and old.constant is not None else 1.0
            constants[term.constant] = share * (old.multiplier / term.multiplier if old is not None else 0.0)
    return Equation(skeleton, tuple(constants))


def labels(body: Node) -> list[int]:
    """Return the constants inside a term, in the order of writing."""
    return [index(node) for node in walk(body) if node.op == "const"]


def deletions(bodies: Bodies) -> Iterator[Bodies]:
    """Yield the sums with one term less."""
    if len(bodies) > 1:
        yield from (bodies - {body} for body in sorted(bodies))


def additions(bodies: Bodies, vocabulary: Sequence[Node]) -> Iterator[Bodies]:
    """Yield the sums with one term more."""
    yield from (bodies | {body} for body in vocabulary if body not in bodies)


def swaps(bodies: Bodies, vocabulary: Sequence[Node]) -> Iterator[Bodies]:
    """Yield the sums with one term replaced."""
    for smaller in ((bodies - {body}) for body in sorted(bodies)):
        yield from (smaller | {body} for body in vocabulary if body not in bodies)


def neighbours(bodies: Bodies, vocabulary: Sequence[Node]) -> Iterator[Bodies]:
    """Yield all of these, the small ones first."""
    yield from deletions(bodies)
    yield from additions(bodies, vocabulary)
    yield from swaps(bodies, vocabulary)
