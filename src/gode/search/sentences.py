"""Random sentences of a grammar, as skeletons."""

from collections.abc import Iterator

import numpy as np

from gode.equation import Skeleton
from gode.errors import EquationError
from gode.grammar import generate, sample
from gode.library import sentence_skeleton
from gode.model import LatentSpace, Listing


def random_skeletons(space: LatentSpace | Listing, n: int, rng: np.random.Generator) -> Iterator[Skeleton]:
    """Yield the skeletons of `n` random sentences of the grammar."""
    limit = max(space.grammar.limit, space.grammar.closing_length(space.grammar.start))
    for _ in range(n):
        tokens = generate(space.grammar, sample(space.grammar, rng=rng, max_rules=limit))
        try:
            yield sentence_skeleton(space.grammar, tokens)
        except EquationError:  # a third derivative
            continue
