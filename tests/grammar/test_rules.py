"""Reading, checking and switching rules of grammars."""

import pickle
from pathlib import Path

import pytest

from gode.errors import GrammarError
from gode.grammar import Grammar, Rule, generate, grammar_names, load_grammar, parse

SUM = """
# a comment
%template u' = {sentence}   # what it means
%limit 12
sum -> term [0.25] | term '+' sum [0.75]
term -> 'C' '*' "u'" [0.5]
      | 'C' '*' 'log' '(' 'u' ')' [0.3]   # goes on
term -> 'C' [0.2]
"""


def test_a_text_is_read_as_written():
    grammar = Grammar.from_text(SUM, "some/sum.grammar")
    assert (grammar.start, grammar.template, grammar.limit, grammar.name) == (
        "sum",
        "u' = {sentence}",
        12,
        "sum",
    )
    assert grammar.nonterminals == ("sum", "term")
    assert grammar.terminals == ("+", "C", "*", "u'", "log", "(", "u", ")")
    assert grammar.rules[1] == Rule("sum", ("term", "+", "sum"), (False, True, False), 0.75)
    assert [str(rule) for rule in grammar.rules[1:3]] == ["sum -> term '+' sum", "term -> 'C' '*' \"u'\""]
    assert grammar.rules_of("term") == (2, 3, 4)


def test_defaults_hold_without_directives_and_probabilities():
    grammar = Grammar.from_text("a -> 'x' | 'y' | 'x' a | 'y' a")
    assert (grammar.template, grammar.limit) == ("{sentence} = 0", 40)
    assert grammar.probabilities == (0.25,) * 4


@pytest.mark.parametrize("text", ["a -> 'x' a | ''", "a -> 'x' a |", "a -> 'x' a\n|", "a -> 'x' a | '' ''"])
def test_an_empty_alternative_can_be_written_in_several_ways(text):
    assert Grammar.from_text(text).rules[1].body == ()


@pytest.mark.parametrize(
    "text", [SUM, "a -> b 'x' | ''\nb -> 'y'\na -> 'z' [0.5]".replace(" [0.5]", ""), "a -> '#' | '%'"]
)
def test_the_text_of_a_grammar_reads_back(text):
    grammar = Grammar.from_text(text)
    again = Grammar.from_text(grammar.text())
    assert again == grammar
    assert again.digest() == grammar.digest()


@pytest.mark.parametrize("name", grammar_names())
def test_packaged_grammars_load_and_read_back(name):
    grammar = load_grammar(name)
    assert grammar.name == name
    assert Grammar.from_text(grammar.text()) == grammar


def test_the_paper_grammars_have_the_rules_and_limits_of_the_paper():
    counts = {
        name: (len(load_grammar(name).rules), load_grammar(name).limit)
        for name in grammar_names()
        if name[0] == "b"
    }
    expected = {
        "b1": (27, 40),
        "b2-library": (28, 50),
        "b2": (23, 70),
        "b3-library": (26, 40),
        "b3": (21, 65),
    }
    assert counts == expected


def test_the_digest_ignores_all_but_the_rules():
    plain = Grammar.from_text("a -> 'x' b | 'y'\nb -> 'z'")
    other = Grammar.from_text("# why\n%limit 7\na -> 'x'   b [0.9]\n | 'y' [0.1]\nb -> 'z'").without("x")
    assert plain.digest() == other.digest()
    assert len(plain.digest()) == 64
    assert plain.digest() != Grammar.from_text("a -> 'y' | 'x' b\nb -> 'z'").digest()


def test_without_a_terminal_its_rules_are_off_and_keep_their_numbers():
    grammar = Grammar.from_text(SUM)
    less = grammar.without("log")
    assert less.rules == grammar.rules
    assert less.active == (True, True, True, False, True)
    assert less.rules_of("term") == (2, 4)
    assert less.probabilities == pytest.approx((0.25, 0.75, 0.5 / 0.7, 0, 0.2 / 0.7))
    with pytest.raises(GrammarError, match="token 3"):
        parse(less, "C * log ( u )")


def test_without_a_rule_what_can_no_longer_finish_is_off_too():
    grammar = Grammar.from_text("a -> 'x' | b 'x'\nb -> c\nc -> 'log'")
    assert grammar.without("c -> 'log'").active == (True, False, False, False)
    assert grammar.without(grammar.rules[3]) == grammar.without("log")
    assert grammar.without("log").without("log") == grammar.without("log")


