"""The prior probability of a law: how often people write its terms, and how they compose others.

An equation is drawn by drawing its order, whether it is solved for its highest derivative, how many terms it
has, and which. A term that is known is in an equation about as often as in the known equations of its kind
(its order, with other states or without, with a force or without), smoothed towards all known equations; a
term that is not known is one of the grammars', or has the shape of a known one, or is composed of factors.
This is an Indian buffet process with a base measure. Terms are a set, so the order in which they are written
does not count, and other states are exchangeable.

The prior that is learned from the laws that come with gode is kept in a file, as learning takes longer than a
fit. After a change of the laws, or of how priors are learned from them: python scripts/learn_prior.py
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import sha256
from importlib.resources import files
from math import log
from typing import Any, TypeVar

import numpy as np

from gode.arrays import Float
from gode.equation import Node, Skeleton
from gode.equation.system import LawSkeleton
from gode.equation.tree import ONE, is_other, number, var, variables
from gode.prior.corpus import KnownLaw, known_laws, known_text
from gode.prior.terms import (
    Composition,
    Pieces,
    View,
    as_pair,
    labellings,
    learn_composition,
    pattern,
    ways_of_writing,
)
from gode.prior.writing import term_probability

FILE = "learned.json"
Key = TypeVar("Key")
Kind = tuple[int, bool, bool]  # order, whether there are other states, whether there is a force
Named = tuple[Node, int]  # the pattern of a term, and which of several equal ones it is
MOST_TERMS = 24  # The number of sets of terms is counted up to this size; no known law has as many terms.
MOST_REMEMBERED = 200_000  # The prior of so many equations is remembered; then memory is emptied.
MOST_LIKELY = 0.95  # No term is more probable than this, so that its absence is possible.
COPY = 0.02  # Probability, set by hand, that a new term is one more of a kind that the equation has.
LEAST = 1e-9  # The expected number of new terms is at least this, so that its logarithm exists.
ODD_LEAD = 1e-4  # The probability, set by hand, of a highest derivative inside a function: no law has it.


@dataclass(frozen=True, kw_only=True)
class Smoothing:
    """How strongly counts are smoothed; chosen by cross-validation over fields."""

    kind: float = 40.0  # The frequencies pooled over all kinds count as so many equations of each.
    new: float = 100.0  # The guess at new terms counts as so many equations.
    novelty: float = 10.0  # So many new terms are expected in the first equation.
    grammar: float = 0.5  # With this probability a new term is drawn from the grammars as set by hand.
    pair: float = 0.3  # A scalar law of second order counts by this weight as a pair of first order.
    events: float = 15.0  # The guess at the composition counts as so many events.
    copying: float = 0.4  # With this probability a new term has the shape of a known one, with other columns.
    number: float = 40.0  # The guess at the number of terms counts as so many equations.


class Tally(dict[Key, float]):
    """How often something was counted; zero, without being entered, for what was not."""

    def __missing__(self, key: Key) -> float:
        """Return zero."""
        return 0.0


@dataclass(frozen=True)
class Counts:
    """What is counted in the known equations."""

    equations: Tally[Kind] = field(default_factory=Tally)
    implicit: Tally[int] = field(default_factory=Tally)  # by order
    sizes: Tally[tuple[Kind, int]] = field(default_factory=Tally)  # number of terms
    terms: Tally[tuple[Kind, Named]] = field(default_factory=Tally)
    leads: Tally[tuple[int, str]] = field(default_factory=Tally)  # order, power of the highest derivative


@dataclass(frozen=True, eq=False)
class Prior:
    """Prior probabilities of laws, learned from known ones."""

    counts: Counts
    composition: Composition
    smoothing: Smoothing
    _terms: dict[tuple[Node, int, View], float] = field(default_factory=dict, repr=False)
    _sets: dict[View, Float] = field(default_factory=dict, repr=False)
    _laws: dict[tuple[Skeleton, View], float] = field(default_factory=dict, repr=False)

    def log_prior(
        self, skeleton: LawSkeleton, *, others: int | None = None, forced: bool | None = None
    ) -> float:
        """Return the log prior probability of a law, in nats; see `gode.prior.log_prior`."""
        views = [
            View(part.order, max(_most(skeleton.seen(i)), others or 0), forced or "F" in skeleton.seen(i))
            for i, part in enumerate(skeleton.parts)
        ]
        return sum([self._equation(part, view) for part, view in zip(skeleton.parts, views, strict=True)])

    def _equation(self, skeleton: Skeleton, view: View) -> float:
        key = (skeleton, view)
        if key not in self._laws:
            if len(self._laws) >= MOST_REMEMBERED:
                self._laws.clear()
            ways = [self._pieces(pieces, view) for pieces in ways_of_writing(skeleton)]
            self._laws[key] = float(np.logaddexp.reduce(ways))
        return self._laws[key]

    def _pieces(self, pieces: Pieces, view: View) -> float:
        """Return the log probability of one way of writing an equation."""
        total = self._log_order(view) + self._log_implicit(pieces)
        total += self._log_size(len(pieces.terms), view)
        total += sum(self._log_odds(body, copy, view) for body, copy in pieces.terms)
        sets = self._set_sizes(view)
        return total - float(sets[min(len(pieces.terms), MOST_TERMS)])

    def _log_order(self, view: View) -> float:
        alike = [self.counts.equations[(order, view.others > 0, view.forced)] for order in (1, 2)]
        own = alike[view.order - 1] if view.order in (1, 2) else 0
        return log((own + 1.0) / (sum(alike) + 2.0))

    def _log_implicit(self, pieces: Pieces) -> float:
        """Return the log probability that an equation is explicit, or of the terms that it leads with."""
        s = self.smoothing.number
        n = sum(count for kind, count in self.counts.equations.items() if kind[0] == pieces.order)
        rate = (self.counts.implicit[pieces.order] + 0.02 * s) / (n + s)
        if not pieces.leading:
            return log(1 - rate)
        view = View(pieces.order, MOST_TERMS, True)
        total = log(rate) - len(pieces.leading) * log(2.0)
        return total + sum(self._log_lead(body, pieces.order, view) for body in pieces.leading)

    def _log_lead(self, body: Node, order: int, view: View) -> float:
        """Return the log probability of a term with the highest derivative."""
        power, rest = split_lead(body, order)
        if power is None:
            return log(ODD_LEAD) + self.composition.log_probability(body, view)
        s = self.smoothing.number
        guess = {"1": 0.8, "2": 0.1}.get(power, 0.01)
        alike = sum(count for (own, _), count in self.counts.leads.items() if own == order)
        chance = (self.counts.leads[(order, power)] + s * guess) / (alike + s)
        return log(chance) + self.composition.log_probability(rest, view)

    def _log_size(self, n: int, view: View) -> float:
        """Return the log probability of the number of terms besides the highest derivative."""
        s = self.smoothing.number
        pooled = sum(c for (_, size), c in self.counts.sizes.items() if size == n)
        general = (pooled + s * 0.5 ** (n + 1)) / (self._n_equations + s)
        kind = kind_of(view)
        own = self.counts.sizes[(kind, n)] + s * general
        return log(own / (self.counts.equations[kind] + s))

    @cached_property
    def _n_equations(self) -> float:
        return sum(self.counts.equations.values())

    @cached_property
    def _pooled(self) -> Tally[Named]:
        pooled: Tally[Named] = Tally()
        for (_, named), count in self.counts.terms.items():
            pooled[named] += count
        return pooled

    def _log_odds(self, body: Node, copy: int, view: View) -> float:
        """Return the log odds that a term with its labels is in an equation."""
        key = (body, copy, view)
        if key not in self._terms:
            form, n_names, symmetries = pattern(body)
            ways = labellings(n_names, symmetries, view.others)
            new = (1 - self.smoothing.grammar) * np.exp(self.composition.log_probability(body, view)) * ways
            new += self.smoothing.grammar * term_probability(form, n_names, symmetries, kind_of(view))
            new *= COPY ** (copy - 1)
            chance = min(self._chance((form, copy), float(new), view) / ways, MOST_LIKELY)
            self._terms[key] = log(chance) - log(1 - chance)
        return self._terms[key]

    def _chance(self, named: Named, composed: float, view: View) -> float:
        """Return how often a pattern is expected in an equation, given the probability to compose it."""
        s, kind = self.smoothing, kind_of(view)
        pooled = (self._pooled[named] + s.new * s.novelty * composed) / (self._n_equations + s.new)
        return (self.counts.terms[(kind, named)] + s.kind * pooled) / (self.counts.equations[kind] + s.kind)

    def _set_sizes(self, view: View) -> Float:
        """Return, by number of terms, the log of the summed odds of all sets of so many terms."""
        if view not in self._sets:
            odds, known = [], 0.0
            for form, copy in self._pooled:
                if not all(view.holds(name) for name in variables(form)):
                    continue
                _, n_names, symmetries = pattern(form)
                ways = labellings(n_names, symmetries, view.others)
                odds += [float(np.exp(self._log_odds(form, copy, view)))] * int(ways)
                known += float(np.exp(self.composition.log_probability(form, view))) * ways
            s = self.smoothing
            unknown = s.kind / (self.counts.equations[kind_of(view)] + s.kind)
            unknown *= s.new * s.novelty / (self._n_equations + s.new) * max(1 - known, 0.0)
            self._sets[view] = _log_sums_over_sets(odds, unknown)
        return self._sets[view]


def learn_prior(laws: Sequence[KnownLaw], smoothing: Smoothing | None = None) -> Prior:
    """Return the prior learned from known laws.

    A scalar law of second order counts as a pair of first order, too: people write it in both ways.
    """
    smoothing = smoothing or Smoothing()
    counts = Counts()
    bodies: set[Node] = set()
    for law in laws:
        others, forced = visible(len(law.skeleton.states), law.n_inputs)
        for part in law.skeleton.parts:
            pieces = ways_of_writing(part)[0]
            bodies |= _count(pieces, View(pieces.order, others, forced), counts)
            if len(law.skeleton.parts) == 1 and pieces.order == 2 and not pieces.leading:
                for one in as_pair(pieces):
                    _count(one, View(1, others + 1, forced), counts, smoothing.pair)
    return Prior(counts, learn_composition(sorted(bodies), smoothing.events, smoothing.copying), smoothing)


def _count(pieces: Pieces, view: View, counts: Counts, weight: float = 1.0) -> set[Node]:
    """Count what one equation holds; return the patterns of its terms."""
    kind = kind_of(view)
    counts.equations[kind] += weight
    counts.sizes[(kind, len(pieces.terms))] += weight
    counts.implicit[pieces.order] += weight * bool(pieces.leading)
    bodies = set()
    for body in pieces.leading:
        power, rest = split_lead(body, pieces.order)
        counts.leads[(pieces.order, power or "odd")] += weight
        bodies.add(pattern(rest)[0])
    for body, copy in pieces.terms:
        form = pattern(body)[0]
        counts.terms[(kind, (form, copy))] += weight
        bodies.add(form)
    return bodies


def _most(columns: Iterable[str]) -> int:
    """Return the largest number of another state or input among columns, as 2 of v2'."""
    return max([int(name.rstrip("'")[1:]) for name in columns if is_other(name)], default=0)


