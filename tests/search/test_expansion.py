import numpy as np
import pytest

from gode.data import columns_of_run
from gode.equation import parse_equation, parse_skeleton, parse_tree
from gode.search.simplify import expanded
from gode.search.templates import SumTemplate, Vocabulary

U = np.linspace(-0.2, 0.2, 60)
WORDS = ("u", "1", "u^2", "u^3", "u'", "u*u'", "cos(C*u)", "exp(C*u)")


@pytest.fixture
def columns():
    return columns_of_run(np.arange(60.0), U, 0.3 * np.sin(40 * U), -U)


@pytest.fixture
def vocabulary():
    return Vocabulary(tuple(parse_tree(word) for word in WORDS), SumTemplate("u'' = {sentence}", order=2))


def test_a_function_within_a_small_range_is_the_start_of_its_series(vocabulary, columns):
    (found,) = expanded(parse_equation("u'' = -4*u + 2*cos(1.5*u)"), vocabulary, columns)
    assert found.skeleton.structure == parse_skeleton("u'' = C*u + C*u^2 + C").structure
    assert sorted(np.abs(found.constants)) == pytest.approx([2.0, 2.25, 4.0], rel=0.02)


def test_a_function_with_a_factor_of_one_is_replaced_too(vocabulary, columns):
    law = parse_equation("u'' = -4*u + cos(1.5*u)")
    assert len(law.constants) == 2
    (found,) = expanded(law, vocabulary, columns)
    assert found.skeleton.structure == parse_skeleton("u'' = C*u + C*u^2 + C").structure
    assert sorted(np.abs(found.constants)) == pytest.approx([1.0, 1.125, 4.0], rel=0.02)


def test_each_term_is_replaced_in_turn(vocabulary, columns):
    first, both = expanded(parse_equation("u'' = 3*cos(2*u) + 3*exp(0.5*u)*u'"), vocabulary, columns)
    assert ("cos" in str(first)) != ("exp" in str(first))
    assert "cos" not in str(both)
    assert "exp" not in str(both)


def test_a_function_that_plain_terms_do_not_follow_stays(vocabulary, columns):
    assert not list(expanded(parse_equation("u'' = 2*cos(40*u)"), vocabulary, columns))


def test_nothing_is_done_without_inner_constants(vocabulary, columns):
    assert not list(expanded(parse_equation("u'' = -4*u - u^3"), vocabulary, columns))