def test_rules_of_zero_weight_share_equally_when_nothing_else_is_left():
    grammar = Grammar.from_text("a -> 'x' [1] | 'y' [0] | 'z' [0]")
    assert grammar.without("x").probabilities == (0, 0.5, 0.5)


def test_without_says_why_it_cannot():
    grammar = Grammar.from_text(SUM)
    with pytest.raises(GrammarError, match="no terminal or rule tanh; its terminals are"):
        grammar.without("tanh")
    with pytest.raises(GrammarError, match="without C, the start symbol sum can never finish"):
        grammar.without("C")


def test_an_unknown_symbol_has_no_rules():
    with pytest.raises(GrammarError, match="no symbol expr; it has sum, term"):
        Grammar.from_text(SUM).rules_of("expr")


def test_a_grammar_survives_pickling_with_its_tables():
    grammar = load_grammar("b2")
    derivation = parse(grammar, "C*u-0")
    again = pickle.loads(pickle.dumps(grammar))
    assert generate(again, parse(again, "C*u-0")) == generate(grammar, derivation)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a -> 'x'\na -> b", "line 2: symbol b is undefined; add b ->"),
        ("a -> 'x'\n\nb -> 'y'", "line 3: symbol b is never reached from a; use or remove it"),
        ("a -> 'x' | b\nb -> 'y' b", "line 2: symbol b can never finish"),
        ("a -> 'x' [0.5] | 'y' [0.4]", "line 1: the probabilities of a sum to 0.9"),
        (
            "a -> 'x' [0.5]\n | 'y'",
            "line 2: only 1 of 2 alternatives of a have a probability; give all or none",
        ),
        ("a -> 'x' [-0.5] | 'y' [1.5]", r"line 1: probability \[-0.5\] must lie in \[0, 1\]"),
        ("a -> 'x' [nan]", r"line 1: probability \[nan\] must lie"),
        ("a -> 'x' [half]", r"line 1: probability \[half\] is no number"),
        ("a -> 'x' [0.5] 'y'", r"line 1: \[0.5\] stands inside an alternative"),
        ("a -> 'x'\na -> 'y' | 'x'", "line 2: rule a -> 'x' is written twice"),
        ("a 'x'", "line 1: missing arrow in \"a 'x'\""),
        ("a -> 'x' b -> 'y'", "line 1: a second arrow"),
        ("a ->", "line 1: nothing follows 'a ->'"),
        ("| 'x'", "line 1: '|' continues no rule".replace("|", r"\|")),
        ("a -> 'x", "line 1: unterminated quote at column 6; close it with '"),
        ('a -> "x', 'line 1: unterminated quote at column 6; close it with "'),
        ("a -> 'x' + 'y'", r"line 1: unexpected \+ at column 10; quote it"),
        ("a -> 'x y'", "line 1: terminal 'x y' holds white space"),
        ("# nothing\n\n", "the grammar is empty"),
        ("%start a\na -> 'x'", "line 1: unknown directive %start; use %template or %limit"),
        ("a -> 'x'\n%limit many", "line 2: %limit must be a whole number from 1 to 9999, got 'many'"),
        ("%limit " + "6" * 5000 + "\na -> 'x'", "line 1: %limit must be"),
        ("%limit 0\na -> 'x'", "line 1: %limit must be"),
        ("%template u' = 0\na -> 'x'", "line 1: %template must hold {sentence} once"),
    ],
)
def test_an_error_in_the_text_says_where_and_why(text, message):
    with pytest.raises(GrammarError, match="^here.grammar(, |: )" + message):
        Grammar.from_text(text, "here.grammar")


def test_a_grammar_is_read_from_a_file(tmp_path: Path):
    path = tmp_path / "mine.grammar"
    path.write_text(SUM, encoding="utf-8")
    assert Grammar.read(path) == load_grammar(str(path)) == load_grammar(path) == Grammar.from_text(SUM)
    assert load_grammar(path).name == "mine"


def test_an_unusable_file_is_named(tmp_path: Path):
    broken = tmp_path / "broken.grammar"
    broken.write_bytes(b"a -> '\xff'")
    with pytest.raises(GrammarError, match=r"broken.grammar: not UTF-8 at byte 6"):
        Grammar.read(broken)
    with pytest.raises(GrammarError, match=r"none.grammar cannot be read \(No such file"):
        load_grammar(tmp_path / "none.grammar")
    with pytest.raises(GrammarError, match=r"is a directory; name a \.grammar file in it"):
        Grammar.read(tmp_path)


def test_an_unknown_name_lists_what_exists():
    with pytest.raises(GrammarError, match="no grammar is called 'b9'; use one of b1, b2, b2-library"):
        load_grammar("b9")
