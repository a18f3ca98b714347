"""Neighbours of a good skeleton: delete, swap or add a term."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from gode.equation import Node, Skeleton, parse_tree
from gode.equation.sums import to_sum
from gode.equation.tree import ONE, STATE, add, const, mul, num, power, renumber, unlabelled, var, walk

Bodies = frozenset[Node]


@dataclass(frozen=True)
class Vocabulary:
    """The terms a grammar can write, the most frequent first, and the part its template fixes."""

    bodies: tuple[Node, ...]
    template: str

    @property
    def frame(self) -> Node:
        """The equation without its sentence."""
        return parse_tree(self.template.replace("{sentence}", "0"))

    def terms_of(self, skeleton: Skeleton) -> Bodies:
        """Return the bodies of `skeleton` that the sentence writes."""
        return frozenset(to_sum(unlabelled(skeleton.key))) - frozenset(to_sum(self.frame))

    def skeleton(self, bodies: Bodies) -> Skeleton:
        """Return the sum of these terms, each with a free constant."""
        terms = [mul(const(0), body) for body in sorted(bodies)]
        return Skeleton(renumber(add(self.frame, *terms)))


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


def unbent(bodies: Bodies) -> Iterator[Bodies]:
    """Yield the sums with a term that holds inner constants replaced by two plain powers of the state."""
    plain = (ONE, var(STATE), power(var(STATE), num(2)), power(var(STATE), num(3)))
    for body in sorted(bodies):
        if any(node.op == "const" for node in walk(body)):
            rest = bodies - {body}
            yield from (rest | set(pair) for pair in combinations(plain, 2) if not rest & set(pair))


def neighbours(bodies: Bodies, vocabulary: Sequence[Node]) -> Iterator[Bodies]:
    """Yield all of these, the small ones first."""
    yield from deletions(bodies)
    yield from additions(bodies, vocabulary)
    yield from swaps(bodies, vocabulary)
