"""The space of one equation of a system: absent columns are never written, the weights stay as they are."""

import numpy as np
import pytest

from gode.equation import parse_skeleton
from gode.equation.system import columns_seen
from gode.errors import ModelError
from gode.grammar import Grammar, load_grammar
from gode.library import draw_library
from gode.model import Listing, equation_space, load_model
from model_spaces import book_of, random_space


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
