"""Trees in writing: one walk over the tree, and a dialect for each notation.

Text and LaTeX are here, MathML is in gode.report.mathml, programming languages in gode.report.languages.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from gode.equation.operators import FUNCTIONS, Function
from gode.equation.tree import (
    MINUS_ONE,
    ONE,
    TIME,
    Node,
    complexity,
    derivative_order,
    num,
    number,
    power,
    walk,
)

Format = Callable[[float], str]
LONG = 12  # characters of a number that may be written as a fraction
NO_NAMES: Mapping[str, str] = MappingProxyType({})


def exact(value: float) -> str:
    """Return the shortest text that reads back as `value`."""
    return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def rounded(digits: int) -> Format:
    """Return a format with that many significant digits."""
    return lambda value: f"{value:.{digits}g}"


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a notation spells the parts of a tree; by default as text that the parser reads."""

    style: Format = exact  # the digits of a number
    number: Callable[[str], str] = str  # digits -> spelling
    names: Mapping[str, str] = field(default_factory=dict)  # columns that have another name
    variable: Callable[[str], str] = str  # name -> spelling
    call: Callable[[Function, str], str] = Function.call
    power: Callable[[str, str], str] = "{}^{}".format
    times: str = "*"
    signs: tuple[str, str, str] = ("-", " - ", " + ")  # a leading minus; between terms
    braces: tuple[str, str] = ("(", ")")
    bar: str = ""  # a fraction with a bar, in a notation with raised exponents; else a slash
    bare: bool = False  # a lone sum above or below the bar has no braces
    inverse: bool = True  # a base with a negative exponent is a fraction
    code: bool = False  # for a compiler: terms in the order of the tree, and only the braces it needs


TEXT = Dialect()


def to_text(node: Node, style: Format = exact, names: Mapping[str, str] = NO_NAMES) -> str:
    """Return `node` in the notation of the parser."""
    return write(node, TEXT if style is exact and not names else replace(TEXT, style=style, names=names))


def to_latex(node: Node, style: Format, names: Mapping[str, str] = NO_NAMES) -> str:
    """Return `node` in LaTeX."""
    return write(node, replace(LATEX, style=style, names=names))


def write(node: Node, dialect: Dialect) -> str:
    """Return `node` in a dialect."""
    return "".join(write_terms(node, dialect))


def write_terms(node: Node, dialect: Dialect) -> list[str]:
    """Return the terms of a sum, each with its sign."""
    terms: Sequence[Node] = node.args if node.op == "+" else (node,)
    if not dialect.code and len(terms) > 1:
        terms = sorted(terms, key=display_order)
    leading, minus, plus = dialect.signs
    out: list[str] = []
    for term in terms:
        negative, text = _product(term, dialect)
        out.append(((minus if negative else plus) if out else (leading if negative else "")) + text)
    return out


def display_order(node: Node) -> tuple[bool, int, int, Node]:
    """Sort key of a term: high derivatives first, then simple before involved, the bare constant last."""
    names = [str(n.value) for n in walk(node) if n.op == "var"]
    return (not names, -max(map(derivative_order, names), default=0), complexity(node), node)


def _product(node: Node, dialect: Dialect) -> tuple[bool, str]:
    """Return whether a minus goes in front, and the rest."""
    factors = node.args if node.op == "*" else (node,)
    over = [f for f in factors if not _is_inverse(f)]
    under = [power(f.args[0], num(-number(f.args[1]))) for f in factors if _is_inverse(f)]
    negative = bool(over) and over[0].op == "num" and number(over[0]) < 0
    if negative:
        over[0] = num(-number(over[0]))
    if len(over) > 1 and over[0].op == "num" and dialect.style(number(over[0])) == dialect.style(1.0):
        over = over[1:]
    if len(over) > 1 and (low := _divisor(over[0], dialect)) is not None:
        over, under = over[1:], [low, *under]
    return negative, _fraction(over or [ONE], under, dialect) if under else _factors(over, dialect)


