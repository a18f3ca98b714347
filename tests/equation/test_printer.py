"""Trees in all notations: text, LaTeX, MathML, and five programming languages."""

import math

import pytest
from hypothesis import assume, given, settings

from gode.equation import parse_tree
from gode.equation.printer import exact, rounded, to_latex, to_text, write
from gode.equation.tree import ONE, Node, add, const, mul, num, power, var
from gode.report.languages import LANGUAGES
from gode.report.mathml import tree_mathml
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


# One row for each tree: Python, C, Julia and MATLAB, Modelica.
PROGRAMS = {
    "2*u'^2 - u/(t*(u + 1)^2) + 3": (
        "2.0*v**2 - u/(t*(u + 1.0)**2) + 3.0",
        "2.0*(v*v) - u/(t*pow((u + 1.0), 2)) + 3.0",
        "2.0*v^2 - u/(t*(u + 1.0)^2) + 3.0",
        "2.0*v^2 - u/(time*(u + 1.0)^2) + 3.0",
    ),
    "-1.5e-07*abs(sin(u))*exp(-t/2)": (
        "-1.5e-07*np.abs(np.sin(u))*np.exp(-0.5*t)",
        "-1.5e-07*fabs(sin(u))*exp(-0.5*t)",
        "-1.5e-07*abs(sin(u))*exp(-0.5*t)",
        "-1.5e-07*abs(sin(u))*exp(-0.5*time)",
    ),
    "(1/u)^0.5 + u^(-t) - 1/u^2.5": (
        "(u**(-1.0))**0.5 + u**(-t) - 1.0/u**2.5",
        "pow((pow(u, (-1.0))), 0.5) + pow(u, (-t)) - 1.0/pow(u, 2.5)",
        "(u^(-1.0))^0.5 + u^(-t) - 1.0/u^2.5",
        "(u^(-1.0))^0.5 + u^(-time) - 1.0/u^2.5",
    ),
    "1e-05^u - 0.25*u^1e-05*F + u^sin(t)": (
        "1e-05**u - 0.25*u**1e-05*F + u**np.sin(t)",
        "pow(1e-05, u) - 0.25*pow(u, 1e-05)*F + pow(u, sin(t))",
        "1e-05^u - 0.25*u^1e-05*F + u^sin(t)",
        "1e-05^u - 0.25*u^1e-05*F + u^sin(time)",
    ),
}


@pytest.mark.parametrize("text", PROGRAMS)
def test_programs_keep_the_order_of_terms_and_write_numbers_as_they_are(text):
    python, c, julia, modelica = PROGRAMS[text]
    wanted = {"python": python, "c": c, "julia": julia, "matlab": julia, "modelica": modelica}
    assert {name: write(parse_tree(text), LANGUAGES[name].dialect) for name in wanted} == wanted


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_power_as_an_exponent_is_braced(language):
    """MATLAB reads 2^u^t as (2^u)^t, Modelica not at all."""
    text = write(parse_tree("2^(u^F)"), LANGUAGES[language].dialect)
    assert text.replace("pow(2.0, (pow(u, F)))", "2.0^(u^F)").replace("**", "^") == "2.0^(u^F)"


def test_a_number_in_powers_of_ten_is_braced_once():
    assert to_latex(parse_tree("(-2e15)^u"), rounded(4)) == r"\left(-2 \cdot 10^{15}\right)^{u}"


def test_mathml_of_sums_fractions_and_powers():
    plus, minus = (f'<mo form="infix" lspace="0.24em" rspace="0.24em">{s}</mo>' for s in "+−")
    space, lone = '<mspace width="0.17em"/>', f"<mi>u</mi>{plus}<mn>1</mn>"
    dotted = '<mrow><mo>(</mo><mover><mi>u</mi><mo stretchy="false">˙</mo></mover><mo>)</mo></mrow>'
    text = tree_mathml(parse_tree("2*u'^2 - t/(u + 1) - (u + 1)*t"))
    assert text == (
        f"<math><mrow><mn>2</mn>{space}<msup><mrow>{dotted}</mrow><mrow><mn>2</mn></mrow></msup>"
        f"{minus}<mrow><mo>(</mo>{lone}<mo>)</mo></mrow>{space}<mi>t</mi>"
        f"{minus}<mfrac><mrow><mi>t</mi></mrow><mrow>{lone}</mrow></mfrac></mrow></math>"
    )


def test_a_long_factor_that_divides_by_a_short_number_is_written_so():
    tree = parse_tree("-3*(F/70)^2*u")
    assert to_text(parse_tree("u*(F/70)^u")) == "u*(F/70)^u"
    assert parse_tree(to_text(tree)) == tree
