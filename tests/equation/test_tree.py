"""Expression trees: their constructors, what they report, and the paper's complexity."""

import math

import pytest
import sympy
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from gode.equation import Node, parse_tree
from gode.equation.operators import FUNCTIONS
from gode.equation.symbolic import expression, sympy_to_tree
from gode.equation.tree import (
    ONE,
    ZERO,
    add,
    burden,
    complexity,
    const,
    depends_on,
    has_constant,
    mul,
    num,
    number,
    power,
    renumber,
    replace_numbers,
    unlabelled,
    var,
    variables,
    walk,
)
from strategies import numeric_equations, plain_value, points

T, U = var("t"), var("u")


def test_sums_and_products_are_flat():
    assert add(U, add(T, U)) == Node("+", 0.0, (U, T, U))
    assert mul(U, mul(T, U)) == Node("*", 0.0, (U, T, U))


def test_add_drops_zeros():
    assert add(ZERO, U, num(0)) == U
    assert add() == add(ZERO, ZERO) == ZERO


def test_mul_gathers_its_numbers_in_front():
    assert mul(U, num(2), T, num(3)) == Node("*", 0.0, (num(6), U, T))
    assert mul(num(2), U, num(0.5)) == U
    assert mul(U, ZERO) == ZERO
    assert mul() == ONE


def test_power_of_numbers_is_a_number_where_that_is_real_and_finite():
    assert power(num(2), num(10)) == num(1024)
    assert power(U, ONE) == U
    for base, exponent in [(0, -1), (-8, 1 / 3), (9, 999)]:
        assert power(num(base), num(exponent)).op == "^"


def test_sign_of_zero_is_zero():
    assert [FUNCTIONS["sign"].value(x) for x in (-2.0, 0.0, 5.0)] == [-1.0, 0.0, 1.0]


def test_walk_goes_in_the_order_of_writing():
    tree = parse_tree("2*u + sin(t)")
    assert [n.op for n in walk(tree)] == ["+", "*", "num", "var", "sin", "var"]


def test_variables_and_constants_are_found_at_any_depth():
    tree = parse_tree("exp(sin(C*u')^2) + F(t)")
    assert variables(tree) == {"u'", "F"}
    assert has_constant(tree)
    assert not has_constant(parse_tree("exp(u)"))
    assert depends_on(tree, "u'")
    assert not depends_on(tree, "u")


def test_renumber_counts_constants_in_the_order_of_writing():
    tree = renumber(add(mul(const(7), U), const(7), power(T, const(3))))
    assert [n.value for n in walk(tree) if n.op == "const"] == [0.0, 1.0, 2.0]
    assert unlabelled(tree) == unlabelled(add(mul(const(1), U), const(5), power(T, const(0))))


def test_replace_numbers_leaves_constants_and_columns_alone():
    assert replace_numbers(parse_tree("2*u + C + 4"), lambda x: x / 2) == parse_tree("1*u + C + 2")._replace(
        args=(Node("*", 0.0, (ONE, U)), const(0), num(2))
    )


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("t", 1),
        ("3.5", 1),
        ("C", 1),
        ("u", 2),
        ("F", 2),
        ("u'", 6),
        ("u''", 6),
        ("-u", 3),
        ("2*u", 4),
        ("u^2", 4),
        ("sin(t)", 2),
        ("5*u' + 25*u - sin(t)", 16),
    ],
)
def test_complexity_is_that_of_the_paper(text, nodes):
    assert complexity(parse_tree(text)) == nodes


def recount(expr: sympy.Basic) -> int:
    """The plain count: every node of SymPy's tree but a factor of -1."""
    return 1 + sum(recount(arg) for arg in expr.args if not (expr.is_Mul and arg == -1))


def in_one_order(node: Node) -> Node:
    return node._replace(args=tuple(sorted(map(in_one_order, node.args))))


@given(numeric_equations())
@settings(max_examples=40, deadline=None)
def test_complexity_counts_the_nodes_of_sympys_tree(tree):
    try:
        expr = expression(tree)
    except ValueError:  # SymPy refuses max(0, a root of a negative number)
        reject()
    assume(
        expr.is_finite is not False
        and not expr.has(sympy.zoo, sympy.nan, sympy.I, sympy.cosh, sympy.sinh, sympy.coth)
    )
    assume(in_one_order(sympy_to_tree(expr)) == in_one_order(tree))  # SymPy did not rewrite it
    assert complexity(tree) == recount(expr)


@given(numeric_equations(), points, st.randoms())
@settings(max_examples=50, deadline=None)
def test_constructors_do_not_change_values(tree, at, random):
    """Numbers wrapped into sums and products of one must fold back to the same value."""
    a, b = plain_value(tree, at), random.uniform(-2, 2)
    wrapped = add(ZERO, mul(ONE, tree, ONE), num(b))
    assume(math.isfinite(a))
    assert plain_value(wrapped, at) == pytest.approx(a + b, rel=1e-12, abs=1e-12)
    assert number(mul(num(b), num(2))) == 2 * b


@pytest.mark.parametrize(
    ("plainer", "stranger"),
    [("u^2", "u^3"), ("u^3", "u^5"), ("1/u", "1/u^2"), ("u*u'", "u*log(u)"), ("u", "t"), ("u^2", "u^C")],
)
def test_what_is_far_fetched_has_its_price(plainer, stranger):
    assert burden(parse_tree(plainer)) < burden(parse_tree(stranger))
