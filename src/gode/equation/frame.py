"""Frames: equations of which a part is known, with named constants and unknown functions.

An unknown function is a hole in the tree. What is found for it is written in every place where it stands,
with the arguments of that place; its constants are the same everywhere. The result is an ordinary skeleton.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

from gode.equation.notation import in_primes
from gode.equation.parse import HOLE, UNNAMED, Names, parse_tree
from gode.equation.skeleton import Found, Parameter, Skeleton, checked
from gode.equation.system import (
    LawSkeleton,
    SystemSkeleton,
    columns_seen,
    joined,
    read_trees,
    seen_to_display,
    state_seen,
)
from gode.equation.tree import (
    ONE,
    STATE,
    TIME,
    Node,
    add,
    const,
    constants_in,
    count_constants,
    delays,
    derivative_order,
    gathered,
    index,
    mul,
    num,
    power,
    renamed,
    renumber,
    replace_constants,
    unlabelled,
    var,
    walk,
)
from gode.errors import ConfigError, EquationError, pointed
from gode.options.table import Bounds

Filling = Mapping[str, Node]  # a tree for each unknown function, over its formal arguments


class Unknown(NamedTuple):
    """An unknown function."""

    name: str
    formal: tuple[str, ...]  # its arguments, as what is found for it calls them
    home: int  # the first equation in which it stands
    plain: bool  # whether the formal arguments are the columns of that equation

    def constant(self, number: int) -> str:
        """Return the name of one of its constants."""
        prefix = f"C_{self.name[1:]}" if self.name.startswith(HOLE) else self.name
        return f"{prefix}{number + 1}"


@dataclass(frozen=True)
class Frame:
    """Equations with named constants and unknown functions, each in its own view; see `parse_frame`."""

    texts: tuple[str, ...]
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    trees: tuple[Node, ...]
    parameters: tuple[Parameter, ...]
    functions: tuple[Unknown, ...]

    @cached_property
    def is_named(self) -> bool:
        """Whether a constant has a name, or there is an unknown function."""
        return bool(self.functions) or any(not UNNAMED.fullmatch(p.name) for p in self.parameters)

    def unknowns(self, state: int) -> list[Unknown]:
        """Return the unknown functions in the equation of one state."""
        here = {node.value for node in walk(self.trees[state]) if node.op == HOLE}
        return [function for function in self.functions if function.name in here]

    def part(self, state: int, filling: Filling, *, alone: bool = False) -> Skeleton:
        """Return the equation of one state with its unknown functions filled in.

        Args:
            alone: whether constants that only scale a function found elsewhere are left out.
        """
        tree = self._unscaled(state) if alone else self.trees[state]
        kept = sorted({*constants_in(tree)})
        parameters = [self.parameters[i] for i in kept]
        numbers = {i: n for n, i in enumerate(kept)}
        tree = replace_constants(tree, lambda i: const(numbers[i]))
        found = []
        for function in self.unknowns(state):
            body, first = filling[function.name], len(parameters)
            parameters += [Parameter(function.constant(i)) for i in range(count_constants(body))]
            body = replace_constants(body, lambda i, first=first: const(first + i))  # type: ignore[misc]
            found.append(Found(function.name, function.formal, body))
        bodies = {each.name: each for each in found}
        return Skeleton(fill(tree, bodies), tuple(parameters), tuple(found))

    def law(self, filling: Filling) -> LawSkeleton:
        """Return all equations with their unknown functions filled in."""
        parts = [self.part(state, filling) for state in range(len(self.trees))]
        return joined(self.states, self.inputs, parts)

    def unnamed_law(self) -> LawSkeleton:
        """Return the equations without names of constants; each constant then stands for itself."""
        return joined(self.states, self.inputs, [Skeleton(renumber(tree)) for tree in self.trees])

    def _unscaled(self, state: int) -> Node:
        drop = {i for i, function in scaling(self.trees[state]) if self._stands_alone(function, state)}
        return replace_constants(self.trees[state], lambda i: ONE if i in drop else const(i))

    def _stands_alone(self, function: str, but: int) -> bool:
        """Tell whether a function stands somewhere without a constant that only scales it."""
        others = [tree for state, tree in enumerate(self.trees) if state != but]
        return any(
            node.op == HOLE and node.value == function and function not in {f for _, f in scaling(tree)}
            for tree in others
            for node in walk(tree)
        )


def parameters_of(skeleton: SystemSkeleton) -> tuple[Parameter, ...]:
    """Return the names of the free constants that the equations of a system know, by its links."""
    named = [p for part in skeleton.parts for p in part.parameters]
    found = {link.place: p for link, p in zip(skeleton.links, named, strict=False)}
    return tuple(found[place] for place in sorted(found))


def scaling(tree: Node) -> list[tuple[int, str]]:
    """Return the constants that stand once, as a factor of an unknown function, with that function."""
    labels = constants_in(tree)
    out = []
    for node in walk(tree):
        factors = node.args if node.op == "*" else ()
        holes = [str(f.value) for f in factors if f.op == HOLE]
        alone = [index(f) for f in factors if f.op == "const" and labels.count(index(f)) == 1]
        out += [(alone[0], holes[0])] if len(holes) == 1 and alone else []
    return out


def fill(node: Node, found: Mapping[str, Found]) -> Node:
    """Return the tree with what was found in place of its unknown functions.

    Products with sums that hold such functions are multiplied out, so that their constants are linear.
    """
    args = tuple(fill(arg, found) for arg in node.args)
    match node.op:
        case "?":
            each = found[str(node.value)]
            return put_in(each.tree, dict(zip(each.arguments, args, strict=True)))
        case "+":
            return add(*args)
        case "*":
            return _product(args, [any(n.op == HOLE for n in walk(arg)) for arg in node.args])
        case "^":
            return power(*args)
    return node._replace(args=args)


def _product(factors: Sequence[Node], filled: Sequence[bool]) -> Node:
    """Return a product; its sums that were filled are multiplied out, and so is any with a number alone."""
    others = [factor.op for factor in factors if factor.op != "num"]
    open_ = [
        f.op == "+" and (is_filled or others == ["+"]) for f, is_filled in zip(factors, filled, strict=True)
    ]
    sums = [factor.args if is_open else (factor,) for factor, is_open in zip(factors, open_, strict=True)]
    return add(*(mul(*chosen) for chosen in product(*sums)))


def put_in(node: Node, columns: Mapping[str, Node]) -> Node:
    """Return `node` with trees in place of its columns."""
    if node.op == "var":
        return columns.get(str(node.value), node)
    args = tuple(put_in(arg, columns) for arg in node.args)
    return add(*args) if node.op == "+" else mul(*args) if node.op == "*" else node._replace(args=args)


def order_of(tree: Node) -> int:
    """Return the order of an equation of a frame in its own view."""
    names_of_state = [str(n.value) for n in walk(tree) if n.op == "var" and str(n.value).rstrip("'") == STATE]
    return max(map(derivative_order, names_of_state), default=0)


def with_values(frame: Frame, names: Names, fixed: Mapping[str, float], bounds: Bounds) -> Frame:
    """Return the frame with some constants fixed and others bounded."""
    known = [p.name for p in frame.parameters]
    options: dict[str, Mapping[str, object]] = {"fixed": fixed, "bounds": bounds}
    for option, given in options.items():
        for name in given:
            if name not in known:
                shown = ", ".join(n for n in known if not UNNAMED.fullmatch(n)) or "unnamed"
                reason = f"{option} has {name}, which the equation does not have; its constants are {shown}"
                raise ConfigError(pointed(reason, f"{name} = {given[name]!r}", 0))
    limits = {p.name: _limits(p.name, bounds.get(p.name, (None, None)), names) for p in frame.parameters}
    late = [each.args[1] for tree in frame.trees for each in delays(tree)]
    for i in {index(by) for by in late if by.op == "const"}:
        low, high = limits[known[i]]
        limits[known[i]] = max(low, 0.0), high  # nothing is known of later times
    values: dict[int, float] = {}
    for i, p in enumerate(frame.parameters):
        if p.name in fixed:
            values[i] = _fixed_value(p.name, fixed[p.name], limits[p.name], names)
    kept = [i for i in range(len(known)) if i not in values]
    trees = [
        replace_constants(tree, lambda i: num(values[i]) if i in values else const(kept.index(i)))
        for tree in frame.trees
    ]
    parameters = tuple(Parameter(known[i], *limits[known[i]]) for i in kept)
    return replace(frame, trees=tuple(gathered(tree) for tree in trees), parameters=parameters)


def _limits(name: str, given: tuple[float | None, float | None], names: Names) -> tuple[float, float]:
    text, start = names.places[name]
    try:
        low, high = given
        pair = -math.inf if low is None else float(low), math.inf if high is None else float(high)
    except (TypeError, ValueError):
        raise ConfigError(
            pointed(f"the bounds of {name} must be a pair such as (0, None), got {given!r}", text, start)
        ) from None
    if not pair[0] < pair[1]:
        raise ConfigError(pointed(f"the bounds of {name} must increase, got {given!r}", text, start))
    return pair


def _fixed_value(name: str, given: float, limits: tuple[float, float], names: Names) -> float:
    text, start = names.places[name]
    try:
        value = float(given)
    except (TypeError, ValueError):
        value = math.nan
    if not abs(value) < math.inf:
        raise ConfigError(
            pointed(f"the fixed value of {name} must be a finite number, got {given!r}", text, start)
        )
    if not limits[0] <= value <= limits[1]:
        raise ConfigError(
            pointed(
                f"{name} is fixed at {value:g}, outside of its bounds {limits[0]:g} to {limits[1]:g}",
                text,
                start,
            )
        )
    return value


def with_numbers(skeleton: Skeleton, values: Mapping[int, float]) -> tuple[Skeleton, list[int]] | None:
    """Return an equation with numbers for some constants, and which of the constants are left.

    None where a number makes another term, as (C - u)^3 is written -(u - C)^3.
    """
    if not values:
        return skeleton, list(range(skeleton.n_constants))

    def put(tree: Node) -> Node:
        return replace_constants(tree, lambda i: num(values[i]) if i in values else const(i))

    new = Skeleton(renumber(put(skeleton.normal)))
    waiting = [term for term in skeleton.terms if term.constant not in values]
    waiting += [term for term in skeleton.terms if term.constant in values]
    left = [0] * new.n_constants
    for term in new.terms:  # the normal form may have another order
        old = next((o for o in waiting if unlabelled(put(o.body)) == unlabelled(term.body)), None)
        if old is None:
            return None
        waiting.remove(old)
        for i, j in zip(constants_in(term.body), constants_in(put(old.body)), strict=True):
            left[i] = j
        if term.constant is not None:
            assert old.constant is not None
            left[term.constant] = old.constant
    return new, left


def parse_frame(
    texts: str | Sequence[str] | Mapping[str, str],
    *,
    states: Sequence[str] = (STATE,),
    inputs: Sequence[str] = ("F",),
    called: Mapping[str, str] | None = None,
    functions: bool = True,
    fixed: Mapping[str, float] | None = None,
    bounds: Bounds | None = None,
) -> Frame:
    """Return the frame a person typed, such as ``x' = r*x - f(x, y); y' = e*f(x, y) - m*y``.

    Names that are no state, input or function are constants; followed by arguments, unknown functions. A ? is
    an unknown function of all columns.

    Args:
        called: what the texts call the states and inputs, where that is not their name.
        functions: whether unknown functions are allowed.
        fixed: values of constants that are known.
        bounds: the least and the largest value of constants; None for no bound.

    Raises:
        EquationError, ConfigError: with a caret under the place.
    """
    if isinstance(texts, str):
        texts = split_equations(texts)
    names, called = Names(functions), called or {}
    shown = [called.get(name, name) for name in states], [called.get(name, name) for name in inputs]
    if len(states) == 1:  # which may be implicit
        text = split_equations(texts)
        if len(text) != 1:
            whole = ";".join(text)
            place = len(whole) if len(text) < 2 else len(text[0]) + 1
            reason = f"one state needs one equation, got {len(text)}"
            if len(text) > 1:
                reason += f"; another state, or a column that is a formula of {shown[0][0]}, has another name"
            raise EquationError(pointed(reason, whole, place))
        tree = parse_tree(text[0], inputs=tuple(shown[1]), states=tuple(shown[0]), names=names)
        in_view = {v: k for k, v in seen_to_display(0, shown[0], shown[1]).items()}
        read = {STATE: (renamed(tree, in_view), text[0])}
    else:
        read = read_trees(texts, shown[0], shown[1], names)
    trees = [
        _opened(tree, i, len(states), len(inputs), len(read)) for i, (tree, _) in enumerate(read.values())
    ]
    unknown = _unknowns(trees)
    made = Frame(
        tuple(text for _, text in read.values()),
        tuple(states),
        tuple(inputs),
        tuple(trees),
        tuple(Parameter(name) for name in names.constants),
        tuple(unknown),
    )
    _check(made, names)
    return with_values(made, names, fixed or {}, bounds or {})


def split_equations(texts: str | Sequence[str] | Mapping[str, str]) -> list[str]:
    """Return the equations in a text, where ; or a new line parts them, or of several texts, in primes."""
    if isinstance(texts, str):
        return in_primes([part for part in re.split(r"[;\n]", texts) if part.strip()])
    return in_primes([str(text) for text in (texts.values() if isinstance(texts, Mapping) else texts)])


def _opened(tree: Node, state: int, n_states: int, n_inputs: int, n_equations: int) -> Node:
    """Return the tree with the arguments of each ?: all columns below the highest derivatives."""
    names = columns_seen(state, n_states, n_inputs)
    order = max((derivative_order(str(n.value)) for n in walk(tree) if n.op == "var"), default=1)
    columns = [name for name in names if derivative_order(name) < order]
    name = HOLE if n_equations == 1 else f"{HOLE}{state + 1}_"

    def opened(node: Node) -> Node:
        if node.op == HOLE and node.value == HOLE:
            return Node(HOLE, name, tuple(map(var, columns)))
        return node._replace(args=tuple(map(opened, node.args)))

    return opened(tree)


def _unknowns(trees: Sequence[Node]) -> list[Unknown]:
    found: dict[str, Unknown] = {}
    for state, tree in enumerate(trees):
        for node in walk(tree):
            name = str(node.value)
            if node.op != HOLE or name in found:
                continue
            columns = tuple(str(arg.value) for arg in node.args)
            plain = all(arg.op == "var" for arg in node.args) and len(set(columns)) == len(columns)
            generic = tuple(STATE if i == 0 else f"v{i}" for i in range(len(columns)))
            found[name] = Unknown(name, columns if plain else generic, state, plain)
    return list(found.values())


def _check(frame: Frame, names: Names) -> None:
    """See to it that the frame can be filled, and that what fills it can be told from its constants."""
    for tree, text in zip(frame.trees, frame.texts, strict=True):
        holes = {
            function.name: Found(function.name, function.formal, var(TIME)) for function in frame.functions
        }
        made = Skeleton(fill(tree, holes), tuple(frame.parameters))
        checked(made, text, formula=len(frame.states) > 1)
    orders = [order_of(_without_holes(tree)) for tree in frame.trees]
    for state in range(len(frame.trees)):
        _check_arguments(frame, state, orders, names)
    for function in frame.functions:
        constants = {function.constant(i) for i in range(100)}
        for name in constants & set(names.constants):
            text, start = names.places[name]
            raise EquationError(
                pointed(
                    f"{name} is what a constant of {function.name} is called; choose another name",
                    text,
                    start,
                )
            )
        scales = [i for tree in frame.trees for i, f in scaling(tree) if f == function.name]
        places = [n for tree in frame.trees for n in walk(tree) if n.op == HOLE and n.value == function.name]
        if len(scales) == len(places):
            name = frame.parameters[scales[0]].name
            text, start = names.places[name]
            raise EquationError(
                pointed(
                    f"{name} only scales {function.name}, which has factors of its own; leave it out",
                    text,
                    start,
                )
            )


def _check_arguments(frame: Frame, state: int, orders: Sequence[int], names: Names) -> None:
    """See to it that no unknown function depends on the highest derivative of a state."""
    of_state = {state_seen(state, s): order for s, order in enumerate(orders)}
    for hole in (node for node in walk(frame.trees[state]) if node.op == HOLE):
        for column in (str(n.value) for arg in hole.args for n in walk(arg) if n.op == "var"):
            order, taken = of_state.get(column.rstrip("'"), 0), derivative_order(column)
            if order and taken >= order:
                text, start = names.places[str(hole.value)]
                own = f"{hole.value} depends on a derivative of order {taken}"
                reason = f"{own}, but the equation is of order {order}; leave it out"
                raise EquationError(pointed(reason, text, start))


def _without_holes(node: Node) -> Node:
    return node._replace(args=() if node.op == HOLE else tuple(map(_without_holes, node.args)))


def read_named(
    text: str,
    parameters: Sequence[Parameter],
    functions: Sequence[tuple[str, tuple[str, ...], str]],
    inputs: tuple[str, ...],
    *,
    formula: bool = False,
) -> Skeleton:
    """Return the skeleton of a residual in its own view, with the names of its constants in their order.

    Args:
        formula: whether it may be of order zero, a formula of what is measured.
        functions: name, arguments and text of what was found for unknown functions.
    """
    names = Names(constants=[p.name for p in parameters])
    states = (STATE, *(f"v{i}" for i in range(1, 100)))
    tree = parse_tree(f"{text} = 0", inputs=inputs, states=states, names=names)
    found = [
        Found(name, arguments, parse_tree(own, inputs=inputs, states=states, names=names))
        for name, arguments, own in functions
    ]
    if len(names.constants) != len(parameters):
        raise EquationError(f"{names.constants[-1]!r} is unknown in {text!r}")
    return checked(Skeleton(tree, tuple(parameters), tuple(found)), text, formula=formula)
