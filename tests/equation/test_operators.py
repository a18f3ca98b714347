"""The table of functions: every reader of it knows every entry."""

import numpy as np
import pytest

from gode.equation import from_sympy, parse_equation, parse_skeleton, parse_tree
from gode.equation.operators import CODES, FUNCTIONS, SQRT
from gode.equation.printer import rounded, to_latex
from gode.equation.tape import COLUMNS, compile_tape, evaluate
from gode.equation.tree import call, var
from gode.report.mathml import tree_mathml

PLACES = np.array([0.3, 1.1, 2.5])
STEP = 1e-6


def plain(name: str, x: np.ndarray) -> np.ndarray:
    return np.array([FUNCTIONS[name].value(float(place)) for place in x])


def test_codes_follow_those_of_sums_products_and_powers():
    assert sorted(CODES.values()) == list(range(SQRT + 1, SQRT + 1 + len(FUNCTIONS)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_compiled_function_has_value_and_slope_of_the_plain_one(name):
    tape = compile_tape(parse_skeleton(f"u' = {name}(u)").rhs_terms, COLUMNS, 0)
    columns = np.zeros((len(COLUMNS), len(PLACES)))
    columns[1] = PLACES
    found = evaluate(tape, (), columns)
    slope = (plain(name, PLACES + STEP) - plain(name, PLACES - STEP)) / (2 * STEP)
    np.testing.assert_allclose(found.value, plain(name, PLACES), rtol=1e-14)
    np.testing.assert_allclose(found.in_columns[1], slope, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parity_is_that_of_the_values(name):
    if name != "log":
        ratio = plain(name, -PLACES) / plain(name, PLACES)
        parity = FUNCTIONS[name].parity
        assert np.allclose(ratio, parity) if parity else not np.allclose(np.abs(ratio), 1.0)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_text_and_sympy_are_read_back(name):
    equation = parse_equation(f"u' = {name}(2*u)")
    assert parse_equation(equation.text(None)) == equation
    assert from_sympy(equation.sympy()) == equation
    assert parse_tree(f"{name}(u)") == call(name, var("u"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_latex_and_mathml_hold_the_argument(name):
    tree = call(name, var("t"))
    assert "t" in to_latex(tree, rounded(4)).replace(r"\left", "").replace(r"\right", "")
    assert "<mi>t</mi>" in tree_mathml(tree)
