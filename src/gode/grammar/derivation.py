"""Sentence to rule sequence and back: `parse`, `generate`, `sample`; the fewest rules to close a symbol."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np

from gode.errors import GrammarError
from gode.grammar.earley import NEVER, NOTHING
from gode.grammar.notation import quoted
from gode.grammar.rules import Grammar

Derivation = tuple[int, ...]  # the rules, by number, that replace the leftmost open symbol in turn


def generate(grammar: Grammar, derivation: Sequence[int]) -> tuple[str, ...]:
    """Return the tokens of the sentence that `derivation` derives; inactive rules may be used.

    Raises:
        GrammarError: if a rule does not exist or does not fit, or if rules are missing or left over.
    """
    coded = grammar.coded
    n = len(coded.nonterminals)
    tokens: list[str] = []
    stack = [coded.nonterminals.index(grammar.start)]
    for step, rule in enumerate(derivation):
        if not stack:
            raise GrammarError(
                f"the sentence is complete after {step} rules, but {len(derivation)} came; drop the rest"
            )
        head = stack.pop()
        if not 0 <= rule < len(coded.heads) or coded.heads[rule] != head:
            raise _misfit(grammar, step, rule, coded.nonterminals[head])
        stack += reversed(coded.bodies[rule])
        while stack and stack[-1] >= n:
            tokens.append(coded.terminals[stack.pop() - n])
    if stack:
        missing = ", ".join(coded.nonterminals[symbol] for symbol in reversed(stack) if symbol < n)
        raise GrammarError(
            f"the derivation is too short: after {len(derivation)} rules {missing} stay open; go on"
        )
    return tuple(tokens)


def tokenize(grammar: Grammar, text: str) -> tuple[str, ...]:
    """Split `text` into terminals, the longest that matches each time; white space is skipped."""
    tokens = []
    place = 0
    for match in grammar.token_pattern.finditer(text):
        if match.start() != place:
            break
        tokens.append(match[1])
        place = match.end()
    if rest := text[place:].lstrip():
        column = len(text) - len(rest)
        raise GrammarError(
            f"no terminal of grammar {grammar.name} fits at column {column + 1}; "
            f"it has {' '.join(grammar.terminals)}\n"
            f"  {text}\n  {' ' * column}^"
        )
    return tuple(tokens)


def parse(grammar: Grammar, sentence: str | Sequence[str]) -> Derivation:
    """Return a leftmost derivation of `sentence` with the active rules.

    Any context-free grammar is accepted. Of several derivations the first that the parser finds is returned:
    it reads from left to right and tries the rules in the grammar's order.

    Args:
        sentence: text, or its tokens.

    Raises:
        GrammarError: if there is none, with the first token that does not fit and what could stand there.
    """
    tokens = tokenize(grammar, sentence) if isinstance(sentence, str) else sentence
    number = grammar.coded.number
    coded = [number.get(token, NOTHING) for token in tokens]
    derivation = grammar.parser.derive(coded)
    if derivation is None:
        raise _no_derivation(grammar, tokens, coded)
    return derivation


def closing_lengths(grammar: Grammar) -> dict[str, int]:
    """Return the fewest active rules that close each nonterminal; one that cannot be closed is left out."""
    coded = grammar.coded
    return {
        name: length for name, length in zip(coded.nonterminals, coded.closing, strict=True) if length < NEVER
    }


def _misfit(grammar: Grammar, step: int, rule: int, head: str) -> GrammarError:
    if not 0 <= rule < len(grammar.rules):
        return GrammarError(
            f"step {step}: there is no rule {rule}; grammar {grammar.name} has 0 to {len(grammar.rules) - 1}"
        )
    return GrammarError(
        f"step {step}: rule {rule} ({grammar.rules[rule]}) does not fit, {head} is to be replaced; "
        f"use one of {', '.join(map(str, grammar.rules_of(head)))}"
    )


def _no_derivation(grammar: Grammar, tokens: Sequence[str], coded: list[int]) -> GrammarError:
    place, possible = grammar.parser.failure(coded)
    n = len(grammar.nonterminals)
    names = [quoted(grammar.terminals[p - n]) if p < grammar.coded.end else "the end" for p in possible]
    found = quoted(tokens[place]) if place < len(tokens) else "the end"
    before = f" after {' '.join(tokens[:place])}" if place else ""
    return GrammarError(f"token {place + 1}{before}: expected {' or '.join(names)}, but {found} came")


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
