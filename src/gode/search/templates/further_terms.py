"""Terms that the grammars of our models do not write, and that sums of a few terms are tried with.

A model is trained on the sentences of its grammar. What people need besides, limits and kinks at a place that
the data tell, times with a state, roots and Arrhenius' law, is reached by sums of terms and their neighbours.
"""

from collections.abc import Iterable
from functools import lru_cache

from gode.equation import Node, parse_tree
from gode.equation.sums import to_sum
from gode.equation.tree import FREE, is_other, mul, unlabelled, variables
from gode.model.termbook import terms_for

KINKS = ("max(0, u - C)", "abs(u - C)", "max(0, F - C)", "u*max(0, F - C)")
FURTHER = {
    "first-order": (*KINKS, "sqrt(u)", "sqrt(F)", "exp(C/u)"),
    "second-order": (*KINKS, "max(0, u - C)*u'", "exp(C/u)", "t*u"),
    "systems": (
        *KINKS, "max(0, v1 - C)", "abs(v1 - C)", "u*max(0, v1 - C)", "t*u", "t*v1", "sqrt(u)", "sqrt(v1)"
    ),
}  # fmt: skip


@lru_cache(maxsize=100)
def further_terms(grammar: str, columns: tuple[str, ...]) -> tuple[Node, ...]:
    """Return the further terms that go with one of our grammars, in the columns that an equation sees."""
    bodies = [_body(text) for text in FURTHER.get(grammar, ())]
    others = tuple(name for name in columns if is_other(name))
    single = [body for body in bodies if not any(map(is_other, variables(body)))]
    shared = [body for body in bodies if body not in single]
    return (*single, *(_renamed(shared, others) if others else ()))


def _body(text: str) -> Node:
    states = ("u", "v1")
    (body,) = to_sum(unlabelled(mul(FREE, parse_tree(text, states=states))))
    return body


def _renamed(bodies: Iterable[Node], others: tuple[str, ...]) -> Iterable[Node]:
    return terms_for(list(bodies), others)
