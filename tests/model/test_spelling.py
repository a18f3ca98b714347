"""Speller: put together or parsed, the same derivation."""

import pytest

from gode.grammar import Grammar, generate, grammar_names, parse
from gode.library import term_tokens
from gode.model.spelling import Speller
from model_spaces import SMALL, book_of, library_of


@pytest.mark.parametrize("name", grammar_names())
def test_composed_derivation_is_the_parser_s(name: str):
    library = library_of(name, 150)
    speller = Speller(library.grammar, book_of(library))
    for derivation in library.derivations:
        tokens = generate(library.grammar, derivation)
        texts = [sign + "".join(term) for sign, term in term_tokens(tokens)]
        assert speller.derivation(texts) == parse(library.grammar, tokens)


def test_order_of_calls_does_not_matter():
    texts = ["+C", "+C*u", "+C*u^2", "+C*sin(C*u)"]
    forth, back = Speller(SMALL, texts), Speller(SMALL, texts)
    sums = [["+C*u", "+C"], ["+C", "+C*u", "+C*u^2"], ["+C*sin(C*u)"], ["+C*u^2", "+C*sin(C*u)", "+C"]]
    assert [forth.derivation(s) for s in sums] == [back.derivation(s) for s in sums[::-1]][::-1]


@pytest.mark.parametrize(
    "rules",
    [
        "s -> s '+' t | t\nt -> 'C' | 'C' '*' 'u'\n",  # left-recursive
        "s -> t tail\ntail -> '' | '+' t tail\nt -> 'C' | 'C' '*' 'u'\n",
        "s -> t | t '+' t | t '+' t '+' t\nt -> 'C' | 'C' '*' 'u'\n",
    ],
)
def test_any_way_to_write_a_sum_will_do(rules: str):
    grammar = Grammar.from_text(rules, source="sum")
    speller = Speller(grammar, ["+C", "+C*u"])
    for texts in (["+C"], ["+C*u", "+C"], ["+C", "+C*u", "+C"]):
        tokens = generate(grammar, speller.derivation(texts))
        assert "".join(tokens) == "".join(texts)[1:]


def test_what_the_grammar_cannot_write_is_none():
    speller = Speller(SMALL, ["+C", "+C*u"])
    assert speller.derivation([]) is None
    assert speller.derivation(["-C"]) is None
    assert speller.derivation(["+C", "-C*u"]) is None
