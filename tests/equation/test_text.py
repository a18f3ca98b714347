"""Trees as text and as LaTeX."""

import math

import pytest
from hypothesis import assume, given, settings

from gode.equation import parse_tree
from gode.equation.text import exact, rounded, to_latex, to_text
from gode.equation.tree import ONE, Node, add, const, mul, num, power, var
from strategies import constant_values, numeric_equations, plain_value, points


@pytest.mark.parametrize(
    "text",
    [
        "u'' + C*u' + C*u",
        "-u",
        "t - u",
        "2*u - 3",
        "-2*u + 1",
        "u/t",
        "1/u",
        "-1/u",
        "2/(t*u)",
        "u/(t + u)",
        "t/u^2",
        "1/u^0.5",
        "(t + u)*(u - 2)",
        "(t + u)^2",
        "(-2)^u",
        "(-2*u)^0.5",
        "(u^2)^0.5",
        "u^(-t)",
        "u^(t + 1)",
        "2^(u^t)",
        "u^(1e-05)",
        "sin(u)^2",
        "exp(-t)*cos(2*u + 1)",
        "abs(u)*sign(u')",
        "1e+20*u",
        "1.5e-07*u",
        "1e-05^u",
        "0",
    ],
)
def test_text_of_a_parsed_text_is_that_text(text):
    assert to_text(parse_tree(text)) == text


def test_high_derivatives_come_first_and_bare_constants_last():
    assert to_text(parse_tree("3 + u^2 + t + u' + u + u''")) == "u'' + u' + t + u + u^2 + 3"


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (mul(num(2), add(var("u"), num(-1))), "2*(u - 1)"),
        (Node("*", 0.0, (var("u"), num(-3.0))), "u*(-3)"),
        (Node("*", 0.0, (ONE, var("u"))), "u"),
        (Node("*", 0.0, (num(-1), var("u"))), "-u"),
        (power(add(var("u"), const(0)), num(-2)), "1/(u + C)^2"),
        (power(var("u"), num(-2.5)), "1/u^2.5"),
        (num(-0.0), "0"),
    ],
)
def test_any_tree_has_a_text(tree, text):
    assert to_text(tree) == text


@pytest.mark.parametrize(
    ("value", "text"), [(2.0, "2"), (-0.1, "-0.1"), (1e15, "1000000000000000.0"), (1e22, "1e+22")]
)
def test_exact_text_reads_back(value, text):
    assert exact(value) == text
    assert float(text) == value


def test_a_number_that_rounds_to_one_is_not_written():
    assert to_text(mul(num(0.9999999), var("u")), rounded(4)) == "u"
    assert to_text(mul(num(-1.0000001), var("u")), rounded(4)) == "-u"
    assert to_text(num(0.9999999), rounded(4)) == "1"
    assert to_text(mul(num(1.23456), var("u")), rounded(3)) == "1.23*u"


@given(numeric_equations(), points)
@settings(max_examples=100, deadline=None)
def test_text_reads_back_with_the_same_value(tree, at):
    value = plain_value(tree, at)
    assume(math.isfinite(value) and abs(value) < 1e9)
    steady = plain_value(tree, {name: x * (1 + 1e-12) for name, x in at.items()})
    assume(math.isclose(steady, value, rel_tol=1e-9))
    assert plain_value(parse_tree(to_text(tree)), at) == pytest.approx(value, rel=1e-7)


@given(constant_values)
@settings(max_examples=50)
def test_every_digit_of_a_number_survives(x):
    assert to_text(parse_tree(to_text(mul(num(x), var("u"))))) == to_text(mul(num(x), var("u")))
    assert parse_tree(to_text(mul(num(x), var("u")))) == mul(num(x), var("u"))


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("u''", r"\ddot{u}"),
        ("2*u'", r"2 \, \dot{u}"),
        ("u'^2", r"\left(\dot{u}\right)^{2}"),
        ("u^2", "u^{2}"),
        ("u/t", r"\frac{u}{t}"),
        ("-1/u", r"-\frac{1}{u}"),
        ("u/t/(u + 1)", r"\frac{u}{t \, \left(u + 1\right)}"),
        ("sin(u)", r"\sin\left(u\right)"),
        ("abs(u)", r"\left|u\right|"),
        ("sign(u)", r"\operatorname{sign}\left(u\right)"),
        ("u^1.23456789", "u^{1.235}"),
        ("u^(-t)", "u^{-t}"),
        ("1.5e-07*u", r"1.5 \cdot 10^{-7} \, u"),
        ("1e-07^u", r"\left(1 \cdot 10^{-7}\right)^{u}"),
        ("(t + u)^2", r"\left(t + u\right)^{2}"),
        ("F", "F"),
    ],
)
def test_latex_is_typeset_as_usual(text, latex):
    assert to_latex(parse_tree(text), rounded(4)) == latex


@given(numeric_equations())
@settings(max_examples=60, deadline=None)
def test_braces_of_latex_balance(tree):
    latex = to_latex(tree, rounded(4))
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\left") == latex.count(r"\right")
    assert "**" not in latex
    assert "e-" not in latex
