"""The energy of laws whose force depends on place alone."""

import numpy as np
import pytest

from gode.discovery.energy import energy_words, force_of, potential_text, potential_values
from gode.equation import parse_equation


@pytest.mark.parametrize(
    ("law", "potential"),
    [
        ("u'' = -1.1*u - 0.7*u^3", "0.175*u^4 + 0.55*u^2"),
        ("u'' = -9.81*sin(u)", "-9.81*cos(u)"),
        ("u'' = 3 - 4*sin(0.5*u)", "-3*u - 8*cos(0.5*u)"),
        ("u'' = -u/(u^2 + 2)", "0.5*log(u^2 + 2)"),
        ("u'' = -u + 2*F", "0.5*u^2"),  # of the motion without the input
    ],
)
def test_a_potential_is_told_where_the_terms_integrate(law, potential):
    assert potential_text(parse_equation(law)) == potential


@pytest.mark.parametrize("law", ["u'' = -u - 0.1*u'", "u'' = -u + sin(t)", "u'' = -u*F", "u' = -u"])
def test_friction_time_and_first_order_keep_no_energy(law):
    assert force_of(parse_equation(law)) is None
    assert energy_words(parse_equation(law)) == []


def test_a_potential_without_a_formula_has_values():
    law = parse_equation("u'' = -2*u*abs(u)")
    u = np.linspace(-1.0, 1.0, 401)
    assert potential_text(law) is None
    assert "no simple formula" in energy_words(law)[0]
    assert potential_values(law, u) == pytest.approx(2 * np.abs(u) ** 3 / 3, abs=1e-4)
