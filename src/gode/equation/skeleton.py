"""Skeleton: an ODE with free constants, the same for all ways of writing it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gode.arrays import Float
from gode.equation.normal import highest_derivative, normal_tree
from gode.equation.parse import parse_tree
from gode.equation.printer import to_text
from gode.equation.tree import (
    MINUS_ONE,
    ONE,
    STATE,
    TIME,
    ZERO,
    Node,
    add,
    burden,
    by_term,
    complexity,
    const,
    count_constants,
    depends_on,
    derivative_order,
    has_constant,
    index,
    mul,
    num,
    number,
    power,
    renumber,
    shorten_numbers,
    unlabelled,
    variables,
    walk,
)
from gode.errors import EquationError


@dataclass(frozen=True)
class Term:
    """`multiplier * c[constant] * body`; without a constant of its own if that is None."""

    multiplier: float
    constant: int | None
    body: Node


@dataclass(frozen=True, eq=False)
class Skeleton:
    """An ODE `tree = 0` with free constants; equal to every skeleton with the same normal form."""

    tree: Node

    @cached_property
    def key(self) -> Node:
        """The normal form less labels of constants and rounding of numbers: what makes skeletons equal."""
        return shorten_numbers(self._unlabelled)

    @cached_property
    def normal(self) -> Node:
        """The normal form: divided by the highest derivative's coefficient, constants numbered."""
        return renumber(self._unlabelled)

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
    def orders(self) -> tuple[int, ...]:
        """The order of each equation."""
        return (self.order,)

    @property
    def links(self) -> tuple[()]:
        """What ties the constants of all equations: nothing."""
        return ()

    def seen(self, own: int) -> tuple[str, ...]:
        """Return the names of the columns that equation number `own`, the only one, sees."""
        return (TIME, STATE, f"{STATE}'", f"{STATE}''", *self.inputs)

    def names(self, own: int) -> dict[str, str]:
        """Return the columns that have another name when they are shown: none."""
        return {}

    def numbers(self, constants: Sequence[float] | Float) -> Float:
        """Return the constants of all equations."""
        return np.asarray(constants, np.float64)

    @cached_property
    def n_constants(self) -> int:
        """The number of free constants of the normal form."""
        return count_constants(self.normal)

    @cached_property
    def complexity(self) -> int:
        """The paper's complexity of the normal form."""
        return complexity(self.normal)

    @cached_property
    def burden(self) -> float:
        """The structural price of the normal form."""
        return burden(self.normal)

    @cached_property
    def leading(self) -> tuple[Node, ...]:
        """The bodies of the terms that hold the highest derivative."""
        return tuple([term.body for term in self.terms if depends_on(term.body, self.highest)])

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The normal form as a sum of terms, linear in as many constants as possible."""
        return linear_terms(self.normal)

    @cached_property
    def rhs_terms(self) -> tuple[Term, ...] | None:
        """The explicit right-hand side as a sum of terms; None if the highest derivative is not linear."""
        return explicit_terms(self.normal, self.highest)

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
        return equation_text(self.normal, self.highest, names or {})

    def __str__(self) -> str:
        return self.text()


def parse_skeleton(
    text: str, *, inputs: tuple[str, ...] = ("F",), states: tuple[str, ...] = (STATE,)
) -> Skeleton:
    """Return the skeleton a person typed, such as ``u'' + C*u' + C*sin(u) = F(t)``.

    Numbers are kept as they are; each C is a free constant.
    """
    return checked(Skeleton(parse_tree(text, inputs=inputs, states=states)), text)


def checked(skeleton: Skeleton, text: str) -> Skeleton:
    """Return `skeleton`, or say why it is no differential equation."""
    text = shortened(text)
    if skeleton.key == num(0):
        raise EquationError(f"{text!r} reduces to 0 = 0: every signal satisfies it; write another equation")
    if not all(math.isfinite(number(n)) for n in walk(skeleton.key) if n.op == "num"):
        raise EquationError(f"{text!r} holds numbers too large to compute with; measure in other units")
    if not skeleton.order:
        raise EquationError(f"{text!r} holds no derivative of u; write u' or u'' somewhere")
    return skeleton


def shortened(text: str) -> str:
    """Return `text` short enough for a message."""
    return text if len(text) <= 80 else f"{text[:77]}..."


def linear_terms(tree: Node) -> tuple[Term, ...]:
    """Split a sum into terms with at most one multiplying constant each."""
    args = tree.args if tree.op == "+" else (tree,)
    return tuple(_term(arg) for arg in args)


@by_term
def _term(node: Node) -> Term:
    factors = node.args if node.op == "*" else (node,)
    multiplier = 1.0
    constant: int | None = None
    rest = []
    for factor in factors:
        if factor.op == "num":
            multiplier *= number(factor)
        elif factor.op == "const" and constant is None:
            constant = index(factor)
        else:
            rest.append(factor)
    return Term(multiplier, constant, mul(*rest))


def explicit_terms(tree: Node, highest: str) -> tuple[Term, ...] | None:
    """Solve `tree = 0` for `highest`, if that enters linearly."""
    slope: list[Node] = []
    rest: list[Term] = []
    for term in linear_terms(tree):
        factors = term.body.args if term.body.op == "*" else (term.body,)
        others = [f for f in factors if f.value != highest]
        if any(depends_on(f, highest) for f in others) or len(factors) - len(others) > 1:
            return None
        if len(others) == len(factors):
            rest.append(term)
        else:
            slope.append(term_node(Term(term.multiplier, term.constant, mul(*others))))
    return _divided(rest, add(*slope)) if add(*slope) != ZERO else None


def _divided(rest: list[Term], slope: Node) -> tuple[Term, ...]:
    """Return the terms of `-rest / slope`; no constant may be duplicated."""
    if slope.op == "num":
        return tuple(Term(-t.multiplier / number(slope), t.constant, t.body) for t in rest)
    inverse = power(slope, MINUS_ONE)
    if not has_constant(slope):
        return tuple(Term(-t.multiplier, t.constant, mul(t.body, inverse)) for t in rest)
    if not rest:
        return ()
    return (Term(-1.0, None, mul(add(*map(term_node, rest)), inverse)),)


def term_node(term: Term) -> Node:
    """Return the tree of `term`."""
    own = ONE if term.constant is None else const(term.constant)
    return mul(num(term.multiplier), own, term.body)


def has_pivot_one(tree: Node, highest: str) -> bool:
    """Tell whether the residual `tree` is `highest` plus terms without it."""
    terms = linear_terms(tree)
    rest = [t for t in terms if t.body.value != highest]
    alone = len(rest) == len(terms) - 1 and not any(depends_on(t.body, highest) for t in rest)
    return alone and all(t.constant is None and t.multiplier == 1 for t in terms if t not in rest)


def equation_text(tree: Node, highest: str, names: Mapping[str, str]) -> str:
    """Return a skeleton's normal form as ``u' = ...`` where that is possible, else as ``... = 0``."""
    if not has_pivot_one(tree, highest):
        return f"{to_text(tree, names=names)} = 0"
    rest = [t for t in linear_terms(tree) if t.body.value != highest]
    # the sign of a free constant is free
    moved = [
        Term(t.multiplier if t.constant is not None else -t.multiplier, t.constant, t.body) for t in rest
    ]
    return f"{names.get(highest, highest)} = {to_text(add(*map(term_node, moved)), names=names)}"
