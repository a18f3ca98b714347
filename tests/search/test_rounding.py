import numpy as np
import pytest

import gode
from gode.equation import Equation, parse_skeleton
from gode.equation.frame import parse_frame, with_numbers
from gode.search.simplify import rounded
from gode.search.templates import FrameTemplate, SumTemplate

T = np.linspace(0, 4, 80)


@pytest.fixture(scope="module")
def root():
    u = (1 + 0.5 * T) ** 2 + 0.02 * np.random.default_rng(0).standard_normal(len(T))
    return gode.fit("u' = C*u^C + C", T, u).candidates[0]


def test_an_exponent_near_a_half_is_tried_as_one(root):
    (equation,) = rounded(root.single, root.errors, SumTemplate())
    assert str(equation.skeleton) == "u' = C*u^0.5 + C"
    assert equation.constants == tuple(c for c in root.single.constants if abs(c - 0.48) > 0.1)


def test_exponents_far_from_round_ones_stay():
    u = (1 + 0.3 * T) ** (1 / 0.3)  # u' = u^0.7
    found = gode.fit("u' = C*u^C", T, u).candidates[0]
    assert list(rounded(found.single, found.errors, SumTemplate())) == []


def test_a_law_with_named_constants_keeps_its_exponents():
    frame = parse_frame("u' = r*u - a*u^n", functions=False)
    law = Equation(frame.law({}), (1.0, 0.5, 2.01))
    assert list(rounded(law, np.full(3, 1e-2), FrameTemplate(frame))) == []


def test_the_root_is_named():
    u = (1 + 0.5 * T) ** 2 + 0.02 * np.random.default_rng(0).standard_normal(len(T))
    found = gode.discover(T, u, effort="quick")
    assert str(found.equation.law.skeleton) == "u' = C*u^0.5"


def test_an_exponent_whose_number_makes_another_term_stays_free():
    assert with_numbers(parse_skeleton("u' = C*(C - u)^C"), {2: 3.0}) is None
