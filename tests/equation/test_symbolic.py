"""Equations to SymPy and back."""

import math

import pytest
import sympy
from hypothesis import assume, given, settings

from gode.equation import Node, from_sympy, parse_equation, parse_tree
from gode.equation.operators import FUNCTIONS
from gode.equation.symbolic import expression, sympy_to_tree
from gode.errors import EquationError
from strategies import numeric_equations, plain_value, points

t, x = sympy.symbols("t x")
u = sympy.Function("u")
BROKEN = (sympy.zoo, sympy.nan, sympy.oo, sympy.I)


def sympy_value(expr: sympy.Expr, at: dict[str, float]) -> float:
    """The value by SymPy alone, in 30 digits; nan where that is not real."""
    parts = {expression(Node("var", name, ())): sympy.Float(value, 30) for name, value in at.items()}
    for name in ("u''", "u'", "u", "F", "t"):
        expr = expr.xreplace({expression(Node("var", name, ())): parts[expression(Node("var", name, ()))]})
    value = sympy.N(expr, 30)
    return float(value) if value.is_real and value.is_finite else math.nan


def is_steady(tree: Node, at: dict[str, float]) -> bool:
    near = plain_value(tree, {name: value * (1 + 1e-12) for name, value in at.items()})
    return math.isclose(near, plain_value(tree, at), rel_tol=1e-9) and abs(near) < 1e9


@given(numeric_equations(), points)
@settings(max_examples=40, deadline=None)
def test_sympy_computes_the_same_values(tree, at):
    assume(is_steady(tree, at))
    expr = expression(tree)
    assume(not expr.has(*BROKEN))
    assert sympy_value(expr, at) == pytest.approx(plain_value(tree, at), rel=1e-7)


@given(numeric_equations(), points)
@settings(max_examples=40, deadline=None)
def test_sympy_and_back_keeps_the_values(tree, at):
    expr = expression(tree)
    assume(is_steady(tree, at) and not expr.has(*BROKEN))
    assert plain_value(sympy_to_tree(expr), at) == pytest.approx(plain_value(tree, at), rel=1e-7)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_goes_to_sympy_and_back(name):
    equation = parse_equation(f"u' = 2*{FUNCTIONS[name].call('3*u + t')}")
    assert from_sympy(equation.sympy()).text() == equation.text()


def test_an_equation_becomes_an_eq_of_both_sides():
    eq = parse_equation("2*u'' + 3*u = F").sympy()
    time = next(iter(eq.free_symbols))
    state = sympy.Function("u", real=True)(time)
    assert eq == sympy.Eq(2 * state.diff(time, 2) + 3 * state, sympy.Function("F", real=True)(time))


def test_free_constants_become_symbols():
    assert str(expression(parse_tree("C*t + C"))) == "c0*t + c1"


def test_an_expression_is_meant_to_vanish():
    assert from_sympy(u(t).diff(t) - 2 * u(t)) == parse_equation("u' = 2*u")


@pytest.mark.parametrize(
    ("given_", "text"),
    [
        (sympy.Eq(u(t).diff(t, 2), -sympy.sin(u(t))), "u'' = -sin(u)"),
        (sympy.Eq(u(t).diff(t), sympy.sqrt(u(t))), "u' = u^0.5"),
        (sympy.Eq(u(t).diff(t), sympy.Rational(1, 4) * u(t) / t), "u' = u/(4*t)"),
        (sympy.Eq(u(t).diff(t), sympy.pi * u(t) + sympy.E), f"u' = {math.pi!r}*u + {math.e!r}"),
        (sympy.Eq(u(t).diff(t), sympy.Abs(u(t))), "u' = abs(u)"),
        (sympy.Eq(u(t).diff(t).diff(t), sympy.Function("F")(t)), "u'' = F"),
        (sympy.Eq(u(t).diff(t), sympy.exp(-u(t))), "u' = exp(-u)"),
    ],
)
def test_sympys_notation_is_understood(given_, text):
    assert from_sympy(given_).text(None) == parse_equation(text).text(None)


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ("u' = u", "expected a SymPy equation, got str; text goes to parse_equation"),
        (3, "expected a SymPy equation, got int"),
        (None, "expected a SymPy equation, got NoneType"),
        (sympy.Matrix([1]), "expected a SymPy equation"),
        (u(t).diff(t) - x * u(t), "the symbol x has no value; substitute a number"),
        (u(t).diff(t) - sympy.gamma(u(t)), "gamma is no function gode knows; known are sin"),
        (u(t).diff(t) - sympy.floor(u(t)), "floor is no function gode knows"),
        (u(t).diff(t) - sympy.I * u(t), "ImaginaryUnit is no"),
        (u(t).diff(t) - sympy.zoo, "is no"),
        (sympy.oo * u(t) + u(t).diff(t), "Infinity is no"),
        (sympy.nan, "is no"),
        (u(t).diff(t, 3), r"is no first or second derivative of u\(t\)"),
        (sympy.Function("F")(t).diff(t) + u(t).diff(t), "is no first or second derivative"),
        (u(x).diff(x) + u(x), r"is no function of t alone; write u\(t\)|is no first or second derivative"),
        (u(t, x).diff(x) + u(t, x), r"no function of t alone|is no first or second derivative"),
        (u(t).diff(t) + u(2 * t), r"u\(2\*t\) is no function of t alone; write u\(t\)"),
        (u(t).diff(t) + sympy.Function("F")(3), r"F\(3\) is no function of t alone"),
        (sympy.Eq(u(t), u(t)), "is no"),
        (u(t) > 0, "is no"),
        (u(t) + 1, "holds no derivative"),
        (sympy.Integer(0), "reduces to 0 = 0"),
        (sympy.Derivative(u(t) ** 2, t) + u(t), "is no first or second derivative"),
        (sympy.Piecewise((u(t), t > 0), (0, True)) + u(t).diff(t), "is no function"),
    ],
)
def test_what_is_no_equation_is_refused(thing, message):
    with pytest.raises(EquationError, match=message):
        from_sympy(thing)
