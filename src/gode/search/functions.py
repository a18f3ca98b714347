"""What may be written for an unknown function: a space of sentences and a vocabulary over its arguments."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from gode.arrays import Float
from gode.equation import Node, Skeleton
from gode.equation.frame import Unknown
from gode.equation.tree import STATE, is_other, renamed, variables
from gode.errors import GrammarError
from gode.model import LatentSpace, Listing, open_space
from gode.model.termbook import terms_for
from gode.search.blank import Blank, term_of
from gode.search.sentences import random_skeletons
from gode.search.settings import GRAMMARS, SYSTEMS

COLUMNS = ("t", "F")


@dataclass(frozen=True)
class Completed:
    """A space whose points are the equation of a frame with a sentence as its only unknown function."""

    space: LatentSpace | Listing
    blank: Blank
    order: int

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return self.space.dimension

    def decode(self, z: Float) -> list[Skeleton | None]:
        """Return the completed skeleton at each point."""
        return [None if found is None else self.blank.complete([found]) for found in self.space.decode(z)]

    def encode(self, skeletons: Iterable[Skeleton]) -> Float:
        """Return the points of some completed skeletons."""
        points = self.space.encode([self.blank.sentence(each, self.order) for each in skeletons])
        return np.asarray(points, np.float64)


def function_space(space: LatentSpace | Listing, unknown: Unknown) -> LatentSpace | Listing | None:
    """Return the part of a space that is written with the arguments of a function alone, None without one."""
    signals = [name for name in space.grammar.terminals if name in COLUMNS or _is_state(name)]
    absent = [name for name in signals if name not in unknown.formal]
    try:
        return space.without(*absent) if absent else space
    except GrammarError:  # nothing can be written with these alone
        return None


def function_terms(space: LatentSpace | Listing, unknown: Unknown) -> Iterator[Node]:
    """Yield the terms that may stand in an unknown function, the most frequent first, each once.

    Those of the grammar of the data come first, then those of general ones over the arguments.
    """
    seen: set[Node] = set()
    for body in chain(_own_terms(space, unknown), _general_terms(unknown)):
        if body not in seen and variables(body) <= set(unknown.formal):
            seen.add(body)
            yield term_of(unknown.name, body)


def _own_terms(space: LatentSpace | Listing, unknown: Unknown) -> Iterator[Node]:
    if not unknown.plain:
        return
    single = [next(iter(bodies)) for bodies in space.book.ways if len(bodies) == 1]
    others = tuple(name for name in unknown.formal if is_other(name))
    yield from terms_for(single, others) if others else single


def _general_terms(unknown: Unknown) -> Iterator[Node]:
    names = _general_names(unknown)
    called = dict(zip(names, unknown.formal, strict=True))
    grammars = [SYSTEMS] if len(names) > 1 else [GRAMMARS[1], SYSTEMS]
    for grammar in grammars:
        single = [next(iter(bodies)) for bodies in open_space(grammar).book.ways if len(bodies) == 1]
        found = terms_for(single, names[1:]) if len(names) > 1 else tuple(single)
        yield from (renamed(body, called) for body in found if variables(body) <= set(names))


def _general_names(unknown: Unknown) -> tuple[str, ...]:
    return tuple(STATE if i == 0 else f"v{i}" for i in range(len(unknown.formal)))


def _is_state(name: str) -> bool:
    return name.rstrip("'") == STATE or is_other(name)


def random_fillings(
    blank: Blank, spaces: Iterable[LatentSpace | Listing | None], n: int, rng: np.random.Generator
) -> Iterator[Skeleton]:
    """Yield the equation with `n` random sentences for its unknown functions."""
    own = [space for space in spaces if space is not None]
    if len(own) < len(blank.unknowns):
        return
    streams = [
        random_skeletons(space, n, stream) for space, stream in zip(own, rng.spawn(len(own)), strict=True)
    ]
    for sentences in zip(*streams, strict=False):
        found = blank.complete(sentences)
        if found is not None:
            yield found
