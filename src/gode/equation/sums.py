"""Sums and the normal form: one way of writing for all trees, and all skeletons, that mean the same.

Two trees mean the same if they differ by the order of terms and factors, by constants that can be merged
(C*C, C + C, C*(C*u + C)). Every rewriting is exact: what one side can express by some constants, both can.

A tree becomes a `Sum`: a mapping from bodies (products without a coefficient) to coefficients, each a
number or None for a free constant. Constants are unlabelled while the form is being made, so two terms
with equal bodies may still differ: sin(C*u) + sin(C*u) has two frequencies. Such a second term is kept
under a numbered copy of the body, a product whose `value` is the number.
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

from gode.equation.operators import FUNCTIONS, KINKED
from gode.equation.tree import (
    MINUS_ONE,
    ONE,
    STATE,
    Node,
    add,
    by_term,
    call,
    const,
    derivative_order,
    has_constant,
    mul,
    num,
    number,
    power,
    variables,
)

Coefficient = float | None  # None: a free constant
Sum = dict[Node, Coefficient]

FREE = const(0)
MAX_EXPANSION = 40  # terms of a product of sums that is multiplied out
MAX_POWER = 5
MAX_SHIFT = 300.0  # exp of more may overflow


@lru_cache(maxsize=20_000)  # skeletons of one grammar share most of their parts
def to_sum(node: Node) -> Sum:
    """Return `node` as a sum of distinct bodies with their coefficients; not to be changed by the caller."""
    match node.op:
        case "num":
            return {ONE: number(node)} if number(node) != 0 else {}
        case "const":
            return {ONE: None}
        case "var":
            return {node: 1.0}
        case "delay":
            return {node: 1.0}
        case "+":
            return _added(to_sum(arg) for arg in node.args)
        case "*":
            return _multiplied([to_sum(arg) for arg in node.args])
        case "^":
            return _power_to_sum(*node.args)
        case name:
            return _applied(name, to_sum(node.args[0]))


def from_sum(terms: Sum) -> Node:
    """Return the tree of a sum, its terms in a fixed order."""
    return add(*(_term(terms[body], body) for body in sorted(terms)))


def _power_to_sum(base: Node, exponent: Node) -> Sum:
    if _is_integer(exponent) and base.op == "*":
        return _multiplied([to_sum(power(factor, exponent)) for factor in base.args])
    if _is_integer(exponent) and base.op == "^" and _is_integer(base.args[1]):
        return to_sum(power(base.args[0], num(number(base.args[1]) * number(exponent))))
    return _raised(to_sum(base), to_sum(exponent))


@by_term
def _term(coefficient: Coefficient, body: Node) -> Node:
    return mul(FREE if coefficient is None else num(coefficient), body)


def _times(a: Coefficient, b: Coefficient) -> Coefficient:
    return None if a is None or b is None else a * b


def _added(sums: Iterable[Sum]) -> Sum:
    total: Sum = {}
    apart: dict[Node, list[Coefficient]] = {}  # bodies with constants of their own, seen twice
    for terms in sums:
        for key, coefficient in terms.items():
            body = mul(*key.args) if key.op == "*" and key.value else key
            if body in total and has_constant(body):
                apart.setdefault(body, [total[body]]).append(coefficient)
            else:
                old = total.get(body, 0.0)
                total[body] = None if old is None or coefficient is None else old + coefficient
    for body, coefficients in apart.items():
        for i, coefficient in enumerate(sorted(coefficients, key=lambda c: (c is None, c or 0.0))):
            total[Node("*", float(i), _factors(body)) if i else body] = coefficient
    return {body: c for body, c in total.items() if c != 0}


def _multiplied(sums: list[Sum]) -> Sum:
    coefficient: Coefficient = 1.0
    bodies = []
    for terms in sums:
        if len(terms) == 1:
            ((body, c),) = terms.items()
            bodies.append(body)
            coefficient = _times(coefficient, c)
    narrow = _product(*bodies)
    wide = _multiplied_out([terms for terms in sums if len(terms) > 1])
    if not all(sums) or not all(wide):
        return {}
    if len(wide) == 1 and _may_expand(coefficient, narrow, wide[0]):
        return _expanded({narrow: coefficient}, wide[0])
    bodies = [narrow]
    for terms in wide:
        pulled, scaled = _scaled(terms, absorb=False)
        bodies.append(from_sum(scaled))
        coefficient = _times(coefficient, pulled)
    narrow = _product(*bodies)
    return {narrow if coefficient is not None else _absorbed(narrow): coefficient}


def _multiplied_out(wide: list[Sum]) -> list[Sum]:
    """Multiply the sums without free constants with each other, small ones first, while that stays short."""
    if len(wide) < 2:
        return wide
    free = [terms for terms in wide if _is_free(terms)]
    fixed = sorted((terms for terms in wide if not _is_free(terms)), key=from_sum)
    fixed.sort(key=len, reverse=True)
    while len(fixed) > 1 and len(fixed[-1]) * len(fixed[-2]) <= MAX_EXPANSION:
        fixed.append(_expanded(fixed.pop(), fixed.pop()))
        fixed.sort(key=len, reverse=True)
    return fixed + free


def _may_expand(coefficient: Coefficient, factor: Node, terms: Sum) -> bool:
    """Tell whether multiplying out keeps the number of independent constants."""
    if has_constant(factor):
        return False
    return coefficient is not None or sum(c is not None for c in terms.values()) <= 1


def _is_free(terms: Sum) -> bool:
    """Tell whether a free constant occurs anywhere in `terms`."""
    return any(c is None or has_constant(body) for body, c in terms.items())


def _expanded(a: Sum, b: Sum) -> Sum:
    return _added({_product(x, y): _times(c, d)} for x, c in a.items() for y, d in b.items())


def _factors(body: Node) -> tuple[Node, ...]:
    if body.op == "*":
        return body.args
    return () if body == ONE else (body,)


def _product(*bodies: Node) -> Node:
    """Return the product of bodies; powers of equal bases are merged where that is exact."""
    bodies = tuple(body for body in bodies if body != ONE)
    if len(bodies) < 2:
        return bodies[0] if bodies else ONE
    exponents: dict[Node, Node] = {}
    fixed: list[Node] = []
    for factor in chain.from_iterable(map(_factors, bodies)):
        base, exponent = factor.args if factor.op == "^" else (factor, ONE)
        if has_constant(base) or exponent.op not in ("num", "const"):
            fixed.append(factor)
        elif base not in exponents:
            exponents[base] = exponent
        elif exponents[base].op == "const" or exponent.op == "const":
            exponents[base] = FREE
        else:
            exponents[base] = num(number(exponents[base]) + number(exponent))
    fixed += [power(base, e) for base, e in exponents.items() if number(e) != 0 or e.op == "const"]
    return mul(*sorted(fixed))


def _scaled(terms: Sum, *, absorb: bool) -> tuple[Coefficient, Sum]:
    """Return (scale, sum) whose product is `terms`, the sum having coefficient one at its pivot.

    With `absorb` there is a free constant outside that can take one more degree of freedom.
    """
    pivot = max((body for body in terms if body != ONE), default=ONE)
    fixed = [body for body, c in terms.items() if c is not None]
    if terms[pivot] is None and len(fixed) <= int(absorb):
        return None, {body: 1.0 if body == pivot else None for body in terms}
    if terms[pivot] is None:
        pivot = max((b for b in fixed if b != ONE), default=fixed[0])
    scale = terms[pivot] or 1.0
    return scale, {body: None if c is None else c / scale for body, c in terms.items()}


def _absorbed(body: Node) -> Node:
    """Rescale the sums among the factors of `body`, which stands behind a free constant."""
    return mul(*sorted(_absorbed_factor(factor) for factor in _factors(body))) if body != ONE else ONE


def _absorbed_factor(factor: Node) -> Node:
    base, exponent = factor.args if factor.op == "^" else (factor, ONE)
    if base.op != "+" or not _is_integer(exponent):
        return factor
    terms = _added({_body(arg): _coefficient(arg)} for arg in base.args)
    return power(from_sum(_scaled(terms, absorb=True)[1]), exponent)


def _coefficient(term: Node) -> Coefficient:
    head = term.args[0] if term.op == "*" else term
    if head.op == "const":
        return None
    return number(head) if head.op == "num" else 1.0


def _body(term: Node) -> Node:
    if term.op == "*":
        return mul(*term.args[1:]) if term.args[0].op in ("num", "const") else term
    return ONE if term.op in ("num", "const") else term


def _is_integer(exponent: Node) -> bool:
    return exponent.op == "num" and number(exponent).is_integer()


def _raised(base: Sum, exponent: Sum) -> Sum:
    node = from_sum(exponent)
    if not base:
        return {} if node.op == "num" and number(node) > 0 else {power(num(0), node): 1.0}
    if node.op == "num":
        return _raised_to_number(base, number(node))
    if set(base) == {ONE} and not variables(node) and (base[ONE] is None or has_constant(node)):
        return {ONE: None}  # C^C and 2^C are constants
    if node.op == "const" and len(base) == 1:
        ((body, c),) = base.items()
        if c is None:
            return {power(body, FREE): None}  # (C*u)^C = C*u^C
    return {power(from_sum(base), node): 1.0}


def _raised_to_number(base: Sum, n: float) -> Sum:
    if n in (0, 1):
        return base if n else {ONE: 1.0}
    if len(base) > 1 and 0 < n <= MAX_POWER and n.is_integer() and not _is_free(base):
        return _multiplied([base] * int(n))
    if len(base) == 1:
        ((body, scale),) = base.items()
        raised = _body_power(body, n)
    else:
        scale, terms = _scaled(base, absorb=False) if n.is_integer() else (1.0, base)
        raised = power(from_sum(terms), num(n))
    if scale is None:
        return {raised: None}
    factor = power(num(scale), num(n))
    if factor.op == "num":
        return {raised: number(factor)}
    return {power(from_sum(base), num(n)): 1.0}  # (-2)^0.5 is not real, 9^999 is no float


def _body_power(body: Node, n: float) -> Node:
    if body == ONE:
        return ONE
    if not n.is_integer():
        return power(body, num(n))
    factors = (f.args if f.op == "^" else (f, ONE) for f in _factors(body))
    raised = (
        power(b, num(number(e) * n) if e.op == "num" else from_sum(to_sum(mul(num(n), e))))
        for b, e in factors
    )
    return mul(*sorted(raised))


def _applied(name: str, terms: Sum) -> Sum:
    """Return the function `name` of a sum, constants pulled out where that is exact."""
    if set(terms) <= {ONE}:
        return _applied_to_constant(name, terms.get(ONE, 0.0))
    shift = terms.get(ONE, 0.0)
    if name == "exp" and ONE in terms and (shift is None or abs(shift) <= MAX_SHIFT):
        rest = from_sum({body: c for body, c in terms.items() if body != ONE})
        return {call("exp", rest): None if shift is None else math.exp(shift)}
    if len(terms) == 1:
        ((body, c),) = terms.items()
        if name == "log" and (c is None or c > 0):  # log(C*u) = C + log(u), for u > 0
            return _added([{call("log", body): 1.0}, {ONE: None if c is None else math.log(c)}])
        if name in KINKED and (pulled := _pulled_out(name, body, c)) is not None:
            return pulled
    fixed = (c or 0 for _, c in sorted(terms.items()) if c in (1, -1) or len(terms) == 1)
    if FUNCTIONS[name].parity and next(fixed, 0) < 0 and ONE not in terms:  # sin(v1 - u) = -sin(u - v1)
        return {call(name, from_sum(_expanded({ONE: -1.0}, terms))): float(FUNCTIONS[name].parity)}
    return {call(name, from_sum(terms)): 1.0}


def _pulled_out(name: str, body: Node, c: Coefficient) -> Sum | None:
    """Return a function made of straight pieces with the factor of its argument in front; None without one.

    |c x| is |c| |x| and sign(c x) is sign(c) sign(x), but max(0, c x) is |c| max(0, x) or |c| max(0, -x).
    """
    if c == 1 or (c is None and name == "max0"):
        return None
    if c is None:
        return {call(name, body): None}
    size = math.copysign(1.0, c) if name == "sign" else abs(c)
    if name != "max0" or c > 0:
        return {call(name, body): size}
    return None if c == -1 else {call(name, mul(MINUS_ONE, body)): size}


def _applied_to_constant(name: str, value: Coefficient) -> Sum:
    if value is None:
        return {ONE: None}
    try:
        result = FUNCTIONS[name].value(value)
    except (ValueError, OverflowError):
        return {call(name, num(value)): 1.0}
    return {ONE: result} if result else {}


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
