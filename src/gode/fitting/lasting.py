"""What is zero stays zero: terms that vanish where their own state rests at zero, whatever the others do."""

from collections.abc import Collection
from functools import lru_cache

import numpy as np

from gode.arrays import Float
from gode.equation import Law, Node, Term
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import (
    STATE,
    TIME,
    count_constants,
    is_other,
    mul,
    renumber,
    unlabelled,
    var,
    variables,
)

POINTS = 7  # at which a term is evaluated
SMALL = 1e-9
TINY = 1e-30  # stands for zero, where u*log(u) has no value


@lru_cache(maxsize=20_000)
def lasts(body: Node, order: int) -> bool:
    """Tell whether a term leaves a state at rest at zero; one with the highest derivative must bind that."""
    highest = STATE + "'" * order
    still = {name for name in variables(body) if not is_other(name) and name.rstrip("'") == STATE}
    points = np.linspace(0.3, 1.7, POINTS)
    here = np.abs(values_at(body, points, still - {highest}))
    if highest in still:
        return bool(here.min() > SMALL)
    return bool(here.max() <= SMALL)


def lasting(body: Node, order: int) -> Node:
    """Return a term of a law in which what is zero stays zero: itself, or the state times it."""
    return body if lasts(body, order) else unlabelled(mul(var(STATE), body))


def law_lasts(law: Law) -> bool:
    """Tell whether in a law each state that is zero stays zero."""
    parts = law.skeleton.parts
    bodies = [(t.body, part) for part in parts for t in part.terms if t.body.value != part.highest]
    return all(lasts(renumber(body), part.order) for body, part in bodies)


def values_at(body: Node, points: Float, still: Collection[str] = ()) -> Float:
    """Return a term where its signals have these values, but time goes on; NaN where it is not defined.

    Args:
        still: signals that are zero instead.
    """
    names = tuple(sorted(variables(body) | {TIME}))
    body = renumber(body)
    n = count_constants(body)
    shifts = 1.0 + 0.1 * np.arange(len(names))
    x = np.array(
        [
            np.linspace(0.1, 0.9, len(points))
            if name == TIME
            else np.full(len(points), TINY)
            if name in still
            else s * points
            for s, name in zip(shifts, names, strict=True)
        ]
    )
    tape = compile_tape([Term(1.0, None, body)], names, n)
    return evaluate(tape, [0.7 + 0.1 * i for i in range(n)], x).value
