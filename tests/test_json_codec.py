import json
import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gode.arrays import Float
from gode.equation import Equation, parse_equation
from gode.errors import FileError, GodeError
from gode.json_codec import decode, decode_array, encode


@dataclass(frozen=True)
class Inner:
    count: int
    shares: tuple[float, ...] = (0.5,)


@dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner
    values: Float
    limit: float | None = None


def through_json(value):
    return json.loads(json.dumps(encode(value), allow_nan=False))


@given(hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, min_side=0)), st.floats())
def test_numbers_come_back_bit_by_bit(values, limit):
    outer = Outer("a", Inner(3), values, limit)
    found = decode(Outer, through_json(outer), "it")
    assert found.values.tobytes() == np.where(np.isnan(values), np.nan, values).tobytes()
    assert found.values.shape == values.shape
    assert found.limit == limit or (math.isnan(limit) and found.limit is None)
    assert found.inner == outer.inner


@pytest.mark.parametrize("text", ["u' = -0.5*u + 3", "2*u'' + 0.1*u' + 5*sin(u) = F", "u'^2 + u^1.5 - 4 = 0"])
def test_an_equation_comes_back_in_its_own_scale(text):
    equation = parse_equation(text)
    found = decode(Equation, through_json(equation), "it")
    assert found == equation
    assert found.skeleton.normal == equation.skeleton.normal
    assert found.text(None) == equation.text(None)


def test_an_equation_of_the_first_records_is_read():
    equation = parse_equation("2*u'' + 0.1*u' + 5*sin(u) = F")
    now = through_json(equation)
    first = {"residual": now["residuals"][0], "constants": now["constants"], "scale": now["scale"]}
    assert decode(Equation, first, "it") == equation


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"name": 3}, "it.name must be text, got a whole number"),
        ({"inner": None}, "it.inner must be an object, got null"),
        ({"inner": {"count": True}}, "it.inner.count must be a whole number, got true or false"),
        ({"inner": {}}, "it.inner lacks 'count'"),
        ({"inner": {"count": 1, "more": 2}}, "it.inner holds 'more', which this version"),
        ({"values": {"shape": [2], "values": [1.0]}}, "do not make the shape"),
        ({"values": {"shape": [10**12, 10**12], "values": []}}, "do not make the shape"),
        ({"values": {"shape": [-1, -1], "values": [1.0]}}, "do not make the shape"),
        ({"values": {"shape": [1], "values": ["nan"]}}, "it.values must be a number, got text"),
        ({"values": {"shape": [1], "values": [10**400]}}, "it.values must be a number"),
        ({"limit": float("nan")}, "it.limit must be a number that is finite"),
        ({"limit": "1.0"}, "it.limit must be a number, got text"),
    ],
)
def test_a_wrong_type_is_named_with_its_place(change, sentence):
    data = through_json(Outer("a", Inner(3), np.ones(2))) | change
    with pytest.raises(FileError, match=sentence):
        decode(Outer, data, "it")


def test_a_field_with_a_default_may_be_missing():
    assert decode(Inner, {"count": 1}, "it") == Inner(1)


def test_a_shape_is_checked():
    with pytest.raises(FileError, match=r"it has the shape \(2,\), but \(3, any\) is expected"):
        decode_array(encode(np.ones(2)), "it", (3, None))


@pytest.mark.parametrize("text", ["__import__('os')", "u.__class__", "u' + (" * 3, "u"])
def test_a_hostile_equation_is_refused(text):
    with pytest.raises(GodeError):
        decode(Equation, {"residual": text, "constants": [], "scale": None}, "it")
