"""The normal form of a residual: the same for all ways of writing, and numerically what was written."""

import math
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gode.equation import Node, Skeleton, parse_skeleton, parse_tree
from gode.equation.sums import highest_derivative, normal_tree, pivot_body, to_sum
from gode.equation.tree import const, has_constant, mul, num, var, walk
from strategies import numeric_equations, plain_value, points, skeleton_trees

SCALES = st.sampled_from([num(2), num(-1), num(0.3), num(-7), const(0)])


def shuffled(node: Node, random: Random) -> Node:
    args = [shuffled(arg, random) for arg in node.args]
    if node.op in ("+", "*"):
        random.shuffle(args)
    return node._replace(args=tuple(args))


def steady_value(tree: Node, at: dict[str, float]) -> float:
    """The value, or nan where the residual is so sensitive that rounding would show."""
    a = plain_value(tree, at)
    b = plain_value(tree, {name: x * (1 + 1e-9) for name, x in at.items()})
    return a if math.isclose(a, b, rel_tol=1e-6) and abs(a) < 1e6 else math.nan


@given(skeleton_trees())
@settings(max_examples=120, deadline=None)
def test_the_normal_form_of_a_normal_form_is_itself(tree):
    skeleton = Skeleton(tree)
    assert Skeleton(skeleton.normal).key == skeleton.key
    assert Skeleton(skeleton.normal) == skeleton


@given(skeleton_trees(), st.integers(0, 10**6))
@settings(max_examples=120, deadline=None)
def test_the_order_of_terms_and_factors_does_not_matter(tree, seed):
    assert Skeleton(shuffled(tree, Random(seed))) == Skeleton(tree)


@given(skeleton_trees(), SCALES)
@settings(max_examples=120, deadline=None)
def test_a_scaled_equation_has_the_same_normal_form(tree, scale):
    assume(any(n.value in ("u'", "u''") for n in walk(Skeleton(tree).key)))
    assert Skeleton(mul(scale, tree)) == Skeleton(tree)


@given(numeric_equations(), st.lists(points, min_size=5, max_size=5))
@settings(max_examples=120, deadline=None)
def test_the_normal_form_is_proportional_to_what_was_written(tree, where):
    normal = normal_tree(tree)
    assert not has_constant(normal)
    pairs = [(steady_value(tree, at), plain_value(normal, at)) for at in where]
    pairs = [(a, b) for a, b in pairs if abs(a) > 1e-3]  # no nan
    assume(len(pairs) > 1)
    top, low = max(pairs)
    for a, b in pairs:
        assert b * top == pytest.approx(a * low, rel=1e-6)


@given(numeric_equations(), points)
@settings(max_examples=70, deadline=None)
def test_the_normal_form_has_a_value_wherever_the_equation_has(tree, at):
    assume(math.isfinite(steady_value(tree, at)))
    assert math.isfinite(plain_value(normal_tree(tree), at))


@given(skeleton_trees())
@settings(max_examples=80, deadline=None)
def test_no_constant_is_invented(tree):
    assert Skeleton(tree).n_constants <= sum(n.op == "const" for n in walk(tree))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("u' = C*u", "C*u' + C*u = 0"),
        ("u' = C*u", "u' + u*C = 0"),
        ("2*u' = C*u", "u' = C*u"),
        ("C*u' + u = 0", "u' = C*u"),
        ("C*u' + 2*u = t", "2*C*u' + 4*u - 2*t = 0"),
        ("C*(u' + u) + C*u = 0", "u' = C*u"),
        ("C*(C*u' + 2*t + t^(-2)) = 0", "C*u' + 2*t + 1/t^2 = 0"),
        ("u' = C*u*(1 - u/C)", "u' = C*u + C*u^2"),
        ("u' = C*exp(C + C*u)", "u' = C*exp(C*u)"),
        ("u' = C*log(C*u)", "u' = C*log(u) + C"),
        ("u' = C*u/(C + C*u)", "u' = u/(C*u + C)"),
        ("u'' = C*(u' + C*u + C)", "u'' = C*u' + C*u + C"),
        ("u' = sqrt(u + t)^2 + u", "u' = t + 2*u"),
        ("u' = sqrt(-2*u)^2 + 3*u", "u' = u"),
        ("u' = (u*t)^0.5*(u*t)^0.5*u", "u' = t*u^2"),
        ("u' = (u + 1)*(C*u + 1)*(t + 1)", "u' = (C*u + 1)*(u + 1)*(t + 1)"),
        ("u' = C/(t*(t + C))", "u' = C/t/(t + C)"),
        ("u' = C/((t + u)^2)", "u' = C*(t + u)^(-2)"),
        ("u'' - u'' + u' = C*u", "u' = C*u"),
        ("0.3*u' = 0.1*u", "3*u' = u"),
        ("0.1*u' + 0.2*u + 0.3*u + t = 0", "0.1*u' + 0.3*u + 0.2*u + t = 0"),
    ],
)
def test_skeletons_that_mean_the_same_are_equal(one, other):
    a, b = parse_skeleton(one), parse_skeleton(other)
    assert a == b
    assert hash(a) == hash(b)
    assert (a.order, a.n_constants, a.complexity, a.inputs) == (
        b.order,
        b.n_constants,
        b.complexity,
        b.inputs,
    )


DIFFERENT = [
    "u' = u",
    "u' = -u",
    "u' = 2*u",
    "u' = C*u",
    "u' = C*u + C",
    "u' = C + u",
    "u' = C*u^2",
    "u' = C*u^C",
    "u' = C*u + C*u^2",
    "u' = C*t",
    "u' = C*F",
    "u'' = C*u",
    "u'' = C*u'",
    "u'' = C*u + C*u'",
    "u' = sin(C*u)",
    "u' = C*sin(u)",
    "u' = C*sin(C*u)",
    "u' = C*sin(C*u + C)",
    "u' = C*sin(C*u) + C*sin(C*u)",
    "u' = sin(u + C)",
    "u' = cos(u)",
    "u' = sin(u)",
    "u' = exp(C*u)",
    "u' = C*exp(C*u)",
    "u' = C^u",
    "u' = sqrt(u^2)",
    "u' = abs(u)",
    "u' = u/(C*u + 1)",
    "u' = C*u/(C*u + 1)",
    "u' = u/(u + C)",
    "u' = C*(u + t)",
    "u' = C*u + C*t",
    "u'^2 = C*u",
    "u*u' = C*u + t",
    "u' = log(u) + C",
    "u' = C*log(u)",
]


def test_skeletons_that_mean_different_things_stay_different():
    assert len({parse_skeleton(text) for text in DIFFERENT}) == len(DIFFERENT)


def test_the_highest_derivative_is_found_by_its_order():
    assert highest_derivative(["u", "t", "u'", "F"]) == "u'"
    assert highest_derivative([]) == ""


def test_the_pivot_is_the_highest_derivative_standing_alone():
    assert pivot_body(to_sum(parse_tree("u*u'' + 2*u'' + u"))) == var("u''")
    assert pivot_body(to_sum(parse_tree("u*u'' + u"))) == mul(var("u"), var("u''"))
    assert pivot_body({}) is None


def test_the_coefficient_of_the_pivot_is_one():
    assert normal_tree(parse_tree("4*u' + 2*u - 6")) == normal_tree(parse_tree("u' + u/2 - 1.5"))
    assert to_sum(normal_tree(parse_tree("4*u' + 2*u")))[var("u'")] == 1.0
