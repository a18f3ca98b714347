"""Grammar induction: the probabilities of the rules, learned from sentences.

A law can be written as several sentences, and a sentence can have several derivations; which were used is not
known. Expectation and maximisation take turns: expected counts of rule uses, given the probabilities; then
probabilities, given the counts, smoothed towards those of the grammar.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from gode.arrays import Float
from gode.errors import GrammarError
from gode.grammar.forest import Forest
from gode.grammar.rules import Grammar

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
