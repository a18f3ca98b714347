"""Random derivations of at most a given number of rules."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np

from gode.errors import GrammarError
from gode.grammar.derivation import Derivation
from gode.grammar.rules import Grammar


def sample(grammar: Grammar, *, rng: np.random.Generator, max_rules: int | None = None) -> Derivation:
    """Return a derivation of at most `max_rules` rules (by default the grammar's limit).

    Each rule is drawn by its probability among those with which the sentence can still end within the limit.

    Raises:
        GrammarError: if no sentence is that short.
    """
    limit = _checked_limit(grammar, max_rules)
    coded = grammar.coded
    choices, closing, rule_closing, open_symbols = (
        coded.choices,
        coded.closing,
        coded.rule_closing,
        coded.open_symbols,
    )
    uniform = rng.random(limit).tolist()  # one block: every derivation consumes as many random numbers
    stack = [coded.head_number[grammar.start]]
    spare = limit - closing[stack[0]]
    derivation: list[int] = []
    for number in uniform:
        head = stack.pop()
        choice = choices[head]
        rules, cumulated = choice[spare] if spare < len(choice) else choice[-1]
        rule = rules[bisect_right(cumulated, number)]
        spare -= rule_closing[rule] - closing[head]
        stack += open_symbols[rule]
        derivation.append(rule)
        if not stack:
            break
    return tuple(derivation)


def sample_many(
    grammar: Grammar, n: int, *, rng: np.random.Generator, max_rules: int | None = None
) -> Iterator[Derivation]:
    """Yield `n` draws of `sample`."""
    limit = _checked_limit(grammar, max_rules)
    return (sample(grammar, rng=rng, max_rules=limit) for _ in range(n))


def allowed_rules(grammar: Grammar, stack: Sequence[str], remaining: int) -> tuple[int, ...]:
    """Return the rules for the next symbol with which all open ones can be closed in `remaining` rules.

    Args:
        stack: open nonterminals, of which the last is replaced next; if empty, no rule is allowed.
        remaining: rules that may still be used, the next one included.
    """
    if not stack:
        return ()
    coded = grammar.coded
    later = sum(grammar.closing_length(symbol) for symbol in stack[:-1])
    return tuple(r for r in grammar.rules_of(stack[-1]) if coded.rule_closing[r] + later <= remaining)


def _checked_limit(grammar: Grammar, max_rules: int | None) -> int:
    limit = grammar.limit if max_rules is None else max_rules
    fewest = grammar.closing_length(grammar.start)
    if limit < fewest:
        raise GrammarError(
            f"no sentence of grammar {grammar.name} has at most {limit} rules; allow {fewest} or more"
        )
    return limit
