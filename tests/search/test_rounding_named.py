"""Exponents of laws with named constants stay free."""

import numpy as np

from gode.equation import Equation
from gode.equation.parse_frame import parse_frame
from gode.search.rounding import rounded
from gode.selection import Candidate


def test_a_law_with_named_constants_keeps_its_exponents():
    skeleton = parse_frame("u' = r*u - a*u^n", functions=False).law({})
    law = Equation(skeleton, (1.0, 0.5, 2.01))
    assert list(rounded(Candidate(law, np.zeros((1, 1)), 1e-4 * np.eye(3), 1.0, 0.0))) == []
