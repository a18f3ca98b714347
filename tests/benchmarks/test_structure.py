import pytest

from gode.equation import parse_equation
from gode_bench.problems import SUITES
from gode_bench.score import same_equation, same_structure

ALL = [one for problems in SUITES.values() for one in problems]
SAME = [
    ("u' = 0.8*u - 0.01*u^2", "u' - 0.79*u + 0.79/74.3*u^2 = 0"),
    ("u' = 0.31 - 0.36*u", "u' + u/(1.2*2.31) = 0.7/2.31"),
    ("2.01*u'' + 1.02*u' + 5.1*u = F", "2*u'' + u' + 5*u = F"),
    ("u' = -0.98*u^3", "u' + u^3 = 0"),
    ("u' = sin(-1.03*u) + 0.2", "u' + sin(u) = 0.21"),
    ("u'' = -4.1/(t^3*u')", "u''*u' + 4/t^3 = 0"),
    ("u' = 0.4*u - 0.0042*u^2 - 1.01*u^2/(0.99 + 1.02*u^2)", "u' - 0.4*u*(1 - u/95) + u^2/(1 + u^2) = 0"),
    ("u' = 0.21*u^1.25", "u' = 0.2*u^1.2"),
    ("2*u''^2 - 160*u^2 = 0", "u''^2 - 81*u^2 = 0"),
    ("u' = 0.032*u*log(u) + 0.027*u", "u' - 0.032*u*log(2.29*u) = 0"),
    ("u' = -0.55*u - 0.98/(u^2 + 0.99) + 1.1", "u' + 0.55*u - u^2/(u^2 + 1) = 0.1"),
    ("u' = -1.6/(exp(1.05*u) + 1.64) + 0.5", "u' - 1/(1 + exp(0.5 - u/0.96)) = -0.5"),
    ("u' = sin(2.1*u) + 2*sin(u)", "u' = 2*sin(u) + sin(2*u)"),
]
OTHER = [
    ("u' = 0.8*u", "u' = 0.8*u - 0.01*u^2"),
    ("u' = 0.8*u - 0.01*u^3", "u' = 0.8*u - 0.01*u^2"),
    ("u' = 0.8*u - 0.01*u^2 + 1e-9", "u' = 0.8*u - 0.01*u^2"),
    ("u'' = -9*u", "u' = -9*u"),
    ("u' = u^2.01", "u' = u^2"),
    ("u' = cos(u)", "u' = sin(u)"),
    ("u'' = -9*u", "u''^2 - 81*u^2 = 0"),
    ("u' = -0.55*u - 1/(u + 1) + 1.1", "u' + 0.55*u - u^2/(u^2 + 1) = 0.1"),
    ("u' = 0.4*u - 0.004*u^2 - 1", "u' = 0.4*u - 0.2*u^2/(u + 1)"),
]


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_every_truth_is_itself(one):
    assert same_equation(one.equation, one.equation, 0.0)


@pytest.mark.parametrize(("found", "true"), SAME)
def test_equal_equations_are_recognised_whatever_their_form(found, true):
    assert same_equation(parse_equation(found), parse_equation(true), 0.1)


@pytest.mark.parametrize(("found", "true"), OTHER)
def test_other_structures_are_told_apart(found, true):
    assert not same_structure(parse_equation(found), parse_equation(true))


def test_constants_far_off_keep_the_structure_but_are_not_exact():
    found, true = parse_equation("u' = 0.9*u - 0.01*u^2"), parse_equation("u' = 0.8*u - 0.01*u^2")
    assert same_structure(found, true)
    assert not same_equation(found, true, 0.1)
    assert same_equation(found, true, 0.13)


def test_the_sign_of_a_constant_counts():
    assert not same_equation(parse_equation("u' = -0.8*u"), parse_equation("u' = 0.8*u"), 0.1)
