from pathlib import Path

from commands import gode, refused
from gode.grammar import Grammar, load_grammar

LAWS = """
[growth]
weight: w' = C*w^C + C*w
[heat]
cooling: T' = C + C*T
radiating: T' = C + C*T^4
odd: T' = C*tanh(T)^2
pair: x' = C*y; y' = C*x
"""


def test_a_learned_grammar_has_the_same_rules_and_other_probabilities(tmp_path: Path) -> None:
    corpus, out = tmp_path / "mine.txt", tmp_path / "learned.grammar"
    corpus.write_text(LAWS)
    result = gode("grammar", "learn", str(corpus), "--grammar", "first-order", "--out", str(out))
    assert result.exit_code == 0
    assert "nats per equation" in result.output
    learned, given = Grammar.read(out), load_grammar("first-order")
    assert learned.digest() == given.digest()
    assert learned.probabilities != given.probabilities
    assert min(learned.probabilities) > 0


def test_laws_that_cannot_be_written_are_counted_and_named(tmp_path: Path) -> None:
    corpus = tmp_path / "mine.txt"
    corpus.write_text(LAWS)
    said = gode("grammar", "learn", str(corpus), "--grammar", "first-order").output
    assert "3 equations can be written" in said
    assert "1 cannot be written with its rules and are skipped" in said
    assert "odd: T' = C*tanh(T)^2" in said
    assert "2 are of another order, or in signals" in said


def test_a_corpus_without_a_law_for_the_grammar_is_refused(tmp_path: Path) -> None:
    corpus = tmp_path / "mine.txt"
    corpus.write_text("fall: y'' = C")
    assert "no law of" in refused("grammar", "learn", str(corpus), "--grammar", "first-order")
    assert "nowhere.txt cannot be read" in refused(
        "grammar", "learn", "nowhere.txt", "--grammar", "first-order"
    )
