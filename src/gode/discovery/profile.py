"""Intervals of constants from the likelihood itself, where standard errors mislead.

A constant is held at a value and everything else is fitted again: the values at which the fit is not clearly
worse are the interval. It may be lopsided, end at a bound, or be open: K > 800.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri

from gode.arrays import Float
from gode.discovery.finding import Finding
from gode.equation import Equation, Law, LawSkeleton, Parameter, Skeleton, System, SystemSkeleton
from gode.equation.dimensions import relabelled
from gode.equation.frame import tied
from gode.equation.names import UNNAMED
from gode.errors import DataError
from gode.fitting.prepare import Prepared
from gode.fitting.shooting import shoot
from gode.search.settings import Settings
from gode.search.zero_starts import fitted_target
from gode.selection import Candidate

LEVEL = 0.95
DOUBTFUL = 0.2  # relative standard error above which the normal interval is doubted
STEPS = 12  # outward, each twice as long as the one before
HALVINGS = 7
FARTHEST = 1e3  # times the value or its error: an interval that goes on there is open


@dataclass(frozen=True)
class Interval:
    """The values of a constant that the data allow; infinite where no value is too large or too small."""

    name: str
    value: float
    low: float
    high: float
    unit: str = ""

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        low, high = (f"{x:.3g}{unit}" for x in (self.low, self.high))
        if math.isinf(self.low) and math.isinf(self.high):
            return f"{self.name} is not determined by these data"
        if math.isinf(self.high):
            return f"{self.name} > {low}"
        if math.isinf(self.low):
            return f"{self.name} < {high}"
        return f"{self.name} = {self.value:.4g}, between {self.low:.3g} and {high}"


def is_doubtful(candidate: Candidate, place: int) -> bool:
    """Tell whether the standard error of a constant may mislead: it is large, or the value is at a bound."""
    value, error = candidate.equation.constants[place], float(candidate.errors[place])
    parameters = candidate.equation.skeleton.parameters
    bounds = (parameters[place].low, parameters[place].high) if parameters else ()
    return value in bounds or not error <= DOUBTFUL * abs(value)


def _place_of(law: Law, name: str) -> int:
    """Return the number of the free constant that is called so, or C1, C2, ...

    Raises:
        DataError: if there is none.
    """
    names = [p.name for p in named_law(law).skeleton.parameters]
    if name not in names:
        raise DataError(f"no constant is called {name!r}; there are {', '.join(names) or 'none'}")
    return names.index(name)


def profile(
    candidate: Candidate, name: str, prepared: Prepared, settings: Settings, level: float = LEVEL
) -> tuple[float, float]:
    """Return the least and the largest value of a constant with which the fit is not clearly worse.

    Raises:
        DataError: if no constant has this name.
    """
    place = _place_of(candidate.equation, name)
    law = named_law(candidate.equation)
    target = fitted_target(candidate, prepared)
    share = candidate.independent / max(candidate.n_values, 1)
    limit = float(chdtri(1, 1 - level))
    starts: dict[float, tuple[Float, Float]] = {
        law.constants[place]: (np.array(law.constants), candidate.initial)
    }

    def excess(x: float) -> float:
        """Return twice the loss of log likelihood at `x`, minus what is allowed."""
        nearest = min(starts, key=lambda known: abs(known - x))
        constants, initial = starts[nearest]
        moved = np.array(constants)
        moved[place] = x
        shot = shoot(
            held(law.skeleton, place, x), moved.tolist(), target, config=settings.shooting, start=initial
        )
        if shot.equation is None:
            return math.inf
        starts[x] = np.array(shot.equation.constants), shot.initial
        total = sum(state.share * math.log(max(state.square, 1e-300)) for state in shot.by_state)
        return shot.n_values * share * total - best - limit

    best = 0.0
    best = excess(law.constants[place]) + limit
    bounds = [(p.low, p.high) for p in law.skeleton.parameters][place]
    value, error = law.constants[place], float(candidate.errors[place])
    step = error if 0 < error < abs(value) else 0.3 * abs(value) or 1.0
    return tuple(_end(excess, value, side * step, bound) for side, bound in zip((-1, 1), bounds, strict=True))  # type: ignore[return-value]


def _end(excess: Callable[[float], float], value: float, step: float, bound: float) -> float:
    """Return where the interval ends on one side: where the fit is too bad, at the bound, or nowhere."""
    inside, far = value, FARTHEST * max(abs(value), abs(step))
    for _ in range(STEPS):
        x = value + step
        if (x - bound) * step >= 0:  # at the bound or beyond
            x = bound
        if x == inside:
            return bound
        if excess(x) > 0:
            break
        inside = x
        if abs(x - value) > far:
            return math.copysign(math.inf, step)
        step *= 2
    else:
        return math.copysign(math.inf, step)
    outside = x
    for _ in range(HALVINGS):
        x = 0.5 * (inside + outside)
        inside, outside = (inside, x) if excess(x) > 0 else (x, outside)
    return inside


def held(skeleton: LawSkeleton, place: int, value: float) -> LawSkeleton:
    """Return a law with named constants in which one is held at a value."""
    names = [p.name for p in skeleton.parameters]
    fixed = Parameter(names[place], value, value)
    if isinstance(skeleton, Skeleton):
        return replace(skeleton, parameters=_with(skeleton.parameters, fixed))
    parts = tuple(replace(part, parameters=_with(part.parameters, fixed)) for part in skeleton.parts)
    return replace(skeleton, parts=parts, parameters=_with(skeleton.parameters, fixed))


def _with(parameters: tuple[Parameter, ...], other: Parameter) -> tuple[Parameter, ...]:
    return tuple(other if p.name == other.name else p for p in parameters)


def named_law(law: Law) -> Law:
    """Return the same law with a name for each free constant, C1, C2, ... where it has none."""
    skeleton = law.skeleton
    if skeleton.parameters:
        return law
    names = tuple(Parameter(f"C{i + 1}") for i in range(skeleton.n_constants))
    trees = [relabelled(skeleton, own, part.normal) for own, part in enumerate(skeleton.parts)]
    parts = tuple(Skeleton(tree, names) for tree in trees)
    if isinstance(law, Equation):
        return Equation(parts[0], law.constants)
    assert isinstance(skeleton, SystemSkeleton)
    return System(tied(skeleton.states, parts, skeleton.inputs), law.constants)


def intervals(finding: Finding, prepared: Prepared, settings: Settings) -> list[Interval]:
    """Return the intervals of named constants whose standard errors may mislead."""
    candidate, found = finding.candidate, []
    for place, constant in enumerate(finding.constants if candidate.equation.skeleton.parameters else ()):
        if not UNNAMED.fullmatch(constant.name) and is_doubtful(candidate, place):
            low, high = profile(candidate, constant.name, prepared, settings)
            found.append(Interval(constant.name, constant.value, low, high, constant.unit))
    return found
