import numpy as np
import pytest

from gode.data import make_run
from gode.errors import DataError

T = np.linspace(0.0, 1.0, 11)


def test_a_run_keeps_what_was_observed():
    run = make_run(T, u=T**2, acceleration=np.full(11, 2.0), initial=[0.0])
    assert run.n_points == 11
    assert np.array_equal(run.observed[0], T**2)
    assert np.isnan(run.observed[1]).all()
    assert run.initial[0] == 0.0
    assert np.isnan(run.initial[1])


def test_rows_without_time_or_value_are_dropped():
    t, u = T.copy(), T.copy()
    t[3], u[5] = np.nan, np.nan
    assert make_run(t, u=u).n_points == 9


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"t": T, "u": T[:5]}, "u has 5 values, but t has 11"),
        ({"t": T[::-1], "u": T}, "time must increase, but 0.9 follows 1"),
        ({"t": T}, "nothing is observed"),
        ({"t": T[:3], "u": T[:3]}, "3 usable points are too few"),
        ({"t": T, "u": np.full(11, np.nan)}, "nothing is observed"),
        ({"t": T, "u": np.where(T > 0.5, np.inf, T)}, "u is infinite at row 6"),
        ({"t": T, "u": np.ones((11, 2))}, "systems of equations are not supported yet"),
        ({"t": T, "u": ["a"] * 11}, "u must be numbers"),
        ({"t": T, "u": T, "initial": [0, 1, 2]}, "initial must be"),
        ({"t": T, "u": T, "inputs": {"F": T[:4]}}, "F has 4 values, but t has 11"),
        ({"t": np.append(T[:-1], T[-2] + 1e-15), "u": T}, "nearly coincide"),
        ({"t": np.append(T[:-1], T[-2]), "u": T}, "time must increase"),
        ({"t": np.ones((11, 2)), "u": T}, "t must have one dimension"),
    ],
)
def test_bad_data_get_a_sentence(arguments, sentence):
    with pytest.raises(DataError, match=sentence):
        make_run(**arguments)


def test_a_number_too_large_to_square_is_named():
    with pytest.raises(DataError, match=r"u is 1e\+200 at row 2, too large to square; use other units"):
        make_run(np.arange(6.0), u=[1.0, 2.0, 1e200, 3.0, 4.0, 5.0])
