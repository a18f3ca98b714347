"""Random expressions for property tests, and the plain evaluation they are checked against.

The trees are built with the functions of `gode.equation.tree`, as the parser builds them. Numbers are
small and exact in binary, so that sums in another order are the same to the last bit.
"""

import math
from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from gode.equation import Node
from gode.equation.operators import FUNCTIONS
from gode.equation.tree import add, call, const, index, mul, num, number, power, renumber, var

NUMBERS = (-3.0, -2.0, -1.0, -0.5, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0)
INTEGER_EXPONENTS = (-2.0, -1.0, 2.0, 3.0)
EXPONENTS = (*INTEGER_EXPONENTS, -0.5, 0.5, 1.5)
COLUMNS = ("t", "u", "u'", "u''", "F")
ALPHABET = "utFC'()^*+-/=.,0123456789e _diffsnqrpxZ\n\tüπ²"

numbers = st.sampled_from(NUMBERS).map(num)
exponents = st.sampled_from(EXPONENTS).map(num)
constant_values = st.floats(0.2, 3.0) | st.floats(-3.0, -0.2)
coordinates = st.floats(0.05, 2.0) | st.floats(-2.0, -0.05)
points = st.fixed_dictionaries({name: coordinates for name in COLUMNS})


def trees(
    leaves: st.SearchStrategy[Node],
    *,
    functions: Sequence[str] = tuple(FUNCTIONS),
    powers: st.SearchStrategy[Node] = exponents,
    max_leaves: int = 8,
) -> st.SearchStrategy[Node]:
    """Expressions over `leaves`: sums, products, quotients, powers and functions."""

    def grown(children: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        several = st.lists(children, min_size=2, max_size=3)
        return st.one_of(
            several.map(lambda args: add(*args)),
            several.map(lambda args: mul(*args)),
            st.builds(lambda a, b: mul(a, power(b, num(-1))), children, children),
            st.builds(power, children, powers),
            st.builds(call, st.sampled_from(functions), children),
        )

    return st.recursive(leaves, grown, max_leaves=max_leaves)


def columns(*names: str) -> st.SearchStrategy[Node]:
    """One of the named columns."""
    return st.sampled_from(names).map(var)


def numeric_expressions(*names: str, max_leaves: int = 8) -> st.SearchStrategy[Node]:
    """Expressions in numbers and the named columns."""
    return trees(columns(*names) | columns(*names) | numbers, max_leaves=max_leaves)


def free_expressions(
    *names: str, functions: Sequence[str] = tuple(FUNCTIONS), max_leaves: int = 8
) -> st.SearchStrategy[Node]:
    """Expressions in free constants, numbers and the named columns."""
    leaves = columns(*names) | columns(*names) | st.just(const(0)) | numbers
    return trees(leaves, functions=functions, max_leaves=max_leaves).map(renumber)


def numeric_equations(max_leaves: int = 8) -> st.SearchStrategy[Node]:
    """Residuals without free constants that hold a derivative."""
    return _with_derivative(numeric_expressions("t", "u", "u'", "F", max_leaves=max_leaves), numbers)


def skeleton_trees(max_leaves: int = 8) -> st.SearchStrategy[Node]:
    """Residuals with free constants that hold a derivative."""
    factor = numbers | st.just(const(0))
    return _with_derivative(free_expressions("t", "u", "u'", max_leaves=max_leaves), factor).map(renumber)


def linear_equations() -> st.SearchStrategy[Node]:
    """Residuals without free constants that are linear in u'': slope * u'' + rest."""
    slope = numeric_expressions("t", "u", max_leaves=3)
    rest = numeric_expressions("t", "u", "u'", max_leaves=6)
    return st.builds(lambda a, b: add(mul(a, var("u''")), b), slope, rest)


def garbled_texts() -> st.SearchStrategy[str]:
    """Texts that look a little like equations."""
    words = (
        "u'",
        "u''",
        "sin(",
        "diff(u, t)",
        "(t)",
        "1e",
        "**",
        "C*",
        " = ",
        "u",
        "__class__",
        "9^9^9",
        "\x00",
    )
    pieces = st.sampled_from(words) | st.text(ALPHABET, max_size=4) | st.text(max_size=2)
    return st.lists(pieces, max_size=12).map("".join)


def _with_derivative(
    rest: st.SearchStrategy[Node], factor: st.SearchStrategy[Node]
) -> st.SearchStrategy[Node]:
    top = columns("u'", "u''")
    return st.builds(lambda a, d, b: add(mul(a, d), b), factor, top, rest)


def plain_value(node: Node, at: Mapping[str, float], constants: Sequence[float] = ()) -> float:
    """Return the value of `node`, or nan where it has no finite real one."""
    try:
        value = _value(node, at, constants)
    except (ValueError, ZeroDivisionError, OverflowError):
        return math.nan
    return value if math.isfinite(value) else math.nan


def _value(node: Node, at: Mapping[str, float], constants: Sequence[float]) -> float:
    if node.op == "num":
        return number(node)
    if node.op == "const":
        return constants[index(node)]
    if node.op == "var":
        return at[str(node.value)]
    args = [_value(arg, at, constants) for arg in node.args]
    if node.op == "+":
        return sum(args)
    if node.op == "*":
        return math.prod(args)
    if node.op == "^":
        return math.pow(*args)
    return FUNCTIONS[node.op].value(*args)
