"""Validation of a grammar: symbols defined, reachable and able to terminate; probabilities that sum to 1."""

import math
from collections import defaultdict
from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from gode.errors import GrammarError
from gode.grammar.notation import Alternative, Rule, fault

PROBABILITY_TOLERANCE = 1e-6


def checked_rules(alternatives: tuple[Alternative, ...], source: str) -> tuple[Rule, ...]:
    """Return the rules of these `alternatives`.

    Raises:
        GrammarError: with the line and the reason, if they are no valid grammar.
    """
    if not alternatives:
        raise GrammarError(f"{source}: the grammar is empty; write at least one rule such as start -> 'C'")
    _check_duplicates(alternatives, source)
    rules = _with_probabilities(alternatives, source)
    lines = {id(rule): alternative.line for rule, alternative in zip(rules, alternatives, strict=True)}
    _check_defined(rules, lines, source)
    _check_finishing(rules, lines, source)
    _check_reachable(rules, lines, source)
    return rules


def closing_lengths_of(rules: Iterable[Rule]) -> dict[str, int]:
    """Return the fewest rules that derive a sentence from each head; one that has none is left out.

    Heads are settled in the order of these lengths (Knuth 1977), so each symbol of a rule is visited once.
    """
    parts = [(rule.head, rule.nonterminals) for rule in rules]
    waiting, totals = [len(inner) for _, inner in parts], [1] * len(parts)
    users: defaultdict[str, list[int]] = defaultdict(list)  # the rules with a symbol, once per occurrence
    for number, (_, inner) in enumerate(parts):
        for symbol in inner:
            users[symbol].append(number)
    ready = [(1, head) for head, inner in parts if not inner]
    heapify(ready)
    lengths: dict[str, int] = {}
    while ready:
        length, head = heappop(ready)
        if head in lengths:
            continue
        lengths[head] = length
        for number in users[head]:
            waiting[number] -= 1
            totals[number] += length
            if not waiting[number]:
                heappush(ready, (totals[number], parts[number][0]))
    return lengths


def _check_duplicates(alternatives: tuple[Alternative, ...], source: str) -> None:
    seen: set[tuple[str, tuple[str, ...], tuple[bool, ...]]] = set()
    for a in alternatives:
        key = (a.head, a.body, a.terminal)
        if key in seen:
            raise fault(source, a.line, f"rule {Rule(*key, 0.0)} is written twice; remove one")
        seen.add(key)


def _with_probabilities(alternatives: tuple[Alternative, ...], source: str) -> tuple[Rule, ...]:
    by_head: defaultdict[str, list[Alternative]] = defaultdict(list)
    for alternative in alternatives:
        by_head[alternative.head].append(alternative)
    for head, group in by_head.items():
        _check_probabilities(head, group, source)
    return tuple(
        Rule(a.head, a.body, a.terminal, 1 / len(by_head[a.head]) if a.probability is None else a.probability)
        for a in alternatives
    )


def _check_probabilities(head: str, group: list[Alternative], source: str) -> None:
    given = [a.probability for a in group if a.probability is not None]
    if not given:
        return
    if len(given) < len(group):
        line = next(a.line for a in group if a.probability is None)
        raise fault(
            source,
            line,
            f"only {len(given)} of {len(group)} alternatives of {head} have a probability; give all or none",
        )
    if not math.isclose(sum(given), 1, abs_tol=PROBABILITY_TOLERANCE, rel_tol=0):
        raise fault(
            source, group[0].line, f"the probabilities of {head} sum to {sum(given):g}; make them sum to 1"
        )


def _check_defined(rules: tuple[Rule, ...], lines: dict[int, int], source: str) -> None:
    heads = {rule.head for rule in rules}
    for rule in rules:
        for symbol in rule.nonterminals:
            if symbol not in heads:
                raise fault(
                    source,
                    lines[id(rule)],
                    f"symbol {symbol} is undefined; add {symbol} -> ... or quote it as a terminal",
                )


def _check_finishing(rules: tuple[Rule, ...], lines: dict[int, int], source: str) -> None:
    finishing = closing_lengths_of(rules)
    for rule in rules:
        if rule.head not in finishing:
            raise fault(
                source,
                lines[id(rule)],
                f"symbol {rule.head} can never finish; add an alternative without a loop",
            )


def _check_reachable(rules: tuple[Rule, ...], lines: dict[int, int], source: str) -> None:
    inner: defaultdict[str, set[str]] = defaultdict(set)
    for rule in rules:
        inner[rule.head].update(rule.nonterminals)
    reached, ahead = {rules[0].head}, [rules[0].head]
    while ahead:
        new = inner[ahead.pop()] - reached
        reached |= new
        ahead += new
    for rule in rules:
        if rule.head not in reached:
            raise fault(
                source,
                lines[id(rule)],
                f"symbol {rule.head} is never reached from {rules[0].head}; use or remove it",
            )
