"""The prior of inner constants, in units of the data: frequencies, rates, shifts and exponents.

A factor in front of a term may have any size. A constant inside a function, a power or a denominator has a
role, which says what size is plausible: a frequency makes a few cycles over the range of what it multiplies,
a shift is of the size of what it is added to, a rate makes its function neither constant nor a step, and an
exponent is small.
"""

from collections.abc import Iterator
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gode.arrays import Float
from gode.data import Columns
from gode.equation import Equation, Law, Node, Term
from gode.equation.tape import compile_tape, evaluate
from gode.equation.tree import TIME, add, has_constant, index, mul, number, variables, walk


class Kind(Enum):
    """What a constant inside a term is for."""

    EXPONENT = auto()
    WAVE = auto()
    RATE = auto()
    SHIFT = auto()
    SATURATION = auto()


WAVES = ("sin", "cos")
# Cycles times pi, the range of the argument, and sizes.
USUAL = {Kind.WAVE: 3.0, Kind.RATE: 1.0, Kind.SHIFT: 1.0, Kind.SATURATION: 1.0}
SPREAD = 1.5  # The logarithm of such a size has this standard deviation.
POWER, POWERS = 1.0, 2.0  # An exponent has this mean and this standard deviation.
POLE = 6.0  # A denominator that can vanish has this price.
FARTHEST = 1e3  # More standard deviations than these count as so many, so that all prices are finite.
POINTS = 100  # Sizes of terms are found at so many points of the data.


class Role(NamedTuple):
    """A constant inside a term: its number, what it is for, and what it multiplies or is added to."""

    constant: int
    kind: Kind
    neighbour: Node


def improbability_of_constants(law: Law, columns: Columns) -> float:
    """Return -2 log of the prior density of the constants inside terms, over that of the most usual ones."""
    total = 0.0
    for equation, names, x in views_of(law, columns):
        for term in equation.skeleton.terms:
            for role in roles(term.body):
                total += _price(role, equation.constants, names, x)
            for argument in plain_waves(term.body):
                total += _price_of_wave(argument, names, x)
    return total


def improbability_of_factors(law: Law, columns: Columns) -> float:
    """Return -2 log of the prior density of the factors in front of terms, over that of small ones.

    The size of a term is its variation over that of the highest derivative, and has Cauchy's distribution:
    terms that vary much more must cancel each other, as in 25 u - 24 sin(u).
    """
    return float(sum(2 * np.log1p(min(size, FARTHEST) ** 2) for size in _sizes(law, columns)))


def _sizes(law: Law, columns: Columns) -> Iterator[float]:
    """Yield how much each term varies, as a share of the size of what the equation is solved for."""
    for equation, names, x in views_of(law, columns):
        lead, others = 0.0, []
        for term in equation.skeleton.terms:
            tape = compile_tape([term], names, len(equation.constants))
            with np.errstate(all="ignore"):
                values = evaluate(tape, equation.constants, x).value
            if not np.isfinite(values).all():
                continue
            if term.body in equation.skeleton.leading:
                lead = max(lead, float(np.sqrt(np.mean(values**2))))
            elif term.constant is not None:
                others.append(float(np.std(values)))
        yield from (size / lead for size in others if lead > 0)


def views_of(law: Law, columns: Columns) -> Iterator[tuple[Equation, tuple[str, ...], Float]]:
    """Yield each equation with the names and values of the columns that it sees, at some of the points."""
    x = columns.matrix[:, :: max(columns.n_points // POINTS, 1)]
    for state, equation in enumerate(law.equations):
        yield equation, columns.seen(state), x


@lru_cache(maxsize=20_000)
def roles(body: Node) -> tuple[Role, ...]:
    """Return the roles of the constants in a term."""
    return tuple(_roles(body, ""))


@lru_cache(maxsize=20_000)
def plain_waves(body: Node) -> tuple[Node, ...]:
    """Return the arguments, other than time, of the sines and cosines in a term that hold no constant."""
    arguments = [node.args[0] for node in walk(body) if node.op in WAVES]
    return tuple(a for a in arguments if not has_constant(a) and variables(a) - {TIME})


def _roles(node: Node, outside: str) -> Iterator[Role]:
    for i, child in enumerate(node.args):
        others = node.args[:i] + node.args[i + 1 :]
        if child.op == "const":
            if node.op == "^" and i == 1:
                yield Role(index(child), Kind.EXPONENT, node.args[0])
            elif node.op == "*":
                yield Role(index(child), Kind.WAVE if outside in WAVES else Kind.RATE, mul(*others))
            elif node.op == "+" and outside not in WAVES:  # there it is a phase
                yield Role(index(child), Kind.SATURATION if outside == "/" else Kind.SHIFT, add(*others))
        elif has_constant(child):
            yield from _roles(child, outside if node.op in "+*" else _named(node))


def _named(node: Node) -> str:
    """Return the name of an operation; a negative power divides."""
    divides = node.op == "^" and node.args[1].op == "num" and number(node.args[1]) < 0
    return "/" if divides else node.op


def _price_of_wave(argument: Node, names: tuple[str, ...], x: Float) -> float:
    """Return the price of a wave that makes many cycles over the range of the data; few cost nothing."""
    with np.errstate(all="ignore"):
        values = evaluate(compile_tape([Term(1.0, None, argument)], names, 0), [], x).value
        size = float(np.ptp(values)) / 2
    return (np.log(size / USUAL[Kind.WAVE]) / SPREAD) ** 2 if USUAL[Kind.WAVE] < size < np.inf else 0.0


def _price(role: Role, constants: tuple[float, ...], names: tuple[str, ...], x: Float) -> float:
    c = abs(constants[role.constant])
    if role.kind == Kind.EXPONENT:
        return min(abs(constants[role.constant] - POWER) / POWERS, FARTHEST) ** 2
    values = evaluate(
        compile_tape([Term(1.0, None, role.neighbour)], names, len(constants)), constants, x
    ).value
    with np.errstate(all="ignore"):
        if role.kind in (Kind.SHIFT, Kind.SATURATION):
            size = float(c / np.sqrt(np.mean(values**2)))
        else:
            size = c * float(np.ptp(values)) / 2
    if not np.isfinite(size) or size <= 0:
        return 0.0
    pole = role.kind == Kind.SATURATION and constants[role.constant] * np.mean(values) < 0
    return float((np.log(size / USUAL[role.kind]) / SPREAD) ** 2 + POLE * pole)
