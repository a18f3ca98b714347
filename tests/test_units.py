"""Units: reading and writing them, what they say of constants, and mistakes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gode
from gode.equation import parse_skeleton
from gode.equation.dimensions import UnitConflict, infer_units
from gode.errors import ConfigError, EquationError
from gode.units import Unit, parse_unit

SYMBOLS = st.sampled_from(["m", "kg", "h", "thousand", "µmol", "°C"])
POWERS = st.sampled_from([-3.0, -2.0, -1.0, -0.5, 1.0, 2.0, 1.5])


@given(st.dictionaries(SYMBOLS, POWERS, max_size=4))
def test_a_unit_reads_back_as_it_is_written(powers):
    assert parse_unit(str(Unit(powers))) == Unit(powers)


@pytest.mark.parametrize("text", ["m/s2", "m/s^2", "m s^-2", "m·s⁻²", "m*s**-2", "m/s/s"])
def test_acceleration_has_many_spellings(text):
    assert str(parse_unit(text)) == "m/s^2"


def test_derived_units_are_what_they_stand_for():
    assert parse_unit("N") == parse_unit("kg m/s2")
    assert parse_unit("Hz") == parse_unit("1/s")
    assert parse_unit("m") != parse_unit("mm")
    assert parse_unit("rad").is_pure


@pytest.mark.parametrize(
    ("text", "place"), [("m/", 2), ("m/5", 2), ("m^^2", 2), ("(m", 2), ("m)", 1), ("m;s", 1)]
)
def test_a_unit_that_cannot_be_read_is_refused_with_a_caret(text, place):
    with pytest.raises(ConfigError, match="in the unit") as caught:
        parse_unit(text)
    assert str(caught.value).splitlines()[-1] == "  " + " " * place + "^"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u' = C*u - C*u^2", {"1/h", "1/(g h)"}),
        ("u' = C*u/(C + u)", {"g/h", "g"}),
        ("u' = C*exp(C*u) + C*sin(C*t)", {"g/h", "1/g", "1/h"}),
    ],
)
def test_constants_have_the_units_that_the_columns_imply(text, expected):
    skeleton = parse_skeleton(text)
    units = {"t": Unit({"h": 1.0}), "u": Unit({"g": 1.0}), "u'": Unit({"g": 1.0, "h": -1.0})}
    found = infer_units(skeleton, units)
    assert {str(found.constant(i)) for i in range(skeleton.n_constants)} == expected


def test_a_pure_number_is_needed_in_a_function():
    with pytest.raises(UnitConflict, match="what stands in sin is in g"):
        infer_units(parse_skeleton("u' = C*sin(u)"), {"u": Unit({"g": 1.0})})


T = np.linspace(0, 10, 50)
U = 5 / (1 + 9 * np.exp(-0.8 * T)) + 0.02 * np.random.default_rng(0).standard_normal(50)


@pytest.mark.parametrize("equation", ["u' = C*u - C*u^2", "u' = r*u*(1 - u/K)"])
def test_scaled_columns_scale_the_constants_as_their_units_say(equation):
    plain = gode.fit(equation, T, U, units={"t": "h", "u": "kg"})
    factors = {"h": 60.0, "kg": 1000.0}  # minutes and grams
    scaled = gode.fit(equation, factors["h"] * T, factors["kg"] * U)
    for one, other in zip(plain.equation.constants, scaled.equation.constants, strict=True):
        size = np.prod([factors[s] ** p for s, p in parse_unit(one.unit).powers.items()])
        assert other.value == pytest.approx(size * one.value, rel=1e-3)


def test_a_rate_has_a_unit_whatever_the_signal_is_counted_in():
    found = gode.fit("u' = r*u*(1 - u/K)", T, U, units={"t": "h"})
    assert [(c.name, c.unit) for c in found.equation.constants] == [("r", "1/h"), ("K", "")]


def test_a_frame_that_adds_metres_to_seconds_is_refused_with_both_units():
    with pytest.raises(EquationError, match="one is in m, the other in s") as caught:
        gode.discover(T, U, frame="u' = r*(u + t) - f(u)", units={"t": "s", "u": "m"})
    assert str(caught.value).splitlines()[-1] == "  " + " " * 12 + "^"
