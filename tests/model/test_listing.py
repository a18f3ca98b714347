from dataclasses import replace

import pytest

from gode.errors import ModelError
from gode.grammar import Grammar, load_grammar
from gode.library import draw_library
from gode.model import LatentSpace, Listing, open_space
from gode.model.listing import all_skeletons

GROWTH = """\
%template u' = {sentence}
sum -> 'C' '*' 'u' | 'C' '*' 'u' '+' 'C' '*' 'u' '^' power | 'C' '*' 'u' '*' 'log' '(' 'u' ')' '+' 'C' '*' 'u'
power -> '2' | '3'
"""
SUMS = """\
%template u' = {sentence}
sum -> term | term '+' sum
term -> 'C' '*' 'u' | 'C' | 'C' '*' 'u' '^' '2' | 'C' '*' 'u' '^' '3'
"""


@pytest.fixture
def growth(tmp_path):
    path = tmp_path / "growth.grammar"
    path.write_text(GROWTH)
    return str(path)


def test_a_grammar_without_recursion_is_written_out():
    found = all_skeletons(Grammar.from_text(GROWTH), 100)
    assert sorted(map(str, found)) == [
        "u' = C*u",
        "u' = C*u + C*log(u)*u",
        "u' = C*u + C*u^2",
        "u' = C*u + C*u^3",
    ]


def test_sums_in_any_order_are_one_skeleton_each():
    found = all_skeletons(Grammar.from_text(SUMS), 100)
    assert len(found) == 2**4 - 2  # every set of terms but the empty one and that without u


def test_too_many_are_told_apart_from_few():
    assert all_skeletons(Grammar.from_text(SUMS), 13) is None
    assert all_skeletons(load_grammar("first-order"), 2000) is None


def test_a_file_of_few_is_listed_and_a_model_stays_a_space(growth):
    listing = open_space(growth)
    assert isinstance(listing, Listing)
    assert len(listing.skeletons) == 4
    assert [str(s) for s in listing.without("^", "log").skeletons] == ["u' = C*u"]
    assert isinstance(open_space("first-order"), LatentSpace)


def test_a_file_of_many_says_how_to_train(tmp_path):
    path = tmp_path / "big.grammar"
    path.write_text(load_grammar("first-order").text().replace("'5'", "'7'"))
    with pytest.raises(
        ModelError, match=r"too many to try them all; train a model with `gode train .*big\.grammar"
    ):
        open_space(str(path)).skeletons  # noqa: B018 - it is made when asked for


def test_a_grammar_that_writes_no_equation_is_refused():
    with pytest.raises(ModelError, match="no equation of order 1 or 2"):
        Listing("odd", Grammar.from_text("sum -> 'C' | 'C' '*' 't'"), "odd.grammar").skeletons  # noqa: B018


def test_a_listing_has_no_points(growth):
    with pytest.raises(ModelError, match="no latent space"):
        open_space(growth).encode([])


def test_a_file_with_the_rules_of_a_known_grammar_opens_its_model_with_its_own_probabilities(tmp_path):
    given = load_grammar("first-order")
    rare = {"power -> 'u' '^' '3'": 0.5, "power -> 'u'": 0.12}
    rules = [replace(rule, probability=rare.get(str(rule), rule.probability)) for rule in given.rules]
    path = tmp_path / "cubic.grammar"
    path.write_text(replace(given, rules=tuple(rules)).text())
    space = open_space(str(path))
    assert isinstance(space, LatentSpace)
    assert space.name == "cubic"
    assert space.grammar.probabilities != given.probabilities
    assert space.dimension == open_space("first-order").dimension


def test_libraries_are_drawn_with_the_probabilities_of_the_grammar():
    given = load_grammar("first-order")
    rules = [
        replace(rule, probability=float(str(rule) == "power -> 'u' '^' '3'"))
        if rule.head == "power"
        else rule
        for rule in given.rules
    ]
    cubic = replace(given, rules=tuple(rules))
    library = draw_library(cubic, 60, order=1, rng=0, model=given)
    assert library.grammar is given
    assert not any("u^2" in str(skeleton) for skeleton in library)
