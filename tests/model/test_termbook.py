"""TermBook: skeletons written in the words of a grammar."""

import pytest

from gode.equation import Skeleton, parse_skeleton, parse_tree
from gode.equation.sums import _cancelled, to_sum
from gode.equation.tree import unlabelled
from gode.grammar import Grammar, grammar_names, load_grammar
from gode.library import skeleton_of
from gode.model.termbook import WAVES, TermBook, bodies_of, freed, make_book, terms_for
from gode_bench.problems import SUITES
from model_spaces import SMALL, book_of, library_of

TRUTHS = {problem.name: problem.equation.skeleton for suite in SUITES.values() for problem in suite}
B1 = {f"ID{i}" for i in range(1, 31)}
B3 = {"Pendulum", "Duffing", "VanDerPol"}
CANNOT = {  # of its own suite, what a grammar has no words for
    "b1": {"ID4", "ID10", "ID25", "ID26", "ID27", "ID28", "ID29"},  # findings.md, section 7
    "first-order": set(),
    "b3": set(),
}
OWN = {"b1": B1, "first-order": B1, "b3": B3}
SMALL_BOOK = TermBook(SMALL, ["+C", "+C*u", "+C*u^2", "+C*sin(C*u)", "+C*exp(C*t)", "+C*u*sin(C*u)"])


@pytest.mark.parametrize("name", grammar_names())
def test_every_skeleton_of_a_library_is_written_back(name: str):
    library = library_of(name, 300)
    book = TermBook(library.grammar, book_of(library))
    for skeleton in library:
        terms = to_sum(unlabelled(skeleton.tree))
        if _cancelled(terms) != terms:
            continue  # what is left without a common factor is another sentence
        derivation = book.write(skeleton)
        assert derivation is not None, f"no words for {skeleton}"
        assert len(derivation) <= library.grammar.limit
        assert skeleton_of(library.grammar, derivation) == skeleton


@pytest.mark.parametrize("name", ["b1", "b2", "implicit"])
def test_skeletons_of_another_draw_are_mostly_written(name: str):
    book = TermBook(load_grammar(name), book_of(library_of(name, 1500)))
    others = list(library_of(name, 100, seed=6))
    assert sum(book.write(s) is not None for s in others) >= 60


@pytest.mark.slow
@pytest.mark.parametrize("name", ["b1", "b3", "first-order"])
def test_truths_of_the_paper_that_can_be_written(name: str):
    book = TermBook(load_grammar(name), book_of(library_of(name, 6000)))
    missing = {truth for truth in OWN[name] if book.write_freed(TRUTHS[truth]) is None}
    assert missing == CANNOT[name]


@pytest.mark.parametrize(
    "text",
    [
        "u' = C*u",
        "u' = C + C*u^2 + C*sin(C*u)",
        "u' = C*sin(C*u) + C*sin(C*u)",  # two frequencies
        "u' = C*exp(C*t) + C*exp(C*t) + C*exp(C*t) + C*u",
        "u' = C*u*sin(C*u) + C*sin(C*u)",
        "2*u' = C*u + C",
        "C*u' + C*u = 0",
    ],
)
def test_guess_of_a_person_is_written(text: str):
    skeleton = parse_skeleton(text)
    derivation = SMALL_BOOK.write(skeleton)
    assert derivation is not None
    assert skeleton_of(SMALL, derivation) == skeleton


@pytest.mark.parametrize(
    "text",
    [
        "u' = 2*u",  # a number, where the grammar has a free constant
        "u' = u + C*u^2",
        "u' = C*tanh(u)",
        "u'' = C*u",
        "u' = C*sin(u)",
        "u' = C*u^2*sin(C*u)",  # the grammar could, but the book has no such term
        "u' = " + " + ".join(["C*u*sin(C*u)"] * 9),  # longer than the limit
    ],
)
def test_what_has_no_words_is_none(text: str):
    assert SMALL_BOOK.write(parse_skeleton(text)) is None


def test_freed_writes_numbers_as_constants():
    assert skeleton_of(SMALL, SMALL_BOOK.write_freed(parse_skeleton("u' = 2*u - u^2"))) == parse_skeleton(
        "u' = C*u + C*u^2"
    )
    inner = SMALL_BOOK.write_freed(parse_skeleton("u' = 3*sin(u)"))
    assert skeleton_of(SMALL, inner) == parse_skeleton("u' = C*sin(C*u)")


def test_logarithm_is_freed_last():
    """1/log(t) is no sentence of b2, but it is of the family 1/log(C*t)."""
    grammar = load_grammar("b2")
    book = TermBook(grammar, ["+C*diff(u,t)", "-C/log(C*t)"])
    derivation = book.write_freed(parse_skeleton("u' + 1/log(t) = 0"))
    assert skeleton_of(grammar, derivation) == parse_skeleton("C*u' + C/log(C*t) = 0")


@pytest.mark.parametrize(
    ("before", "outside", "inside"),
    [
        ("u' = 2*u - u^2", "u' = C*u + C*u^2", "u' = C*u + C*u^2"),
        ("u' = sin(u)", "u' = C*sin(u)", "u' = C*sin(C*u)"),
        ("u' = log(u)", "u' = C*log(u)", "u' = C*log(u)"),
    ],
)
def test_freed_frees_coefficients(before: str, outside: str, inside: str):
    """The highest derivative's coefficient is free too, and the normal form divides by it."""
    assert freed(parse_skeleton(before), inside=()) == parse_skeleton(outside)
    assert freed(parse_skeleton(before), inside=WAVES) == parse_skeleton(inside)


