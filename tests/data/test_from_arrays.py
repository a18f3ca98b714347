import numpy as np
import pytest

from gode.data import Interpolation
from gode.data.from_arrays import make_dataset
from gode.errors import DataError

T = np.linspace(0.0, 1.0, 6)


def test_arrays_are_one_run_and_lists_of_arrays_several():
    assert len(make_dataset(T, T**2).runs) == 1
    assert len(make_dataset(T.tolist(), (T**2).tolist()).runs) == 1
    assert len(make_dataset([T, T + 1], [T**2, T**2]).runs) == 2


def test_a_formula_or_a_function_is_the_force_of_every_run():
    for force in ("sin(t)", np.sin):
        runs = make_dataset([T, T + 1], [T**2, T**2], force=force).runs
        assert [run.inputs["F"] for run in runs] == [force, force]


def test_samples_and_initial_values_are_given_run_by_run():
    runs = make_dataset([T, T], [T, T], force=[T, 2 * T], initial=[[1.0], [2.0, 3.0]]).runs
    assert runs[1].inputs["F"].tolist() == (2 * T).tolist()
    assert runs[0].initial[0] == 1.0
    assert np.isnan(runs[0].initial[1])
    assert runs[1].initial.tolist() == [2.0, 3.0]


@pytest.mark.parametrize("name", ["velocity", "acceleration", "force", "initial"])
def test_what_is_not_given_for_every_run_gets_a_sentence(name):
    with pytest.raises(DataError, match=f"t holds 2 runs, so {name} must be a list of 2 arrays"):
        make_dataset([T, T], [T, T], **{name: [T]})


@pytest.mark.parametrize(
    ("interpolation", "sampled"),
    [("auto", False), ("cubic", False), ("hold", True), ("linear", True)],
)
def test_a_function_that_is_held_or_linear_is_read_at_the_times_of_the_data(interpolation, sampled):
    (run,) = make_dataset(T, T, force=np.cos, interpolation=Interpolation(interpolation)).runs
    assert isinstance(run.inputs["F"], np.ndarray) is sampled
    if sampled:
        assert run.inputs["F"] == pytest.approx(np.cos(T))


def test_errors_name_the_run():
    with pytest.raises(DataError, match="run 1: "):
        make_dataset([T, T[::-1]], [T, T])


def test_one_standard_error_is_that_of_all_readings():
    t = np.arange(8.0)
    u = np.where(t == 3, np.nan, t**2)
    each = make_dataset([t, t], [u, u + 1], sd=[np.full(8, 0.1)] * 2)
    for sd in (0.1, {"u": 0.1}, np.float64(0.1)):
        for run, other in zip(make_dataset([t, t], [u, u + 1], sd=sd).runs, each.runs, strict=True):
            np.testing.assert_array_equal(run.sd, other.sd)
    both = make_dataset(t, {"x": t, "y": u}, sd={"x": 0.1, "y": np.full(8, 0.2)}).runs[0]
    assert np.nanmax(both.sd[0]) == 0.1
    assert np.nanmax(both.sd[3]) == 0.2
    with pytest.raises(DataError, match="sd of u must be positive"):
        make_dataset(t, u, sd=-0.1)


def test_a_run_with_known_initial_values_begins_at_its_first_time_though_nothing_was_read_there():
    t, u = np.arange(8.0), np.array([np.nan, *np.linspace(2.0, 3.0, 7)])
    assert make_dataset(t, u).runs[0].t[0] == 1.0
    (run,) = make_dataset(t, u, initial=[1.0]).runs
    assert run.t[0] == 0.0
    assert np.isnan(run.observed[0, 0])
    with pytest.raises(DataError, match="nothing is observed"):
        make_dataset(t, np.full(8, np.nan), initial=[1.0])
