"""Frame: equations of which a part is known, with named constants and unknown functions to be filled in.

An unknown function is a hole in the tree. What is found for it is written in every place where it stands,
with the arguments of that place; its constants are the same everywhere. The result is an ordinary skeleton.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

from gode.equation.names import HOLE, UNNAMED
from gode.equation.skeleton import Found, Parameter, Skeleton
from gode.equation.system import Link, SystemSkeleton
from gode.equation.tree import (
    ONE,
    STATE,
    Node,
    add,
    const,
    constants_in,
    count_constants,
    derivative_order,
    index,
    mul,
    power,
    renumber,
    replace_constants,
    walk,
)

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
    single: bool  # whether it becomes one equation, not a system
    trees: tuple[Node, ...]
    parameters: tuple[Parameter, ...]
    functions: tuple[Unknown, ...]

    @cached_property
    def is_named(self) -> bool:
        """Whether a constant has a name, or there is an unknown function."""
        return bool(self.functions) or any(not UNNAMED.fullmatch(p.name) for p in self.parameters)

    def unknowns(self, own: int) -> list[Unknown]:
        """Return the unknown functions in the equation of one state."""
        here = {node.value for node in walk(self.trees[own]) if node.op == HOLE}
        return [function for function in self.functions if function.name in here]

    def part(self, own: int, filling: Filling, *, alone: bool = False) -> Skeleton:
        """Return the equation of one state with its unknown functions filled in.

        Args:
            alone: whether constants that only scale a function found elsewhere are left out.
        """
        tree = self._unscaled(own) if alone else self.trees[own]
        kept = sorted({*constants_in(tree)})
        parameters = [self.parameters[i] for i in kept]
        numbers = {i: n for n, i in enumerate(kept)}
        tree = replace_constants(tree, lambda i: const(numbers[i]))
        found = []
        for function in self.unknowns(own):
            body, first = filling[function.name], len(parameters)
            parameters += [Parameter(function.constant(i)) for i in range(count_constants(body))]
            body = replace_constants(body, lambda i, first=first: const(first + i))  # type: ignore[misc]
            found.append(Found(function.name, function.formal, body))
        bodies = {each.name: each for each in found}
        return Skeleton(fill(tree, bodies), tuple(parameters), tuple(found))

    def law(self, filling: Filling) -> "Skeleton | SystemSkeleton":
        """Return all equations with their unknown functions filled in."""
        parts = tuple(self.part(own, filling) for own in range(len(self.trees)))
        if self.single:
            return parts[0]
        return tied(self.states, parts, self.inputs)

    def unnamed_law(self) -> "Skeleton | SystemSkeleton":
        """Return the equations without names of constants; each constant then stands for itself."""
        parts = tuple(Skeleton(renumber(tree)) for tree in self.trees)
        return parts[0] if self.single else SystemSkeleton(self.states, parts, self.inputs)

    def _unscaled(self, own: int) -> Node:
        drop = {i for i, function in scaling(self.trees[own]) if self._stands_alone(function, own)}
        return replace_constants(self.trees[own], lambda i: ONE if i in drop else const(i))

    def _stands_alone(self, function: str, but: int) -> bool:
        """Tell whether a function stands somewhere without a constant that only scales it."""
        others = [tree for own, tree in enumerate(self.trees) if own != but]
        return any(
            node.op == HOLE and node.value == function and function not in {f for _, f in scaling(tree)}
            for tree in others
            for node in walk(tree)
        )


def tied(states: tuple[str, ...], parts: tuple[Skeleton, ...], inputs: tuple[str, ...]) -> SystemSkeleton:
    """Return the system of some equations in which constants of one name are one."""
    everything = list(dict.fromkeys(p.name for part in parts for p in part.parameters))
    links = tuple(Link(everything.index(p.name)) for part in parts for p in part.parameters)
    made = SystemSkeleton(states, parts, inputs, links)
    return replace(made, parameters=parameters_of(made))


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
    own = [str(n.value) for n in walk(tree) if n.op == "var" and str(n.value).rstrip("'") == STATE]
    return max(map(derivative_order, own), default=0)