def visible(n_states: int, n_inputs: int) -> tuple[int, bool]:
    """Return how many v's an equation sees, and whether it sees F."""
    return n_states - 1 + max(n_inputs - 1, 0), n_inputs > 0


def kind_of(view: View) -> Kind:
    """Return the kind of equation that has this view."""
    return view.order, view.others > 0, view.forced


def split_lead(body: Node, order: int) -> tuple[str | None, Node]:
    """Return the power of the highest derivative in a term, None if it is inside a factor, and the rest."""
    highest = var("u" + "'" * order)
    power, rest = None, []
    for factor in body.args if body.op == "*" else (body,):
        base, exponent = factor.args if factor.op == "^" else (factor, ONE)
        if base == highest and exponent.op in ("num", "const"):
            power = f"{number(exponent):g}" if exponent.op == "num" else "C"
        else:
            rest.append(factor)
    if any(highest.value in variables(factor) for factor in rest):
        power = None
    return power, Node("*", 0.0, tuple(rest)) if len(rest) > 1 else rest[0] if rest else ONE


def _log_sums_over_sets(odds: Sequence[float], unknown: float) -> Float:
    """Return the logs of the elementary symmetric polynomials of `odds` and of endless small ones."""
    sums = np.zeros(MOST_TERMS + 1)
    sums[0] = 1.0
    for odd in odds:
        sums[1:] += odd * sums[:-1]
    small = np.cumprod(np.append(1.0, max(unknown, LEAST) / np.arange(1, MOST_TERMS + 1)))
    return np.asarray(np.log(np.convolve(sums, small)[: MOST_TERMS + 1]), np.float64)


