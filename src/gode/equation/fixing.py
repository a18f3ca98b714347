"""Constants of a frame whose values are known or bounded."""

import math
from collections.abc import Mapping
from dataclasses import replace

from gode.equation.frame import Frame
from gode.equation.names import UNNAMED, Names
from gode.equation.skeleton import Parameter
from gode.equation.tree import ZERO, Node, add, const, mul, num, power, replace_constants
from gode.errors import ConfigError, pointed

Bounds = Mapping[str, tuple[float | None, float | None]]


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
    return replace(frame, trees=tuple(_gathered(tree) for tree in trees), parameters=parameters)


def _gathered(node: Node) -> Node:
    """Return a tree with the numbers of each product gathered, as they are where it is read."""
    args = tuple(map(_gathered, node.args))
    match node.op:
        case "+":
            return add(*args) if args else ZERO
        case "*":
            return mul(*args)
        case "^":
            return power(*args)
    return node._replace(args=args)


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
