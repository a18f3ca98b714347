"""Rule probabilities from sentences: all derivations of each, packed, and how often each rule is used.

A law can be written as several sentences, and a sentence can have several derivations; which were used is
not known. Expectation and maximisation take turns: expected counts of rule uses, given the probabilities;
then probabilities, given the counts, smoothed towards those of the grammar.

All derivations of a sentence are packed by the inside-outside algorithm on a graph: a node is a symbol that
derives a span of the sentence, with one alternative for each rule and each division of the span. Nodes
stand after those they are made of. A derivation in which a symbol derives itself over the same span is left
out, so that there are finitely many.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log

import numpy as np

from gode.arrays import Float
from gode.errors import GrammarError
from gode.grammar.earley import NOTHING, Coded
from gode.grammar.rules import Grammar

Alternative = tuple[int, tuple[int, ...]]  # a rule, and the nodes of its nonterminals


@dataclass(frozen=True)
class Forest:
    """The derivations of one sentence; the last node is the whole."""

    nodes: tuple[tuple[Alternative, ...], ...]

    def probability(self, rules: Float) -> float:
        """Return the summed probability of all derivations, with the probability of each rule."""
        return self._inside(rules)[-1]

    def expected_counts(self, rules: Float) -> Float:
        """Return how often each rule is expected in the derivation of the sentence; zeros if it has none."""
        inside = self._inside(rules)
        counts = np.zeros(len(rules))
        outside = np.zeros(len(inside))
        outside[-1] = 1.0 / inside[-1] if inside[-1] > 0 else 0.0
        for node in range(len(inside) - 1, -1, -1):
            for rule, parts in self.nodes[node]:
                share = outside[node] * _value(rules, inside, rule, parts)
                counts[rule] += share
                for part in parts:
                    outside[part] += share / inside[part] if share else 0.0
        return counts

    def _inside(self, rules: Float) -> list[float]:
        inside: list[float] = []
        for alternatives in self.nodes:
            inside.append(sum(_value(rules, inside, rule, parts) for rule, parts in alternatives))
        return inside


def _value(rules: Float, inside: Sequence[float], rule: int, parts: tuple[int, ...]) -> float:
    value = float(rules[rule])
    for part in parts:
        value *= inside[part]
    return value


def forest(grammar: Grammar, tokens: Sequence[str], symbol: str | None = None) -> Forest | None:
    """Return all derivations, with the active rules, of a sentence or a part of one; None if there is none.

    Args:
        symbol: what derives the tokens; by default the grammar's start.
    """
    number = grammar.coded.number
    builder = _Builder(grammar.coded, [number.get(token, NOTHING) for token in tokens])
    whole = builder.node(grammar.coded.head_number[symbol or grammar.start], 0, len(tokens))
    return None if whole is None else Forest(tuple(builder.nodes[: whole + 1]))


def is_derived(grammar: Grammar, tokens: Sequence[str]) -> bool:
    """Tell whether some symbol of the grammar derives `tokens`."""
    number = grammar.coded.number
    builder = _Builder(grammar.coded, [number.get(token, NOTHING) for token in tokens])
    return any(
        builder.node(symbol, 0, len(tokens)) is not None for symbol in range(len(grammar.nonterminals))
    )


class _Builder:
    """Finds the nodes from the top, the parts of a node before it."""

    def __init__(self, coded: Coded, tokens: list[int]) -> None:
        self.coded = coded
        self.tokens = tokens
        self.shortest = _shortest(coded)
        self.nodes: list[tuple[Alternative, ...]] = []
        self._found: dict[tuple[int, int, int], int | None] = {}
        self._open: set[tuple[int, int, int]] = set()
        self._cut = False  # whether a symbol was asked for inside itself

    def node(self, symbol: int, start: int, stop: int) -> int | None:
        """Return the node of `symbol` from `start` to `stop`; None if it does not derive that."""
        key = (symbol, start, stop)
        if key in self._found:
            return self._found[key]
        if key in self._open:
            self._cut = True
            return None
        before, self._cut = self._cut, False
        self._open.add(key)
        found = tuple(
            (rule, parts)
            for rule in self.coded.active_rules[symbol]
            for parts in self._divisions(self.coded.bodies[rule], start, stop)
        )
        self._open.remove(key)
        if found:
            self.nodes.append(found)
        if found or not self._cut:  # what was cut off here may be found from elsewhere
            self._found[key] = len(self.nodes) - 1 if found else None
        self._cut = before or self._cut
        return self._found.get(key)

    def _divisions(self, body: tuple[int, ...], start: int, stop: int) -> Iterator[tuple[int, ...]]:
        """Yield the nodes of the nonterminals of `body`, for each way to divide the span among them."""
        if not body:
            if start == stop:
                yield ()
            return
        head, rest = body[0], body[1:]
        least = sum(self.shortest[symbol] for symbol in rest)
        if start + self.shortest[head] + least > stop:
            return
        if head >= len(self.coded.nonterminals):
            if self.tokens[start] == head:
                yield from self._divisions(rest, start + 1, stop)
            return
        for middle in range(start + self.shortest[head], stop - least + 1) if rest else (stop,):
            if rest and rest[0] >= len(self.coded.nonterminals) and self.tokens[middle] != rest[0]:
                continue
            part = self.node(head, start, middle)
            if part is not None:
                yield from ((part, *tail) for tail in self._divisions(rest, middle, stop))


@lru_cache(maxsize=64)
def _shortest(coded: Coded) -> tuple[int, ...]:
    """Return the fewest tokens that each symbol derives."""
    n = len(coded.nonterminals)
    fewest = [10**6] * n + [1] * (len(coded.terminals) + 1)
    for _ in range(n + 1):
        for head in range(n):
            sums = [sum(fewest[s] for s in coded.bodies[rule]) for rule in coded.active_rules[head]]
            fewest[head] = min([fewest[head], *sums])
    return tuple(fewest)


STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
DIGITS = 5  # of probabilities that are written
ROUNDS = 5  # of expectation and maximisation


@dataclass(frozen=True)
class Written:
    """The sentences that write one law, each with the number of orders of its terms it stands for."""

    sentences: tuple[tuple[Forest, float], ...]
    group: str = ""  # laws of one group are left out together in cross-validation

    def probability(self, rules: Float) -> float:
        """Return the probability of the law, whatever sentence writes it."""
        return sum(weight * forest.probability(rules) for forest, weight in self.sentences)

    def expected_counts(self, rules: Float) -> Float:
        """Return how often each rule is expected to be used in writing the law."""
        shares = [weight * forest.probability(rules) for forest, weight in self.sentences]
        counts = np.zeros(len(rules))
        for share, (forest, _) in zip(shares, self.sentences, strict=True):
            if share > 0:
                counts += share / sum(shares) * forest.expected_counts(rules)
        return counts


def learn_probabilities(grammar: Grammar, laws: Sequence[Written], strength: float) -> Grammar:
    """Return the grammar with the probabilities learned from `laws`.

    Args:
        strength: uses of each head that the grammar's own probabilities are worth.

    Raises:
        GrammarError: if there is no law.
    """
    if not laws:
        raise GrammarError(f"no law can be written in grammar {grammar.name}; there is nothing to learn from")
    heads = np.array(grammar.coded.heads)
    given = np.array(grammar.probabilities)
    rules = given
    for _ in range(ROUNDS):
        counts = sum(law.expected_counts(rules) for law in laws) + strength * given
        rules = counts / np.bincount(heads, counts)[heads]
    learned = tuple(replace(rule, probability=float(p)) for rule, p in zip(grammar.rules, rules, strict=True))
    return replace(grammar, rules=learned)


def rounded(grammar: Grammar) -> Grammar:
    """Return the grammar with probabilities of few digits that sum to one, for people to read."""
    short = [max(round(rule.probability, DIGITS), 10.0**-DIGITS) for rule in grammar.rules]
    for head in grammar.nonterminals:
        own = [i for i, rule in enumerate(grammar.rules) if rule.head == head]
        likely = max(own, key=lambda i: short[i])
        short[likely] = round(1 - sum(short[i] for i in own if i != likely), DIGITS)
    rules = (replace(rule, probability=p) for rule, p in zip(grammar.rules, short, strict=True))
    return replace(grammar, rules=tuple(rules))


def nats(grammar: Grammar, laws: Sequence[Written]) -> Float:
    """Return -log of the probability of each law."""
    rules = np.array(grammar.probabilities)
    return np.array([-log(max(law.probability(rules), 1e-300)) for law in laws])


def cross_validated(grammar: Grammar, laws: Sequence[Written], strength: float) -> Float:
    """Return -log of the probability of each law, learned from the laws of the other groups."""
    found = np.zeros(len(laws))
    for group in dict.fromkeys(law.group for law in laws):
        own = [i for i, law in enumerate(laws) if law.group == group]
        others = [law for law in laws if law.group != group]
        learned = learn_probabilities(grammar, others, strength) if others else grammar
        found[own] = nats(learned, [laws[i] for i in own])
    return found


def best_strength(grammar: Grammar, laws: Sequence[Written]) -> float:
    """Return the strength of smoothing that predicts the laws of a group best from those of the others."""
    return min(STRENGTHS, key=lambda s: float(cross_validated(grammar, laws, s).mean()))
