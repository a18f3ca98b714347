"""Exponents that may be whole or half: most laws have such, and a number less to fit."""

from collections.abc import Iterator

from gode.equation import Equation
from gode.fitting.constant_prior import EXPONENT, roles
from gode.search.templates import Template
from gode.selection import Candidate

NEAR = 2.5  # standard errors within which an exponent may be round
CLOSE = 0.02  # or this much, whatever its error
LARGEST = 5.0


def rounded(candidate: Candidate, template: Template) -> Iterator[Equation]:
    """Yield the equation with each of its exponents that may be round, and with all of them."""
    equation, errors = candidate.single, candidate.errors
    fixed: dict[int, float] = {}
    for term in equation.skeleton.terms:
        for role in roles(term.body):
            value = equation.constants[role.constant]
            if role.kind != EXPONENT or not abs(value) <= LARGEST:
                continue
            near = round(2 * value) / 2
            if abs(value - near) <= max(NEAR * errors[role.constant], CLOSE) and near not in (0.0, 1.0):
                fixed[role.constant] = near
    choices = [{place: value} for place, value in fixed.items()]
    for chosen in [*choices, fixed] if len(fixed) > 1 else choices:
        found = template.with_numbers(equation.skeleton, chosen)
        if found is not None:
            yield Equation(found[0], tuple(equation.constants[i] for i in found[1]))