@lru_cache(maxsize=1)
def default_prior() -> Prior:
    """Return the prior learned from the laws that come with gode."""
    return kept_prior() or learn_prior(known_laws())


def log_prior(skeleton: LawSkeleton, *, others: int | None = None, forced: bool | None = None) -> float:
    """Return the log prior probability of a law, in nats; that of a system is the sum over its equations.

    It does not depend on how terms and factors are ordered, on how other states are numbered, nor on the
    values of factors in front of terms. It is finite for every skeleton, and remembered.

    Args:
        others: how many signals v1, v2, ... one equation of a system may see; by default those that occur. A
            system knows.
        forced: whether there is a known input F; by default, whether it occurs.
    """
    return default_prior().log_prior(skeleton, others=others, forced=forced)


def kept_prior() -> Prior | None:
    """Return the prior in the file, None if that was not learned from these laws."""
    try:
        kept = json.loads((files("gode.prior") / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return _from_json(kept) if kept["laws"] == _mark() else None


def prior_text(prior: Prior) -> str:
    """Return what the file holds of a prior."""
    own, composed = prior.counts, prior.composition
    counts = {name: list(tally.items()) for name, tally in vars(own).items()}
    shapes = list(composed.shapes.items())
    events = {table: dict(sorted(outcomes.items())) for table, outcomes in sorted(composed.counts.items())}
    values = {"laws": _mark(), "counts": counts, "events": events, "shapes": shapes}
    return json.dumps(values, separators=(",", ":")) + "\n"


def _from_json(kept: dict[str, Any]) -> Prior:
    counts = Counts(
        equations=_tally(kept["counts"]["equations"], tuple),
        implicit=_tally(kept["counts"]["implicit"], int),
        sizes=_tally(kept["counts"]["sizes"], lambda key: (tuple(key[0]), key[1])),
        terms=_tally(kept["counts"]["terms"], lambda key: (tuple(key[0]), (_node(key[1][0]), key[1][1]))),
        leads=_tally(kept["counts"]["leads"], tuple),
    )
    shapes = {_node(shape): count for shape, count in kept["shapes"]}
    smoothing = Smoothing()
    return Prior(counts, Composition(kept["events"], shapes, smoothing.events, smoothing.copying), smoothing)


def _tally(pairs: Iterable[tuple[Any, float]], key_of: Callable[[Any], Key]) -> Tally[Key]:
    return Tally({key_of(key): count for key, count in pairs})


def _node(kept: list[Any]) -> Node:
    op, value, args = kept
    return Node(op, value, tuple(map(_node, args)))


def _mark() -> str:
    return sha256(known_text().encode()).hexdigest()
