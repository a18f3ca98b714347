"""Intervals of constants from the profile likelihood, where standard errors mislead.

A constant is held at a value and everything else is fitted again: the values at which the fit is not clearly
worse are the interval. It may be lopsided, end at a bound, or be open: K > 800.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import chdtri

from gode.arrays import Float
from gode.discovery.constants import Constant, is_unnamed
from gode.equation import Equation, Law, LawSkeleton, Parameter, Skeleton, System, SystemSkeleton
from gode.equation.dimensions import relabelled
from gode.equation.frame import tied
from gode.errors import DataError
from gode.fitting.prepare import Prepared
from gode.fitting.shooting import shoot
from gode.search.settings import Settings
from gode.search.zero_starts import fitted_target
from gode.selection import Candidate

LEVEL = 0.95  # Intervals are told at 95 % confidence everywhere.
DOUBTFUL = 0.2  # Above this relative standard error a likelihood of usual shape is visibly lopsided.
FIRST_STEP = 0.3  # The first step outward, relative to a constant whose standard error says nothing.
STEPS = 12  # Steps outward on each side, each twice as long as the one before.
HALVINGS = 7  # Bisections of the last step, which leave less than a hundredth of it.
FARTHEST = 1e3  # An interval that goes on at so many times the value, or the first step, is called open.


def with_intervals(
    constants: Sequence[Constant], candidate: Candidate, prepared: Prepared, settings: Settings
) -> list[Constant]:
    """Return those of the named constants whose standard errors may mislead, with their intervals."""
    found = []
    for constant in constants if candidate.equation.skeleton.parameters else ():
        if not is_unnamed(constant.name) and _is_doubtful(candidate, constant.index):
            interval = profile(candidate, constant.name, prepared, settings)
            found.append(replace(constant, interval=interval))
    return found


def _is_doubtful(candidate: Candidate, index: int) -> bool:
    """Tell whether the standard error of a constant may mislead: it is large, or the value is at a bound."""
    value, error = candidate.equation.constants[index], float(candidate.errors[index])
    parameter = candidate.equation.skeleton.parameters[index]
    return value in (parameter.low, parameter.high) or not error <= DOUBTFUL * abs(value)


def profile(
    candidate: Candidate, name: str, prepared: Prepared, settings: Settings, level: float = LEVEL
) -> tuple[float, float]:
    """Return the least and the largest value of a constant with which the fit is not clearly worse.

    The limit is that of the likelihood ratio with one degree of freedom, for as many values as the residuals
    are worth.

    Raises:
        DataError: if no constant has this name.
    """
    law = _with_names(candidate.equation)
    index = _index_of(law, name)
    target = fitted_target(candidate, prepared)
    independent_fraction = candidate.independent / max(candidate.n_values, 1)
    limit = float(chdtri(1, 1 - level))
    starts: dict[float, tuple[Float, Float]] = {
        law.constants[index]: (np.array(law.constants), candidate.initial)
    }

    def excess(x: float) -> float:
        """Return twice the loss of log likelihood at `x`, minus what is allowed."""
        nearest = min(starts, key=lambda tried: abs(tried - x))
        constants, initial = starts[nearest]
        moved = np.array(constants)
        moved[index] = x
        skeleton = _held(law.skeleton, index, x)
        shot = shoot(skeleton, moved.tolist(), target, config=settings.shooting, start=initial)
        if shot.equation is None:
            return math.inf
        starts[x] = np.array(shot.equation.constants), shot.initial
        total = sum(state.share * math.log(max(state.square, 1e-300)) for state in shot.by_state)
        return shot.n_values * independent_fraction * total - best - limit

    best = 0.0
    best = excess(law.constants[index]) + limit
    value, error = law.constants[index], float(candidate.errors[index])
    parameter = law.skeleton.parameters[index]
    step = error if 0 < error < abs(value) else FIRST_STEP * abs(value) or 1.0
    low = _end(excess, value, -step, parameter.low)
    high = _end(excess, value, step, parameter.high)
    return low, high


def _index_of(law: Law, name: str) -> int:
    """Return the number of the free constant that is called so, or C1, C2, ...

    Raises:
        DataError: if there is none.
    """
    names = [parameter.name for parameter in law.skeleton.parameters]
    if name not in names:
        raise DataError(f"no constant is called {name!r}; there are {', '.join(names) or 'none'}")
    return names.index(name)


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


def _held(skeleton: LawSkeleton, index: int, value: float) -> LawSkeleton:
    """Return a law with named constants in which one is held at a value."""
    fixed = Parameter(skeleton.parameters[index].name, value, value)

    def changed(parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
        return tuple(fixed if p.name == fixed.name else p for p in parameters)

    if isinstance(skeleton, Skeleton):
        return replace(skeleton, parameters=changed(skeleton.parameters))
    parts = tuple(replace(part, parameters=changed(part.parameters)) for part in skeleton.parts)
    return replace(skeleton, parts=parts, parameters=changed(skeleton.parameters))


def _with_names(law: Law) -> Law:
    """Return the same law with a name for each free constant, C1, C2, ... where it has none."""
    skeleton = law.skeleton
    if skeleton.parameters:
        return law
    names = tuple(Parameter(f"C{i + 1}") for i in range(skeleton.n_constants))
    trees = [relabelled(skeleton, i, part.normal) for i, part in enumerate(skeleton.parts)]
    parts = tuple(Skeleton(tree, names) for tree in trees)
    if isinstance(law, Equation):
        return Equation(parts[0], law.constants)
    assert isinstance(skeleton, SystemSkeleton)
    return System(tied(skeleton.states, parts, skeleton.inputs), law.constants)
