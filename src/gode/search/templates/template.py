"""What all templates have in common, and how the terms of an equation are changed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from gode.arrays import Float
from gode.data import Dataset
from gode.equation import (
    Equation,
    Law,
    Node,
    Skeleton,
    Term,
)
from gode.equation.tree import (
    constants_in,
    is_other,
    unlabelled,
)
from gode.errors import EquationError
from gode.grammar import generate, sample
from gode.library import sentence_skeleton
from gode.model import LatentSpace, Listing
from gode.model.termbook import terms_for

Bodies = frozenset[Node]  # the terms of a sum, without the constants that multiply them
Space = LatentSpace | Listing
AnyFloat = np.ndarray[Any, np.dtype[np.floating[Any]]]  # of single or double precision
Fit = Callable[[int, Skeleton], Equation | None]  # a cheap fit of the equation of a state


class Admission(Protocol):
    """Tells which terms may be tried."""

    def allows(self, body: Node) -> bool:
        """Tell whether nothing in a term is barred."""

    def distinguishes(self, tree: Node) -> bool:
        """Tell whether the data tell what a term adds to the equation from other terms."""


class Points(Protocol):
    """A latent space, as far as climbing in it needs one."""

    @property
    def dimension(self) -> int:
        """The number of coordinates."""

    def decode(self, z: Float) -> list[Skeleton | None]:
        """Return the skeleton at each point."""

    def encode(self, skeletons: Sequence[Skeleton]) -> AnyFloat:
        """Return the point of each skeleton."""


class Template(Protocol):
    """What the equation of one state must look like, and how terms fill it."""

    @property
    def order(self) -> int:
        """The order of the equation."""

    @property
    def fixed(self) -> Node:
        """The sum of the terms that are always there and hold no constant."""

    @property
    def linear(self) -> tuple[Node, ...]:
        """Further terms that are always there, each times a constant."""

    @property
    def is_linear(self) -> bool:
        """Whether the equation is linear in the terms that fill it."""

    @property
    def least_terms(self) -> int:
        """The least number of terms of which sums are compared."""

    def of_space(self, space: Space, *, keeps_zero: bool) -> "Template":
        """Return the template as the grammar of a space writes it.

        Args:
            keeps_zero: whether what is zero must stay zero.
        """

    def added(self, term: Node) -> Node:
        """Return what a term adds to the equation, up to a factor."""

    def skeleton(self, bodies: Bodies) -> Skeleton:
        """Return the equation with these terms, each with a free constant."""

    def terms_of(self, skeleton: Skeleton) -> Bodies:
        """Return the terms that fill an equation."""

    def sums(self, skeleton: Skeleton) -> Mapping[str, tuple[Term, ...]]:
        """Return the terms of an equation by the function they are in, with their constants."""

    def named(self, skeleton: Skeleton) -> Mapping[str, int]:
        """Return which constants have a name and stand outside of all unknown functions."""

    def with_numbers(
        self, skeleton: Skeleton, values: Mapping[int, float]
    ) -> tuple[Skeleton, list[int]] | None:
        """Return an equation with numbers for some constants, and which of the constants are left.

        None where the template cannot write it.
        """

    def constant_rate(self) -> Skeleton | None:
        """Return the equation of a constant rate, which can be solved along any data; None if it has none."""

    def sentences(self, space: Space, n: int, rng: np.random.Generator) -> Iterator[Skeleton]:
        """Yield equations of `n` random sentences, or of all that the grammar has."""

    def points(self, space: Space) -> Points | None:
        """Return the space in which to climb, None where there is none."""

    def words(self, space: Space, inputs: Sequence[str], admission: Admission, size: int) -> tuple[Node, ...]:
        """Return the terms that may fill the equation, the most frequent first, up to `size` of them."""

    def further(self, space: Space, inputs: Sequence[str], admission: Admission) -> tuple[Node, ...]:
        """Return terms besides those of the grammar, which sums of a few terms are tried with."""

    def laws(self, dataset: Dataset, equations: Sequence[Equation], fit: Fit) -> Iterator[Law]:
        """Yield the laws that the equations found for each state suggest."""

    def part(self, law: Law) -> Equation | None:
        """Return the equation of this state as it is sought; None where nothing is sought in it."""

    def changed(self, law: Law, equation: Equation, dataset: Dataset) -> Law:
        """Return a law with another equation for this state."""

    def without_rest(self, law: Law) -> Law:
        """Return the law with a free constant in each equation in place of its value at equilibrium."""


@dataclass(frozen=True)
class Vocabulary:
    """Terms that may fill an equation, the most frequent first."""

    bodies: tuple[Node, ...]
    template: Template


def borrowed(template: Template, skeleton: Skeleton, near: Equation, other: Sequence[float]) -> Equation:
    """Return `skeleton` with the constants that `near` has under the same names and in the same terms.

    A term that `near` lacks starts with coefficient zero and its inner constants from `other`.
    """
    constants = list(other)
    names = template.named(skeleton)
    values = values_by_name(near) if names else {}
    for name, place in names.items():
        constants[place] = values.get(name, constants[place])
    before = template.sums(near.skeleton)
    for function, terms in template.sums(skeleton).items():
        known = {unlabelled(term.body): term for term in before.get(function, ())}
        for term in terms:
            old = known.get(unlabelled(term.body))
            if old is not None:
                for i, j in zip(constants_in(term.body), constants_in(old.body), strict=True):
                    constants[i] = near.constants[j]
            if term.constant is not None:
                factor = near.constants[old.constant] if old is not None and old.constant is not None else 1.0
                constants[term.constant] = factor * (old.multiplier / term.multiplier if old else 0.0)
    return replace(near, skeleton=skeleton, constants=tuple(constants))


def values_by_name(law: Law) -> dict[str, float]:
    """Return the constants of a law by their names."""
    return {p.name: c for p, c in zip(law.skeleton.parameters, law.constants, strict=True)}


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


def random_skeletons(space: Space, n: int, rng: np.random.Generator) -> Iterator[Skeleton]:
    """Yield the skeletons of `n` random sentences of the grammar."""
    limit = max(space.grammar.limit, space.grammar.closing_length(space.grammar.start))
    for _ in range(n):
        tokens = generate(space.grammar, sample(space.grammar, rng=rng, max_rules=limit))
        try:
            yield sentence_skeleton(space.grammar, tokens)
        except EquationError:  # a third derivative
            continue


def grammar_terms(space: Space, columns: Iterable[str]) -> Iterable[Node]:
    """Return the single terms that a grammar writes, with the states among the columns as the others."""
    others = tuple(name for name in columns if is_other(name))
    return terms_for(space.book.singles(), others) if others else space.book.singles()
