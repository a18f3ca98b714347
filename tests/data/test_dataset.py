import numpy as np
import pytest

from gode.data import Dataset, make_run
from gode.data.dataset import Interpolation, changes_by_jumps, chosen_interpolation, cycles, lowest_channel
from gode.errors import ConfigError, DataError

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
        ({"t": T, "u": np.ones((11, 2))}, "u must have the shape"),
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


def test_channels_come_three_for_each_state():
    x = np.column_stack([T, T**2])
    run = make_run(T, u=x, velocity=np.full((11, 2), 3.0), states=("prey", "predator"), initial=[1.0, 2.0])
    assert (run.n_states, run.observed.shape) == (2, (6, 11))
    np.testing.assert_array_equal(run.observed[[0, 3]], x.T)
    np.testing.assert_array_equal(run.observed[[1, 4]], 3.0)
    np.testing.assert_array_equal(run.initial, [1.0, np.nan, 2.0, np.nan])
    dataset = Dataset((run,), states=("prey", "predator"))
    assert dataset.channels == ("prey", "prey'", "predator", "predator'")


def test_one_state_alone_is_a_run_of_a_scalar_at_the_same_times():
    x = np.column_stack([T, np.where(T > 0.5, np.nan, T**2)])
    run = make_run(T, u=x, states=("x", "y"), initial=[[1.0, 2.0], [3.0, 4.0]], inputs={"F": T})
    alone = run.state(1)
    assert alone.n_points == 11
    np.testing.assert_array_equal(alone.observed[0], x[:, 1])
    np.testing.assert_array_equal(alone.initial, [3.0, 4.0])
    assert alone.inputs == run.inputs


def test_states_may_be_observed_at_different_times_and_empty_rows_are_dropped():
    x = np.column_stack([T, T])
    x[::2, 0] = np.nan
    x[1::2, 1] = np.nan
    x[0] = np.nan
    assert make_run(T, u=x, states=("x", "y")).n_points == 10


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"u": np.column_stack([T, np.where(T > 0.25, np.nan, T)])}, "y is observed at 3 times only"),
        ({"u": T}, r"x, y must have the shape \(n, 2\), got \(11,\); give one column per state"),
        ({"u": np.ones((11, 3))}, r"x, y must have the shape \(n, 2\), got \(11, 3\)"),
        ({"u": np.ones((9, 2))}, "x has 9 values, but t has 11"),
        ({"initial": [1.0]}, r"\[x\(t0\), y\(t0\)\] or \[x\(t0\), x'\(t0\), y\(t0\), y'\(t0\)\], got 1"),
    ],
)
def test_bad_systems_get_a_sentence(arguments, sentence):
    with pytest.raises(DataError, match=sentence):
        make_run(**{"t": T, "u": np.column_stack([T, T**2]), "states": ("x", "y")} | arguments)


def test_the_cycles_of_a_system_are_those_of_its_fastest_state():
    t = np.linspace(0.0, 1.0, 200)
    slow, fast = np.sin(6 * t), np.sin(60 * t)
    run = make_run(t, u=np.column_stack([slow, fast]), states=("x", "y"))
    assert cycles(run) == cycles(run.state(1)) > 3 * cycles(run.state(0))
    assert [lowest_channel(run, s) for s in (0, 1)] == [0, 3]


@pytest.mark.parametrize(
    ("hold", "interpolation", "chosen"),
    [
        (None, "auto", "auto"),
        (True, "auto", "hold"),
        (False, "auto", "cubic"),
        (None, "linear", "linear"),
        (False, "linear", "linear"),
        (True, "hold", "hold"),
        (np.True_, "auto", "hold"),
    ],
)
def test_hold_is_the_short_form_of_interpolation(hold, interpolation, chosen):
    assert chosen_interpolation(hold, interpolation) is Interpolation(chosen)


@pytest.mark.parametrize(
    ("hold", "interpolation", "message"),
    [
        (True, "cubic", "hold=True contradicts interpolation='cubic'"),
        (False, "hold", "hold=False contradicts"),
        ("yes", "auto", "hold must be True, False or None, got 'yes'"),
        (None, "spline", "interpolation must be one of auto, cubic, linear, hold, got 'spline'"),
        (None, 3, "interpolation must be one of"),
    ],
)
def test_contradictions_and_other_words_are_refused(hold, interpolation, message):
    with pytest.raises(ConfigError, match=message):
        chosen_interpolation(hold, interpolation)


def test_a_switch_changes_by_jumps_and_a_ramp_does_not():
    assert changes_by_jumps(np.repeat([0.0, 1.0, 0.5], 5))
    assert not changes_by_jumps(np.linspace(0, 1, 10))
    assert not changes_by_jumps(np.ones(10))
