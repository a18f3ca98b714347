from base64 import b64decode

import numpy as np

from gode.report.spec import LONG, Kind, Plot, Trace, numbers, thinned


def test_thinning_keeps_the_lowest_and_the_highest_of_every_stretch(rng):
    y = rng.standard_normal(10_007)
    y[5000] = np.nan
    x = np.arange(10_007.0)
    at, values = thinned(x, y, 500)
    assert len(at) <= 500
    assert np.all(np.diff(at) > 0)
    np.testing.assert_array_equal(values, y[at.astype(int)])
    size = -(-len(x) // 250)
    for first in range(0, len(x), size):
        part = slice(first, first + size)
        assert {np.nanmin(y[part]), np.nanmax(y[part])} <= {*values}


def test_a_stretch_without_values_stays_empty():
    y = np.concatenate([np.ones(500), np.full(500, np.nan), np.ones(500)])
    at, values = thinned(np.arange(1500.0), y, 30)
    assert np.isfinite(values).all()
    assert not np.any((at > 520) & (at < 980))


def test_few_points_are_lists_and_many_are_bytes():
    trace = Trace(Kind.POINTS, "a", np.array([0.0, 1.0]), np.array([1 / 3, np.nan]))
    assert trace.as_json()["y"] == [0.3333333, None]
    values = np.linspace(0, 1, LONG + 1)
    np.testing.assert_array_equal(np.frombuffer(b64decode(numbers(values)), "<f8"), values)


def test_what_is_as_usual_is_left_out_of_a_page():
    trace = Trace(Kind.LINE, "a", np.arange(2.0), np.arange(2.0), run=9)
    plot = Plot(title="One", x="t", y="u", traces=[trace]).as_json()
    (made,) = plot["series"]
    assert {*plot} == {"title", "x", "y", "height", "series"}
    assert made == {"kind": "line", "name": "a", "x": [0.0, 1.0], "y": [0.0, 1.0], "colour": 1}
