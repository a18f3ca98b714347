"""Laws that are the same function within the data, written in other forms, such as u + u^3/6 and sin(u)."""

from collections.abc import Sequence

import numpy as np

from gode.arrays import Float
from gode.equation import Equation
from gode.equation.tape import compile_tape, evaluate
from gode.equation.terms import has_pivot_one
from gode.fitting.prepare import Prepared
from gode.fitting.roles import improbability_of_factors, views_of
from gode.selection import Candidate, SelectionConfig, ties

ALIKE = 0.005  # root mean square difference of the highest derivatives over their own, along the data


def plainest_first(
    order: Sequence[Candidate], prepared: Prepared, config: SelectionConfig
) -> list[Candidate]:
    """Return the candidates; of those that are the same function as the first, the most plausible first.

    A form in which large terms cancel, as in 25 u - 24 sin(u), is less plausible.
    """
    if not order:
        return []
    alike = same_function(order[0], ties(order, config, prepared.floor), prepared)

    def rank(c: Candidate) -> tuple[bool, float]:
        return not _is_solved(c), c.criterion + improbability_of_factors(c.equation, prepared.columns)

    best = min(alike, key=rank)
    return [best, *(c for c in order if c is not best)]


def same_function(one: Candidate, others: Sequence[Candidate], prepared: Prepared) -> list[Candidate]:
    """Return those of the others, `one` among them, that give the same highest derivatives along the data."""
    own = _highest(one, prepared)
    if own is None:
        return [one]
    with np.errstate(over="ignore"):
        size = np.sqrt(np.mean(own**2, axis=1, keepdims=True))
    found = []
    for other in others:
        values = own if other is one else _highest(other, prepared)
        if values is None or values.shape != own.shape:
            continue
        with np.errstate(over="ignore"):  # of laws that are far off
            gap = np.sqrt(np.mean((values - own) ** 2, axis=1, keepdims=True))
        if np.all(gap <= ALIKE * size):
            found.append(other)
    return found or [one]


def _is_solved(candidate: Candidate) -> bool:
    """Tell whether all equations are written with the highest derivative alone on one side."""
    return all(has_pivot_one(part.normal, part.highest) for part in candidate.equation.skeleton.parts)


def _highest(candidate: Candidate, prepared: Prepared) -> Float | None:
    """Return the highest derivative of each state (d, n) along the data; None where it is implicit."""
    rows = []
    for equation, names, x in views_of(candidate.equation, prepared.columns):
        values = _solved(equation, names, x)
        if values is None or not np.isfinite(values).all():
            return None
        rows.append(values)
    return np.array(rows)


def _solved(equation: Equation, names: tuple[str, ...], x: Float) -> Float | None:
    terms = equation.skeleton.rhs_terms
    if terms is None:
        return None
    with np.errstate(all="ignore"):
        return evaluate(
            compile_tape(list(terms), names, len(equation.constants)), equation.constants, x
        ).value
