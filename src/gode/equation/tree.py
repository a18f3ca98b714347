"""Expression trees: what an equation is made of, and how to build, walk and measure one.

A node is a plain tuple, so that trees hash, compare and sort at the speed of tuples. Sums and
products have any number of arguments; `a - b` is `a + (-1)*b`, and `a / b` is `a * b^(-1)`.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from gode.equation.operators import FUNCTIONS, KINKED

STATE = "u"
DELAY = "delay"  # the operation of a column as it was some time ago
TIME = "t"
OTHER = re.compile(r"v[1-9][0-9]*'*")  # another state of a system, or its derivative
MOST_PRODUCTS = 3.0  # cap on the price of a power, in products
KEY_DIGITS = 12  # to which numbers are compared
by_term = lru_cache(
    maxsize=20_000
)  # the sums of a search are made of few different terms, met again and again


class Node(NamedTuple):
    """One node of a tree.

    `op` is "num", "const", "var", "+", "*", "^" or a function; `value` is the number, the constant's
    index or the variable's name; `args` are the subtrees.
    """

    op: str
    value: float | str
    args: tuple["Node", ...]


def num(value: float) -> Node:
    """Return a number."""
    return Node("num", float(value), ())


def const(index: int) -> Node:
    """Return free constant number `index`."""
    return Node("const", float(index), ())


def var(name: str) -> Node:
    """Return the column `name`: time, the state, one of its derivatives or an input."""
    return Node("var", name, ())


ZERO, ONE, MINUS_ONE, FREE = num(0), num(1), num(-1), const(0)


def add(*args: Node) -> Node:
    """Return the sum of `args`, flat and without zeros."""
    flat = [a for arg in args for a in (arg.args if arg.op == "+" else (arg,)) if a != ZERO]
    if len(flat) < 2:
        return flat[0] if flat else ZERO
    return Node("+", 0.0, tuple(flat))


def mul(*args: Node) -> Node:
    """Return the product of `args`, flat, its numbers gathered in front."""
    flat = [a for arg in args for a in (arg.args if arg.op == "*" else (arg,))]
    factor = math.prod(number(a) for a in flat if a.op == "num")
    rest = [a for a in flat if a.op != "num"]
    if factor == 0:
        return ZERO
    if factor != 1 or not rest:
        rest.insert(0, num(factor))
    return rest[0] if len(rest) == 1 else Node("*", 0.0, tuple(rest))


def power(base: Node, exponent: Node) -> Node:
    """Return `base` to the `exponent`."""
    if exponent == ONE:
        return base
    if base.op == "num" and exponent.op == "num":
        value = _safe_power(number(base), number(exponent))
        if value is not None:
            return num(value)
    return Node("^", 0.0, (base, exponent))


def call(name: str, arg: Node) -> Node:
    """Return the function `name` of `arg`."""
    return Node(name, 0.0, (arg,))


def maximum(a: Node, b: Node) -> Node:
    """Return the larger of two trees, a + max(0, b - a)."""
    return add(a, call("max0", add(b, mul(MINUS_ONE, a))))


def minimum(a: Node, b: Node) -> Node:
    """Return the smaller of two trees, a - max(0, a - b)."""
    return add(a, mul(MINUS_ONE, call("max0", add(a, mul(MINUS_ONE, b)))))


def clipped(x: Node, low: Node, high: Node) -> Node:
    """Return a tree that is held between two others, low + max(0, x - low) - max(0, x - high)."""
    above = call("max0", add(x, mul(MINUS_ONE, high)))
    return add(maximum(low, x), mul(MINUS_ONE, above))


def beyond(x: Node, width: Node) -> Node:
    """Return what exceeds a dead zone of half that width, max(0, x - width) - max(0, -x - width)."""
    less = mul(MINUS_ONE, width)
    under = call("max0", add(mul(MINUS_ONE, x), less))
    return add(call("max0", add(x, less)), mul(MINUS_ONE, under))


def delayed(name: str, by: Node) -> Node:
    """Return the column `name` as it was some time ago: a number, or a free constant."""
    return Node(DELAY, 0.0, (var(name), by))


def delays(node: Node) -> list[Node]:
    """Return the delayed columns in a tree, each once."""
    return list(dict.fromkeys(each for each in walk(node) if each.op == DELAY))


def replaced(node: Node, by: Mapping[Node, Node]) -> Node:
    """Return a tree with other trees in place of some of its parts."""
    return by[node] if node in by else node._replace(args=tuple(replaced(arg, by) for arg in node.args))


def number(node: Node) -> float:
    """Return the value of a "num" node."""
    return node.value if isinstance(node.value, float) else math.nan


def index(node: Node) -> int:
    """Return the index of a "const" node."""
    return int(node.value)


def walk(node: Node) -> Iterator[Node]:
    """Yield `node` and everything below it, in the order of writing."""
    yield node
    for arg in node.args:
        yield from walk(arg)


def has_constant(node: Node) -> bool:
    """Tell whether a free constant occurs in `node`."""
    return node.op == "const" or any(has_constant(arg) for arg in node.args)


def depends_on(node: Node, name: str) -> bool:
    """Tell whether the column `name` occurs in `node`."""
    return name in variables(node)


def variables(node: Node) -> frozenset[str]:
    """Return the names of the columns in `node`."""
    if node.op == "+":
        return frozenset().union(*[_variables(arg) for arg in node.args])
    return _variables(node)


@by_term
def _variables(node: Node) -> frozenset[str]:
    return frozenset([str(n.value) for n in walk(node) if n.op == "var"])


@by_term
def symbols(node: Node) -> frozenset[str]:
    """Return the symbols with which a tree is written: u, t, sin, ^ with its number, / and *.

    A factor that is a number or a constant makes no product.
    """
    found = {symbol for arg in node.args for symbol in symbols(arg)}
    if node.op == "var":
        found.add(str(node.value))
    elif node.op in FUNCTIONS:
        found.add(node.op)
    elif node.op == "^":
        size = abs(number(node.args[1])) if node.args[1].op == "num" else None
        found |= {"/"} if node.args[1].op == "num" and number(node.args[1]) < 0 else set()
        found |= {"^"} if size is None else {"^", f"{size:g}"} if size != 1 else set()
    elif node.op == "*" and sum(bool(variables(arg)) and not _is_divisor(arg) for arg in node.args) > 1:
        found.add("*")
    return frozenset(found)


def _is_divisor(node: Node) -> bool:
    return node.op == "^" and node.args[1].op == "num" and number(node.args[1]) < 0


def derivative_order(name: str) -> int:
    """Return how often the column `name` is differentiated: 2 for u''."""
    return name.count("'")


def is_other(name: str) -> bool:
    """Tell whether a column is another state of a system, such as v1, or its derivative."""
    return OTHER.fullmatch(name) is not None


def constants_in(node: Node) -> list[int]:
    """Return the number of each free constant in `node`, in the order of writing."""
    return [index(inner) for inner in walk(node) if inner.op == "const"]


def gathered(node: Node) -> Node:
    """Return `node` written anew, with the numbers of each product gathered, as where a text is read."""
    args = tuple(map(gathered, node.args))
    match node.op:
        case "+":
            return add(*args) if args else ZERO
        case "*":
            return mul(*args)
        case "^":
            return power(*args)
    return node._replace(args=args)


def replace_constants(node: Node, new: Callable[[int], Node]) -> Node:
    """Return `node` with each free constant replaced by `new(index)`."""
    if node.op == "const":
        return new(index(node))
    if not node.args:
        return node
    return Node(node.op, node.value, tuple([replace_constants(arg, new) for arg in node.args]))


def replace_numbers(node: Node, new: Callable[[float], float]) -> Node:
    """Return `node` with each number x replaced by `new(x)`."""
    if node.op == "num":
        return num(new(number(node)))
    if not node.args:
        return node
    return node._replace(args=tuple(replace_numbers(arg, new) for arg in node.args))


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """Return `node` with its columns called by other names."""
    if node.op == "var":
        return node._replace(value=names.get(str(node.value), str(node.value)))
    return node._replace(args=tuple(renamed(arg, names) for arg in node.args))


def renumber(node: Node) -> Node:
    """Return `node` with its constants numbered in the order of writing."""
    if node.op != "+":
        return _numbered(node, 0)[0]
    terms, start = [], 0
    for arg in node.args:
        term, start = _numbered(arg, start)
        terms.append(term)
    return Node("+", node.value, tuple(terms))


@by_term
def _numbered(node: Node, start: int) -> tuple[Node, int]:
    """Return `node` with its constants numbered from `start`, and the number after the last."""
    count = iter(range(start, 1_000_000))
    return replace_constants(node, lambda _: const(next(count))), next(count)


def unlabelled(node: Node) -> Node:
    """Return `node` with every constant carrying the same number, so that equal forms are equal."""
    if node.op != "+":
        return _unlabelled(node)
    return Node("+", node.value, tuple([_unlabelled(arg) for arg in node.args]))


@by_term
def _unlabelled(node: Node) -> Node:
    return replace_constants(node, lambda _: FREE)


def count_constants(node: Node) -> int:
    """Return the number of free constants in `node`."""
    return sum([_numbered(arg, 0)[1] for arg in node.args]) if node.op == "+" else _numbered(node, 0)[1]


def shorten_numbers(node: Node) -> Node:
    """Return `node` with its numbers rounded: 0.1/0.3 and 1/3 differ in the last digit, and mean the same."""
    if node.op != "+":
        return _shortened(node)
    return Node("+", node.value, tuple([_shortened(arg) for arg in node.args]))


@by_term
def _shortened(node: Node) -> Node:
    return replace_numbers(node, lambda x: float(f"{x:.{KEY_DIGITS}g}"))


def sorted_tree(node: Node) -> Node:
    """Return `node` with the terms of sums and the factors of products in a fixed order."""
    args = tuple(sorted_tree(arg) for arg in node.args)
    return node._replace(args=tuple(sorted(args)) if node.op in ("+", "*") else args)


def complexity(node: Node) -> int:
    """Return the paper's complexity: one for each number, variable and operation.

    It counts the nodes of SymPy's tree, where u(t) is 2 and a derivative is 6. A factor of -1 is the
    minus of the operation in front of it and counts nothing: 5u' + 25u - sin(t) gives 16.
    """
    if node.op == "var":
        name = str(node.value)
        return 1 if name == TIME else (6 if derivative_order(name) else 2)
    if not node.args:
        return 1
    own = 1 + (len(FUNCTIONS[node.op].first) if node.op in FUNCTIONS else 0)
    return own + sum(complexity(a) for a in node.args if not (node.op == "*" and a == MINUS_ONE))


def operations(tree: Node) -> int:
    """Return the number of sums, products, powers and functions in `tree`; n arguments are n - 1 of them."""
    return sum(max(len(node.args) - 1, 1) for node in walk(tree) if node.args)


def burden(tree: Node) -> float:
    """Return the structural price of `tree`: the weighted number of its operations.

    A function counts as two operations, a power as the products it stands for, explicit time as one more, and
    so does a constant inside a function, a power or a denominator: it bends the term, while a factor only
    scales it.
    """
    if tree.op != "+":
        return _burden(tree, False)
    return len(tree.args) - 1 + sum([_burden(arg, False) for arg in tree.args])


@by_term
def _burden(tree: Node, inside: bool) -> float:
    if not tree.args:
        return float((tree.op == "var" and tree.value == TIME) or (inside and tree.op == "const"))
    bends = tree.op not in ("+", "*")
    own = 2.0 if tree.op in FUNCTIONS and tree.op not in KINKED else max(len(tree.args) - 1, 1)
    if tree.op == "^" and tree.args[1].op == "num" and number(tree.args[1]).is_integer():
        n = number(tree.args[1])
        own = min(max(abs(n) - 1 + (n < 0), 1.0), MOST_PRODUCTS)
    return own + sum(_burden(child, inside or bends) for child in tree.args)


def _safe_power(base: float, exponent: float) -> float | None:
    try:
        value = base**exponent
    except (ZeroDivisionError, OverflowError):
        return None
    if not isinstance(value, float) or not math.isfinite(value) or (value == 0 and base != 0):
        return None  # not real, or out of the range of floats
    return value
