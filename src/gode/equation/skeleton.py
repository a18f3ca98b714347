"""Skeleton: an ODE with free constants, the same for all ways of writing it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gode.arrays import Float
from gode.equation.parse import parse_tree
from gode.equation.printer import to_text
from gode.equation.sums import highest_derivative, normal_tree
from gode.equation.terms import Term, equation_text, explicit_terms, linear_terms, term_node, with_owners
from gode.equation.tree import (
    STATE,
    TIME,
    Node,
    add,
    burden,
    complexity,
    const,
    count_constants,
    depends_on,
    derivative_order,
    num,
    number,
    renumber,
    replace_constants,
    shorten_numbers,
    sorted_tree,
    unlabelled,
    var,
    variables,
    walk,
)
from gode.errors import EquationError, pointed, shortened


class Parameter(NamedTuple):
    """A constant with a name and the bounds of its value."""

    name: str
    low: float = -math.inf
    high: float = math.inf


class Found(NamedTuple):
    """An unknown function of a frame with what was found for it."""

    name: str
    arguments: tuple[str, ...]  # the columns of which it is a function, as `tree` calls them
    tree: Node  # its constants are numbered as in the skeleton


class Link(NamedTuple):
    """The value of one constant of an equation: a factor times a free constant of the law."""

    place: int
    factor: float = 1.0


class AnySkeleton:
    """What the skeletons of one and of several equations have in common: parts, and links of constants."""

    if TYPE_CHECKING:  # the subclasses have these as fields or properties

        @property
        def parts(self) -> "tuple[Skeleton, ...]":
            """The equation of each state, in its own view."""

        @property
        def states(self) -> tuple[str, ...]:
            """The name of each state."""

        @property
        def links(self) -> tuple[Link, ...]:
            """The link of each constant of all parts; none if every constant is free."""

        @property
        def called(self) -> Mapping[str, str]:
            """What states and inputs are called when they are shown."""

    @property
    def orders(self) -> tuple[int, ...]:
        """The order of each equation."""
        return tuple(part.order for part in self.parts)

    @property
    def shown_states(self) -> tuple[str, ...]:
        """The name of each state when it is shown."""
        return tuple(shown_name(name, self.called) for name in self.states)

    @property
    def noun(self) -> str:
        """What the law is called in a sentence: an equation if it has one part."""
        return "equation" if len(self.parts) == 1 else "law"

    def name_in(self, name: str, index: int) -> str:
        """Return the name of what belongs to one equation: with its state where there are several."""
        return name_of_equation(name, self.shown_states, index)

    @property
    def described(self) -> str:
        """What the law is, by its size."""
        n = len(self.parts)
        return f"an equation of order {self.orders[0]}" if n == 1 else f"a system of {n} states"

    @cached_property
    def n_numbers(self) -> int:
        """The number of constants of all equations, shared or not."""
        return sum(part.n_constants for part in self.parts)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where the constants of each equation begin among those of all; last, their number."""
        return tuple(np.cumsum([0, *(part.n_constants for part in self.parts)]).tolist())

    @cached_property
    def places(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The free constant behind each constant of the equations."""
        return np.array([link.place for link in self.links] or range(self.n_numbers), np.int64)

    @cached_property
    def factors(self) -> Float:
        """The factor on the free constant behind each constant of the equations."""
        return np.array([link.factor for link in self.links] or [1.0] * self.n_numbers, np.float64)

    def numbers(self, constants: Sequence[float] | Float) -> Float:
        """Return the constants of all equations, one equation after the other."""
        free = np.append(np.asarray(constants, np.float64), 1.0)  # place -1 picks the one
        return free[self.places] * self.factors


@dataclass(frozen=True, eq=False)
class Skeleton(AnySkeleton):
    """An ODE `tree = 0` with free constants; equal to every skeleton with the same normal form.

    One with parameters is kept as it was written: constant i is parameters[i] wherever it stands.
    """

    tree: Node
    parameters: tuple[Parameter, ...] = ()
    functions: tuple[Found, ...] = ()  # what the unknown functions of a frame became
    called: Mapping[str, str] = field(default_factory=dict)  # what u and the inputs are called when shown

    @cached_property
    def key(self) -> Node:
        """The normal form less labels of constants and rounding of numbers: what makes skeletons equal."""
        if self.parameters:  # labels from 1 on, which no normal form has
            return shorten_numbers(sorted_tree(replace_constants(self.tree, lambda i: const(i + 1))))
        return shorten_numbers(self._unlabelled)

    @cached_property
    def normal(self) -> Node:
        """The normal form: divided by the highest derivative's coefficient, constants numbered."""
        return self.tree if self.parameters else renumber(self._unlabelled)

    @cached_property
    def _unlabelled(self) -> Node:
        """The normal form before its constants are numbered."""
        return normal_tree(unlabelled(self.tree))

    @cached_property
    def order(self) -> int:
        """The order of the highest derivative; 0 if there is none."""
        return derivative_order(self.highest)

    @cached_property
    def highest(self) -> str:
        """The name of the highest derivative."""
        states = (name for name in variables(self.key) if name.rstrip("'") == STATE)
        return highest_derivative(states) or STATE

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The names of the known inputs in the equation."""
        return tuple(sorted(n for n in variables(self.key) if n != TIME and n.rstrip("'") != STATE))

    @property
    def structure(self) -> object:
        """What tells laws apart: the normal form."""
        return self.key

    @property
    def parts(self) -> "tuple[Skeleton, ...]":
        """The equation of each state: this one."""
        return (self,)

    @property
    def states(self) -> tuple[str, ...]:
        """The name of each state."""
        return (STATE,)

    @property
    def links(self) -> tuple[()]:
        """What ties the constants of all equations: nothing."""
        return ()

    def seen(self, index: int) -> tuple[str, ...]:
        """Return the names of the columns that equation number `index`, the only one, sees."""
        return (TIME, STATE, f"{STATE}'", f"{STATE}''", *self.inputs)

    def names(self, index: int) -> dict[str, str]:
        """Return the display name of each column that has another one when it is shown."""
        shown = {name: shown_name(name, self.called) for name in self.seen(index)}
        return {name: other for name, other in shown.items() if other != name}

    def columns(self, index: int) -> dict[str, str]:
        """Return the columns that the data call by another name: none."""
        return {}

    @cached_property
    def n_constants(self) -> int:
        """The number of free constants of the normal form."""
        return len(self.parameters) or count_constants(self.normal)

    @cached_property
    def complexity(self) -> int:
        """The paper's complexity of the normal form."""
        return complexity(self.normal)

    @cached_property
    def burden(self) -> float:
        """The structural price of the normal form, or of what was found for unknown functions."""
        return sum(burden(each.tree) for each in self.functions) if self.functions else burden(self.normal)

    @property
    def sought(self) -> "tuple[Skeleton, ...]":
        """What a search was for: the equation, or each unknown function of a frame as a right-hand side."""
        top = var(self.highest)
        return tuple(Skeleton(renumber(add(top, f.tree))) for f in self.functions) or (self,)

    @cached_property
    def leading(self) -> tuple[Node, ...]:
        """The bodies of the terms that hold the highest derivative."""
        return tuple([term.body for term in self.terms if depends_on(term.body, self.highest)])

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The normal form as a sum of terms, linear in as many constants as possible."""
        terms = linear_terms(self.normal)
        return with_owners(terms) if self.parameters else terms

    @cached_property
    def rhs_terms(self) -> tuple[Term, ...] | None:
        """The explicit right-hand side as a sum of terms; None if the highest derivative is not linear."""
        terms = explicit_terms(self.normal, self.highest)
        return with_owners(terms) if terms and self.parameters else terms

    @property
    def explicit(self) -> bool:
        """Whether the equation can be solved for its highest derivative."""
        return self.rhs_terms is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Skeleton) and self.key == other.key

    @cached_property
    def _hash(self) -> int:
        return hash(self.key)  # a large tuple, which does not remember it

    def __hash__(self) -> int:
        return self._hash

    def text(self, names: Mapping[str, str] | None = None) -> str:
        """Return the skeleton as text, with its columns called by other `names`."""
        return equation_text(self.written_tree, self.highest, self.names(0) if names is None else names)

    def form(self, names: Mapping[str, str] | None = None) -> str:
        """Return the skeleton as its equation is printed: an input that is a term stands alone on the right.

        Args:
            names: what the columns are called in a system, where the highest derivative stands on the left.
        """
        usual = self.text(names)
        forces = [term for term in self.terms if term.body.value in self.inputs]
        if names or self.parameters or len(forces) != 1:
            return usual
        rest = [term for term in self.terms if term is not forces[0]]
        if forces[0].constant is None:
            scale = -1 / forces[0].multiplier
            rest = [Term(scale * term.multiplier, term.constant, term.body) for term in rest]
        else:
            free = count_constants(self.normal)  # the constant of the input becomes that of the first term
            rest = [Term(1.0, free + i, term.body) for i, term in enumerate(rest)]
        written = f"{to_text(add(*map(term_node, rest)))} = {forces[0].body.value}"
        same = parse_skeleton(written, inputs=self.inputs) == self
        return written if same else usual

    @property
    def written_tree(self) -> Node:
        """The tree as it is printed: with the names of its constants, or in normal form if they have none."""
        return self.named_tree if self.parameters else self.normal

    @cached_property
    def named_tree(self) -> Node:
        """The tree with the names of its constants, as if they were columns."""
        return self.named(self.tree)

    def named(self, tree: Node) -> Node:
        """Return a part of the tree with the names of its constants."""
        return replace_constants(tree, lambda i: var(self.parameters[i].name))

    def __str__(self) -> str:
        return self.text()


def name_of_equation(name: str, states: Sequence[str], index: int) -> str:
    """Return the name of what belongs to one equation: with its state where there are several."""
    return name if len(states) == 1 else f"{name}_{states[index]}"


def shown_name(column: str, called: Mapping[str, str]) -> str:
    """Return what a column, or a derivative of one, is called when it is shown."""
    name = column.rstrip("'")
    return called.get(name, name) + column[len(name) :]


def parse_skeleton(
    text: str,
    *,
    inputs: tuple[str, ...] = ("F",),
    states: tuple[str, ...] = (STATE,),
    formula: bool = False,
) -> Skeleton:
    """Return the skeleton a person typed, such as ``u'' + C*u' + C*sin(u) = F(t)``.

    Numbers are kept as they are; each C is a free constant.

    Args:
        formula: whether it may be of order zero, a formula of what is measured.
    """
    return checked(Skeleton(parse_tree(text, inputs=inputs, states=states)), text, formula=formula)


def checked(skeleton: Skeleton, text: str, *, formula: bool = False) -> Skeleton:
    """Return `skeleton`, or say why it is no differential equation.

    Args:
        formula: whether it may be of order zero, a formula of what is measured.
    """
    text = shortened(text, 80)
    if skeleton.key == num(0):
        raise EquationError(f"{text!r} reduces to 0 = 0: every signal satisfies it; write another equation")
    if not all(math.isfinite(number(n)) for n in walk(skeleton.key) if n.op == "num"):
        raise EquationError(f"{text!r} holds numbers too large to compute with; measure in other units")
    if not skeleton.order and not (formula and skeleton.explicit):
        raise EquationError(pointed("it holds no derivative of u; write u' or u'' somewhere", text, 0))
    return skeleton
