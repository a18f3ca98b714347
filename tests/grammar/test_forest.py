from collections.abc import Iterator

import numpy as np
import pytest

from gode.errors import GrammarError
from gode.grammar import Grammar, generate, load_grammar, parse, sample_many
from gode.grammar.learning import (
    Written,
    best_strength,
    cross_validated,
    forest,
    is_derived,
    learn_probabilities,
    nats,
)

AMBIGUOUS = Grammar.from_text("s -> s '+' s [0.3] | 'u' [0.5] | a [0.2]\na -> 'u' [0.6] | 'C' [0.4]")
EMPTY = Grammar.from_text("s -> x s x [0.2] | 'u' [0.8]\nx -> '' [0.5] | '+' [0.3] | s [0.2]")
CYCLIC = Grammar.from_text("s -> a [0.5] | 'u' [0.5]\na -> s [0.5] | 'C' [0.5]")


def all_derivations(
    grammar: Grammar, stack: tuple[str, ...], tokens: tuple[str, ...]
) -> Iterator[tuple[int, ...]]:
    """The plain twin: every way to derive `tokens` from `stack`, for a grammar without empty rules."""
    if not stack or len(stack) > len(tokens):
        if stack == tokens:
            yield ()
        return
    if stack[0] not in grammar.nonterminals:
        if stack[0] == tokens[0]:
            yield from all_derivations(grammar, stack[1:], tokens[1:])
        return
    for rule in grammar.rules_of(stack[0]):
        for rest in all_derivations(grammar, grammar.rules[rule].body + stack[1:], tokens):
            yield (rule, *rest)


@pytest.mark.parametrize("tokens", [("u",), ("u", "+", "u"), ("u", "+", "C"), tuple("C+u+C+u")])
def test_probability_and_counts_are_sums_over_all_derivations(tokens: tuple[str, ...]) -> None:
    rules = np.array(AMBIGUOUS.probabilities)
    derivations = list(all_derivations(AMBIGUOUS, ("s",), tokens))
    chances = [float(np.prod(rules[list(d)])) for d in derivations]
    trees = forest(AMBIGUOUS, tokens)
    assert trees is not None
    assert trees.probability(np.ones(len(rules))) == len(derivations)
    assert trees.probability(rules) == pytest.approx(sum(chances))
    counts = sum(
        chance * np.bincount(d, minlength=len(rules)) for chance, d in zip(chances, derivations, strict=True)
    )
    np.testing.assert_allclose(trees.expected_counts(rules), counts / sum(chances))


def test_a_sentence_without_derivation_has_no_forest() -> None:
    assert forest(AMBIGUOUS, ("u", "u")) is None
    assert forest(AMBIGUOUS, ("sin",)) is None
    assert is_derived(AMBIGUOUS, ("C",))
    assert not is_derived(AMBIGUOUS, ("+", "u"))


def test_empty_rules_and_cycles_end() -> None:
    trees = forest(EMPTY, ("+", "u"))
    assert trees is not None
    assert trees.probability(np.array(EMPTY.probabilities)) >= 0.2 * 0.3 * 0.8 * 0.5
    cyclic = forest(CYCLIC, ("C",))
    assert cyclic is not None
    assert cyclic.probability(np.array(CYCLIC.probabilities)) == pytest.approx(0.25)


def test_every_sentence_of_a_grammar_has_the_parsers_derivation_in_its_forest() -> None:
    for name in ("first-order", "systems", "b2", "b3"):
        grammar = load_grammar(name)
        rules = np.array(grammar.probabilities)
        for derivation in sample_many(grammar, 30, rng=np.random.default_rng(0)):
            tokens = generate(grammar, derivation)
            trees = forest(grammar, tokens)
            assert trees is not None
            assert trees.probability(rules) >= np.prod(rules[list(parse(grammar, tokens))]) * (1 - 1e-9)


def written(grammar: Grammar, *texts: str, group: str = "") -> Written:
    trees = [forest(grammar, tuple(text)) for text in texts]
    return Written(tuple((tree, 1.0) for tree in trees if tree is not None), group)


SIMPLE = Grammar.from_text("s -> 'u' [0.5] | 'C' [0.5]")


def test_learned_probabilities_are_smoothed_counts() -> None:
    laws = [written(SIMPLE, "u")] * 3 + [written(SIMPLE, "C")]
    learned = learn_probabilities(SIMPLE, laws, 4.0)
    assert learned.probabilities == pytest.approx(((3 + 2) / 8, (1 + 2) / 8))
    assert learned.digest() == SIMPLE.digest()
    assert Grammar.from_text(learned.text()).probabilities == pytest.approx(learned.probabilities)


def test_sentences_of_one_law_share_its_count_by_their_probability() -> None:
    grammar = Grammar.from_text("s -> 'u' [0.6] | 'C' [0.2] | '0' [0.2]")
    law = written(grammar, "u", "C")
    assert law.probability(np.array(grammar.probabilities)) == pytest.approx(0.8)
    np.testing.assert_allclose(law.expected_counts(np.array(grammar.probabilities)), [0.75, 0.25, 0])


def test_learning_raises_the_probability_of_what_it_learned_from() -> None:
    laws = [written(AMBIGUOUS, "u+u", "C"), written(AMBIGUOUS, "C+C")]
    learned = learn_probabilities(AMBIGUOUS, laws, 0.1)
    assert nats(learned, laws).sum() < nats(AMBIGUOUS, laws).sum()


def test_cross_validation_leaves_the_own_group_out() -> None:
    laws = [written(SIMPLE, "u", group="a")] * 5 + [written(SIMPLE, "C", group="b")] * 5
    found = cross_validated(SIMPLE, laws, 1.0)
    np.testing.assert_allclose(found, -np.log(0.5 / 6))
    assert best_strength(SIMPLE, laws) == 300.0


def test_nothing_to_learn_from_is_said() -> None:
    with pytest.raises(GrammarError, match="nothing to learn from"):
        learn_probabilities(SIMPLE, [], 1.0)
