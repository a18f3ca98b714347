"""The space of one equation of a system: the grammar of systems with what the system lacks switched off.

The shipped model knows four states of second order. For fewer states, or for first order, the rules of what
is absent are switched off, and the weights stay valid.
"""

from dataclasses import replace
from functools import lru_cache

from gode.equation.tree import STATE, derivative_order, is_other
from gode.model.latent import LatentSpace
from gode.model.listing import Listing

INPUT = "F"
EXPLICIT = tuple(f"{STATE}{primes} = {{sentence}}" for primes in ("'", "''"))  # by order, from 1


@lru_cache(maxsize=16)  # the equations of a system have one order and see as many columns
def equation_space(
    space: LatentSpace | Listing, order: int, columns: tuple[str, ...]
) -> LatentSpace | Listing:
    """Return the part of a space that writes equations of `order` with `columns` alone on the right.

    Args:
        columns: u, v1, v2, ..., their derivatives and F, as far as they are there; any below `order` may be
            written. More than the grammar knows do no harm.

    Raises:
        GrammarError: if no sentence is left.
    """
    grammar = space.grammar
    signals = [name for name in grammar.terminals if name == INPUT or _is_state(name)]
    absent = [name for name in signals if name not in columns or derivative_order(name) >= order]
    template = EXPLICIT[order - 1] if grammar.template in EXPLICIT else grammar.template
    fewer = grammar.without(*absent) if absent else grammar
    return replace(space, grammar=replace(fewer, template=template))


def _is_state(name: str) -> bool:
    return name.rstrip("'") == STATE or is_other(name)
