"""The spellings of a term: every order of factors and summands, roots and powers, divisions.

A grammar writes each term with a constant in front and its factors in an order of its own; which spelling it
accepts is found by trying.
"""

from collections.abc import Iterator, Sequence
from itertools import permutations, product

from gode.equation import Node
from gode.equation.operators import FUNCTIONS
from gode.equation.tree import FREE, MINUS_ONE, ONE, mul, num, number, power


def spelled_term(body: Node, *, derivative: bool = False) -> Iterator[str]:
    """Yield the spellings of a term with a constant in front; derivatives as diff(u,t) if so wanted."""
    plain = _term(body, derivative)
    for text in plain:
        yield f"C{text}" if text.startswith("/") else f"C*{text}" if text else "C"


def _term(body: Node, derivative: bool) -> list[str]:
    """Return the spellings of a product; one that has only divisors begins with a stroke."""
    factors = [f for f in (body.args if body.op == "*" else (body,)) if f != ONE]
    above = [_factor(f, derivative) for f in factors if not _divides(f)]
    below = [_factor(_inverse(f), derivative) for f in factors if _divides(f)]
    found = []
    for over in permutations(above):
        for under in permutations(below):
            for chosen in product(*over, *under):
                front, back = chosen[: len(over)], chosen[len(over) :]
                found.append("*".join(front) + "".join(f"/{text}" for text in back))
                if len(back) > 1:
                    found.append("*".join(front) + f"/({'*'.join(back)})")
    return list(dict.fromkeys(found))


def _factor(factor: Node, derivative: bool) -> list[str]:
    base, exponent = factor.args if factor.op == "^" else (factor, ONE)
    texts = _base(base, derivative)
    if exponent == ONE:
        return texts
    if exponent.op == "const":
        return [f"{text}^C" for text in texts]
    n = number(exponent)
    found = [f"{text}^{n:g}" for text in texts]
    if n == 0.5:
        found += [f"sqrt({text[1:-1] if base.op == '+' else text})" for text in texts]
    if n in (2, 3):
        found += ["*".join([text] * int(n)) for text in texts]
    return found


def _base(base: Node, derivative: bool) -> list[str]:
    if base.op == "var":
        name = str(base.value)
        if derivative and name.endswith("'"):
            stem = name.rstrip("'")
            return [f"diff(diff({stem},t),t)" if name.endswith("''") else f"diff({stem},t)"]
        return [name]
    if base.op == "+":
        return [f"({text})" for text in _sum(base.args, derivative)]
    sums = [_args(arg) for arg in base.args]
    if base.op in FUNCTIONS and FUNCTIONS[base.op].parity:  # sin(u - F) is -sin(F - u)
        sums += [tuple(map(_negated, terms)) for terms in sums if len(terms) > 1]
    return [f"{base.op}({text})" for terms in sums for text in _sum(terms, derivative)]


def _negated(term: Node) -> Node:
    return term if any(f.op == "const" for f in _factors(term)) else mul(MINUS_ONE, term)


def _sum(terms: Sequence[Node], derivative: bool) -> list[str]:
    """Return the spellings of a sum inside a function or a bracket."""
    found = []
    for order in permutations(terms):
        for chosen in product(*[_summand(term, derivative) for term in order]):
            text = "".join(part if part.startswith("-") else f"+{part}" for part in chosen)
            found.append(text.removeprefix("+"))
    return list(dict.fromkeys(found))


def _summand(term: Node, derivative: bool) -> list[str]:
    factors = _factors(term)
    numbers = [f for f in factors if f.op in ("num", "const")]
    rest = tuple(f for f in factors if f.op not in ("num", "const"))
    own = "C" if any(f.op == "const" for f in numbers) else f"{number(numbers[0]):g}" if numbers else "1"
    sign = "-" if own.startswith("-") else ""
    own = own.removeprefix("-")
    found = []
    for text in _term(Node("*", 0.0, rest) if len(rest) != 1 else rest[0], derivative):
        if own == "1" and text and not text.startswith("/"):
            found.append(sign + text)
        else:
            found.append(sign + own + (text if text.startswith("/") else f"*{text}" if text else ""))
    return found


def _args(node: Node) -> tuple[Node, ...]:
    return node.args if node.op == "+" else (node,)


def _factors(node: Node) -> tuple[Node, ...]:
    return node.args if node.op == "*" else (node,)


def _divides(factor: Node) -> bool:
    return factor.op == "^" and factor.args[1].op == "num" and number(factor.args[1]) < 0


def _inverse(factor: Node) -> Node:
    return power(factor.args[0], num(-number(factor.args[1])))


def freed(node: Node) -> Node:
    """Return a term whose unusual powers are free constants."""
    args = tuple(freed(arg) for arg in node.args)
    if node.op == "^" and args[1].op == "num" and number(args[1]) not in (-3, -2, -1, 2, 3):
        return Node("^", 0.0, (args[0], FREE))
    return node._replace(args=args)
