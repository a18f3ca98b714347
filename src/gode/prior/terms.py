"""The terms of a law, whatever its constants, and how each is composed: what the prior counts.

Factors of top-level terms are free: C*(u - v1) has the terms u and v1, and the sign or exact value of a
factor is no part of the structure. Constants inside functions, powers and denominators are.

A term is drawn by drawing how many factors it has, then for each one whether it is a variable, a function or
a bracket, which, and to what power; functions and brackets hold sums of terms drawn in the same way. The
order of factors and terms does not count. Each choice is an event in a table of counts, smoothed towards a
flat guess.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import exp, factorial, log, perm, prod

from gode.equation import Node, Skeleton
from gode.equation.operators import FUNCTIONS
from gode.equation.sums import to_sum
from gode.equation.tree import (
    FREE,
    ONE,
    by_term,
    derivative_order,
    has_constant,
    is_other,
    mul,
    number,
    renamed,
    sorted_tree,
    var,
    variables,
)

MOST_NAMES = 4  # In one term the names of at most so many columns are exchanged.


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
    terms = tuple((sorted_tree(renamed(body, names)), copy) for body, copy in pieces.terms)
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
    return sorted_tree(renamed(body, names))


Event = tuple[str, str]  # table, outcome
TOP, INSIDE, SHAPE = "top", "inside", "shape"
CLASSES = ("u", "u'", "t", "F", "v", "v'")
KINDS = ("variable", "function", "bracket")
POWERS = {  # a guess at the powers of a factor; other numbers share what is left
    "1": 0.6, "2": 0.1, "3": 0.05, "4": 0.01, "5": 0.01, "-1": 0.08, "-2": 0.03, "-3": 0.01,
    "0.5": 0.02, "-0.5": 0.005, "1.5": 0.01, "-1.5": 0.005, "C": 0.05,
}  # fmt: skip
RARE_NUMBER = 1e-4  # The probability of any other power, and of a number in the place of a constant.
FUNCTION = 0.125  # The probability of any one function.
STRANGE = 1e-6  # The probability of what the tables do not know.


@dataclass(frozen=True)
class Composition:
    """Counts of the events of terms, and the strength of the flat guess in events."""

    counts: Mapping[str, Mapping[str, float]]
    shapes: Mapping[Node, int]
    strength: float
    copying: float  # probability that a term has a known shape

    def log_probability(self, body: Node, view: View) -> float:
        """Return the log probability of a term with its labels, given what the equation may see."""
        return log(
            (1 - self.copying) * exp(self._composed(body, view)) + self.copying * self._copied(body, view)
        )

    def _copied(self, body: Node, view: View) -> float:
        """Return the probability of a known shape with these columns."""
        form, _, symmetries = shape(body)
        chance = symmetries * self.shapes.get(form, 0) / max(sum(self.shapes.values()), 1)
        for name in variables(body) if chance else ():
            chance *= self.probability(f"class {SHAPE}", class_of(name), view)
            chance /= max(view.others, 1) if is_other(name) else 1
        return chance

    def _composed(self, body: Node, view: View) -> float:
        """Return the log probability to draw a term choice by choice."""
        total = 0.0
        for table, outcome in term_events(body, TOP, frozenset()):
            if table == "ways":
                total += log(float(outcome))
            elif table == "label":
                total -= log(max(view.others, 1))
            else:
                total += log(self.probability(table, outcome, view))
        return total

    def probability(self, table: str, outcome: str, view: View) -> float:
        """Return the smoothed probability of one outcome."""
        counts = self.counts.get(table, {})
        total = sum(counts.values())
        if table.startswith("class"):
            seen = {c: counts.get(c, 0.0) + self.strength / len(CLASSES) for c in CLASSES}
            possible = sum(seen[c] for c in CLASSES if _is_possible(c, view))
            return seen.get(outcome, STRANGE) / possible
        guess = _guess(table, outcome)
        return (counts.get(outcome, 0.0) + self.strength * guess) / (total + self.strength)


def learn_composition(bodies: Sequence[Node], strength: float, copying: float) -> Composition:
    """Return the model learned from the events of some terms."""
    counts: dict[str, Counter[str]] = {}
    for body in bodies:
        for table, outcome in term_events(body, TOP, frozenset()):
            counts.setdefault(table, Counter())[outcome] += 1
        for name in variables(body):
            counts.setdefault(f"class {SHAPE}", Counter())[class_of(name)] += 1
    return Composition(counts, Counter(shape(body)[0] for body in bodies), strength, copying)


def term_events(body: Node, place: str, outside: frozenset[str]) -> Iterator[Event]:
    """Yield the choices that make a term; `outside` are variables in front of its bracket or function."""
    factors = [f for f in (body.args if body.op == "*" else (body,)) if f != ONE]
    yield f"factors {place}", str(len(factors))
    yield "ways", str(_ways(factors))
    plain = frozenset([name for f in factors if _base(f).op == "var" for name in variables(f)])
    for factor in factors:
        yield from _factor_events(factor, place, outside if place == INSIDE else plain)


def _factor_events(factor: Node, place: str, outside: frozenset[str]) -> Iterator[Event]:
    base = _base(factor)
    exponent = factor.args[1] if factor.op == "^" else ONE
    kind = "variable" if base.op == "var" else "bracket" if base.op == "+" else "function"
    yield f"kind {place}", kind
    if kind == "variable":
        yield from _variable_events(str(base.value), place, outside)
    elif kind == "bracket":
        yield from _sum_events(base.args, "bracket", outside)
    else:
        yield f"function {place}", base.op
        for arg in base.args:
            yield from _sum_events(arg.args if arg.op == "+" else (arg,), "function", outside)
    name = _power_name(exponent)
    yield f"power {kind} {place}", name
    if name == "sum":
        yield from _sum_events(exponent.args if exponent.op == "+" else (exponent,), "power", outside)


def _variable_events(name: str, place: str, outside: frozenset[str]) -> Iterator[Event]:
    if place == INSIDE and outside:
        yield "again", str(name in outside)
        if name in outside:
            yield "ways", str(1 / len(outside))
            return
    yield f"class {place}", class_of(name)
    if is_other(name):
        yield "label", "v"


def _sum_events(terms: Sequence[Node], where: str, outside: frozenset[str]) -> Iterator[Event]:
    yield f"terms {where}", str(len(terms))
    yield "ways", str(_ways(terms))
    for term in terms:
        factors = term.args if term.op == "*" else (term,)
        numbers = [f for f in factors if f.op in ("num", "const")]
        own = numbers[0] if numbers else ONE
        kind = "free" if own.op == "const" else "one" if abs(number(own)) == 1 else "number"
        yield f"coefficient {where}", kind
        rest = tuple([f for f in factors if f.op not in ("num", "const")])
        body = Node("*", 0.0, rest) if len(rest) > 1 else rest[0] if rest else ONE
        yield from term_events(body, INSIDE, outside)


def class_of(name: str) -> str:
    """Return the class of a column: all other states are alike."""
    return "v" + "'" * derivative_order(name) if is_other(name) else name


def _is_possible(kind: str, view: View) -> bool:
    return view.holds(kind if kind[0] != "v" else "v1" + kind[1:])


def _base(factor: Node) -> Node:
    return factor.args[0] if factor.op == "^" else factor


def _power_name(exponent: Node) -> str:
    if exponent.op == "const":
        return "C"
    if exponent.op != "num":
        return "sum"
    name = f"{number(exponent):.4g}"
    return name if name in POWERS or number(exponent).is_integer() else "C"  # 2/3 is a value of a constant


def _ways(things: Sequence[Node]) -> int:
    """Return the number of orders of some things, equal ones being alike."""
    return factorial(len(things)) // prod(factorial(n) for n in Counter(things).values())


def _guess(table: str, outcome: str) -> float:
    """Return the flat guess at the probability of an outcome."""
    match table.split()[0]:
        case "factors":
            return 0.5 ** (int(outcome) + 1)
        case "terms":
            return 0.5 ** int(outcome)
        case "kind":
            return 1 / len(KINDS)
        case "function":
            return FUNCTION if outcome in FUNCTIONS else STRANGE
        case "again":
            return 0.5
        case "coefficient":
            return {"free": 0.5, "one": 0.5}.get(outcome, RARE_NUMBER)
        case _:
            return POWERS.get(outcome, RARE_NUMBER)
