import numpy as np
import pytest

from gode_bench.problems import SUITES, problem
from gode_bench.published import published_rows
from gode_bench.score import score

ALL = [one for problems in SUITES.values() for one in problems]


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_the_truth_has_no_error(one):
    result = score(one, one.text)
    if one.name != "NLODE5":  # u'' u' = ... cannot be started from u' = 0
        assert max(result.errors) < 1e-4
        assert result.failure is None
        assert not result.above
    assert len(result.errors) == one.order + 1
    assert result.complexity == pytest.approx(1.0)
    assert result.structure
    assert result.exact


def test_error_of_a_known_solution():
    # sin(8t) over one unit of time, against the straight line 8t from the same initial values
    one = problem("LODE4")
    t, line = one.t, 8 * one.t
    expected = np.linalg.norm(line - np.sin(8 * t)) / np.linalg.norm(np.sin(8 * t))
    result = score(one, "u'' = 0.0000001*u")
    assert result.raw[0] == pytest.approx(expected, rel=1e-4)
    assert result.raw[2] == pytest.approx(1.0, rel=1e-4)  # it misses all of u''
    assert result.structure
    assert not result.exact


def test_diverging_solution_is_capped_and_counted():
    result = score(problem("ID2"), "u' = u^3")
    assert result.errors == (1.0, 1.0)
    assert result.raw == (None, None)
    assert result.above
    assert result.failure == "the solution diverges"


def test_large_error_is_capped_but_kept():
    result = score(problem("ID2"), "u' = 0.4*u")
    assert result.errors[0] == 1.0
    assert result.raw[0] > 1.5
    assert result.above


@pytest.mark.parametrize("text", ["nonsense", "u' = ", "u = 3", "u''' = 1", ""])
def test_what_is_no_equation_fails(text):
    result = score(problem("ID1"), text)
    assert result.failure
    assert result.errors == (1.0, 1.0)


def test_wrong_order_or_unknown_input_fails():
    assert "order 2 instead of 1" in score(problem("ID1"), "u'' = -u").failure
    assert "input" in score(problem("ID1"), "u' = -u + F").failure
    assert score(problem("LODE4"), "u' = 8 - 30*t").errors[2] == 1.0  # says nothing of u''


def test_published_equations_score_as_their_authors_say():
    rows = {row.title: row for row in published_rows("b3")}
    assert rows["ProGED"].u == 1.0
    assert rows["GODE"].u < 0.2  # both oscillators and nearly the third
    assert rows["GODE"].above == 0
    assert [row.title for row in published_rows("b1")][1] == "PySR best"