def test_several_bodies_in_one_term():
    """C*log(C*u) is C*log(u) + C, and (C + u)*t is two terms."""
    grammar = Grammar.from_text(
        "%template u' = {sentence}\n%limit 12\ns -> t | t '+' s\n"
        "t -> 'C' '*' 'log' '(' 'C' '*' 'u' ')' | 'C' '*' 't' '*' '(' 'C' '+' 'u' ')' | 'C' | 'C' '*' 't'\n",
        source="several",
    )
    book = TermBook(grammar, ["+C*log(C*u)", "+C*t*(C+u)", "+C", "+C*t"])
    for text in ("u' = C*log(u) + C", "u' = C*log(u) + C + C*t*u + C*t"):
        derivation = book.write(parse_skeleton(text))
        assert skeleton_of(grammar, derivation) == parse_skeleton(text)
    assert len(book.write(parse_skeleton("u' = C*log(u) + C"))) == 2  # no needless + C
    assert book.write(parse_skeleton("u' = C*log(u)")) is None


def test_force_stands_last_and_once():
    grammar = load_grammar("b2")
    book = TermBook(grammar, ["+C*u", "+C*diff(u,t)", "-C*log(C*t)", "-C", "-0"])
    for text in ("C*u' + C*u = 0", "C*u' + C*u + C = 0", "C*u' + C*log(t) + C = 0"):
        derivation = book.write(parse_skeleton(text))
        assert skeleton_of(grammar, derivation) == parse_skeleton(text)


def test_the_lead_stands_first():
    grammar = load_grammar("implicit")
    book = TermBook(grammar, ["+C*u", "+C", "+C*u''", "+C*u*u'"])
    skeleton = parse_skeleton("u'' + C*u*u' + C*u + C = 0")
    assert skeleton_of(grammar, book.write(skeleton)) == skeleton


def test_book_holds_one_text_per_meaning_most_frequent_first():
    library = library_of("b1", 200)
    texts = make_book(library.grammar, library.derivations)
    meanings = [bodies_of(parse_tree(text[1:])) for text in texts]
    assert len(set(meanings)) == len(meanings)
    assert {text[0] for text in texts} == {"+"}
    assert TermBook(library.grammar, texts).ways == dict(zip(meanings, texts, strict=True))


def test_rules_switched_off_are_not_written():
    book = TermBook(SMALL.without("exp"), SMALL_BOOK.texts)
    assert book.write(parse_skeleton("u' = C*exp(C*t)")) is None
    assert book.write(parse_skeleton("u' = C*sin(C*u)")) is not None


def test_skeleton_of_the_tree_is_enough():
    assert SMALL_BOOK.write(Skeleton(parse_tree("u' - C*u*1 - C*u"))) is not None


def terms(*texts: str) -> list:
    """The bodies of some terms, such as u*v1."""
    states = ("u", *(f"v{i}" for i in range(1, 9)))
    return [next(iter(bodies_of(parse_tree(f"C*{text}", states=states)))) for text in texts]


FREQUENT = terms(
    "u", "v1", "1", "v2", "u*v1", "u^2", "u*v2", "v1*v2", "v1/(C + v1)", "sin(u - v1)", "v1^2*v2"
)


def test_of_one_other_state_the_terms_keep_their_order():
    wanted = terms("u", "v1", "1", "u*v1", "u^2", "v1/(C + v1)", "sin(u - v1)")
    assert terms_for(FREQUENT, ("v1",)) == tuple(wanted)


def test_of_three_other_states_every_term_is_there_for_each():
    found = terms_for(FREQUENT, ("v1", "v2", "v3"))
    assert len(found) == len(set(found))
    assert found[:8] == tuple(terms("u", "1", "v1", "v2", "v3", "u^2", "u*v1", "u*v2"))
    assert {*terms("v1*v2", "v1*v3", "v2*v3")} <= set(found)
    uneven = [f"{a}^2*{b}" for a in ("v1", "v2", "v3") for b in ("v1", "v2", "v3") if a != b]
    assert {*terms(*uneven)} <= set(found)
    assert {*terms(*(f"sin(u - v{i})" for i in (1, 2, 3)))} <= set(found)


def test_of_seven_other_states_the_linear_terms_come_before_what_is_rare():
    others = tuple(f"v{i}" for i in range(1, 8))
    found = terms_for(FREQUENT, others)
    place = {term: i for i, term in enumerate(found)}
    assert len(found) == 3 + 7 + 7 + 21 + 7 + 7 + 42
    assert max(place[t] for t in terms(*others)) < min(place[t] for t in terms("sin(u - v1)", "v1/(C + v1)"))
    assert max(place[t] for t in terms(*(f"u*{name}" for name in others))) < place[terms("v1^2*v2")[0]]


def test_the_derivative_of_another_state_is_written_where_it_is_there():
    bodies = terms("v1", "v1'", "u*v1'^2")
    assert terms_for(bodies, ("v1", "v2")) == tuple(terms("v1", "v2"))
    assert set(terms_for(bodies, ("v1", "v1'", "v2"))) == {*terms("v1", "v2", "v1'", "u*v1'^2")}


def test_terms_of_a_scalar_grammar_stay_as_they_are():
    bodies = terms("u", "1", "u^2", "sin(C*u)")
    assert terms_for(bodies, ()) == terms_for(bodies, ("v1",)) == tuple(bodies)
