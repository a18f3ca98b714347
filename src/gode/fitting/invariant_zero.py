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
    has_constant,
    is_other,
    mul,
    num,
    renumber,
    replace_constants,
    unlabelled,
    var,
    variables,
)

POINTS = np.linspace(0.3, 1.7, 7)  # A term is evaluated at these values of a signal.
SMALL = 1e-8  # What is smaller beside other values is zero: above rounding, also that of numerical slopes.
TINY = 1e-30  # This stands for zero, where u*log(u) has no value.


@lru_cache(maxsize=20_000)
def keeps_zero(body: Node, order: int) -> bool:
    """Tell whether a term leaves a state at rest at zero, with constants that are usual.

    One with the highest derivative must not vanish there, or it would leave the state free.
    """
    return _vanishes(body, order)


def _vanishes(body: Node, order: int) -> bool:
    highest = STATE + "'" * order
    still = {name for name in variables(body) if not is_other(name) and name.rstrip("'") == STATE}
    here = np.abs(values_at(body, POINTS, still - {highest}))
    if highest in still:
        return bool(here.min() > SMALL)
    return bool(here.max() <= SMALL)


def with_zero_kept(body: Node, order: int) -> Node:
    """Return a term of a law in which what is zero stays zero: itself, or the state times it."""
    return body if keeps_zero(body, order) else unlabelled(mul(var(STATE), body))


def law_keeps_zero(law: Law) -> bool:
    """Tell whether in a law each state that is zero stays zero, with its own constants: u*u^C need not."""
    for equation in law.equations:
        part, c = equation.skeleton, equation.constants
        bodies = [term.body for term in part.terms if term.body.value != part.highest]
        if not all(keeps_zero(renumber(body), part.order) for body in bodies):
            return False
        inside = [replace_constants(body, lambda i, c=c: num(c[i])) for body in bodies if has_constant(body)]  # type: ignore[misc]
        if not all(_vanishes(body, part.order) for body in inside):
            return False
    return True


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
