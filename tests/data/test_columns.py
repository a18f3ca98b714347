"""Columns are complete and finite, or refused with the reason."""

import numpy as np
import pytest

from gode.data import Columns, columns_of_run, columns_of_states, join_runs
from gode.data.columns import split_at_jumps
from gode.errors import DataError

T = [0.0, 0.5, 1.5]


def run(**changes) -> Columns:
    values = {"t": T, "u": [1, 2, 3], "du": [4, 5, 6], "d2u": [7, 8, 9]} | changes
    return columns_of_run(**values)


def test_rows_come_in_the_order_of_their_names():
    columns = run(inputs={"G": [1, 1, 1], "F": [2, 2, 2]})
    assert columns.names == ("t", "u", "u'", "u''", "G", "F")
    np.testing.assert_array_equal(columns.matrix[1:, 0], [1, 4, 7, 1, 2])
    assert columns.matrix.dtype == np.float64
    assert columns.n_points == 3
    assert columns.starts.tolist() == [0, 3]


def test_missing_second_derivative_is_zero():
    np.testing.assert_array_equal(run(d2u=None).matrix[3], 0.0)


def test_columns_are_a_copy():
    u = np.array([1.0, 2.0, 3.0])
    columns = run(u=u)
    u[0] = 99.0
    assert columns.matrix[1, 0] == 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"t": [0.0, 1.5, 0.5]}, r"point 2: time must increase, but 0.5 follows 1.5"),
        ({"t": [0.0, 0.0, 1.0]}, r"point 1: time must increase, but 0 follows 0"),
        ({"t": [0.0, np.nan, 1.0]}, "t is nan at point 1"),
        ({"t": [0.0]}, "at least 2 points, got 1"),
        ({"t": []}, "at least 2 points, got 0"),
        ({"u": [1.0, 2.0]}, "u has 2 values, but t has 3"),
        ({"du": [1.0, np.inf, 2.0]}, "u' is inf at point 1"),
        ({"d2u": [1.0, 2.0, np.nan]}, "u'' is nan at point 2"),
        ({"u": [[1.0, 2.0, 3.0]]}, r"u must have one dimension, got shape \(1, 3\)"),
        ({"u": 1.0}, "u must have one dimension"),
        ({"u": ["a", "b", "c"]}, "u must be numbers, got list"),
        ({"u": None}, "u must"),
        ({"u": [1.0, [2.0], 3.0]}, "u must be numbers"),
        ({"u": [1j, 2.0, 3.0]}, "u must be numbers"),
        ({"inputs": {"F": [1.0]}}, "F has 1 values, but t has 3"),
        ({"inputs": {"F": [1.0, np.nan, 2.0]}}, "F is nan at point 1"),
    ],
)
def test_unusable_columns_are_refused(changes, message):
    with pytest.raises(DataError, match=message):
        run(**changes)


def test_joined_runs_keep_their_borders():
    short = columns_of_run([5.0, 6.0], [0, 0], [0, 0])
    joined = join_runs([run(), short, run()])
    assert joined.starts.tolist() == [0, 3, 5, 8]
    assert joined.n_points == 8
    assert joined.matrix[0].tolist() == [*T, 5.0, 6.0, *T]


def test_joined_runs_can_be_joined_again():
    pair = join_runs([run(), run()])
    assert join_runs([pair, run(), pair]).starts.tolist() == [0, 3, 6, 9, 12, 15]
    np.testing.assert_array_equal(join_runs([pair]).matrix, pair.matrix)


def test_joined_runs_need_the_same_inputs():
    with pytest.raises(DataError, match=r"run 1 has the inputs \[\], but run 0 has \['F'\]"):
        join_runs([run(inputs={"F": [1, 2, 3]}), run()])
    with pytest.raises(DataError, match="at least one run, got none"):
        join_runs([])


def test_times_at_which_a_held_input_jumps_are_there_twice():
    t = np.arange(4.0)
    runs = [columns_of_run(t, t, t, inputs={"F": f}) for f in ([1, 1, 2, 3], [5, 6, 6, 6])]
    found = split_at_jumps(join_runs(runs), ["F"])
    assert found.matrix[0].tolist() == [0, 1, 2, 2, 3, 3, 0, 1, 1, 2, 3]
    assert found.matrix[4].tolist() == [1, 1, 1, 2, 2, 3, 5, 5, 6, 6, 6]
    assert found.starts.tolist() == [0, 6, 11]
    assert split_at_jumps(join_runs(runs), []).n_points == 8


def test_each_state_has_three_rows_before_the_inputs():
    values = np.arange(18.0).reshape(6, 3)
    found = columns_of_states(T, values, states=("x", "y"), inputs={"F": [1, 1, 2]})
    assert found.names == ("t", "x", "x'", "x''", "y", "y'", "y''", "F")
    np.testing.assert_array_equal(found.matrix[1:7], values)
    assert split_at_jumps(found, ["F"]).matrix[-1].tolist() == [1, 1, 1, 2]
    assert join_runs([found, found]).states == ("x", "y")
    with pytest.raises(DataError, match=r"run 1 has the states \['u'\], but run 0 has \['x', 'y'\]"):
        join_runs([found, run(inputs={"F": [1, 1, 2]})])
