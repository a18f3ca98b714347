from dataclasses import replace

import numpy as np
import pytest

from gode.equation import parse_skeleton
from gode.equation.system import columns_seen
from gode.errors import ModelError
from gode.grammar import Grammar, load_grammar
from gode.library import draw_library
from gode.model import LatentSpace, Listing, equation_space, load_model, open_space
from gode.model.latent import all_skeletons
from model_spaces import book_of, random_space

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


@pytest.fixture(scope="module")
def space():
    grammar = load_grammar("systems")
    terms = book_of(draw_library(grammar, 400, order=2, rng=0))
    return random_space(grammar, np.random.default_rng(0), terms=terms)


@pytest.mark.parametrize(
    ("order", "n_states", "n_inputs"), [(1, 2, 0), (1, 4, 1), (2, 2, 0), (2, 3, 2), (1, 6, 0)]
)
def test_every_point_decodes_to_an_equation_in_the_columns_that_are_there(
    space, order, n_states, n_inputs, rng
):
    columns = columns_seen(0, n_states, n_inputs)
    view = equation_space(space, order, columns)
    found = view.decode(rng.normal(0, 2, (300, view.dimension)))
    assert {skeleton.order for skeleton in found} == {order}
    seen = {name for skeleton in found for name in skeleton.inputs}
    assert seen <= {name for name in columns if name.count("'") < order}
    assert seen >= {"v1"}


def test_the_weights_are_those_of_the_whole_space(space):
    assert equation_space(space, 1, columns_seen(1, 2, 0)).network is space.network


KNOWN = [  # states, equations
    (2, "u' = C*u + C*u*v1"),
    (2, "u' = C*u + C*u^2 + C*v1*u/(C + u)"),
    (2, "u' = C*u*v1/(C + v1) + C*u"),
    (2, "u' = C/(C + v1^2) + C*u"),
    (2, "u' = C + C*u + C*u^2*v1"),
    (2, "u' = C*u + C*u^3 + C*v1 + C"),
    (2, "u' = C + C*sin(u - v1)"),
    (2, "u'' = C*u + C*v1 + C*u' + C*v1'"),
    (2, "u'' = C*u + C*u*v1"),
    (3, "u' = C*u + C*v1 + C*u*v2"),
    (3, "u' = C*u*v1 + C*u"),
    (3, "u' = C*v1*v2"),
    (3, "u' = C*u + C/(C + exp(C*v1 + C*v2))"),
    (3, "u'' = C*u + C*v1 + C*v2 + C*u'"),
    (4, "u' = C*u + C*u^2 + C*u*v1 + C*u*v2 + C*u*v3"),
    (4, "u' = C + C*sin(u - v1) + C*sin(u - v2) + C*sin(u - v3)"),
    (4, "u'' = C*u + C*v1 + C*v3"),
]


@pytest.mark.parametrize(("n_states", "text"), KNOWN)
def test_the_shipped_model_reproduces_known_equations_of_two_to_four_states(n_states, text):
    known = parse_skeleton(text, states=("u", *(f"v{i}" for i in range(1, n_states))))
    view = equation_space(load_model("systems"), known.order, columns_seen(0, n_states, 0))
    assert view.decode(view.encode([known])) == [known]


def test_an_equation_of_the_view_is_encoded_and_another_is_refused(space):
    view = equation_space(space, 1, columns_seen(0, 2, 0))
    states = ("u", "v1", "v2")
    assert view.encode([parse_skeleton("u' = C*v1 + C*u*v1", states=states)]).shape == (1, view.dimension)
    for text in ("u'' = C*v1", "u' = C*v2"):
        with pytest.raises(ModelError, match="cannot write"):
            view.encode([parse_skeleton(text, states=states)])


def test_a_listed_grammar_is_viewed_likewise():
    text = "%template u' = {sentence}\nsum -> 'C' '*' 'u' | 'C' '*' 'v1' | 'C' '*' 'v2' | 'C' '*' \"v1'\"\n"
    listing = Listing("own", Grammar.from_text(text), "own.grammar")
    first = equation_space(listing, 1, columns_seen(0, 2, 0))
    assert sorted(map(str, first.skeletons)) == ["u' = C*u", "u' = C*v1"]
    second = equation_space(listing, 2, columns_seen(0, 2, 0))
    assert sorted(map(str, second.skeletons)) == ["u'' = C*u", "u'' = C*v1", "u'' = C*v1'"]
