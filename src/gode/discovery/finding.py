"""Finding: a law as it is written, with the standard errors of its numbers."""

from __future__ import annotations  # help() then shows types by their names

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gode.arrays import Float
from gode.discovery.energy import potential_text
from gode.discovery.measured import units_of, with_units
from gode.discovery.named import (
    INSIDE,
    Constant,
    functions_found,
    lines_with_names,
    named_constants,
    numbers_of,
)
from gode.discovery.natural import Natural, natural_constants
from gode.discovery.shared import links_of, named_lines, shared_constants
from gode.equation import Equation, Law, Term
from gode.equation.printer import display_order, to_text
from gode.equation.skeleton import shown_name
from gode.equation.system import make_law
from gode.equation.terms import has_pivot_one, linear_terms
from gode.equation.tree import Node, const, renamed
from gode.errors import DataError
from gode.selection import Candidate
from gode.units import Unit


class Number(NamedTuple):
    """A free number of one equation as it is written."""

    value: float
    place: str  # what it multiplies
    equation: int
    free: int  # the free constant of the law behind it, or -1 where several are
    body: Node  # what it multiplies in the view of the equation; itself where it stands inside
    left: str = ""  # what the equation is solved for; none where the constant stands inside


@dataclass(frozen=True, repr=False)
class Finding:
    """A law with the standard errors of its constants: of all states, or the equation of one of them."""

    candidate: Candidate
    state: int | None = None  # the number of the state whose equation this is; None for the whole law
    units: Mapping[str, Unit] = field(default_factory=dict)  # of the columns, where they are known

    @property
    def law(self) -> Law:
        """The law that it is, or is a part of."""
        return self.candidate.equation

    @property
    def equation(self) -> Law:
        """The law itself; that of one state is in the view of its equation, in u, v1, ..."""
        return self.law if self.state is None else self.law.equations[self.state]

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states."""
        names = self.law.skeleton.shown_states
        return names if self.state is None else (names[self.state],)

    def __getitem__(self, state: str) -> Finding:
        """Return the equation of one state, with its own constants.

        Raises:
            DataError: if no state has this name.
        """
        names, inside = self.law.skeleton.shown_states, self.law.states
        if state not in self.states and (len(inside) > 1 or state != inside[0]):
            raise DataError(f"no state is called {state!r}; the states are {', '.join(self.states)}")
        number = names.index(state) if state in names else inside.index(state)
        return self if isinstance(self.law, Equation) else Finding(self.candidate, number, self.units)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return the equation of each state as text."""
        return self._own(self.law.lines(4))

    def named_lines(self) -> list[str]:
        """Return the equation of each state with a letter for each constant that several share, and these.

        Constants that the user named stand by their names. Without any they are those of `lines`.
        """
        shared = shared_constants(self.law)
        if self.law.skeleton.parameters:
            return [*self._own(lines_with_names(self.law)), *self.functions.values()]
        if not shared:
            return self.lines()
        errors = self.candidate.errors
        used = [each for each in shared if {*each.equations} & {*self.states}]
        return self._own(named_lines(self.law)) + [each.told(float(errors[each.place])) for each in used]

    @property
    def functions(self) -> dict[str, str]:
        """What was found for each unknown function of the frame, as text such as f(u') = 0.2*u'."""
        return functions_found(self.law)

    def __repr__(self) -> str:
        return f"<{'; '.join(self.lines())}>"

    def latex(self) -> str:
        """Return the equation in LaTeX; of several states, an aligned block."""
        if self.state is None:
            return self.law.latex()
        return self.law.equations[self.state].latex(names=self.law.skeleton.names(self.state))

    def sympy(self) -> object:
        """Return the equation as a SymPy `Eq` in u(t) and its derivatives; of several states, a list."""
        found = self.law.sympy()
        return found[self.state] if isinstance(found, list) and self.state is not None else found

    def rhs(self) -> str | dict[str, str]:
        """Return what the highest derivative equals; of several states, by their names."""
        skeleton = self.law.skeleton
        found = [e.rhs(names=skeleton.names(i)) for i, e in enumerate(self.law.equations)]
        own = self._own(found)
        return (
            own[0]
            if len(skeleton.states) == 1 or self.state is not None
            else dict(zip(self.states, own, strict=True))
        )

    def _own(self, lines: list[str]) -> list[str]:
        return lines if self.state is None else [lines[self.state]]

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    @cached_property
    def constants(self) -> tuple[Constant, ...]:
        """The constants in the scale of the text, with their standard errors; each shared one once.

        Named ones come as they were named.
        """
        if self.law.skeleton.parameters:
            return with_units(named_constants(self.candidate, self.state), self.law, self.units)
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        numbers = self._numbers(self.law)
        firsts = [numbers[group[0]] for group in self._groups]
        units = units_of([(n.equation, n.body, n.left) for n in firsts], self.law, self.units)
        return tuple(
            Constant(
                numbers[group[0]].value, float(error), self._place([numbers[i] for i in group]), unit=unit
            )
            for group, error, unit in zip(self._groups, errors, units, strict=True)
        )

    @property
    def places(self) -> list[int]:
        """The free constant of the law behind each of `constants`, -1 where several are."""
        if self.law.skeleton.parameters:
            return numbers_of(self.law, self.state)
        numbers = self._numbers(self.law)
        return [numbers[group[0]].free for group in self._groups]

    @cached_property
    def natural(self) -> tuple[Natural, ...]:
        """The constants of the forms that people use, such as r and K of r*u*(1 - u/K), of the whole law."""
        units = {self._shown(column): unit for column, unit in self.units.items()}
        return natural_constants(self.law, self.candidate.covariance, units)

    @cached_property
    def potential(self) -> str | None:
        """V(u) of u'' = -V'(u) as text, up to a constant; None without one, or without a simple formula."""
        return potential_text(self.law)

    @cached_property
    def covariance(self) -> Float:
        """The covariance of `constants`, in their order and scale."""
        if self.law.skeleton.parameters:
            own = numbers_of(self.law, self.state)
            return np.asarray(self.candidate.covariance[np.ix_(own, own)])
        first = [group[0] for group in self._groups]
        values = np.array([n.value for n in self._numbers(self.law)])[first]
        c = np.array(self.law.constants)
        slopes = np.zeros((len(values), len(c)))
        for i in range(len(c)):
            step = 1e-6 * (abs(c[i]) or 1.0)
            moved = c.copy()
            moved[i] += step
            shifted = self._numbers(make_law(self.law.skeleton, moved))
            slopes[:, i] = (np.array([n.value for n in shifted])[first] - values) / step
        return np.asarray(slopes @ self.candidate.covariance @ slopes.T)

    def _numbers(self, law: Law) -> list[Number]:
        """Return the free numbers of these equations as they are written."""
        chosen = range(len(law.equations)) if self.state is None else [self.state]
        return [number for i in chosen for number in _written(law, i)]

    @cached_property
    def _groups(self) -> list[list[int]]:
        """The numbers behind each constant: several where equations share one, a positive one first."""
        numbers = self._numbers(self.law)
        groups: dict[object, list[int]] = {}
        for i, number in enumerate(numbers):
            groups.setdefault(number.free if number.free >= 0 else (i,), []).append(i)
        return [sorted(group, key=lambda i: (numbers[i].value < 0, i)) for group in groups.values()]

    def _place(self, numbers: list[Number]) -> str:
        """Return what a constant multiplies, and of a whole system in which equation."""
        states = self.law.states
        if len(states) == 1 or self.state is not None:
            return numbers[0].place
        ordered = sorted(numbers, key=lambda n: n.equation)
        where = list(dict.fromkeys(f"{states[n.equation]}{self._primes(n.equation)}" for n in ordered))
        bodies = {_sorted(n.place) for n in numbers}
        if len(bodies) > 1:
            return ", ".join(f"{n.place} in {states[n.equation]}{self._primes(n.equation)}" for n in ordered)
        which = "both equations" if len(where) == len(states) == 2 else " and ".join(where)
        return f"{numbers[0].place}, in {which}"

    def _shown(self, column: str) -> str:
        return shown_name(column, self.law.skeleton.called)

    def _primes(self, own: int) -> str:
        return "'" * self.law.skeleton.orders[own]


