"""A grammar coded in integers, for inner loops.

Symbols are numbered: nonterminals from 0 in order of their first rule, then terminals, then the end of
the sentence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from gode.grammar.notation import Rule, closing_lengths_of

NEVER = 10**9  # closing length of a symbol that cannot terminate

Choice = tuple[tuple[int, ...], tuple[float, ...]]  # rules and their cumulative probabilities


@dataclass(frozen=True)
class Coded:
    """The rules as integers; an inactive rule keeps its number."""

    nonterminals: tuple[str, ...]
    terminals: tuple[str, ...]
    heads: tuple[int, ...]
    bodies: tuple[tuple[int, ...], ...]
    open_symbols: tuple[tuple[int, ...], ...]  # nonterminals of each body, reversed for a stack
    active_rules: tuple[tuple[int, ...], ...]  # of each nonterminal
    closing: tuple[int, ...]  # fewest rules that close each nonterminal
    rule_closing: tuple[int, ...]  # the same with that rule first
    probabilities: tuple[float, ...]

    @property
    def end(self) -> int:
        """The number that stands for the end of a sentence."""
        return len(self.nonterminals) + len(self.terminals)

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each terminal."""
        return {name: i for i, name in enumerate(self.terminals, start=len(self.nonterminals))}

    @cached_property
    def head_number(self) -> dict[str, int]:
        """The number of each nonterminal."""
        return {name: i for i, name in enumerate(self.nonterminals)}

    @cached_property
    def choices(self) -> tuple[tuple[Choice, ...], ...]:
        """The choices of each nonterminal with 0, 1, 2, ... rules to spare; the last entry holds for more."""
        return tuple(_choices(self, head) for head in range(len(self.nonterminals)))


def code(rules: Sequence[Rule], active: Sequence[bool]) -> Coded:
    """Return `rules` as integers."""
    nonterminals = tuple(dict.fromkeys(rule.head for rule in rules))
    terminals = tuple(dict.fromkeys(s for rule in rules for s in rule.terminals))
    number = {(name, False): i for i, name in enumerate(nonterminals)}
    number |= {(name, True): i for i, name in enumerate(terminals, start=len(nonterminals))}
    lengths = closing_lengths_of(rule for rule, on in zip(rules, active, strict=True) if on)
    heads = tuple(number[rule.head, False] for rule in rules)
    return Coded(
        nonterminals=nonterminals,
        terminals=terminals,
        heads=heads,
        bodies=tuple(tuple(number[symbol] for symbol in _symbols(rule)) for rule in rules),
        open_symbols=tuple(tuple(number[s, False] for s in reversed(rule.nonterminals)) for rule in rules),
        active_rules=tuple(
            tuple(r for r, on in enumerate(active) if on and heads[r] == head)
            for head in range(len(nonterminals))
        ),
        closing=tuple(lengths.get(name, NEVER) for name in nonterminals),
        rule_closing=tuple(1 + sum(lengths.get(s, NEVER) for s in rule.nonterminals) for rule in rules),
        probabilities=renormalised(rules, active),
    )


def renormalised(rules: Sequence[Rule], active: Sequence[bool]) -> tuple[float, ...]:
    """Return the probability of each rule among the active ones of its head; 0 for an inactive rule."""
    totals: dict[str, float] = {}
    counts: dict[str, int] = {}
    for rule, on in zip(rules, active, strict=True):
        if on:
            totals[rule.head] = totals.get(rule.head, 0.0) + rule.probability
            counts[rule.head] = counts.get(rule.head, 0) + 1
    return tuple(
        0.0
        if not on
        else rule.probability / totals[rule.head]
        if totals[rule.head] > 0
        else 1 / counts[rule.head]
        for rule, on in zip(rules, active, strict=True)
    )


def _symbols(rule: Rule) -> list[tuple[str, bool]]:
    return list(zip(rule.body, rule.terminal, strict=True))


def _choices(coded: Coded, head: int) -> tuple[Choice, ...]:
    """Return the choices for `head`; a rule needs what it takes beyond the fewest rules that close `head`."""
    needs = {rule: coded.rule_closing[rule] - coded.closing[head] for rule in coded.active_rules[head]}
    most = max(needs.values(), default=0)
    return tuple(_choice(coded, [r for r in needs if needs[r] <= spare]) for spare in range(most + 1))


def _choice(coded: Coded, rules: list[int]) -> Choice:
    """Return the rules of positive probability; all of them, equally likely, if none has."""
    likely = [r for r in rules if coded.probabilities[r] > 0]
    weights = [coded.probabilities[r] for r in likely] or [1.0] * len(rules)
    sums = list(accumulate(weights))
    return tuple(likely or rules), (*(s / sums[-1] for s in sums[:-1]), 1.0)
