"""Natural frequencies, time constants and gains where they are right, and nowhere else."""

import numpy as np
import pytest

from gode.discovery.finding import Finding
from gode.discovery.shared import conserved_words
from gode.equation import parse_equation
from gode.equation.parse_system import parse_system_values
from gode.selection import Candidate
from gode.units import parse_unit

METRES = {"u": parse_unit("m"), "t": parse_unit("s"), "F": parse_unit("N")}


def natural(law):
    return {n.name: n.value for n in finding(law).natural}


def finding(law, units=None):
    return Finding(Candidate(law, np.zeros((1, 1)), np.eye(len(law.constants)), 1.0, 1.0), units=units or {})


@pytest.mark.parametrize(
    ("text", "omega"),
    [
        ("u'' = -400*u - 3*u'", 20.0),
        ("u'' = -400*u - 2.5", 20.0),
        ("u'' = -400*u - 9000*u^3 - 3*u'*abs(u')", 20.0),
        ("u'' + 0.2*u' + 9*sin(u) = F", 3.0),
        ("u'' = -1209560*sin(u) + 1209160*u", None),  # the Duffing oscillator, as it was named 1099.8
        ("u'' = -400*u - 100*abs(u)", None),
        ("u'' = -400*u + 12*t*u", None),
        ("u'' = -400*u - 9000*u^3 + 50", None),
        ("u'' = -400*u + 3*F*u", None),
    ],
)
def test_a_natural_frequency_is_told_where_it_is_that_of_small_motions(text, omega):
    assert natural(parse_equation(text)).get("omega") == (None if omega is None else pytest.approx(omega))


def test_two_storeys_have_no_natural_frequency_of_their_own():
    law = parse_system_values(["x'' = -60*x + 20*y", "y'' = 20*x - 20*y"])
    assert not natural(law)


def test_a_driven_relaxation_has_time_constant_rest_and_gain():
    found = natural(parse_equation("6.663*u' + 0.556*u - 13.93 = F"))
    assert found == {
        "tau": pytest.approx(6.663 / 0.556),
        "u_rest": pytest.approx(13.93 / 0.556),
        "gain": pytest.approx(1 / 0.556),
    }


def test_the_energy_of_a_driven_oscillator_is_not_conserved():
    assert conserved_words(parse_equation("u'' = -4*u"))
    assert not conserved_words(parse_equation("u'' + 4*u = F"))


def test_constants_of_a_law_of_forces_are_not_told_as_pressures():
    found = finding(parse_equation("2*u'' + 3*u + 5*u^2 = F"), METRES).constants
    assert {c.place: c.unit for c in found} == {"u''": "kg", "u": "N/m", "u^2": "N/m^2"}
