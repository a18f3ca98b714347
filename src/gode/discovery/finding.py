"""Finding: an equation as it is written, with the standard errors of its numbers."""

from __future__ import annotations  # help() then shows types by their names

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gode.arrays import Float
from gode.equation import Equation, Term
from gode.equation.printer import display_order, to_text
from gode.equation.skeleton import has_pivot_one, linear_terms
from gode.selection import Candidate


class Constant(NamedTuple):
    """A number of the equation as written, its standard error, and what it multiplies or where it stands."""

    value: float
    error: float
    place: str


@dataclass(frozen=True, repr=False)
class Finding:
    """An equation with the standard errors of its constants."""

    candidate: Candidate

    @property
    def equation(self) -> Equation:
        """The equation itself."""
        return self.candidate.equation

    def __str__(self) -> str:
        return self.equation.text(4)

    def __repr__(self) -> str:
        return f"<{self}>"

    def latex(self) -> str:
        """Return the equation in LaTeX."""
        return self.equation.latex()

    def sympy(self) -> object:
        """Return the equation as a SymPy `Eq` in u(t) and its derivatives."""
        return self.equation.sympy()

    def rhs(self) -> str:
        """Return what the highest derivative equals."""
        return self.equation.rhs()

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    @cached_property
    def constants(self) -> tuple[Constant, ...]:
        """The constants in the scale of the text, with their standard errors."""
        values, places = _written(self.equation)
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        rows = zip(values, errors.tolist(), places, strict=True)
        return tuple(Constant(*row) for row in rows)

    @cached_property
    def covariance(self) -> Float:
        """The covariance of `constants`, in their order and scale."""
        values, _ = _written(self.equation)
        c = np.array(self.equation.constants)
        slopes = np.zeros((len(values), len(c)))
        for i in range(len(c)):
            step = 1e-6 * (abs(c[i]) or 1.0)
            moved = c.copy()
            moved[i] += step
            shifted, _ = _written(Equation(self.equation.skeleton, tuple(moved.tolist())))
            slopes[:, i] = (np.array(shifted) - np.array(values)) / step
        return np.asarray(slopes @ self.candidate.covariance @ slopes.T)


def _written(equation: Equation) -> tuple[list[float], list[str]]:
    """Return the free numbers of the equation as it is written: D(u) = F, or solved for its highest part."""
    c = np.array(equation.constants)
    terms = sorted(linear_terms(equation.skeleton.normal), key=lambda t: display_order(t.body))
    forces = [t for t in terms if t.body.value in equation.skeleton.inputs]
    force = forces[0] if len(forces) == 1 else None  # then it stands alone, as in Equation.sides
    solved = force or has_pivot_one(equation.skeleton.normal, equation.skeleton.highest)
    explicit = [t for t in terms if solved and t.body.value == equation.skeleton.highest]
    scale = -1.0 / _factor(force, c) if force else (-1.0 if explicit else 1.0)
    values, places, used = [], [], set()
    for term in terms:
        used.add(term.constant)
        if term is force:
            continue
        if term.constant is not None or (force and force.constant is not None and term in explicit):
            values.append(float(scale * _factor(term, c)))
            places.append(to_text(term.body))
    for i in range(len(c)):
        if i not in used:
            values.append(float(c[i]))
            places.append("inside a function")
    return values, places


def _factor(term: Term, constants: Float) -> float:
    return term.multiplier * (1.0 if term.constant is None else float(constants[term.constant]))
