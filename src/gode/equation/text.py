"""Trees as text a person can type back, and as LaTeX."""

import math
from collections.abc import Callable

from gode.equation.operators import FUNCTIONS
from gode.equation.tree import Node, complexity, derivative_order, num, number, power, walk

Format = Callable[[float], str]


def exact(value: float) -> str:
    """Return the shortest text that reads back as `value`."""
    return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def rounded(digits: int) -> Format:
    """Return a format with that many significant digits."""
    return lambda value: f"{value:.{digits}g}"


def to_text(node: Node, style: Format = exact) -> str:
    """Return `node` in the notation of the parser."""
    return _Writer(style, latex=False).sum(node)


def to_latex(node: Node, style: Format) -> str:
    """Return `node` in LaTeX."""
    return _Writer(style, latex=True).sum(node)


def display_order(node: Node) -> tuple[bool, int, int, Node]:
    """Sort key of a term: high derivatives first, then simple before involved, the bare constant last."""
    names = [str(n.value) for n in walk(node) if n.op == "var"]
    return (not names, -max(map(derivative_order, names), default=0), complexity(node), node)


class _Writer:
    """Writes trees; the two notations differ in a few words only."""

    def __init__(self, style: Format, *, latex: bool) -> None:
        self.style = style
        self.latex = latex

    def sum(self, node: Node) -> str:
        terms = sorted(node.args, key=display_order) if node.op == "+" else (node,)
        text = ""
        for term in terms:
            piece = self.product(term)
            if not text:
                text = piece
            elif piece.startswith("-"):
                text += f" - {piece[1:]}"
            else:
                text += f" + {piece}"
        return text

    def product(self, node: Node) -> str:
        factors = node.args if node.op == "*" else (node,)
        over = [f for f in factors if not _is_inverse(f)]
        under = [_inverted(f) for f in factors if _is_inverse(f)]
        sign = ""
        if over and over[0].op == "num" and number(over[0]) < 0:
            sign, over[0] = "-", num(-number(over[0]))
        if len(over) > 1 and over[0].op == "num" and self.style(number(over[0])) == "1":
            over = over[1:]
        return sign + self.fraction([self.factor(f) for f in over] or ["1"], [self.factor(f) for f in under])

    def fraction(self, over: list[str], under: list[str]) -> str:
        if self.latex:
            top, low = (r" \, ".join(part) for part in (over, under))
            return rf"\frac{{{top}}}{{{low}}}" if under else top
        bottom = f"({'*'.join(under)})" if len(under) > 1 else "".join(under)
        return "*".join(over) + (f"/{bottom}" if under else "")

    def factor(self, node: Node) -> str:
        if node.op == "+":
            return self.braced(self.sum(node))
        if node.op == "*":
            return self.braced(self.product(node))
        if node.op == "num" and number(node) < 0:
            return self.braced(self.number(node))
        return self.atom(node)

    def atom(self, node: Node) -> str:
        match node.op:
            case "num":
                return self.number(node)
            case "const":
                return "C"
            case "var":
                return self.variable(str(node.value))
            case "^":
                return self.power(node)
            case name:
                return self.call(name, self.sum(node.args[0]))

    def number(self, node: Node) -> str:
        text = self.style(number(node))
        if self.latex and "e" in text and math.isfinite(number(node)):
            mantissa, exponent = text.split("e")
            return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
        return text

    def power(self, node: Node) -> str:
        base, exponent = node.args
        simple = base.op in ("var", "const") or (base.op == "num" and number(base) >= 0)
        low = self.atom(base) if simple else self.braced(self.sum(base))
        if base.op not in ("var", "const", "num", "+", "*", "^"):
            low = self.atom(base)
        high = self.sum(exponent) if self.latex else self.exponent(exponent)
        if self.latex and (str(base.value).endswith("'") or (base.op == "num" and "^" in low)):
            low = self.braced(low)
        return f"{low}^{{{high}}}" if self.latex else f"{low}^{high}"

    def exponent(self, node: Node) -> str:
        plain = node.op in ("var", "const") or (node.op == "num" and number(node) >= 0)
        text = self.atom(node) if plain else self.braced(self.sum(node))
        return text if "e" not in text or not plain else self.braced(text)

    def braced(self, text: str) -> str:
        return rf"\left({text}\right)" if self.latex else f"({text})"

    def variable(self, name: str) -> str:
        if not self.latex:
            return name
        bare, order = name.rstrip("'"), derivative_order(name)
        return {0: bare, 1: rf"\dot{{{bare}}}", 2: rf"\ddot{{{bare}}}"}.get(order, name)

    def call(self, name: str, arg: str) -> str:
        return FUNCTIONS[name].latex.format(arg) if self.latex else f"{name}({arg})"


def _is_inverse(node: Node) -> bool:
    return node.op == "^" and node.args[1].op == "num" and number(node.args[1]) < 0


def _inverted(node: Node) -> Node:
    return power(node.args[0], num(-number(node.args[1])))
