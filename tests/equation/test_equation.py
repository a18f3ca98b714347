"""Equations: text, complexity, right-hand side."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gode.equation import Equation, equation_of, parse_equation, parse_skeleton, parse_tree
from gode.equation.sums import normal_tree
from gode.equation.tree import ZERO, has_constant, walk
from gode.errors import EquationError
from strategies import numeric_equations, plain_value, points


def value_of(text: str, at: dict[str, float]) -> float:
    return plain_value(parse_tree(text), at)


@st.composite
def equations(draw) -> Equation:
    tree = draw(numeric_equations())
    normal = normal_tree(tree)
    assume(any(n.value in ("u'", "u''") for n in walk(normal)))
    assume(not any(n.op == "^" and n.args[0] == ZERO for n in walk(normal)))
    return equation_of(tree)


def test_numbers_become_constants():
    equation = parse_equation("2*u'' + u' + 5*u = F")
    assert equation.skeleton == parse_skeleton("u'' + C*u' + C*u + C*F = 0")
    assert sorted(equation.constants) == [-0.5, 0.5, 2.5]
    assert equation.order == 2


def test_an_equation_counts_its_constants():
    with pytest.raises(EquationError, match="has 2 constants, got 1 values"):
        Equation(parse_skeleton("u' = C*u + C"), (1.0,))


def test_free_constants_need_values():
    with pytest.raises(
        EquationError, match="has free constants C; give them values, or fit them to measurements with fit"
    ):
        parse_equation("u' = C*u")


@pytest.mark.parametrize(
    ("text", "complexity"),
    [
        ("5*u' + 25*u - sin(t) = 0", 16),
        ("5*u' + 25*u = sin(t)", 16),
        ("u' = u", 10),
        ("u' = 2*u", 11),
        ("u'' + u = F", 12),
        ("49*u' + u = F", 14),
        ("3*u' + 0.1*u = F", 16),
        ("u' = u^2", 12),
    ],
)
def test_complexity_is_counted_in_the_scale_of_writing(text, complexity):
    assert parse_equation(text).complexity == complexity


@given(st.integers(2, 200), st.integers(2, 200))
@settings(max_examples=40, deadline=None)
def test_rounding_does_not_change_complexity(a, b):
    assert parse_equation(f"{a}*u' + u + {b}*t = F").complexity == 17


@given(st.integers(1, 200), st.integers(1, 200))
@settings(max_examples=40, deadline=None)
def test_a_forced_equation_is_written_as_it_was_typed(a, b):
    text = f"{a + 1}*u' + {b + 1}*u = F"
    assert parse_equation(text).text(None) == text
    assert parse_equation(text).text() == text


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("2*u' + 4*u = 0", "u' = -2*u"),
        ("F = 2*u'' + u", "2*u'' + u = F"),
        ("u' - F = F*u", "u' - F*u = F"),
        ("u'^2 + 2*u = 0", "u'^2 + 2*u = 0"),
        ("u' = sin(3*t) + 2*sin(5*t)", "u' = sin(3*t) + 2*sin(5*t)"),
        ("u' = 0.123456789*u", "u' = 0.123457*u"),
    ],
)
def test_an_equation_is_written_as_a_person_would(typed, written):
    assert str(parse_equation(typed)) == written


def test_digits_are_those_asked_for():
    equation = parse_equation("u' = 0.123456789*u^1.23456789")
    assert equation.text(3) == "u' = 0.123*u^1.23"
    assert equation.text(None) == "u' = 0.123456789*u^1.23456789"
    assert equation.latex(3) == r"\dot{u} = 0.123 \, u^{1.23}"


@given(equations())
@settings(max_examples=50, deadline=None)
def test_text_is_stable(equation):
    again = parse_equation(equation.text(None))
    assert again.text(5) == equation.text(5)
    assert again.order == equation.order
    assert not has_constant(again.tree)


@given(equations(), st.lists(points, min_size=4, max_size=4))
@settings(max_examples=50, deadline=None)
def test_text_has_the_same_residual_up_to_scale(equation, where):
    text = equation.text(None)
    pairs = [(plain_value(equation.tree, at), value_of(text, at)) for at in where]
    pairs = [(a, b) for a, b in pairs if 1e-3 < abs(a) < 1e5]  # no nan
    assume(pairs)
    top, low = max(pairs)
    for a, b in pairs:
        assert b * top == pytest.approx(a * low, rel=1e-5)


@given(numeric_equations(), st.lists(points, min_size=4, max_size=4))
@settings(max_examples=50, deadline=None)
def test_the_tree_has_the_values_of_the_normal_form(tree, where):
    normal = normal_tree(tree)
    for at in where:
        value = plain_value(normal, at)
        if math.isfinite(value):
            assert plain_value(equation_of(tree).tree, at) == pytest.approx(value, rel=1e-12)


def test_the_right_hand_side_is_text():
    assert parse_equation("2*u'' + u' + 4*u = F").rhs() == "-0.5*u' - 2*u + 0.5*F"
    assert parse_equation("u*u' = t + 3").rhs() == "3/u + t/u"
    assert parse_equation("u' = 0").rhs() == "0"
    assert parse_equation("3*u' = u").rhs(3) == "0.333*u"
    assert parse_equation("3*u' = u").rhs(None) == "u/3"  # the shorter of two exact forms


def test_a_nonlinear_equation_has_no_right_hand_side():
    with pytest.raises(EquationError, match="not linear in u': it has no explicit right-hand side"):
        parse_equation("u'^2 = u").rhs()


def test_a_highest_derivative_times_zero_has_no_right_hand_side():
    equation = Equation(parse_skeleton("C*u'' + u' + t = 0"), (0.0,))
    with pytest.raises(EquationError, match="no explicit right-hand side"):
        equation.rhs()


@given(equations(), points)
@settings(max_examples=40, deadline=None)
def test_the_right_hand_side_solves_the_equation(equation, at):
    assume(equation.skeleton.explicit)
    top = value_of(equation.rhs(None), at)
    assume(abs(top) < 1e4)
    solved = {**at, equation.skeleton.highest: top}
    near = {**at, equation.skeleton.highest: top + 1e-3}
    slope = abs(plain_value(equation.tree, near) - plain_value(equation.tree, solved)) / 1e-3
    assume(1e-3 < slope < 1e3)
    assert plain_value(equation.tree, solved) == pytest.approx(0, abs=1e-7 * slope * (1 + abs(top)))


def test_equal_equations_may_be_written_in_different_scales():
    one, other = parse_equation("2*u' = 4*u"), parse_equation("u' = 2*u")
    assert one == other
    assert one.scale != other.scale


def test_numbers_that_would_merge_as_constants_are_kept():
    equation = parse_equation("u' = 2*exp(3*u + 1)^2.5 + log(2*u)")
    at = {"t": 1.0, "u": 0.4, "u'": 0.2}
    expected = at["u'"] - 2 * math.exp(3 * 0.4 + 1) ** 2.5 - math.log(0.8)
    assert plain_value(equation.tree, at) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("text", ["u' = -sign(u - 0.1*t)", "u' = 2*sin(0.3*t - u)", "u' = tanh(0.5*t - u)"])
def test_numbers_in_a_difference_become_constants(text):
    assert len(parse_equation(text).constants) == text.count(".") + text.count("2*")
