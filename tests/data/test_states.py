"""Several states: the forms in which they may be given, and what is refused with which sentence."""

import numpy as np
import pandas as pd
import pytest

from gode.data.from_arrays import make_dataset
from gode.errors import DataError

T = np.linspace(0.0, 1.0, 8)
PREY, PREDATOR = np.sin(3 * T), np.cos(3 * T)
BOTH = {"prey": PREY, "predator": PREDATOR}
X = np.column_stack([PREY, PREDATOR])
NAMES = ("prey", "predator")


@pytest.mark.parametrize(
    ("x", "names"),
    [
        (X, NAMES),
        (X.tolist(), list(NAMES)),
        (BOTH, None),
        (pd.DataFrame(BOTH), None),
        (pd.DataFrame(X), NAMES),
        ({"predator": PREDATOR, "prey": PREY.tolist()}, NAMES),
        (pd.DataFrame({"prey (1000)": PREY, "predator (1000)": PREDATOR}), NAMES),
    ],
)
def test_arrays_frames_and_mappings_are_the_same_system(x, names):
    found = make_dataset(T, x, names=names)
    assert found.states == NAMES
    np.testing.assert_array_equal(found.runs[0].observed[[0, 3]], X.T)
    assert found.channels == NAMES


@pytest.mark.parametrize(
    "x",
    [[X, X[:6]], [BOTH, {k: v[:6] for k, v in BOTH.items()}], {k: [v, v[:6]] for k, v in BOTH.items()}],
)
def test_runs_of_a_system_are_lists_as_those_of_a_scalar_are(x):
    found = make_dataset([T, T[:6]], x, names=NAMES)
    assert [run.observed.shape for run in found.runs] == [(6, 8), (6, 6)]


def test_columns_without_names_are_numbered():
    assert make_dataset(T, X).states == ("x1", "x2")


@pytest.mark.parametrize("x", [{"prey": PREY}, pd.DataFrame({"prey": PREY})])
def test_a_single_column_is_a_scalar_whose_name_is_a_label(x):
    found = make_dataset(T, x, initial={"prey": 0.0})
    assert found.states == ("u",)
    assert found.labels == {"u": "prey"}
    assert found.runs[0].initial[0] == 0.0
    np.testing.assert_array_equal(found.runs[0].observed[0], PREY)


def test_an_array_of_one_column_is_the_signal_itself():
    found = make_dataset(T, PREY[:, None])
    assert (found.states, found.labels) == (("u",), {})
    np.testing.assert_array_equal(found.runs[0].observed[0], PREY)
    assert make_dataset(T, PREY, names=["prey"]).labels == {"u": "prey"}


def test_slopes_may_be_known_of_some_states():
    (run,) = make_dataset(T, BOTH, velocity={"predator": -PREY}, acceleration=X).runs
    assert np.isnan(run.observed[1]).all()
    np.testing.assert_array_equal(run.observed[[4, 2, 5]], [-PREY, PREY, PREDATOR])
    (run,) = make_dataset(T, {"prey": PREY}, {"predator": PREDATOR}, names=NAMES).runs
    np.testing.assert_array_equal(run.observed[[0, 4]], X.T)


@pytest.mark.parametrize(
    ("initial", "expected"),
    [
        ([1.0, None], [1.0, np.nan, np.nan, np.nan]),
        ([1.0, 2.0, 3.0, np.nan], [1.0, 2.0, 3.0, np.nan]),
        ([[1.0, 2.0], [3.0, None]], [1.0, 2.0, 3.0, np.nan]),
        ({"predator": 3.0}, [np.nan, np.nan, 3.0, np.nan]),
        ({"predator": [3.0, 4.0], "prey": None}, [np.nan, np.nan, 3.0, 4.0]),
    ],
)
def test_initial_values_are_ordered_by_state(initial, expected):
    (run,) = make_dataset(T, BOTH, initial=initial).runs
    np.testing.assert_array_equal(run.initial, expected)


