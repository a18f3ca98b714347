"""Constants that are one: what leaves one state may enter another at the same rate.

In mass action and conserved quantities the same constant stands in two equations, equal or with opposite
sign; a factor may be one. A law that says so has a number less to fit. Which constraints the data allow
follows from the covariance of the constants: a constraint A c = b raises the sum of squares by about
(A c - b)^T (A N^-1 A^T)^-1 (A c - b), with N the normal matrix of the fit.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gode.arrays import Float
from gode.equation import Law, Link, System, SystemSkeleton
from gode.equation.fixing import with_numbers
from gode.equation.tree import Node, renamed, sorted_tree, unlabelled
from gode.selection import UNUSUAL, Candidate

CERTAIN = 3.0  # standard errors from zero of a constant that may be shared
LARGEST = 1e100  # difference that can be squared


@dataclass(frozen=True)
class Constraint:
    """c[one] = factor * c[other], or c[one] = factor where there is no other."""

    one: int
    other: int | None
    factor: float
    price: float  # -2 log of its prior odds


@dataclass(frozen=True)
class _Factor:
    """A constant that multiplies a whole term."""

    place: int  # among the constants of all equations
    equation: int
    body: Node  # as the states are numbered, whichever equation it is in
    sign: float


def shared(candidate: Candidate, floor: Sequence[float]) -> Law | None:
    """Return the law with the constraints that lower its criterion, None if there is none.

    Residuals below the `floor` of their state are rounding: they do not speak against a constraint.
    """
    law = candidate.equation
    if not isinstance(law, System) or law.skeleton.links or candidate.n_values <= candidate.n_free:
        return None
    sure = np.abs(law.constants) > CERTAIN * candidate.errors  # others may be nothing at all
    possible = [c for c in _constraints(law.skeleton) if sure[c.one] and (c.other is None or sure[c.other])]
    with np.errstate(over="ignore", invalid="ignore"):  # of constants that the data do not determine
        chosen, values = _chosen(candidate, floor, possible)
    return _constrained(law, chosen, values) if chosen else None


def _constraints(skeleton: SystemSkeleton) -> Iterator[Constraint]:
    """Yield what may hold: one term in two equations, a difference of two terms, and factors of one."""
    factors = list(_factors(skeleton))
    for a, b in combinations(factors, 2):
        if a.equation == b.equation:
            yield Constraint(a.place, b.place, -a.sign * b.sign, UNUSUAL)
        elif a.body == b.body:
            yield from (Constraint(a.place, b.place, sign * a.sign * b.sign, 0.0) for sign in (1.0, -1.0))
    for a in factors:
        for sign in (1.0, -1.0):
            yield Constraint(a.place, None, sign * a.sign, UNUSUAL)


def _factors(skeleton: SystemSkeleton) -> Iterator[_Factor]:
    for i, part in enumerate(skeleton.parts):
        names = skeleton.names(i)
        for term in part.terms:
            if term.constant is not None:
                body = sorted_tree(unlabelled(renamed(term.body, names)))
                yield _Factor(skeleton.offsets[i] + term.constant, i, body, np.sign(term.multiplier))


def _chosen(
    candidate: Candidate, floor: Sequence[float], possible: list[Constraint]
) -> tuple[list[Constraint], Float]:
    """Return the constraints to hold, the most probable first, and the constants under them."""
    c, m = np.array(candidate.equation.constants), candidate.n_values
    variance = max(candidate.rms**2, 1e-30)
    share = candidate.independent / m * (1 - candidate.n_free / m) / variance
    inverse = candidate.covariance * share  # of the normal matrix
    chosen: list[Constraint] = []
    rounding = sum(state.share * least**2 for state, least in zip(candidate.states, floor, strict=True))
    sse, k = (variance + rounding) * m, candidate.n_free
    while possible:
        gains = [_gain(one, c, inverse, sse, k, m) for one in possible]
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        one = possible.pop(best)
        row, rest = _row(one, c)
        direction = inverse @ row
        size = float(row @ direction)
        sse, k = sse + rest**2 / size, k - 1
        c = c - direction * rest / size
        inverse = inverse - np.outer(direction, direction) / size
        chosen.append(one)
        possible = [p for p in possible if not _repeats(p, chosen)]
    return chosen, c


def _row(one: Constraint, c: Float) -> tuple[Float, float]:
    """Return the row of A and the residual A c - b of a constraint."""
    row = np.zeros(len(c))
    row[one.one] = 1.0
    if one.other is None:
        return row, float(c[one.one] - one.factor)
    row[one.other] = -one.factor
    return row, float(c[one.one] - one.factor * c[one.other])


def _gain(one: Constraint, c: Float, inverse: Float, sse: float, k: int, m: int) -> float:
    """Return by how much a constraint lowers the criterion."""
    row, rest = _row(one, c)
    size = float(row @ inverse @ row)
    least = max(1e-12 * float(np.abs(row) @ np.abs(np.diag(inverse))), 1e-150)
    if not size > least or abs(rest) > LARGEST:
        return -np.inf  # it follows from those that were chosen, or is far from true
    more = m * np.log1p(rest**2 / size / sse) + m * np.log(max(m - k, 0.5) / max(m - k + 1, 0.5))
    return float(np.log(max(m, 2)) - more - one.price)


def _repeats(one: Constraint, chosen: list[Constraint]) -> bool:
    """Tell whether a constraint is about constants that are tied or fixed already."""
    fixed = {c.one for c in chosen if c.other is None}
    if one.one in fixed or one.other in fixed:
        return True
    return any({one.one, one.other} == {c.one, c.other} for c in chosen)


def _constrained(law: System, chosen: list[Constraint], values: Float) -> System:
    """Return the law under these constraints: links between constants, numbers where they are fixed."""
    skeleton = law.skeleton
    root, factor = _roots(skeleton.n_numbers, [one for one in chosen if one.other is not None])
    fixed = {
        i: one.factor * factor[i] / factor[one.one]
        for one in chosen
        for i, r in enumerate(root)
        if one.other is None and r == root[one.one]
    }
    parts, order = [], []  # the equations, and which constant each of theirs was
    for part, start, end in zip(skeleton.parts, skeleton.offsets[:-1], skeleton.offsets[1:], strict=True):
        found = with_numbers(part, {i - start: v for i, v in fixed.items() if start <= i < end})
        assert found is not None, "a factor of one leaves its term as it is"
        new, old = found
        parts.append(new)
        order += [start + i for i in old]
    places = {r: k for k, r in enumerate(dict.fromkeys(root[i] for i in order))}
    links = tuple(Link(places[root[i]], factor[i]) for i in order)
    tied = len(links) > len(places) or any(link.factor != 1 for link in links)
    made = SystemSkeleton(skeleton.states, tuple(parts), skeleton.inputs, links if tied else ())
    return System(made, tuple(float(values[r]) for r in places))


def _roots(n: int, ties: Iterable[Constraint]) -> tuple[list[int], list[float]]:
    """Return each of `n` constants as a factor times another, the same for all that are tied."""
    root, factor = list(range(n)), [1.0] * n
    for tie in ties:
        a, b = root[tie.one], root[tie.other or 0]
        ratio = tie.factor * factor[tie.other or 0] / factor[tie.one]
        for i in range(n if a != b else 0):
            if root[i] == a:
                root[i], factor[i] = b, factor[i] * ratio
    return root, factor
