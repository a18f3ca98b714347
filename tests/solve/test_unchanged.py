"""Scalar equations keep the numbers they had when solvers knew one state only, before commit b20dc88."""

import numpy as np
import pytest

from gode.equation import parse_equation
from gode.solve import solve

T = np.linspace(0, 3, 61)

# equation, initial values, steps; at the end u and its highest derivative, and the sensitivities of u
BEFORE = [
    (
        "u' = 1.3*u/(0.5 + u) - 0.4*u^2",
        (0.7,),
        11,
        [1.518938236870675, 0.05517924900401683],
        [-0.716978864373057, -0.49671566163654346, -1.9163396973526536, 0.09812523580415837],
    ),
    (
        "u'' = -0.3*u' - 4*u - 0.8*u^3",
        (0.97, 0.2),
        41,
        [0.6269344259129376, -2.745927256209576],
        [
            0.050322169849549035,
            0.07748883235350379,
            -0.9674398809782383,
            0.728935649492874,
            0.0019115883206390226,
        ],
    ),
    (
        "u'' = -0.35*sign(u') - 7*u",
        (0.97, 0.0),
        168,
        [-0.009886859464854538, 0.41920801625398174],
        [0.20226842831413802, -0.41690019239934495, -0.08317548133727402, 0.2947730242767831],
    ),
    (
        "u'^3 + 0.5*u' + 1.3*u = 0",
        (1.0,),
        82,
        [0.0020957177035400777, -0.005448542531627472],
        [0.0009254368621319038, -0.004863030769002415, 0.005797465152067696],
    ),
    (
        "u''^3 + 2*u'' + 0.2*u' + 6.1*u = 0",
        (1.0, 0.0),
        74,
        [-0.7215451156336237, 1.2197517354813106],
        [
            -0.5405313995042288,
            0.17213554789640312,
            0.7664116437970484,
            -1.2620765151378532,
            -0.5012841133944385,
        ],
    ),
    (
        "u' = -1000000*(u - t)",
        (0.7,),
        11321,
        [2.9999990000000003, 1.0000000000000233],
        [-2.999999e-06, -2.9999980000000004e-06, 5.240660337740218e-276],
    ),
    (
        "t*u'' + u' + t*u = 0",
        (1.0, 0.0),
        63,
        [-0.26005195486570537, 0.3730716077167167],
        [-0.26005195486570526, -0.0001625318164891409],
    ),
]


@pytest.mark.parametrize(
    ("text", "initial", "n_steps", "values", "slopes"), BEFORE, ids=[b[0] for b in BEFORE]
)
def test_scalar_solutions_are_what_they_were(text, initial, n_steps, values, slopes):
    found = solve(parse_equation(text), T, initial, sensitivities=True)
    assert found.n_steps == n_steps
    np.testing.assert_allclose([found.u[-1], found.values[len(initial)][-1]], values, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found.sensitivities[:, 0, -1], slopes, rtol=1e-9, atol=1e-15)
