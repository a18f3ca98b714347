"""What `read_arguments` gives `gode.discover` is what the command line reads from the same files."""

import numpy as np
import pytest

from gode.data.from_arrays import make_dataset
from gode.errors import DataError
from gode.measured import read_arguments
from gode.tables.dataset import DataOptions, read_dataset

FILES = {
    "plain.csv": "t,u,f\n0,1,5\n1,2,6\n2,4,7\n3,9,8\n4,9,8\n5,9,8\n",
    "plate.csv": "Zeit;A1;B1;Blank\n0:00:00;1,5;2,5;0,1\n0:10:00;2,5;3,5;0,2\n0:20:00;3,5;4,5;0,1\n"
    "0:30:00;4;5;0,2\n0:40:00;5;6;0\n0:50:00;6;6;0\n",
    "long.csv": "run,t,x,y\n" + "".join(f"{r},{i},{i + r},{i * r}\n" for r in (1, 2) for i in range(6)),
    "shaker.csv": "time [s],acc [g],left,right\n" + "".join(f"{i},{i % 3},{i},{i * i}\n" for i in range(8)),
    "limits.csv": "t,x,y\n0,>200,1\n1,90,2\n2,40,3\n3,20,4\n4,9,6\n5,4,7\n6,<2,8\n7,<2,9\n",
    "decays.csv": "run,t,x\n" + "".join(f"a,{i},{9 - i}\n" for i in range(8)) + "b,0,9\nb,1,8\nb,2,7\n"
    "b,3,6\nb,4,5\nb,5,4\nb,6,<3\n",
}
ASKED = [
    ("plain.csv", {}),
    ("plain.csv", {"force": "f", "edit": ["crop 1 to"]}),
    ("plain.csv", {"force": "sin(2*t)"}),
    ("plate.csv", {"u": "A1,B1", "edit": ["subtract Blank from A1,B1", "drop A1 lines 3"]}),
    ("long.csv", {"states": "x,y", "run": "run"}),
    ("long.csv", {"states": "prey=x,predator=y", "run": "run"}),
    ("long.csv", {"u": "x", "force": "y", "run": "run"}),
    ("shaker.csv", {"u": "none", "acceleration": "acc", "force": "left"}),
    ("shaker.csv", {"u": "none", "acceleration": "acc", "force": "left,right"}),
    ("shaker.csv", {"states": "left,right", "force": "acc"}),
    ("limits.csv", {"u": "x"}),
    ("limits.csv", {"states": "x,y"}),
    ("decays.csv", {"u": "x", "run": "run"}),
]


@pytest.mark.parametrize(("name", "asked"), ASKED, ids=str)
def test_the_arguments_are_the_data_of_the_command(tmp_path, name, asked):
    path = tmp_path / name
    path.write_text(FILES[name])
    read, _ = read_dataset([str(path)], DataOptions(**{**asked, "edit": tuple(asked.get("edit", ()))}))
    made = make_dataset(**read_arguments(str(path), **asked))
    assert made.states == read.states
    assert made.inputs == read.inputs
    assert made.channels == read.channels
    for one, other in zip(made.runs, read.runs, strict=True):
        np.testing.assert_array_equal(one.t, other.t)
        np.testing.assert_array_equal(one.observed, other.observed)
        for key, values in other.inputs.items():
            np.testing.assert_array_equal(one.inputs[key], values)
        assert (one.limits is None) == (other.limits is None)
        for field in () if other.limits is None else ("t", "channel", "low", "high"):
            np.testing.assert_array_equal(getattr(one.limits, field), getattr(other.limits, field))


def test_several_files_are_several_runs(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(FILES["plain.csv"])
    assert len(read_arguments(str(tmp_path / "a.csv"), str(tmp_path / "b.csv"))["t"]) == 2


WELLS = ({"u": "all"}, {"u": "A1,B1"}, {})  # all, some, and those that are guessed


@pytest.mark.parametrize("asked", WELLS, ids=str)
def test_a_state_that_was_not_measured_stands_behind_each_of_several_wells(tmp_path, asked):
    path = tmp_path / "plate.csv"
    path.write_text("t,A1,B1\n0,1,2\n1,2,3\n2,4,5\n3,8,7\n4,12,9\n5,14,10\n")
    read, readings = read_dataset([str(path)], DataOptions(**asked, unmeasured=("lag",)))
    assert read.states == ("u", "lag")
    assert [read.states[i] for i in read.hidden] == ["lag"]
    assert readings.names == ("A1", "B1")
    np.testing.assert_array_equal(
        [run.observed[0] for run in read.runs], [[1, 2, 4, 8, 12, 14], [2, 3, 5, 7, 9, 10]]
    )


def test_a_column_of_states_that_holds_no_number_is_refused(tmp_path):
    path = tmp_path / "half.csv"
    path.write_text("t,x,y\n" + "".join(f"{i},{i * i},\n" for i in range(9)))
    with pytest.raises(DataError, match="y holds no reading at all"):
        read_dataset([str(path)], DataOptions(states="x,y"))
    read, _ = read_dataset([str(path)], DataOptions(states="x,y", called=("x", "y")))
    assert read.hidden == (1,)
