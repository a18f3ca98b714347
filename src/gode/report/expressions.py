"""Trees as expressions of programming languages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gode.equation import Node
from gode.equation.operators import FUNCTIONS
from gode.equation.tree import num, number, power


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a language writes variables, functions, powers and numbers."""

    names: Mapping[str, str]  # columns that are called otherwise there
    language: str = ""  # under which the table of functions has those that are called otherwise there
    prefix: str = ""  # of all other functions
    power: Callable[[str, str], str] = "{}^{}".format
    number: Callable[[float], str] = repr
    input: str = "{}(t)"  # how a known input is used: called, or named as a variable


def write(node: Node, dialect: Dialect) -> str:
    """Return `node` as an expression of the language."""
    terms = node.args if node.op == "+" else (node,)
    text = ""
    for piece in (_product(term, dialect) for term in terms):
        if not text:
            text = piece
        elif piece.startswith("-"):
            text += f" - {piece[1:]}"
        else:
            text += f" + {piece}"
    return text


def _product(node: Node, dialect: Dialect) -> str:
    factors = node.args if node.op == "*" else (node,)
    over = [f for f in factors if not _is_inverse(f)]
    under = [_atom(power(f.args[0], num(-number(f.args[1]))), dialect) for f in factors if _is_inverse(f)]
    sign = ""
    if over and over[0].op == "num" and number(over[0]) < 0:
        sign, over[0] = "-", num(-number(over[0]))
    if over and over[0] == num(1) and len(over) > 1:
        over = over[1:]
    top = "*".join(_atom(f, dialect) for f in over) or dialect.number(1.0)
    if not under:
        return sign + top
    return f"{sign}{top}/({'*'.join(under)})" if len(under) > 1 else f"{sign}{top}/{under[0]}"


def _atom(node: Node, dialect: Dialect) -> str:
    """Return `node` so that it can stand as a factor, a base or an exponent."""
    match node.op:
        case "num":
            text = dialect.number(number(node))
            return text if number(node) >= 0 else f"({text})"
        case "var":
            return dialect.names.get(str(node.value), str(node.value))
        case "+" | "*":
            return f"({write(node, dialect)})"
        case "^":
            return _power(node.args[0], node.args[1], dialect)
        case name:
            word = FUNCTIONS[name].names.get(dialect.language, dialect.prefix + name)
            return f"{word}({write(node.args[0], dialect)})"


def _power(base: Node, exponent: Node, dialect: Dialect) -> str:
    low = _atom(base, dialect)
    high = _atom(exponent, dialect)
    if exponent.op == "num" and number(exponent).is_integer() and number(exponent) >= 0:
        high = str(int(number(exponent)))
    return dialect.power(f"({low})" if base.op == "^" else low, high)


def _is_inverse(node: Node) -> bool:
    return node.op == "^" and node.args[1].op == "num" and number(node.args[1]) < 0
