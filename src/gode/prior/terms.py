"""The terms of a law, whatever its constants: what the prior counts.

Factors of top-level terms are free: C*(u - v1) has the terms u and v1, and the sign or exact value of a
factor is no part of the structure. Constants inside functions, powers and denominators are.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import permutations, product
from math import perm

from gode.equation import Node, Skeleton
from gode.equation.sums import to_sum
from gode.equation.tree import (
    FREE,
    ONE,
    by_term,
    derivative_order,
    has_constant,
    is_other,
    mul,
    renamed,
    var,
    variables,
)

MOST_NAMES = 4  # columns in one term whose names are exchanged


@dataclass(frozen=True)
class Pieces:
    """One way of writing an equation: its highest derivative, and the bodies of its terms."""

    order: int
    leading: tuple[Node, ...]  # with the highest derivative; none where it stands alone
    terms: tuple[tuple[Node, int], ...]  # the others; equal ones are numbered 1, 2, ...


@dataclass(frozen=True)
class View:
    """What an equation may see: its order decides on u', others are v1, v2, ..., an input is F."""

    order: int
    others: int
    forced: bool

    def holds(self, name: str) -> bool:
        """Tell whether a column can occur on the right-hand side."""
        if is_other(name):
            return derivative_order(name) < self.order and int(name.rstrip("'")[1:]) <= self.others
        if name == "F":
            return self.forced
        return name == "t" or derivative_order(name) < self.order


def ways_of_writing(skeleton: Skeleton) -> tuple[Pieces, ...]:
    """Return the normal form of an equation, and the one solved for the highest derivative if another."""
    key = skeleton.key
    bodies = [body for term in (key.args if key.op == "+" else (key,)) for body in _loosened(term)]
    highest = skeleton.highest
    leading = tuple([body for body in bodies if highest in variables(body)])
    rest = [body for body in bodies if highest not in variables(body)]
    if leading == (var(highest),):
        return (Pieces(skeleton.order, (), _numbered(rest)),)
    written = Pieces(skeleton.order, leading, _numbered(rest))
    if skeleton.rhs_terms is None:
        return (written,)
    solved = [body for term in skeleton.rhs_terms for body in _loosened(term.body)]
    return (written, Pieces(skeleton.order, (), _numbered(solved)))


def as_pair(pieces: Pieces) -> tuple[Pieces, Pieces]:
    """Return an explicit equation of second order as a pair: x' = y, and that of y, which sees x as v1."""
    others = {name for body, _ in pieces.terms for name in variables(body) if is_other(name)}
    names = {name: f"v{int(name[1:]) + 1}" for name in others} | {"u": "v1", "u'": "u"}
    terms = tuple((_sorted(renamed(body, names)), copy) for body, copy in pieces.terms)
    return Pieces(1, (), ((var("v1"), 1),)), Pieces(1, (), terms)


def _numbered(bodies: list[Node]) -> tuple[tuple[Node, int], ...]:
    """Return the bodies with how often each has occurred; without constants inside, it counts once."""
    counts = Counter(bodies)
    return tuple(
        (body, i + 1) for body in sorted(counts) for i in range(counts[body] if has_constant(body) else 1)
    )


@by_term
def _loosened(term: Node) -> tuple[Node, ...]:
    """Return the bodies of a term, its brackets multiplied out."""
    factors = [f for f in (term.args if term.op == "*" else (term,)) if f.op not in ("num", "const")]
    plain = [f for f in factors if f.op != "+"]
    brackets = [f.args for f in factors if f.op == "+"]
    bodies = [body for chosen in product(*brackets) for body in to_sum(mul(FREE, *plain, *chosen))]
    # unlabelled, as the constants of a bracket merge with the factor in front of it
    return tuple(dict.fromkeys(body if body != ONE else ONE for body in bodies))


@by_term
def pattern(body: Node) -> tuple[Node, int, int]:
    """Return a term with its other states named in a fixed way, how many they are, and its symmetries."""
    names = sorted({name.rstrip("'") for name in variables(body) if is_other(name)})
    return _alike(body, names, [f"v{i + 1}" for i in range(len(names))])


@by_term
def shape(body: Node) -> tuple[Node, int, int]:
    """Return a term with all its columns named in a fixed way, how many they are, and its symmetries."""
    names = sorted(variables(body))
    return _alike(body, names, [f"x{i + 1}" for i in range(len(names))])


def _alike(body: Node, names: list[str], new: list[str]) -> tuple[Node, int, int]:
    """Return the first of all forms with the `new` names, how many they are, and how often it occurs."""
    if not names or len(names) > MOST_NAMES:
        return body, len(names), 1
    forms = [_relabelled(body, dict(zip(names, order, strict=True))) for order in permutations(new)]
    best = min(forms)
    return best, len(names), forms.count(best)


def labellings(n_names: int, symmetries: int, others: int) -> float:
    """Return in how many ways a pattern can be labelled with `others` other states."""
    return max(perm(max(others, n_names), n_names) / symmetries, 1.0)


def _relabelled(body: Node, new: dict[str, str]) -> Node:
    """Return a term with other names; the new name of a state is that of its derivatives too."""
    names = {}
    for name in variables(body):
        stem = name.rstrip("'")
        names[name] = new[name] if name in new else new.get(stem, stem) + "'" * derivative_order(name)
    return _sorted(renamed(body, names))


def _sorted(node: Node) -> Node:
    """Return a tree with the arguments of its sums and products in order."""
    args = tuple(_sorted(arg) for arg in node.args)
    return node._replace(args=tuple(sorted(args)) if node.op in ("+", "*") else args)
