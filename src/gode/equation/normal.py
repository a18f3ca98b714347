"""Normal form: one way of writing for all skeletons that mean the same up to an overall scale."""

from collections.abc import Iterable
from functools import lru_cache

from gode.equation.sums import Sum, from_sum, to_sum
from gode.equation.tree import (
    STATE,
    Node,
    by_term,
    derivative_order,
    has_constant,
    mul,
    num,
    number,
    power,
    variables,
)

MAX_PASSES = 8


def normal_sum(tree: Node) -> Sum:
    """Return the terms of the residual `tree`, scaled so that its highest derivative has coefficient one."""
    return _normal(tree)[0]


@lru_cache(maxsize=20_000)  # a search meets most skeletons more than once
def normal_tree(tree: Node) -> Node:
    """Return the normal form of the residual `tree`, with unlabelled constants."""
    return _normal(tree)[1]


def _normal(tree: Node) -> tuple[Sum, Node]:
    """Return the normal form as a sum and as a tree."""
    terms = _rescaled(_cancelled(to_sum(tree)))
    written = from_sum(terms)
    for _ in range(MAX_PASSES):  # one rewriting may make room for another
        again = _rescaled(_cancelled(to_sum(written)))
        if again == terms:
            break
        terms, written = again, from_sum(again)
    return terms, written


def highest_derivative(names: Iterable[str]) -> str:
    """Return the highest derivative of the state; another name only where the state is not among them."""
    return max(names, key=lambda name: (name.rstrip("'") == STATE, derivative_order(name), name), default="")


def _cancelled(terms: Sum) -> Sum:
    """Return `terms` without the factors that all of them have: u*u'' + C*u = 0 is u'' + C = 0.

    The highest derivative stays: u' + C*u*u' = 0 is an equation, if a poor one.
    """
    if len(terms) < 2:
        return terms
    bodies = iter(terms)
    top = highest_derivative(name for body in terms for name in variables(body))
    shared = {base: n for base, n in _powers(next(bodies)) if top not in variables(base)}
    for body in bodies:
        own = dict(_powers(body))
        shared = {base: _common(n, own[base]) for base, n in shared.items() if base in own}
        if not any(shared.values()):
            return terms
    inverse = [power(base, num(-n)) for base, n in shared.items() if n]
    return to_sum(from_sum({mul(body, *inverse): c for body, c in terms.items()}))


@by_term
def _powers(body: Node) -> tuple[tuple[Node, float], ...]:
    """Return the factors of a term that have no constant in them, each with its exponent."""
    found = []
    for factor in body.args if body.op == "*" else (body,):
        whole = factor.op == "^" and factor.args[1].op == "num"
        base, n = (factor.args[0], number(factor.args[1])) if whole else (factor, 1.0)
        if not has_constant(base) and variables(base):
            found.append((base, n))
    return tuple(found)


def _common(one: float, other: float) -> float:
    """Return the power that two powers share."""
    return min(one, other) if min(one, other) > 0 else max(one, other) if max(one, other) < 0 else 0.0


def _rescaled(terms: Sum) -> Sum:
    """Return `terms` divided by the coefficient of the highest derivative's term, where that is exact."""
    pivot = pivot_body(terms)
    if pivot is None:
        return terms
    fixed = sorted(body for body, c in terms.items() if c is not None)
    scale = terms[pivot]
    if scale is None and len(fixed) <= 1:
        return {body: 1.0 if body == pivot else None for body in terms}
    if scale is None:
        scale = terms[fixed[0]]
    return {body: None if c is None else c / (scale or 1.0) for body, c in terms.items()}


def pivot_body(terms: Sum) -> Node | None:
    """Return the body that carries the highest derivative: that derivative itself if it stands alone."""
    names = {name for body in terms for name in variables(body)}
    top = highest_derivative(names)
    bodies = sorted(body for body in terms if top in variables(body))
    return next((body for body in bodies if body.value == top), bodies[0] if bodies else None)
