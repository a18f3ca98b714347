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

Bodies = frozenset[Node]


@dataclass(frozen=True)
class Vocabulary:
    """The terms a grammar can write, the most frequent first, and the part its template fixes."""

    bodies: tuple[Node, ...]
    template: str

    @cached_property
    def frame(self) -> Node:
        """The equation without its sentence."""
        return parse_tree(self.template.replace("{sentence}", "0"))

    def terms_of(self, skeleton: Skeleton) -> Bodies:
        """Return the bodies of `skeleton` that the sentence writes."""
        return frozenset(to_sum(unlabelled(skeleton.key))) - frozenset(to_sum(self.frame))

    def skeleton(self, bodies: Bodies) -> Skeleton:
        """Return the sum of these terms, each with a free constant."""
        return _sum_of(self.frame, bodies)


@lru_cache(maxsize=5_000)  # the neighbours of one skeleton are neighbours of others, too
def _sum_of(frame: Node, bodies: Bodies) -> Skeleton:
    terms = [mul(const(0), body) for body in sorted(bodies)]
    return Skeleton(renumber(add(frame, *terms)))


def borrowed(skeleton: Skeleton, near: Equation, other: Sequence[float]) -> Equation:
    """Return `skeleton` with the constants that `near` has in the same terms.

    A term that `near` lacks starts with coefficient zero and its inner constants from `other`.
    """
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
