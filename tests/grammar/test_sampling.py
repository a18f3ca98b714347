"""Random derivations."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gode.errors import GrammarError
from gode.grammar import (
    Grammar,
    allowed_rules,
    closing_lengths,
    generate,
    grammar_names,
    load_grammar,
    sample,
    sample_many,
)

GRAMMARS = {name: load_grammar(name) for name in grammar_names()}


@pytest.mark.parametrize("name", GRAMMARS)
@given(seed=st.integers(0, 2**32), spare=st.integers(0, 12))
@settings(max_examples=40, deadline=None)
def test_every_draw_finishes_within_the_limit(name, seed, spare):
    grammar = GRAMMARS[name]
    limit = closing_lengths(grammar)[grammar.start] + spare
    derivation = sample(grammar, rng=np.random.default_rng(seed), max_rules=limit)
    assert len(derivation) <= limit
    assert generate(grammar, derivation)


def test_the_default_limit_is_the_grammars(rng):
    grammar = Grammar.from_text("%limit 5\ns -> 'x' s [0.99] | 'x' [0.01]")
    lengths = {len(derivation) for derivation in sample_many(grammar, 300, rng=rng)}
    assert max(lengths) == 5


def test_the_same_generator_draws_the_same():
    grammar = GRAMMARS["first-order"]
    first, second = (list(sample_many(grammar, 20, rng=np.random.default_rng(7))) for _ in range(2))
    assert first == second
    assert len(set(first)) > 10


def test_rules_are_drawn_by_their_probability(rng):
    grammar = Grammar.from_text("s -> 'x' [0.6] | 'y' [0.3] | 'z' [0.1] | 'never' [0]")
    counts = Counter(sample_many(grammar, 20_000, rng=rng))
    assert [counts[r,] / 20_000 for r in range(4)] == pytest.approx([0.6, 0.3, 0.1, 0], abs=0.02)
    counts = Counter(sample_many(grammar.without("x"), 20_000, rng=rng))
    assert [counts[r,] / 20_000 for r in range(4)] == pytest.approx([0, 0.75, 0.25, 0], abs=0.02)


def test_a_rule_of_probability_zero_is_drawn_only_if_nothing_else_closes(rng):
    grammar = Grammar.from_text("s -> 'x' s [1] | 'x' [0]")
    assert set(sample_many(grammar, 50, rng=rng, max_rules=3)) == {(0, 0, 1)}


def test_switched_off_rules_are_not_drawn(rng):
    grammar = GRAMMARS["b2"].without("log", "exp")
    tokens = {token for d in sample_many(grammar, 300, rng=rng) for token in generate(grammar, d)}
    assert "sin" in tokens
    assert not tokens & {"log", "exp"}


def test_too_low_a_limit_is_an_error(rng):
    with pytest.raises(GrammarError, match="no sentence of grammar b2 has at most 3 rules; allow 7 or more"):
        sample(GRAMMARS["b2"], rng=rng, max_rules=3)
    with pytest.raises(GrammarError, match="allow 7 or more"):
        sample_many(GRAMMARS["b2"], 5, rng=rng, max_rules=3)


def test_allowed_rules_are_those_that_can_still_close():
    grammar = Grammar.from_text("s -> t '+' s | t\nt -> 'x' | n n\nn -> 'y'")
    assert allowed_rules(grammar, ["s"], 4) == (0, 1)
    assert allowed_rules(grammar, ["s"], 3) == (1,)
    assert allowed_rules(grammar, ["s"], 1) == ()
    assert allowed_rules(grammar, ["s", "t"], 4) == (2,)
    assert allowed_rules(grammar, ["s", "t"], 5) == (2, 3)
    assert allowed_rules(grammar.without("y"), ["t"], 9) == (2,)
    assert allowed_rules(grammar, [], 9) == ()


@given(seed=st.integers(0, 2**32), limit=st.integers(7, 30))
@settings(max_examples=60, deadline=None)
def test_every_step_of_a_draw_is_an_allowed_rule(seed, limit):
    grammar = GRAMMARS["b2"]
    stack = [grammar.start]
    for step, rule in enumerate(sample(grammar, rng=np.random.default_rng(seed), max_rules=limit)):
        assert rule in allowed_rules(grammar, stack, limit - step)
        stack.pop()
        stack += reversed(grammar.rules[rule].nonterminals)
    assert not stack
