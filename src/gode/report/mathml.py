"""Equations as MathML, which browsers draw by themselves: no script, no font, no network."""

from collections.abc import Mapping
from dataclasses import replace
from html import escape

from gode.equation import Law, Node
from gode.equation.printer import Dialect, rounded, write, write_terms
from gode.equation.tree import derivative_order

DIGITS = 4
# A sign that begins a formula of its own must be told that it stands between two terms.
SIGN = '<mo form="infix" lspace="0.24em" rspace="0.24em">{}</mo>'
BRACES = "<mrow><mo>(</mo>", "<mo>)</mo></mrow>"


def law_mathml(law: Law, digits: int = DIGITS) -> str:
    """Return a law as formulas, one for each term: a long line goes on in the next; a row for each state."""
    rows = []
    for i, equation in enumerate(law.equations):
        names = law.skeleton.names(i)
        sides = equation.sides() if law is equation else equation.explicit_sides()
        first, last = (write_terms(side, _dialect(digits, names)) for side in sides)
        rows.append((_formulas(first), _formulas([f"{SIGN.format('=')}{last[0]}", *last[1:]])))
    text = escape("; ".join(law.lines(digits)))
    if len(rows) == 1:
        return f'<span class="formula" role="math" aria-label="{text}">{"<wbr/>".join(rows[0])}</span>'
    cells = "".join(f"<span>{left}</span><span>{right}</span>" for left, right in rows)
    return f'<span class="formula aligned" role="math" aria-label="{text}">{cells}</span>'


def tree_mathml(node: Node, digits: int = DIGITS) -> str:
    """Return an expression as a formula within a line."""
    return f"<math><mrow>{write(node, _dialect(digits, {}))}</mrow></math>"


def _formulas(pieces: list[str]) -> str:
    return "<wbr/>".join(f'<math displaystyle="true"><mrow>{piece}</mrow></math>' for piece in pieces)


def _dialect(digits: int, names: Mapping[str, str]) -> Dialect:
    return replace(MATHML, style=rounded(digits), names=names)


def _number(digits: str) -> str:
    mantissa, _, exponent = digits.replace("-", "−").partition("e")
    if not exponent:
        return f"<mn>{mantissa}</mn>"
    tens = exponent.replace("+", "").replace("−0", "−").lstrip("0") or "0"
    return f"<mn>{mantissa}</mn><mo>·</mo><msup><mn>10</mn><mn>{tens}</mn></msup>"


def _variable(name: str) -> str:
    bare, order = escape(name.rstrip("'")), derivative_order(name)
    if not order:
        return f"<mi>{bare}</mi>"
    if len(bare) > 1:  # a dot does not suit a word
        return f"<mi>{bare}{'′' * order}</mi>"  # as a superscript it would stand too high
    # Not marked as an accent: without a mathematical font browsers set accents askew.
    return f'<mover><mi>{bare}</mi><mo stretchy="false">{"˙¨"[order - 1]}</mo></mover>'


def _power(base: str, exponent: str) -> str:
    low = base.join(BRACES) if base.startswith("<mover>") or base.endswith("′</mi>") else base
    return f"<msup><mrow>{low}</mrow><mrow>{exponent}</mrow></msup>"


MATHML = Dialect(
    number=_number,
    variable=_variable,
    call=lambda function, argument: function.mathml.format(argument),
    power=_power,
    times='<mspace width="0.17em"/>',
    signs=('<mo form="prefix">−</mo>', SIGN.format("−"), SIGN.format("+")),
    braces=BRACES,
    bar="<mfrac><mrow>{}</mrow><mrow>{}</mrow></mfrac>",
    bare=True,
    inverse=False,
)