def _divisor(node: Node, dialect: Dialect) -> Node | None:
    """Return the short number by which a long factor divides: 70 for 0.014285714285714285."""
    if node.op != "num" or dialect.code or dialect.style is not exact or len(exact(number(node))) < LONG:
        return None
    low = num(float(f"{1 / number(node):.6g}"))
    return low if power(low, MINUS_ONE) == node else None


def _is_inverse(node: Node) -> bool:
    return node.op == "^" and node.args[1].op == "num" and number(node.args[1]) < 0


def _fraction(over: list[Node], under: list[Node], dialect: Dialect) -> str:
    if dialect.bar:
        parts = (
            write(part[0], dialect) if dialect.bare and len(part) == 1 else _factors(part, dialect)
            for part in (over, under)
        )
        return dialect.bar.format(*parts)
    low = _factors(under, dialect)
    return f"{_factors(over, dialect)}/{_braced(low, dialect) if len(under) > 1 else low}"


def _factors(factors: list[Node], dialect: Dialect) -> str:
    return dialect.times.join(_factor(f, dialect) for f in factors)


def _factor(node: Node, dialect: Dialect) -> str:
    """Return `node` so that it can stand as a factor or as a base."""
    match node.op:
        case "num":
            text = dialect.number(dialect.style(number(node)))
            return _braced(text, dialect) if number(node) < 0 else text
        case "const":
            return dialect.variable("C")
        case "var":
            name = str(node.value)
            return dialect.variable(dialect.names.get(name, name))
        case "+" | "*":
            return _braced(write(node, dialect), dialect)
        case "^":
            return _power(node.args[0], node.args[1], dialect)
        case "delay":
            column, by = node.args
            past = f"{dialect.variable(TIME)} - {_factor(by, dialect)}"
            return f"{_factor(column, dialect)}{_braced(past, dialect)}"
        case "?":  # an unknown function
            return f"{node.value}({', '.join(write(arg, dialect) for arg in node.args)})"
        case name:
            return dialect.call(FUNCTIONS[name], write(node.args[0], dialect))


def _power(base: Node, exponent: Node, dialect: Dialect) -> str:
    low = _factor(base, dialect)
    if base.op == "^":
        low = _braced(write(base, dialect) if dialect.inverse else low, dialect)
    return dialect.power(low, write(exponent, dialect) if dialect.bar else _exponent(exponent, dialect))


def _exponent(node: Node, dialect: Dialect) -> str:
    """Return an exponent that is not raised."""
    if dialect.code and node.op == "num" and number(node).is_integer() and number(node) >= 0:
        return str(int(number(node)))
    plain = node.op in ("var", "const") or (node.op == "num" and number(node) >= 0)
    if not plain and not (dialect.code and node.op in FUNCTIONS):
        return _braced(write(node, dialect), dialect)
    text = _factor(node, dialect)
    return _braced(text, dialect) if "e" in text and not dialect.code else text


def _braced(text: str, dialect: Dialect) -> str:
    return text.join(dialect.braces)


def _latex_number(digits: str) -> str:
    mantissa, _, exponent = digits.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _latex_variable(name: str) -> str:
    plain = name.rstrip("'")
    if re.fullmatch(r"[A-Za-z]\d+", plain):
        plain = f"{plain[0]}_{{{plain[1:]}}}"
    elif len(plain) > 1:
        escaped = plain.replace("_", r"\_")
        plain = rf"\mathrm{{{escaped}}}"
    return (r"{}", r"\dot{{{}}}", r"\ddot{{{}}}")[derivative_order(name)].format(plain)


def _latex_power(base: str, exponent: str) -> str:
    dotted, in_tens = base.startswith((r"\dot", r"\ddot")), base[0].isdigit() and "^" in base
    return f"{_braced(base, LATEX) if dotted or in_tens else base}^{{{exponent}}}"


LATEX = Dialect(
    number=_latex_number,
    variable=_latex_variable,
    call=lambda function, argument: function.latex.format(argument),
    power=_latex_power,
    times=r" \, ",
    braces=(r"\left(", r"\right)"),
    bar=r"\frac{{{}}}{{{}}}",
)
