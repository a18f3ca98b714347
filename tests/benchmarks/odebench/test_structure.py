import numpy as np
import pytest

from gode.equation import parse_tree
from gode.errors import EquationError
from gode_bench.odebench.score import same_structure
from gode_bench.odebench.structure import structure
from gode_bench.odebench.systems import systems


def tree(text: str):
    return parse_tree(text, inputs=("x", "y", "z"))


EQUAL = [
    ("x*(3 - x - 2*y)", "2.9*x - 1.1*x^2 - 2*x*y"),  # multiplied out, and a one counts as free
    ("(0.7 - x/1.2)/2.31", "0.3 - x"),
    ("x^2/(1 + x^2)", "1.1 - 1.1/(1 + 0.9*x^2) + 0.3*x^2/(1 + 0.9*x^2)"),
    ("2*x - 3*x*y/(1 + x^2)", "(x + x^3 - x*y)/(4 + 2*x^2)"),
    ("x/(2 + 2*y) + x^2/(1 + y)", "(5*x - x^2)/(1 + 4*y)"),  # one denominator, up to a factor
    ("0.3*sin(x - y) - sin(x)", "0.2*sin(x)*cos(y) - 0.4*cos(x)*sin(y) + sin(x)"),
    ("sin(x)*(cos(x) - 0.9)", "0.5*sin(2*x) - 0.9*sin(x)"),
    ("sin(x)*(cos(y)^2 + 4*sin(y)^2)", "2*sin(x) - 3*sin(x)*sin(y)^2"),
    ("sin(0.98*x)", "2*sin(x)"),
    ("1/(1 + exp(2*x - 1)) - y", "exp(-3*x)/(exp(-3*x) + 4) - 2*y"),
    ("1/(1 + exp(2*x - 1)) - y", "1/(1 + exp(1 - 2*x)) - y"),
    ("1/(1 + exp(x + 2*y - 1)) - z", "2/(3 + exp(1 - 2*x + 0.1*y)) - z"),
    ("1/(1 + exp(0.5 - x)) - 0.5", "0.5*tanh(0.5*x - 0.25)"),
    ("x*log(2.3*x)", "x + x*log(x)"),
    ("abs(y)*y", "0.5*y*abs(-2*y)"),
    ("x^1.2*(1 - x)", "x^1.3 - 2*x^2.3"),
    ("cos(y)/sin(y)", "3/tan(y)"),
    ("x + y - y", "x"),
]  # fmt: skip
DIFFERENT = [
    ("x - x*y", "x - x*y + x^2"),
    ("x - x*y", "x - x*y^2"),
    ("x/(1 + x)", "x/(1 + x^2)"),
    ("x/(1 + x)", "x/(1 + y)"),
    ("sin(x)", "cos(x)"),
    ("sin(x)", "sin(x + 0.3)"),
    ("exp(-x)", "exp(-x^2)"),
    ("y", "y + 0.001"),
    ("x^2", "x^2.1"),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_structures_are_equal_up_to_the_values_of_constants(one, other):
    assert structure(tree(one)) == structure(tree(other))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_terms_are_another_structure(one, other):
    assert not same_structure(tree(one), tree(other))


def test_negligible_terms_are_dropped_above_and_below():
    columns = {"x": np.linspace(0.5, 2.0, 30), "y": np.linspace(-1.0, 1.0, 30)}
    true = tree("2*x - x*y/(1 + x^2)")
    close = tree(
        "2*x + 1e-5*y^3 - x*y/(1 + 1e-6*y + x^2) + 1e-6*sin(0.3*y) - 1e-7*log(x) + 1e-8*exp(x/(2 + y))"
    )
    assert not same_structure(close, true)
    assert same_structure(close, true, columns)
    assert not same_structure(tree("2*x - 0.1*y - x*y/(1 + x^2)"), true, columns)


def test_an_expression_too_long_to_compare_is_not_the_truth():
    long = tree("(x + y + z + 1)^12/(1 + x)")
    with pytest.raises(EquationError, match="more than 400 terms"):
        structure(long)
    assert not same_structure(long, tree("x"))


def test_every_truth_equals_itself_and_few_others():
    for one in systems().values():
        assert all(same_structure(t, t) for t in one.trees)
