"""Equation: a skeleton with the values of its constants, as text, LaTeX or SymPy."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from gode.equation.parse import numbers_to_constants, parse_tree
from gode.equation.printer import exact, rounded, to_latex, to_text
from gode.equation.skeleton import Skeleton, checked, shown_name
from gode.equation.sums import from_sum, normal_sum, pivot_body, to_sum
from gode.equation.terms import Term, explicit_terms, has_pivot_one, linear_terms, term_node
from gode.equation.tree import (
    Node,
    add,
    complexity,
    has_constant,
    num,
    renamed,
    renumber,
    replace_constants,
    var,
)
from gode.errors import EquationError, shortened

if TYPE_CHECKING:
    import sympy


@dataclass(frozen=True)
class Equation:
    """A skeleton and its constants, numbered as in the skeleton's normal form.

    `scale` is the factor by which the equation was written larger than its normal form; None where
    nobody wrote it: then a lone force has coefficient one, or else the highest derivative.
    """

    skeleton: Skeleton
    constants: tuple[float, ...] = ()
    scale: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if len(self.constants) != self.skeleton.n_constants:
            raise EquationError(
                f"{self.skeleton} has {self.skeleton.n_constants} constants, got {len(self.constants)} values"
            )

    @cached_property
    def tree(self) -> Node:
        """The residual: the equation says `tree = 0`."""
        return replace_constants(self.skeleton.normal, lambda i: num(self.constants[i]))

    @property
    def order(self) -> int:
        """The order of the highest derivative."""
        return self.skeleton.order

    @cached_property
    def complexity(self) -> int:
        """The paper's complexity of the residual, in the scale in which it is written."""
        terms = linear_terms(from_sum(normal_sum(self.tree)))
        scale = self.scale or next((1 / abs(t.multiplier) for t in terms if self._is_force(t)), 1.0)
        return complexity(add(*(term_node(_times(t, scale)) for t in terms)))

    @property
    def equations(self) -> "tuple[Equation, ...]":
        """The equation of each state: this one."""
        return (self,)

    @property
    def states(self) -> tuple[str, ...]:
        """The name of each state."""
        return self.skeleton.states

    def lines(self, digits: int | None = 6) -> list[str]:
        """Return the equation of each state as text."""
        return [self.text(digits)]

    def text(self, digits: int | None = 6, names: Mapping[str, str] | None = None) -> str:
        """Return the equation as text; every digit of its constants if `digits` is None.

        Args:
            names: what the columns are called in a system, where the highest derivative stands on the left.
        """
        return self._written(to_text, exact if digits is None else rounded(digits), names)

    def latex(self, digits: int = 4, names: Mapping[str, str] | None = None) -> str:
        """Return the equation in LaTeX; see `text`."""
        return self._written(to_latex, rounded(digits), names)

    def _written(
        self, write: Callable[..., str], style: Callable[[float], str], names: Mapping[str, str] | None
    ) -> str:
        left, right = self.sides() if names is None else self.explicit_sides()
        names = self.skeleton.names(0) if names is None else names
        return f"{write(left, style, names)} = {write(right, style, names)}"

    def sympy(self) -> "sympy.Eq":
        """Return the equation as a SymPy `Eq` in u(t) and its derivatives."""
        from gode.equation.symbolic import tree_to_sympy  # SymPy takes 0.3 s to import

        return tree_to_sympy(*(renamed(side, self.skeleton.names(0)) for side in self.sides()))

    def rhs(self, digits: int | None = 6, names: Mapping[str, str] | None = None) -> str:
        """Return the explicit right-hand side: what the highest derivative equals; see `text`.

        Raises:
            EquationError: if the highest derivative does not enter linearly.
        """
        terms = explicit_terms(self.tree, self.skeleton.highest)
        if terms is None:
            raise EquationError(
                f"{self} is not linear in {shown_name(self.skeleton.highest, self.skeleton.called)}: "
                "it has no explicit right-hand side"
            )
        style = exact if digits is None else rounded(digits)
        names = self.skeleton.names(0) if names is None else names
        return to_text(add(*map(term_node, terms)), style, names)

    @cached_property
    def _text(self) -> str:
        return self.text()  # asked for at every step of the progress

    def __str__(self) -> str:
        return self._text

    def sides(self) -> tuple[Node, Node]:
        """Return what to write left and right of the `=`: D(u) = F, or u' = f, or D(u) = 0."""
        terms = linear_terms(from_sum(normal_sum(self.tree)))
        forces = [t for t in terms if self._is_force(t)]
        if len(forces) == 1:
            (force,) = forces
            rest = [_times(t, -1 / force.multiplier) for t in terms if t is not force]
            return add(*map(term_node, rest)), force.body
        return self.explicit_sides()

    def explicit_sides(self) -> tuple[Node, Node]:
        """Return u' = f or u'' = f where the equation says so, else D(u) = 0."""
        terms = linear_terms(from_sum(normal_sum(self.tree)))
        highest = self.skeleton.highest
        if not has_pivot_one(add(*map(term_node, terms)), highest):
            return add(*map(term_node, terms)), num(0)
        rest = [_times(t, -1.0) for t in terms if t.body.value != highest]
        return var(highest), add(*map(term_node, rest))

    def _is_force(self, term: Term) -> bool:
        return term.body.value in self.skeleton.inputs


def parse_equation(text: str, *, inputs: tuple[str, ...] = ("F",), formula: bool = False) -> Equation:
    """Return the equation a person typed, such as ``2*u'' + u' + 5*u = F``.

    Every number but integer exponents becomes the value of a constant.

    Args:
        formula: whether it may be of order zero, a formula of what is measured.
    """
    tree = parse_tree(text, inputs=inputs)
    if has_constant(tree):
        raise EquationError(
            f"{shortened(text, 80)!r} has free constants C; give them values, or fit them to measurements "
            "with fit"
        )
    checked(Skeleton(tree), text, formula=formula)
    return equation_of(tree)


def from_sympy(equation: "sympy.Eq | sympy.Expr") -> Equation:
    """Return the equation a SymPy `Eq`, or an expression meant to vanish, stands for.

    Raises:
        EquationError: for anything that is not a real expression in t, u(t), its derivatives and inputs.
    """
    from gode.equation.symbolic import sympy_to_tree  # SymPy takes 0.3 s to import

    tree = sympy_to_tree(equation)
    checked(Skeleton(tree), str(equation))
    return equation_of(tree)


def equation_of(tree: Node) -> Equation:
    """Return the equation `tree = 0`, whose constants are numbers."""
    terms = to_sum(tree)
    pivot = pivot_body(terms)
    scale = None if pivot is None else terms[pivot]
    freed, values = numbers_to_constants(from_sum(normal_sum(tree)))
    skeleton = Skeleton(renumber(freed))
    if skeleton.normal == skeleton.tree:
        return Equation(skeleton, values, scale)
    return Equation(Skeleton(tree), (), scale)  # freeing the numbers would merge some: keep them


def _times(term: Term, factor: float) -> Term:
    """Return `factor * term`; what lies within rounding of a short number is that: 49 * (1/49) is 1."""
    value = term.multiplier * factor
    short = float(f"{value:.12g}")
    return Term(short if math.isclose(value, short, rel_tol=1e-15) else value, term.constant, term.body)
