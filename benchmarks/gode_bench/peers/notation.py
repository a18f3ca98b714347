"""Expressions of other tools in the notation of our parser."""

import re
from collections.abc import Iterator

from gode.errors import EquationError

BETWEEN = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
AROUND = {"neg": "-({})", "sin": "sin({})", "cos": "cos({})", "log": "log(abs({}))", "sqrt": "abs({})^0.5"}
TOKEN = re.compile(r"\s*([A-Za-z_]\w*|-?\d+\.?\d*(?:[eE][+-]?\d+)?|[(),])")


def infix(program: str) -> str:
    """Return a program of nested calls, add(X0, mul(0.5, X1)), as an expression.

    A protected function is written as the plain function, from which it differs only near its pole.

    Raises:
        EquationError: if the program is malformed.
    """
    words = iter(TOKEN.findall(program))
    text = _expression(next(words, ""), words)
    if next(words, "") != "":
        raise EquationError(f"the program goes on after its end: {program[:80]!r}")
    return text


def product(feature: str) -> str:
    """Return a feature's name as an expression: `u^2 v` is u^2*v, `sin(1 u)` is sin(1*u)."""
    return re.sub(r"(?<=[\w)]) (?=[\w(])", "*", feature)


def _expression(word: str, words: Iterator[str]) -> str:
    if word in BETWEEN:
        _take(words, "(")
        left = _expression(next(words, ""), words)
        _take(words, ",")
        right = _expression(next(words, ""), words)
        _take(words, ")")
        return f"({left} {BETWEEN[word]} {right})"
    if word in AROUND:
        _take(words, "(")
        inner = _expression(next(words, ""), words)
        _take(words, ")")
        return "(" + AROUND[word].format(inner) + ")"
    if not word or word in "(),":
        raise EquationError(f"expected a name or a number in a program, got {word!r}")
    return f"({word})" if word.startswith("-") else word


def _take(words: Iterator[str], sign: str) -> None:
    word = next(words, "")
    if word != sign:
        raise EquationError(f"expected {sign!r} in a program, got {word!r}")
