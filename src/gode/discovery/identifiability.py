"""What the data leave open: constants that can change together, and intervals from the profile likelihood.

At the optimum the sensitivities J of all that was measured, with respect to the logarithms of all fitted
numbers and in units of the noise, have the singular values s. Along the direction v that belongs to s the
logarithms are uncertain by 1/s. Where that is much larger than one, the numbers in v are not determined one
by one: with v = (1, -1) the product of two numbers stays the same, and is all that the data determine.

A constant is held at a value and everything else is fitted again: the values at which the fit is not clearly
worse are the interval. It may be lopsided, end at a bound, or be open: K > 800.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy.special import chdtri

from gode.arrays import Float
from gode.discovery.invariants import right_side
from gode.discovery.quality import start_names
from gode.discovery.reported_constants import VAGUE, Constant, is_unnamed
from gode.equation import Law, LawSkeleton, Parameter, Skeleton
from gode.equation.dimensions import relabelled
from gode.equation.skeleton import shown_name
from gode.equation.system import joined, make_law
from gode.equation.tree import ONE, var
from gode.errors import DataError
from gode.fitting.prepare import Prepared
from gode.fitting.trajectory import ShootConfig, Trajectories
from gode.fitting.trajectory_fit import shoot
from gode.search.settings import Settings
from gode.search.zero_starts import fitted_target
from gode.selection import Candidate

OPEN = 30.0  # A direction along which a logarithm is uncertain by more is not determined by the data.
PART = 0.02  # Numbers with a smaller share of a direction are taken for not being in it.
EXACT = 0.01  # So far may exponents be from simple fractions.
STEP = 0.3  # The first relative step along what data say nothing of: a combination, or a constant.
UNSEEN = 1.0  # The squared residuals over the noise may grow by so much on the way.
LARGEST = 4  # The largest numerator and denominator of a simple fraction.


@dataclass(frozen=True)
class Undetermined:
    """Numbers that can change together without changing what was measured."""

    names: tuple[str, ...]
    combination: str  # What is determined of them, as a formula; empty where there is no simple one.

    def __str__(self) -> str:
        if len(self.names) == 1:
            return f"{self.names[0]} is not determined by these data: it has no effect on what was measured"
        listed = f"{', '.join(self.names[:-1])} and {self.names[-1]}"
        if self.combination:
            return f"{listed} are not determined one by one by these data, only {self.combination} is"
        return f"{listed} are not determined by these data: they can change together without being seen"


def undetermined(candidate: Candidate, prepared: Prepared, config: ShootConfig) -> tuple[Undetermined, ...]:
    """Return the groups of fitted numbers that the data do not determine one by one."""
    skeleton = candidate.equation.skeleton
    target = fitted_target(candidate, prepared)
    per_run = () if candidate.own is None else candidate.own.places
    problem = Trajectories(skeleton, target, config, per_run=per_run)
    runs = range(len(problem.models))
    constants = np.array([candidate.law_of(i).constants for i in runs])
    p = problem.parameters.joined(constants, candidate.initial)
    path = problem.solve(p)
    if path is None or not len(p):
        return ()
    names = _names(candidate, problem)
    slopes = problem.jacobian(path)
    if not np.isfinite(slopes).all():
        return ()
    slopes *= _sizes(p, slopes, problem)[:, None]
    directions, sizes, _ = np.linalg.svd(slopes, full_matrices=True)
    sizes = np.append(sizes, np.zeros(len(p) - len(sizes)))
    unseen = directions[:, sizes < 1 / OPEN]

    def stays(moved: Float) -> bool:
        return problem.error(moved) < path.sse + UNSEEN

    return tuple(_what_is_determined(group, unseen[group], p, names, stays) for group in _groups(unseen))


def remark_on_hidden(candidate: Candidate, prepared: Prepared, config: ShootConfig) -> list[str]:
    """Return what the data leave open of a law with hidden states: constants, and their coordinates."""
    if not prepared.dataset.hidden:
        return []
    told = [str(each) for each in undetermined(candidate, prepared, config)]
    mixed = mixed_states(candidate.equation, prepared.dataset.hidden)
    if mixed is None:
        return told
    x, w = mixed
    return [
        *told,
        f"this law is linear, and the measured {x} does not tell {w} from {w} + a*{x}: for every a that is a "
        f"hidden state with other constants that gives the same {x}; the one with the fewest terms is shown",
    ]


def mixed_states(law: Law, hidden: Sequence[int]) -> tuple[str, str] | None:
    """Return a measured and a hidden state whose sums are as good hidden states: those of a linear law.

    With w + a*x in the place of w the equations x' = w + ... and w' = ... have terms of the same kind.
    """
    skeleton, names = law.skeleton, law.skeleton.shown_states
    if len(names) != 2 or len(hidden) != 1 or set(skeleton.orders) != {1} or not skeleton.explicit:
        return None
    if skeleton.parameters:  # a form that a user wrote says itself what its states are
        return None
    linear = {ONE, *map(var, names), *(var(shown_name(x, skeleton.called)) for x in skeleton.inputs)}
    x, w = names[1 - hidden[0]], names[hidden[0]]
    entering = right_side(law, 1 - hidden[0]).get(var(w)) == 1.0  # a factor that was fitted is never just one
    is_linear = all({*right_side(law, i)} <= linear for i in range(2))
    return (x, w) if entering and is_linear else None


def _sizes(p: Float, slopes: Float, problem: Trajectories) -> Float:
    """Return by how much each number is changed to see its effect: by its own size, unless that is small.

    A number may be zero within its error bar, and is determined then. So at least a standard error is taken,
    but no more than the largest number of its kind.
    """
    constants = np.zeros(len(p), bool)
    for place in problem.parameters.places:
        constants[place[: problem.parameters.n_constants]] = True
    largest = np.ones(len(p))
    for kind in (constants, ~constants):
        largest[kind] = np.max(np.abs(p[kind]), initial=0.0) or 1.0
    with np.errstate(divide="ignore", over="ignore"):
        errors = 1 / np.linalg.norm(slopes, axis=1)
    least = np.minimum(errors, largest)
    return np.where(np.abs(p) < least, least, p)


def _names(candidate: Candidate, problem: Trajectories) -> list[str]:
    """Return what each fitted number is called: a constant by its name, an initial value as x(0)."""
    skeleton, parameters = candidate.equation.skeleton, problem.parameters
    called = [each.name for each in skeleton.parameters] or [f"C{i + 1}" for i in range(skeleton.n_constants)]
    names = [""] * parameters.size
    several = len(problem.models) > 1
    for i, (place, free) in enumerate(zip(parameters.places, parameters.free, strict=True)):
        t0 = problem.target.dataset.runs[i].t[0]
        starts = [
            f"{name}({t0:g})"
            for name, here in zip(start_names(candidate.equation), free, strict=True)
            if here
        ]
        where = f" of {problem.target.dataset.name_of(i)}" if several else ""
        for number, name in zip(place, [*called, *(start + where for start in starts)], strict=True):
            names[number] = names[number] or name
    return names


def _groups(unseen: Float) -> list[list[int]]:
    """Return the numbers in unseen directions (numbers, directions), those that change together in one."""
    projector = np.abs(unseen @ unseen.T)
    touched = [int(i) for i in np.flatnonzero(np.diag(projector) > PART)]
    groups: list[list[int]] = []
    for i in touched:
        joined = [group for group in groups if any(projector[i, j] > PART for j in group)]
        groups = [group for group in groups if group not in joined]
        groups.append(sorted([i, *(j for group in joined for j in group)]))
    return sorted(groups)


def _what_is_determined(
    group: list[int], unseen: Float, p: Float, names: list[str], stays: Callable[[Float], bool]
) -> Undetermined:
    """Return what is determined of a group: a product or a sum, if a step that keeps it is not seen.

    Args:
        unseen: the directions of the logarithms that are not seen.
        stays: tells whether the error is the same at other values of all numbers.
    """
    called = tuple(names[i] for i in group)
    if len(group) < 2 or np.linalg.matrix_rank(unseen, tol=PART) != len(group) - 1:
        return Undetermined(called, "")
    seen = np.linalg.svd(unseen, full_matrices=True)[0][:, -1]  # the one direction that is
    direction = unseen @ np.ones(unseen.shape[1])
    by_factors = p.copy()
    by_factors[group] *= np.exp(STEP * direction)
    by_terms = p.copy()
    by_terms[group] *= 1 + STEP * direction
    product = _product(called, seen)
    if product and stays(by_factors):
        return Undetermined(called, product)
    total = _sum(called, seen / p[group])
    return Undetermined(called, total if total and stays(by_terms) else "")


def _product(names: tuple[str, ...], powers: Float) -> str:
    """Return the product of powers that is determined, as a formula; empty if the powers are not simple."""
    largest = powers[np.argmax(np.abs(powers))]
    exact = powers / largest
    simple = [Fraction(float(x)).limit_denominator(LARGEST) for x in exact]
    if any(abs(float(s) - x) > EXACT or s == 0 for s, x in zip(simple, exact, strict=True)):
        return ""
    least = min(abs(s) for s in simple)
    whole = [s / least for s in simple]
    if whole[0] < 0:
        whole = [-s for s in whole]
    above = "*".join(_power(n, s) for n, s in zip(names, whole, strict=True) if s > 0)
    below = [_power(n, -s) for n, s in zip(names, whole, strict=True) if s < 0]
    under = "*".join(below) if len(below) < 2 else f"({'*'.join(below)})"
    return f"{above}/{under}" if below else above


def _power(name: str, exponent: Fraction) -> str:
    return (
        name
        if exponent == 1
        else f"{name}^{exponent}"
        if exponent.denominator == 1
        else f"{name}^({exponent})"
    )


def _sum(names: tuple[str, ...], slopes: Float) -> str:
    """Return the sum or difference that is determined; empty if the numbers do not enter alike."""
    largest = slopes[np.argmax(np.abs(slopes))]
    exact = slopes / largest
    if np.any(np.abs(np.abs(exact) - 1) > EXACT):
        return ""
    text = names[0]
    for name, sign in zip(names[1:], exact[1:] * exact[0], strict=True):
        text += f" + {name}" if sign > 0 else f" - {name}"
    return text


LEVEL = 0.95  # Intervals are told at 95 % confidence everywhere.
DOUBTFUL = 0.2  # Above this relative standard error a likelihood of usual shape is visibly lopsided.
HALVINGS = 7  # Bisections of the last step, which leave less than a hundredth of it.


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
        skeleton = _with_constant_held(law.skeleton, index, x)
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
    step = error if 0 < error < abs(value) else STEP * abs(value) or 1.0
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
    inside, far = value, VAGUE * max(abs(value), abs(step))
    while True:
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
    outside = x
    for _ in range(HALVINGS):
        x = 0.5 * (inside + outside)
        inside, outside = (inside, x) if excess(x) > 0 else (x, outside)
    return inside


def _with_constant_held(skeleton: LawSkeleton, index: int, value: float) -> LawSkeleton:
    """Return a law with named constants in which one is held at a value."""
    fixed = Parameter(skeleton.parameters[index].name, value, value)

    def changed(parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
        return tuple(fixed if p.name == fixed.name else p for p in parameters)

    parts = [replace(part, parameters=changed(part.parameters)) for part in skeleton.parts]
    return joined(skeleton.states, skeleton.inputs, parts)


def _with_names(law: Law) -> Law:
    """Return the same law with a name for each free constant, C1, C2, ... where it has none."""
    skeleton = law.skeleton
    if skeleton.parameters:
        return law
    names = tuple(Parameter(f"C{i + 1}") for i in range(skeleton.n_constants))
    trees = [relabelled(skeleton, i, part.normal) for i, part in enumerate(skeleton.parts)]
    parts = [Skeleton(tree, names) for tree in trees]
    return make_law(joined(skeleton.states, skeleton.inputs, parts), law.constants)
