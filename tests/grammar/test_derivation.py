"""Sentences to derivations and back."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gode.errors import GrammarError
from gode.grammar import (
    Grammar,
    closing_lengths,
    generate,
    grammar_names,
    load_grammar,
    parse,
    sample,
    sample_many,
    tokenize,
)

NAMES = grammar_names()
GRAMMARS = {name: load_grammar(name) for name in NAMES}
AMBIGUOUS = {"first-order"}  # writes C*F/(C + F) in two ways
WORDS = st.lists(st.sampled_from(["'x'", "'y'", "'xy'"]), max_size=2).map(tuple)
BODIES = st.lists(st.sampled_from(["a", "b", "c", "'x'", "'y'", "'xy'"]), max_size=3).map(tuple)


@st.composite
def small_grammars(draw) -> Grammar:
    """Grammars over a, b, c, often ambiguous, with empty, left-recursive and circular rules."""
    lines = []
    for head, needed in zip("abc", ["b", "c", ""], strict=True):
        words = draw(WORDS)  # lets the symbol finish; the next body lets it reach the next symbol
        link = (*draw(WORDS), *needed, *draw(BODIES))
        bodies = draw(st.permutations(sorted({words, link, *draw(st.lists(BODIES, max_size=2))})))
        lines.append(f"{head} -> " + " | ".join(" ".join(body) or "''" for body in bodies))
    return Grammar.from_text("\n".join(lines))


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_parse_undoes_generate(name, seed):
    grammar = GRAMMARS[name]
    derivation = sample(grammar, rng=np.random.default_rng(seed))
    sentence = generate(grammar, derivation)
    assert tokenize(grammar, "".join(sentence)) == tokenize(grammar, " ".join(sentence)) == sentence
    found = parse(grammar, sentence)
    assert found == parse(grammar, "".join(sentence))
    assert found == derivation or (name in AMBIGUOUS and generate(grammar, found) == sentence)


@given(grammar=small_grammars(), seed=st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_generate_undoes_parse_for_any_grammar(grammar, seed):
    for derivation in sample_many(grammar, 5, rng=np.random.default_rng(seed), max_rules=25):
        sentence = generate(grammar, derivation)
        found = parse(grammar, sentence)
        assert generate(grammar, found) == sentence
        assert parse(grammar, sentence) == found


@given(grammar=small_grammars(), sentence=st.lists(st.sampled_from(["x", "y", "xy"]), max_size=5))
@settings(max_examples=100, deadline=None)
def test_parse_accepts_the_sentences_that_a_plain_recogniser_accepts(grammar, sentence):
    try:
        found = generate(grammar, parse(grammar, sentence)) == tuple(sentence)
    except GrammarError:
        found = False
    assert found == recognises(grammar, sentence)


def recognises(grammar: Grammar, sentence: list[str]) -> bool:
    """Whether `sentence` belongs to `grammar`: all spans of all symbols, filled until nothing changes."""
    n = len(sentence)
    spans = {(token, True, i, i + 1) for i, token in enumerate(sentence)}
    size = -1
    while size < len(spans):
        size = len(spans)
        for rule in grammar.rules:
            for begin in range(n + 1):
                ends = {begin}
                for symbol, terminal in zip(rule.body, rule.terminal, strict=True):
                    ends = {j for i in ends for j in range(i, n + 1) if (symbol, terminal, i, j) in spans}
                spans |= {(rule.head, False, begin, end) for end in ends}
    return (grammar.start, False, 0, n) in spans


@pytest.mark.parametrize(
    ("text", "sentence", "derivation"),
    [
        ("s -> s '+' t | t\nt -> 'x'", "x+x+x", (0, 0, 1, 2, 2, 2)),  # left recursion
        ("s -> a b a\na -> 'x' | ''\nb -> 'y' | ''", "", (0, 2, 4, 2)),
        ("s -> a b a\na -> 'x' | ''\nb -> 'y' | ''", "y", (0, 2, 3, 2)),
        ("s -> a b a\na -> 'x' | ''\nb -> 'y' | ''", "xyx", (0, 1, 3, 1)),
        ("s -> a\na -> s | 'x'", "x", (0, 2)),  # a circle of rules is left at once
        ("s -> s s | 'x' | ''", "", (2,)),
    ],
)
def test_known_derivations(text, sentence, derivation):
    assert parse(Grammar.from_text(text), sentence) == derivation


def test_an_ambiguous_sentence_has_one_answer():
    grammar = Grammar.from_text("e -> e '+' e | 'x'")
    assert parse(grammar, "x+x+x") in {(0, 0, 1, 1, 1), (0, 1, 0, 1, 1)}
    assert parse(grammar, "x+x+x") == parse(Grammar.from_text("e -> e '+' e | 'x'"), "x+x+x")


def test_a_long_sentence_does_not_run_out_of_stack():
    right = Grammar.from_text("s -> 'x' '+' s | 'x'")
    left = Grammar.from_text("s -> s '+' 'x' | 'x'")
    sentence = "+".join(["x"] * 3000)
    assert len(parse(right, sentence)) == len(parse(left, sentence)) == 3000


def test_parsing_time_grows_with_the_length_of_a_sentence_not_its_square():
    grammar = load_grammar("b2")

    def seconds(terms: int) -> float:
        tokens = tokenize(grammar, "+".join(["C*t*diff(u,t)"] * terms) + "-0")
        starts = []
        for _ in range(3):
            begin = time.process_time()
            parse(grammar, tokens)
            starts.append(time.process_time() - begin)
        return min(starts)

    seconds(1)
    assert seconds(320) < 16 * 4 * seconds(20)


def test_the_longest_terminal_is_taken():
    grammar = load_grammar("second-order")
    assert tokenize(grammar, "u' u sin sign(u')") == ("u'", "u", "sin", "sign", "(", "u'", ")")


def test_what_is_no_terminal_is_pointed_at():
    with pytest.raises(GrammarError, match=r"fits at column 5; it has .*\n  C\*u \?\*C\n      \^$"):
        tokenize(load_grammar("b1"), "C*u ?*C")


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("C*u+", "token 5 after C . u .: expected 'C', but the end came"),
        ("C*(u)", "token 3 after C .: expected .* but '\\(' came"),
        ("+C", "token 1: expected 'C', but '\\+' came"),
        ("", "token 1: expected 'C', but the end came"),
        (("C", "*", "sec"), "token 3 after C .: expected .* but 'sec' came"),
        ("C*u C", "token 4 after C . u: expected .*'\\+'.* or the end, but 'C' came"),
    ],
)
def test_a_wrong_sentence_is_reported_with_what_was_expected(sentence, message):
    grammar = Grammar.from_text(
        "s -> t | t '+' s\nt -> 'C' '*' p\np -> 'u' | 'u' '^' '2' | 'sin' '(' 'u' ')'"
    )
    with pytest.raises(GrammarError, match=message):
        parse(grammar, sentence)


@pytest.mark.parametrize(
    ("derivation", "message"),
    [
        ((0, 9), "step 1: there is no rule 9; grammar <text> has 0 to 2"),
        ((0, -1), "step 1: there is no rule -1"),
        ((0, 0), "step 1: rule 0 .* does not fit, t is to be replaced; use one of 1, 2"),
        ((0, 1), "too short: after 2 rules t stay open"),
        ((), "too short: after 0 rules s stay open"),
        ((0, 1, 1, 2), "complete after 3 rules, but 4 came"),
    ],
)
def test_a_wrong_derivation_is_reported(derivation, message):
    with pytest.raises(GrammarError, match=message):
        generate(Grammar.from_text("s -> t '+' t\nt -> 'x' | 'y'"), derivation)


def test_closing_lengths_count_the_fewest_active_rules():
    grammar = Grammar.from_text("s -> t '+' s | t\nt -> 'x' | n n\nn -> 'y'")
    assert closing_lengths(grammar) == {"s": 2, "t": 1, "n": 1}
    assert closing_lengths(grammar.without("x")) == {"s": 4, "t": 3, "n": 1}
    assert closing_lengths(grammar.without("y")) == {"s": 2, "t": 1}