def test_inputs_have_names_in_a_system_and_places_in_a_scalar_equation():
    inputs = {"heater": T, "pump": "sin(t)"}
    assert make_dataset(T, BOTH, force=T).inputs == ("F",)
    assert make_dataset(T, BOTH, force=inputs).inputs == ("heater", "pump")
    alone = make_dataset(T, PREY, force=inputs)
    assert alone.inputs == ("F", "v1")
    assert alone.labels == {"F": "heater", "v1": "pump"}
    two = make_dataset([T, T], [BOTH, BOTH], force={"heater": [T, 2 * T], "pump": "sin(t)"})
    np.testing.assert_array_equal(two.runs[1].inputs["heater"], 2 * T)
    assert two.runs[1].inputs["pump"] == "sin(t)"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"u": {**BOTH, "soil": np.ones(8)}}, "soil is constant, and a constant state has no equation"),
        ({"u": {**BOTH, "hare": PREY}}, "prey and hare are identical; drop one of them"),
        ({"u": {**BOTH, "hare": -2.5 * PREY}}, "hare is -2.5 times prey at every time"),
        ({"names": ["t", "y"]}, "'t' cannot name a state: in an equation it means time; rename"),
        ({"names": ["x", "F"]}, "'F' cannot name a state: in an equation it means a known input"),
        ({"names": ["C", "y"]}, "'C' cannot name a state: in an equation it means a free constant"),
        ({"names": ["x", "sin"]}, "'sin' cannot name a state: in an equation it means a function"),
        ({"names": ["x", "x'"]}, "\"x'\" cannot name a state: a name has letters, digits and _"),
        ({"names": ["x", "2nd"]}, "'2nd' cannot name a state: .* begins with a letter"),
        ({"names": ["x", "x"]}, "'x' names two states"),
        ({"names": ["x"]}, "the state is x, but the data have 2 columns; give one for each, a row for each"),
        ({"names": ["x", "y", "x"]}, "'x' names two states"),
        ({"names": "xy"}, "names must be a list of texts such as"),
        ({"names": ["x", 2]}, "names must be a list of texts such as .*, got 2 in it"),
        ({"u": pd.DataFrame(X)}, "'0' cannot name a state: .* or pass names="),
        ({"u": pd.DataFrame(X, columns=["x", "x"])}, "the data has 2 columns called 'x'"),
        ({"u": BOTH, "names": ["prey", "lynx"]}, "u is given for 'predator', which is no state"),
        ({"u": X.T}, r"u has the shape \(2, 8\), but a row is one of 8 times; transpose it"),
        ({"u": X[:7]}, "u has 7 values, but t has 8; give one per time"),
        ({"u": {"x": PREY, "y": PREY[:7]}}, "u of y has 7 values, but t has 8; give one per time"),
        ({"u": {"x": PREY, "y": X}}, r"u of y must have one dimension, got shape \(8, 2\)"),
        ({"u": np.ones((8, 2, 2))}, r"must have the shape \(8, 1\) for the states u, got \(8, 2, 2\)"),
        ({"u": PREY, "velocity": X}, "velocity must have the shape \\(8, 1\\)"),
        ({"velocity": PREY}, r"velocity must have the shape \(8, 2\) for the states x1, x2, got \(8,\)"),
        ({"u": BOTH, "velocity": {"lynx": PREY}}, "velocity is given for 'lynx', which is no state"),
        ({"u": BOTH, "velocity": {"a": PREY, "b": PREY}}, "velocity is given for 'a', which is no state"),
        ({"u": BOTH, "initial": {"lynx": 1.0}}, "initial is given for 'lynx', which is no state"),
        ({"u": BOTH, "initial": {"prey": [1, 2, 3]}}, "initial of prey must be a value, or"),
        ({"u": BOTH, "initial": [1.0, 2.0, 3.0]}, r"initial must be \[prey\(t0\), predator\(t0\)\] or"),
        ({"u": BOTH, "force": {"prey": T}}, "'prey' names a state and an input; rename it"),
        ({"u": BOTH, "force": {"exp": T}}, "'exp' cannot name a known input"),
        ({"u": {}}, "the data have no columns"),
    ],
)  # fmt: skip
def test_unusable_systems_get_a_sentence(arguments, sentence):
    with pytest.raises(DataError, match=sentence):
        make_dataset(**{"t": T, "u": X} | arguments)


def test_a_state_may_rest_in_one_run_if_it_moves_in_another():
    still = {"prey": PREY, "predator": np.ones(8)}
    assert len(make_dataset([T, T], [BOTH, still]).runs) == 2


def test_runs_must_have_the_same_states_and_inputs():
    with pytest.raises(DataError, match="run 1: u is given for 'lynx', which is no state"):
        make_dataset([T, T], [BOTH, {"prey": PREY, "lynx": PREDATOR}])
    with pytest.raises(DataError, match=r"run 1 has the inputs \['b'\], but run 0 has \['a'\]"):
        make_dataset([T, T], [BOTH, BOTH], force=[{"a": T}, {"b": T}])
