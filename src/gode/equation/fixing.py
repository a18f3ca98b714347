"""Constants whose values are known or bounded."""

import math
from collections.abc import Mapping
from dataclasses import replace

from gode.equation.frame import Frame
from gode.equation.names import UNNAMED, Names
from gode.equation.skeleton import Parameter, Skeleton
from gode.equation.tree import (
    Node,
    const,
    constants_in,
    gathered,
    num,
    renumber,
    replace_constants,
    unlabelled,
)
from gode.errors import ConfigError, pointed
from gode.options.table import Bounds


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
