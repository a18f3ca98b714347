"""Text a person wrote, or a sentence of a grammar, to a tree. No `eval`, no SymPy parser.

The notation: + - * / ^ (or **), parentheses, numbers, the functions of `operators.FUNCTIONS` and sqrt,
max(a, b), min(a, b), clip(x, low, high) and deadzone(x, width), the constants pi and C (each C is a free
constant of its own), t, u or u(t), u' and u'' or diff(u, t) and diff(diff(u, t), t), and the known inputs by
name, as F or F(t). One `=` makes an equation. Other derivatives: `gode.equation.notation`.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from gode.equation.notation import in_primes
from gode.equation.operators import FUNCTIONS
from gode.equation.tree import (
    MINUS_ONE,
    ONE,
    STATE,
    TIME,
    ZERO,
    Node,
    add,
    beyond,
    call,
    clipped,
    const,
    delayed,
    derivative_order,
    has_constant,
    is_other,
    maximum,
    minimum,
    mul,
    num,
    number,
    power,
    renumber,
    var,
    walk,
)
from gode.errors import EquationError, pointed

HOLE = "?"  # the op of an unknown function, and the name of the one that is a function of all columns
MAX_FUNCTIONS = 20  # unknown functions of a frame
UNNAMED = re.compile(r"C\d+")  # what constants written C are called


class NameRefused(Exception):
    """Why a name cannot be used; the parser adds the place."""


@dataclass
class Names:
    """The constants and unknown functions met so far, in one equation or in all of a system."""

    functions_allowed: bool = False
    constants: list[str] = field(default_factory=list)
    functions: dict[str, int] = field(default_factory=dict)  # their numbers of arguments
    places: dict[str, tuple[str, int]] = field(default_factory=dict)  # text and place of each name

    def constant(self, name: str, text: str, start: int) -> Node:
        """Return the constant of this name."""
        if name in self.functions:
            raise NameRefused(f"{name} is an unknown function; write {name}(...) or another name")
        if is_other(name) or (UNNAMED.fullmatch(name) and name not in self.constants):
            raise NameRefused(f"{name} is a name that gode uses itself; choose another")
        return self._entered(name, text, start)

    def unnamed(self, text: str, start: int) -> Node:
        """Return another constant C."""
        n = sum(UNNAMED.fullmatch(name) is not None for name in self.constants)
        return self._entered(f"C{n + 1}", text, start)

    def _entered(self, name: str, text: str, start: int) -> Node:
        if name not in self.constants:
            self.constants.append(name)
            self.places[name] = text, start
        return const(self.constants.index(name))

    def function(self, name: str, arguments: Sequence[Node], text: str, start: int) -> Node:
        """Return an unknown function of these arguments."""
        if not self.functions_allowed:
            raise NameRefused(
                f"{name}{'(...)' * (name != HOLE)} is an unknown function, which discover finds: "
                "give the equation as frame="
            )
        if name in self.constants:
            raise NameRefused(f"{name} is a constant; write '*' for a product")
        if not name[0].islower() and name != HOLE:
            raise NameRefused(
                f"unknown functions have lower-case names; write '*' for a product, or {name.lower()}(...)"
            )
        if any(node.op == HOLE for argument in arguments for node in walk(argument)):
            raise NameRefused(f"{name} cannot be a function of another unknown function")
        if any(map(has_constant, arguments)):
            raise NameRefused(
                f"the arguments of {name} are columns and numbers, without free constants; "
                "write '*' for a product"
            )
        if name not in self.functions and len(self.functions) >= MAX_FUNCTIONS:
            raise NameRefused(f"{name} is one unknown function too many; a frame has {MAX_FUNCTIONS} at most")
        n = self.functions.setdefault(name, len(arguments))
        if n != len(arguments):
            raise NameRefused(f"{name} has {len(arguments)} arguments here and {n} before")
        self.places.setdefault(name, (text, start))
        return Node(HOLE, name, tuple(arguments))


MAX_LENGTH = 20_000
MAX_DEPTH = 60
MAX_ORDER = 2
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)(?P<primes>['′]*)"
    r"|(?P<sign>\*\*|[-+*/^(),=?]))"
)


PLAIN = {"t": var(TIME), "pi": num(math.pi)}
# Functions of several arguments: how many, and the tree that they stand for.
SPELLED: dict[str, tuple[int, Callable[..., Node]]] = {
    "max": (2, maximum),
    "min": (2, minimum),
    "clip": (3, clipped),
    "deadzone": (2, beyond),
}


class _Token(NamedTuple):
    kind: str  # "number", "name", "sign" or "end"
    text: str
    order: int  # primes behind a name
    start: int
    stop: int


def parse_tree(
    text: str,
    *,
    inputs: tuple[str, ...] = ("F",),
    states: tuple[str, ...] = (STATE,),
    names: Names | None = None,
) -> Node:
    """Return the tree of an expression, or of `left - right` if `text` holds one `=`.

    Args:
        states: the names that may have derivatives.
        names: where other names are entered, as constants and unknown functions; without it they are refused.

    Raises:
        EquationError: with the text and a caret under the place.
    """
    if not isinstance(text, str):
        raise EquationError(f"an equation must be text, got {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise EquationError(f"an equation of {len(text)} characters is too long; the limit is {MAX_LENGTH}")
    others = inputs if names is None else (*inputs, *names.constants)
    (text,) = in_primes([text], states, others)
    tree = _Parser(text, inputs, states, names).equation()
    return renumber(tree) if names is None else tree


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(
        self, text: str, inputs: tuple[str, ...], states: tuple[str, ...], names: Names | None
    ) -> None:
        self.text = text
        self.names = names
        self.inputs = inputs
        self.states = states
        self.tokens = self._tokens()
        self.place = 0
        self.depth = 0

    def fail(self, reason: str, start: int) -> NoReturn:
        raise EquationError(pointed(reason, self.text, start))

    def _tokens(self) -> list[_Token]:
        tokens = []
        place = 0
        end = len(self.text.rstrip())
        while place < end:
            found = TOKEN.match(self.text, place)
            if found is None:
                start = place + len(self.text[place:]) - len(self.text[place:].lstrip())
                self.fail(f"{self.text[start]!r} has no meaning in an equation; remove it", start)
            kind = str(found.lastgroup if found.lastgroup != "primes" else "name")
            order = len(found["primes"] or "")
            tokens.append(_Token(kind, found[kind], order, found.start(kind), found.end()))
            place = found.end()
        return [*tokens, _Token("end", "the end", 0, end, end)]

    @property
    def next(self) -> _Token:
        return self.tokens[self.place]

    @property
    def next_is_time(self) -> bool:
        return self.next.text == TIME and not self.next.order

    def take(self) -> _Token:
        self.place += 1
        return self.tokens[self.place - 1]

    def accept(self, *signs: str) -> _Token | None:
        return self.take() if self.next.kind == "sign" and self.next.text in signs else None

    def expect(self, sign: str, why: str) -> None:
        if not self.accept(sign):
            self.fail(f"expected {sign!r} {why}, but found {self.next.text!r}", self.next.start)

    def equation(self) -> Node:
        left = self.sum()
        if self.accept("="):
            left = add(left, mul(MINUS_ONE, self.sum()))
        if self.next.kind == "end":
            return left
        if self.next.text == "=":
            self.fail("an equation has one '=', but here is a second", self.next.start)
        if self.next.text in (")", ","):
            self.fail(f"{self.next.text!r} closes nothing; remove it or open a '(' before", self.next.start)
        self.fail("write '*' for a product: two factors stand side by side", self.next.start)

    def sum(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"parentheses are nested more than {MAX_DEPTH} deep; simplify", self.next.start)
        terms = [self.product()]
        while sign := self.accept("+", "-"):
            term = self.product()
            terms.append(term if sign.text == "+" else mul(MINUS_ONE, term))
        self.depth -= 1
        return add(*terms)

    def product(self) -> Node:
        factors = [self.signed()]
        while sign := self.accept("*", "/"):
            factor = self.signed()
            factors.append(factor if sign.text == "*" else power(factor, MINUS_ONE))
        return mul(*factors)

    def signed(self) -> Node:
        negative = False
        while sign := self.accept("-", "+"):
            negative ^= sign.text == "-"
        node = self.powered()
        return mul(MINUS_ONE, node) if negative else node

    def powered(self) -> Node:
        base = self.atom()
        if not self.accept("^", "**"):
            return base
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"powers are nested more than {MAX_DEPTH} deep; simplify", self.next.start)
        exponent = self.signed()
        self.depth -= 1
        return power(base, exponent)

    def atom(self) -> Node:
        token = self.take()
        if token.kind == "number":
            value = float(token.text)
            if not math.isfinite(value):
                self.fail(f"the number {token.text} is too large", token.start)
            return num(value)
        if token.kind == "name":
            return self.name(token)
        if token.text == "?":
            return self.anything(token)
        if token.text == "(" and token.kind == "sign":
            node = self.sum()
            self.expect(")", "to close the parenthesis")
            return node
        self.place -= 1
        self.fail(f"expected a number, a name or '(', but found {token.text!r}", token.start)

    def name(self, token: _Token) -> Node:
        name = token.text
        if token.order and name not in self.states:
            owners = " and ".join(self.states)
            verb = "has" if len(self.states) == 1 else "have"
            self.fail(f"only {owners} {verb} derivatives; {name}' has no meaning here", token.start)
        if name in self.states:
            return self.own(name, token.order, token.start)
        if name == "diff":
            return self.derivative(token)
        if name == "sqrt" or name in FUNCTIONS:
            return self.function(token)
        if name in self.inputs:
            return self.input(name)
        match name:
            case "C":
                return const(0) if self.names is None else self.names.unnamed(self.text, token.start)
            case "t" | "pi":
                return PLAIN[name]
            case "max" | "min" | "clip" | "deadzone" if self.next.text == "(":
                return self.spelled(token)
        if self.names is not None:
            return self.named(token, self.names)
        columns = [state + "'" * order for state in self.states for order in range(MAX_ORDER + 1)]
        known = ", ".join(["t", *columns, "C", "pi", *self.inputs, *FUNCTIONS, "sqrt", "diff"])
        self.fail(f"{name!r} is unknown; known are {known}", token.start)

    def named(self, token: _Token, names: Names) -> Node:
        """Return a named constant, or an unknown function of its arguments."""
        try:
            if not self.accept("("):
                return names.constant(token.text, self.text, token.start)
            arguments = [self.sum()]
            while self.accept(","):
                arguments.append(self.sum())
            self.expect(")", f"to close {token.text}(")
            return names.function(token.text, arguments, self.text, token.start)
        except NameRefused as reason:
            self.fail(str(reason), token.start)

    def anything(self, token: _Token) -> Node:
        """Return the unknown function ? of all columns."""
        if self.names is None:
            self.fail("'?' has no meaning in an equation; remove it", token.start)
        try:
            return self.names.function(token.text, [], self.text, token.start)
        except NameRefused as reason:
            self.fail(str(reason), token.start)

    def input(self, name: str) -> Node:
        by = self.argument_is_time(name)
        return var(name) if by is None else delayed(name, by)

    def own(self, name: str, order: int, start: int) -> Node:
        by = self.argument_is_time(name)
        if by is None:
            return self.state(name, order, start)
        if order:
            self.fail(f"a state may be delayed, its derivatives not; write {name}(t - ...)", start)
        return delayed(name, by)

    def state(self, name: str, order: int, start: int) -> Node:
        if order > MAX_ORDER:
            self.fail(f"derivatives above order {MAX_ORDER} are not supported", start)
        return var(name + "'" * order)

    def argument_is_time(self, name: str) -> Node | None:
        """Skip the `(t)` of u(t) or F(t); return the delay of F(t - tau), a number or a constant."""
        if not self.accept("("):
            return None
        if not self.next_is_time:
            self.fail(f"{name}(...) takes t alone; write '*' for a product", self.next.start)
        self.take()
        if not (sign := self.accept("-", "+")):
            self.expect(")", f"after {name}(t")
            return None
        start = self.next.start
        by = self.powered()
        self.expect(")", f"after {name}(t - ...")
        if sign.text == "+" or (by.op == "num" and number(by) < 0):
            self.fail(f"{name} of a later time is not known yet; a delay is written {name}(t - ...)", start)
        if by.op not in ("num", "const"):
            self.fail("a delay is a number or a constant, such as F(t - tau)", start)
        return by

    def function(self, token: _Token) -> Node:
        self.expect("(", f"after {token.text}")
        arg = self.sum()
        self.expect(")", f"to close {token.text}(")
        return power(arg, num(0.5)) if token.text == "sqrt" else call(token.text, arg)

    def spelled(self, token: _Token) -> Node:
        """Return a function of several arguments, which is spelled by those of one."""
        count, make = SPELLED[token.text]
        start = self.take().stop
        arguments = [self.sum()]
        while self.accept(","):
            arguments.append(self.sum())
        self.expect(")", f"to close {token.text}(")
        if len(arguments) != count:
            self.fail(f"{token.text} takes {count} arguments, but here are {len(arguments)}", start)
        if self.names is None and ZERO not in arguments[:2] and any(map(has_constant, arguments)):
            self.fail(f"{token.text} with a free constant needs a name for it, such as c instead of C", start)
        if token.text in ("max", "min") and arguments[1] == ZERO:
            arguments.reverse()
        return make(*arguments)

    def derivative(self, token: _Token) -> Node:
        self.expect("(", "after diff")
        inner = self.sum()
        self.expect(",", "and t: write diff(u, t)")
        times = 0
        while True:
            is_time = self.next_is_time
            step = self.take()
            if not is_time and not (step.text == "2" and times == 1):
                self.fail("diff is by t alone: write diff(u, t) or diff(diff(u, t), t)", step.start)
            times += 1
            if not self.accept(","):
                break
        self.expect(")", "to close diff(")
        name = str(inner.value).rstrip("'")
        if inner.op != "var" or name not in self.states:
            self.fail("diff takes u or a derivative of u", token.start)
        return self.state(name, derivative_order(str(inner.value)) + times, token.start)


def numbers_to_constants(node: Node) -> tuple[Node, tuple[float, ...]]:
    """Return `node` with its numbers made free constants, and their values.

    Integer exponents and the signs and ones of bare terms are structure and stay.
    """
    values: list[float] = []
    return _freed(node, values), tuple(values)


def _freed(node: Node, values: list[float]) -> Node:
    if node.op == "num":
        values.append(float(node.value))
        return const(len(values) - 1)
    if node.op == "^" and node.args[1].op == "num" and float(node.args[1].value).is_integer():
        return power(_freed(node.args[0], values), node.args[1])
    if node.op == "*" and node.args[0] in (ONE, MINUS_ONE):
        return mul(node.args[0], *(_freed(a, values) for a in node.args[1:]))
    return node._replace(args=tuple(_freed(arg, values) for arg in node.args))
