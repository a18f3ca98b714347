"""Skeletons: what they report, their text, and their split into terms."""

import math
import re

import pytest
from hypothesis import assume, given, settings

from gode.equation import Skeleton, parse_equation, parse_skeleton, parse_tree
from gode.equation.terms import explicit_terms, linear_terms, term_node
from gode.equation.tree import ONE, ZERO, add, const, num, power, var, walk
from gode.errors import EquationError
from strategies import linear_equations, plain_value, points, skeleton_trees


def test_a_skeleton_reports_its_properties():
    skeleton = parse_skeleton("2*u'' + C*u' + C*sin(C*u) = F(t)")
    assert (skeleton.order, skeleton.highest, skeleton.inputs) == (2, "u''", ("F",))
    assert skeleton.n_constants == 3
    assert skeleton.explicit
    assert [n.value for n in walk(skeleton.normal) if n.op == "const"] == [0.0, 1.0, 2.0]


def test_what_cancels_does_not_count():
    skeleton = parse_skeleton("u'' - u'' + u' + F - F = C*u")
    assert (skeleton.order, skeleton.highest, skeleton.inputs) == (1, "u'", ())


def test_inputs_are_listed_by_name():
    assert parse_skeleton("u' = wind + C*umax + t", inputs=("wind", "umax")).inputs == ("umax", "wind")


@pytest.mark.parametrize("text", ["0", "u' - u'", "u' = u' + 0*u", "0*u''"])
def test_an_equation_that_always_holds_is_refused(text):
    with pytest.raises(EquationError, match="reduces to 0 = 0"):
        parse_skeleton(text)


@pytest.mark.parametrize("text", ["u = C", "t", "C", "u' - u' + u", "u^2 = F"])
def test_an_equation_without_a_derivative_is_refused(text):
    with pytest.raises(EquationError, match="holds no derivative of u"):
        parse_skeleton(text)


def test_a_skeleton_is_not_equal_to_other_things():
    assert parse_skeleton("u' = C*u") != "u' = C*u"
    assert parse_skeleton("u' = C*u") != parse_skeleton("u' = C*u + C")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("C*u' + C*u = 0", "u' = C*u"),
        ("u' + u - 2*t = 0", "u' = -u + 2*t"),
        ("u'' + C*u' + C*u = F", "u'' = C*u' + F + C*u"),
        ("u'^2 = C*u", "u'^2 + C*u = 0"),
        ("u*u' = C", "u*u' + C = 0"),
        ("u' = 0", "u' = 0"),
        ("u' + sin(u') = C", "u' + sin(u') + C = 0"),
    ],
)
def test_a_skeleton_is_written_explicitly_where_possible(text, written):
    assert str(parse_skeleton(text)) == written


@given(skeleton_trees())
@settings(max_examples=100, deadline=None)
def test_a_skeleton_reads_its_own_text(tree):
    skeleton = Skeleton(tree)
    assume(not any(n.op == "^" and n.args[0] == ZERO for n in walk(skeleton.key)))
    assert Skeleton(parse_tree(str(skeleton))) == skeleton


@given(skeleton_trees(), points)
@settings(max_examples=70, deadline=None)
def test_terms_add_up_to_the_normal_form(tree, at):
    skeleton = Skeleton(tree)
    c = [1.7 - 0.3 * i for i in range(skeleton.n_constants)]
    value = plain_value(skeleton.normal, at, c)
    assume(abs(value) < 1e6)
    parts = [plain_value(term_node(term), at, c) for term in skeleton.terms]
    assert sum(parts) == pytest.approx(value, rel=1e-9, abs=1e-9 * max(map(abs, parts), default=0))


def test_a_term_is_linear_in_its_own_constant():
    (first, second, third) = linear_terms(parse_tree("3*C*u^2 + C*exp(C*t) + 5"))
    assert (first.multiplier, first.constant, first.body) == (3.0, 0, power(var("u"), num(2)))
    assert (second.multiplier, second.constant) == (1.0, 1)
    assert const(2) in walk(second.body)
    assert (third.multiplier, third.constant, third.body) == (5.0, None, ONE)


@given(linear_equations(), points)
@settings(max_examples=100, deadline=None)
def test_the_right_hand_side_makes_the_residual_vanish(tree, at):
    skeleton = Skeleton(tree)
    assume(skeleton.highest == "u''")
    assume(not any(n.op == "*" and n.args[-1].op == "+" for n in walk(skeleton.normal)))
    terms = skeleton.rhs_terms
    assert terms is not None
    top = plain_value(add(*map(term_node, terms)), at)
    assume(abs(top) < 1e4)
    sizes = [abs(plain_value(term_node(term), {**at, "u''": top})) for term in skeleton.terms]
    assume(math.isfinite(sum(sizes)))
    assert plain_value(skeleton.normal, {**at, "u''": top}) == pytest.approx(0, abs=1e-9 * max(*sizes, 1e-3))


def test_free_constants_beside_the_highest_derivative_stay_single():
    skeleton = parse_skeleton("(C*u + 1)*u' = C*t + 1")
    assert skeleton.rhs_terms is not None
    c, at = (2.0, 3.0), {"t": 0.3, "u": 0.7}
    value = plain_value(add(*map(term_node, skeleton.rhs_terms)), at, c)
    assert plain_value(skeleton.normal, {**at, "u'": value}, c) == pytest.approx(0, abs=1e-12)
    used = [n.value for term in skeleton.rhs_terms for n in walk(term_node(term)) if n.op == "const"]
    assert sorted(used) == [0.0, 1.0]


def test_an_equation_in_the_derivative_alone_has_a_zero_right_hand_side():
    assert parse_skeleton("u' = 0").rhs_terms == ()
    assert parse_skeleton("(C + u)*u' = 0").rhs_terms == ()


@pytest.mark.parametrize(
    "text", ["u'^2 = u", "sin(u') = u", "u' + exp(u') = t", "u'*sin(u') = u", "u''^2 + u'' = 0", "1/u' = u"]
)
def test_a_nonlinear_highest_derivative_has_no_right_hand_side(text):
    assert parse_skeleton(text).rhs_terms is None
    assert not parse_skeleton(text).explicit


def test_a_slope_of_zero_has_no_right_hand_side():
    assert explicit_terms(add(power(var("u"), num(2)), var("t")), "u'") is None


@pytest.mark.parametrize(
    ("equation", "form"),
    [
        ("2*u'' + 0.3*u' + 5*u = F", "C*u'' + C*u' + C*u = F"),
        ("u' = 0.5*F - 3*u", "C*u' + C*u = F"),
        ("u'' = F - 2.5*u", "u'' + C*u = F"),
        ("u' = -0.5*u + 0.3*F*u", "u' = C*u + C*F*u"),
        ("u' = -0.08*u + 15.6*exp(-1.64*t)", "u' = C*u + C*exp(C*t)"),
        ("u'*u = 2.5*u + 3.5*F", "C*u*u' + C*u = F"),
    ],
)
def test_the_form_of_a_law_is_that_in_which_its_equation_is_printed(equation, form):
    found = parse_equation(equation)
    assert found.skeleton.form() == form
    assert parse_skeleton(form) == found.skeleton
    assert re.sub(r"[\d.]+(?=\*)", "", str(found)).count("F") == form.count("F")
    assert str(found).endswith("= F") == form.endswith("= F")


@given(skeleton_trees())
def test_the_form_reads_back(tree):
    skeleton = Skeleton(tree)
    assume(skeleton.order and len(skeleton.terms) > 1)
    assert parse_skeleton(skeleton.form()) == parse_skeleton(str(skeleton))
