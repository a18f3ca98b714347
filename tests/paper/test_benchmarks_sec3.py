import numpy as np
import pytest

from gode.data import Dataset, make_run
from gode.equation import parse_skeleton
from gode.errors import ConfigError
from gode.model import load_model
from gode.paper.benchmarks_sec3 import B1, B2, B3, benchmark_of, first_point, paper_grammar

T = np.linspace(0.0, 1.0, 20)
FREE = Dataset((make_run(T, u=np.exp(T)),))
FORCED = Dataset((make_run(T, u=np.exp(T), inputs={"F": "cos(t)"}),))


def test_grammar_follows_order_and_force():
    assert paper_grammar(1, forced=False) == "b1-paper"
    assert paper_grammar(2, forced=False) == "b2-paper"
    assert paper_grammar(2, forced=True) == "b3-paper"


def test_benchmark_follows_the_grammar():
    assert benchmark_of(load_model("b1-paper"), FREE) is B1
    assert benchmark_of(load_model("b2-paper"), FREE) is B2
    assert benchmark_of(load_model("b3-paper"), FORCED) is B3


def test_equations_with_a_force_need_one():
    with pytest.raises(ConfigError, match="have a known force; pass force="):
        benchmark_of(load_model("b3-paper"), FREE)


def test_search_starts_at_the_origin_the_bias_equation_or_the_guess():
    first, second = load_model("b1-paper"), load_model("b2-paper")
    bias, guess = (parse_skeleton(text) for text in ("C*u'' + C*u' = 0", "C*u'' + C*u = 0"))
    assert not first_point(first, B1, 1, None).any()
    assert first_point(second, B2, 2, None) == pytest.approx(second.encode([bias])[0])
    assert first_point(second, B2, 2, guess) == pytest.approx(second.encode([guess])[0])


def test_grammar_without_the_bias_equation_is_searched_from_the_origin():
    plain = load_model("first-order")  # u' on the left alone
    assert not first_point(plain, B2, 2, None).any()


def test_a_share_of_the_population_is_never_below_ten():
    assert B3.evolution(0.3).population == 150
    assert B3.evolution(1e-3).population == 10
    assert B3.evolution(1.0).keep_best
    assert not B1.evolution(1.0).keep_best
