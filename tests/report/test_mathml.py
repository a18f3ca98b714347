import xml.etree.ElementTree as ET

import pytest

from gode.equation import parse_equation, parse_tree
from gode.report.mathml import law_mathml, tree_mathml


def shown(text):
    """What a reader sees, without marks and spaces."""
    root = ET.fromstring(law_mathml(parse_equation(text)))
    return "".join(root.itertext()).replace("\u2061", "")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("u' = 0.5*u - 0.25*u^2", "u˙=0.5u−0.25u2"),
        ("u'' + 2*u' + u^3 = F", "u¨+2u˙+u3=F"),
        ("u' = -3*sin(u)/(1 + u^2)", "u˙=−3sin(u)u2+1"),
        ("u' = abs(u - 2)*u", "u˙=|u−2|u"),
        ("u' = 2.5e-12*u", "u˙=2.5·10−12u"),
        ("u' = 3e20*u", "u˙=3·1020u"),
        ("u'^2 + u = 1.5", "(u˙)2+u−1.5=0"),
        ("u' = exp(-2*u)*t", "u˙=exp(−2u)t"),
    ],
)
def test_equation_reads_as_it_should(text, seen):
    assert shown(text) == seen


def test_a_free_constant_is_a_letter():
    assert ">C<" in tree_mathml(parse_tree("sin(C*u)"))


def test_a_leading_minus_is_a_sign_and_not_an_operation():
    assert '<mo form="prefix">−</mo>' in law_mathml(parse_equation("u' = -2*u"))


def test_a_long_equation_can_be_broken_before_each_sign():
    text = law_mathml(parse_equation("u' = 2*u - 3*u^2 + 4*sin(u)"))
    assert text.count("<math") == text.count("<wbr/>") + 1 == 4
    assert 'aria-label="u&#x27; = 2*u + 4*sin(u) - 3*u^2"' in text
