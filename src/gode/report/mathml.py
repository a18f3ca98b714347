"""Equations as MathML, which browsers draw by themselves: no script, no font, no network."""

from html import escape

from gode.equation import Equation, Node
from gode.equation.operators import FUNCTIONS
from gode.equation.text import display_order, rounded
from gode.equation.tree import derivative_order, num, number, power

DIGITS = 4
# A sign that begins a formula of its own must be told that it stands between two terms.
SIGN = '<mo form="infix" lspace="0.24em" rspace="0.24em">{}</mo>'


def equation_mathml(equation: Equation, digits: int = DIGITS) -> str:
    """Return an equation as formulas in a row, one for each term: a long one goes on in the next line."""
    left, right = equation.sides()
    last = _terms(right, digits)
    first = _terms(left, digits)
    pieces = [*first, f"{SIGN.format('=')}{last[0]}", *last[1:]]
    joined = "<wbr/>".join(f'<math displaystyle="true"><mrow>{piece}</mrow></math>' for piece in pieces)
    text = escape(equation.text(digits))
    return f'<span class="formula" role="math" aria-label="{text}">{joined}</span>'


def tree_mathml(node: Node, digits: int = DIGITS) -> str:
    """Return an expression as a formula within a line."""
    return f"<math><mrow>{_sum(node, digits)}</mrow></math>"


def _sum(node: Node, digits: int) -> str:
    return "".join(_terms(node, digits))


def _terms(node: Node, digits: int) -> list[str]:
    """Return the terms of a sum, each with its sign."""
    terms = sorted(node.args, key=display_order) if node.op == "+" else (node,)
    out: list[str] = []
    for term in terms:
        minus, body = _product(term, digits)
        first = '<mo form="prefix">−</mo>' if minus else ""
        out.append((SIGN.format("−" if minus else "+") if out else first) + body)
    return out


def _product(node: Node, digits: int) -> tuple[bool, str]:
    """Return whether a minus goes in front, and the rest."""
    factors = node.args if node.op == "*" else (node,)
    over = [f for f in factors if not _is_inverse(f)]
    under = [power(f.args[0], num(-number(f.args[1]))) for f in factors if _is_inverse(f)]
    minus = bool(over) and over[0].op == "num" and number(over[0]) < 0
    if minus:
        over[0] = num(-number(over[0]))
    if len(over) > 1 and over[0].op == "num" and rounded(digits)(number(over[0])) == "1":
        over = over[1:]
    if not under:
        return minus, _factors(over, digits)
    top = _alone(over, digits) if over else "<mn>1</mn>"
    return minus, f"<mfrac><mrow>{top}</mrow><mrow>{_alone(under, digits)}</mrow></mfrac>"


def _alone(factors: list[Node], digits: int) -> str:
    """Return factors above or below a bar, where a lone sum needs no parentheses."""
    return _sum(factors[0], digits) if len(factors) == 1 else _factors(factors, digits)


def _factors(factors: list[Node], digits: int) -> str:
    return '<mspace width="0.17em"/>'.join(_factor(f, digits) for f in factors)


def _factor(node: Node, digits: int) -> str:
    match node.op:
        case "num":
            text = _number(number(node), digits)
            return text if number(node) >= 0 else _braced(text)
        case "const":
            return "<mi>C</mi>"
        case "var":
            return _variable(str(node.value))
        case "+" | "*":
            return _braced(_sum(node, digits))
        case "^":
            return _power(node.args[0], node.args[1], digits)
        case name:
            return FUNCTIONS[name].mathml.format(_sum(node.args[0], digits))


def _power(base: Node, exponent: Node, digits: int) -> str:
    low = _factor(base, digits)
    if base.op == "^" or str(base.value).endswith("'"):
        low = _braced(low)
    return f"<msup><mrow>{low}</mrow><mrow>{_sum(exponent, digits)}</mrow></msup>"


def _variable(name: str) -> str:
    bare, order = escape(name.rstrip("'")), derivative_order(name)
    if not order:
        return f"<mi>{bare}</mi>"
    # Not marked as an accent: without a mathematical font browsers set accents askew.
    return f'<mover><mi>{bare}</mi><mo stretchy="false">{"˙¨"[order - 1]}</mo></mover>'


def _number(value: float, digits: int) -> str:
    text = rounded(digits)(value).replace("-", "−")
    if "e" not in text:
        return f"<mn>{text}</mn>"
    mantissa, exponent = text.split("e")
    tens = exponent.replace("+", "").replace("−0", "−").lstrip("0") or "0"
    return f"<mn>{mantissa}</mn>{_mo('·')}<msup><mn>10</mn><mn>{tens}</mn></msup>"


def _braced(inner: str) -> str:
    return f"<mrow>{_mo('(')}{inner}{_mo(')')}</mrow>"


def _mo(sign: str) -> str:
    return f"<mo>{sign}</mo>"


def _is_inverse(node: Node) -> bool:
    return node.op == "^" and node.args[1].op == "num" and number(node.args[1]) < 0
