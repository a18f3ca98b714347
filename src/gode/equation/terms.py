"""Equations as sums of terms, each with at most one constant that multiplies it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gode.equation.printer import to_text
from gode.equation.tree import (
    MINUS_ONE,
    ONE,
    ZERO,
    Node,
    add,
    by_term,
    const,
    constants_in,
    depends_on,
    has_constant,
    index,
    mul,
    num,
    number,
    power,
)


@dataclass(frozen=True)
class Term:
    """`multiplier * c[constant] * body`; without a constant of its own if that is None."""

    multiplier: float
    constant: int | None
    body: Node


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


def with_owners(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Return the same sum with each constant in one term only, which fits of one constant at a time need.

    A constant that multiplies several terms multiplies their sum; terms that share another are one term.
    """
    terms = list(terms)
    inside = {i for term in terms for i in constants_of(term.body)}
    factored: dict[object, list[Term]] = {}
    for place, term in enumerate(terms):
        alone = term.constant is None or term.constant in inside
        factored.setdefault((place,) if alone else term.constant, []).append(term)
    groups = [_factored(group, inside) for group in factored.values()]
    out: list[Term] = []
    for term in groups:
        own = constants_of(term.body)
        tied = [other for other in out if own & constants_of(other.body)]
        out = [other for other in out if other not in tied]
        out.append(Term(1.0, None, add(*map(term_node, [*tied, term]))) if tied else term)
    return tuple(out)


def _factored(group: list[Term], inside: set[int]) -> Term:
    """Return terms with one constant as one term; it goes inside if it stands inside another."""
    first = group[0]
    if len(group) == 1 and (first.constant is None or first.constant not in inside):
        return first
    if len(group) == 1:
        return Term(1.0, None, term_node(first))
    return Term(1.0, first.constant, add(*(mul(num(t.multiplier), t.body) for t in group)))


@by_term
def constants_of(node: Node) -> frozenset[int]:
    """Return the free constants in a tree."""
    return frozenset(constants_in(node))