def _sorted(place: str) -> tuple[str, ...]:
    return tuple(sorted(place.split("*")))


def _written(law: Law, own: int) -> list[Number]:
    """Return the free numbers of an equation as it is written.

    A scalar equation is written D(u) = F, or solved for its highest part; that of a system is solved.
    """
    equation, names, links = law.equations[own], law.skeleton.names(own), links_of(law)[own]
    c = np.array(equation.constants)
    terms = sorted(linear_terms(equation.skeleton.normal), key=lambda t: display_order(t.body))
    alone = law is equation
    forces = [t for t in terms if t.body.value in equation.skeleton.inputs and alone]
    force = forces[0] if len(forces) == 1 else None  # then it stands alone, as in Equation.sides
    solved = force or has_pivot_one(equation.skeleton.normal, equation.skeleton.highest)
    explicit = [t for t in terms if solved and t.body.value == equation.skeleton.highest]
    scale = -1.0 / _factor(force, c) if force else (-1.0 if explicit else 1.0)
    out, used = [], set()
    for term in terms:
        used.add(term.constant)
        if term is force:
            continue
        if term.constant is not None or (force and force.constant is not None and term in explicit):
            free = -1 if force or term.constant is None else links[term.constant][0]
            place = to_text(renamed(term.body, names))
            left = str(force.body.value) if force else equation.skeleton.highest
            out.append(Number(float(scale * _factor(term, c)), place, own, free, term.body, left))
    inside = [i for i in range(len(c)) if i not in used]
    out += [Number(float(c[i]), INSIDE, own, links[i][0], const(i)) for i in inside]
    return [n for n in out if alone or n.free >= 0]


def _factor(term: Term, constants: Float) -> float:
    return term.multiplier * (1.0 if term.constant is None else float(constants[term.constant]))
