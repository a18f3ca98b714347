"""Constants that stand in several equations of a system, and sums of states that they conserve."""

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from gode.arrays import Float
from gode.discovery.energy import energy_words
from gode.equation import Equation, Law, Node, Skeleton
from gode.equation.sums import to_sum
from gode.equation.tree import add, mul, num, renamed, replace_constants, shorten_numbers, var

LETTERS = "abcdghkmpqrsw"
MOST_STATES = 8  # of a system whose sums of states are searched
ROUNDING = 1e-9  # relative size of a sum that counts as zero
COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


class Named(NamedTuple):
    """A constant that several equations share: its letter, its number among the free ones, its value."""

    name: str
    place: int
    value: float
    equations: tuple[str, ...]

    def told(self, error: float) -> str:
        """Return its value with its 95 % error bar, and how often it stands."""
        n = len(self.equations)
        bar = f" ± {1.96 * error:.2g} at 95 %" if np.isfinite(error) and error > 0 else ""
        return f"{self.name} = {self.value:.4g}{bar} (one constant in {COUNTS.get(n, n)} equations)"


def shared_constants(law: Law) -> list[Named]:
    """Return the constants that stand in several equations and have no name, in the order of the text."""
    if law.skeleton.parameters:
        return []
    owners: dict[int, list[str]] = {}
    for state, links in zip(law.skeleton.states, links_of(law), strict=True):
        for place in {place for place, _ in links if place >= 0}:
            owners.setdefault(place, []).append(state)
    letters = letters_for(law)
    return [
        Named(next(letters), place, abs(law.constants[place]), tuple(states))
        for place, states in sorted(owners.items())
        if len(states) > 1
    ]


def named_lines(law: Law, digits: int = 4, named: Mapping[int, Named] | None = None) -> list[str]:
    """Return the equation of each state as text, with a letter for each constant that equations share.

    Args:
        named: other constants to write as letters, by their places.
    """
    named = {each.place: each for each in shared_constants(law)} if named is None else named
    out = []
    for i, (part, links) in enumerate(zip(law.skeleton.parts, links_of(law), strict=True)):
        nodes = [_written(law, named, *link) for link in links]
        tree = replace_constants(part.normal, nodes.__getitem__)
        out.append(Equation(Skeleton(tree)).text(digits, law.skeleton.names(i)))
    return out


def _written(law: Law, named: Mapping[int, Named], place: int, factor: float) -> Node:
    """Return a constant of an equation: its letter with a sign, or its number."""
    if place < 0:
        return num(factor)
    value = law.constants[place]
    if place not in named:
        return num(factor * value)
    return mul(num(factor * (np.sign(value) or 1.0)), var(named[place].name))


def conserved(law: Law) -> list[dict[str, int]]:
    """Return the sums of states, each with the factor 1 or -1, that stay constant along every solution.

    They are those whose right-hand sides add up to zero term by term; of a law of second order, the same sum
    of the derivatives stays constant. No sum follows from the others.
    """
    skeleton = law.skeleton
    states, d = skeleton.states, len(skeleton.states)
    if d < 2 or d > MOST_STATES or not skeleton.explicit or len({*skeleton.orders}) > 1:
        return []
    sides = [right_side(law, i) for i in range(d)]
    bodies = sorted({body for side in sides for body in side})
    table = np.array([[side.get(body, 0.0) for side in sides] for body in bodies]).reshape(len(bodies), d)
    found: list[Float] = []
    for weights in _sums(d):
        size = np.abs(table) @ np.abs(weights)
        if np.all(np.abs(table @ weights) <= ROUNDING * size) and _is_new(weights, found):
            found.append(weights)
    return [{states[i]: int(w[i]) for i in np.flatnonzero(w)} for w in found]


def conserved_words(law: Law) -> list[str]:
    """Return a sentence for each sum of states that stays constant, and one for the energy if it does."""
    prime = "'" * (law.order - 1)
    out = []
    for weights in conserved(law):
        terms = [f"{'-' if w < 0 else '+'} {name}{prime}" for name, w in weights.items()]
        out.append(f"{' '.join(terms).removeprefix('+ ')} is conserved")
    return [*out, *energy_words(law)]


def right_side(law: Law, own: int) -> dict[Node, float]:
    """Return what the highest derivative of a state equals, as numbers by their bodies in display names."""
    part, equation = law.skeleton.parts[own], law.equations[own]
    terms = part.rhs_terms
    assert terms is not None
    c = equation.constants
    nodes = [mul(num(t.multiplier * (1.0 if t.constant is None else c[t.constant])), t.body) for t in terms]
    tree = replace_constants(add(*nodes), lambda i: num(c[i]))
    total = to_sum(renamed(tree, law.skeleton.names(own)))
    return {shorten_numbers(body): value for body, value in total.items() if value is not None}


def _sums(d: int) -> Iterator[Float]:
    """Yield weights of the states, the first of which is one; few states first, and plain sums first."""
    for n in range(1, d + 1):
        for signs in product((1.0, -1.0), repeat=n - 1):
            for chosen in combinations(range(d), n):
                weights = np.zeros(d)
                weights[list(chosen)] = (1.0, *signs)
                yield weights


def _is_new(
    weights: Float,
    found: list[Float],
) -> bool:
    return int(np.linalg.matrix_rank(np.array([*found, weights]))) > len(found)


def links_of(law: Law) -> list[list[tuple[int, float]]]:
    """Return, for each equation, the place among the free constants and the factor of each of its own."""
    skeleton, out, first = law.skeleton, [], 0
    links = [(link.place, link.factor) for link in skeleton.links]
    for part in skeleton.parts:
        last = first + part.n_constants
        out.append(links[first:last] if links else [(i, 1.0) for i in range(first, last)])
        first = last
    return out


def letters_for(law: Law) -> Iterator[str]:
    """Yield letters that stand for nothing else in the law."""
    taken = {*law.skeleton.states, *law.skeleton.inputs, "u", "t", "F"}
    taken |= {name for i in range(len(law.skeleton.parts)) for name in law.skeleton.names(i)}
    yield from (letter for letter in LETTERS if letter not in taken)
    n = 0
    while True:
        n += 1
        if f"c{n}" not in taken:
            yield f"c{n}"
