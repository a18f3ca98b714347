import numpy as np
import pytest

from gode.errors import DataError
from gode.tables.dataset import DataOptions, read_dataset
from gode.tables.edits import edit_runs, edit_table, without_test
from gode.tables.guess_roles import Roles
from gode.tables.runs import runs_of_tables
from gode.tables.text import parse_table

TEXT = b"# made\nt [s],A1 [V],A2 [V],blank\n0,1,2,0.5\n1,2,4,0.5\n2,3,6,1\n3,4,8,1\n"


@pytest.fixture
def table():
    return parse_table(TEXT, "plate.csv")


def test_dropped_points_are_missing_in_their_column_only(table):
    edited = edit_table(table, ["drop A1 lines 4,6"])
    assert np.isnan(edited.numbers("A1")).tolist() == [False, True, False, True]
    assert edited.numbers("A2").tolist() == table.numbers("A2").tolist()
    assert np.isnan(edit_table(table, ["drop lines 3-4"]).numbers("A2")).tolist() == [
        True,
        True,
        False,
        False,
    ]


def test_a_blank_is_a_column_or_a_number(table):
    assert edit_table(table, ["subtract blank from A1,A2"]).numbers("A2").tolist() == [1.5, 3.5, 5, 7]
    assert edit_table(table, ["subtract 1 from A1"]).numbers("A1").tolist() == [0, 1, 2, 3]


def test_a_conversion_changes_numbers_and_unit(table):
    edited = edit_table(table, ["multiply A1 by 1000 as mV"])
    assert edited.numbers("A1").tolist() == [1000, 2000, 3000, 4000]
    assert edited.label("A1") == "A1 [mV]"
    assert edited.label("A2") == "A2 [V]"


def test_times_of_a_clock_are_converted_from_seconds():
    clock = parse_table(b"time,u\n23:00:00,1\n23:30:00,2\n0:30:00,3\n", "night.csv")
    edited = edit_table(clock, ["multiply time by 0.5 as x", f"multiply time,u by {2 / 3600!r} as h"])
    readings = runs_of_tables([edited], Roles(time="time", u="u"))
    np.testing.assert_allclose(readings.runs[0]["t"], [0, 0.5, 1.5])
    assert readings.labels["t"] == "time [h]"
    assert "h:mm:ss, past midnight, in h" in readings.told[0]
    assert edited.numbers("u")[0] == 2 / 3600


def test_edits_go_one_after_the_other(table):
    edited = edit_table(table, ["multiply A1 by 2", "subtract 1 from A1"])
    assert edited.numbers("A1").tolist() == [1, 3, 5, 7]


def test_runs_are_cropped_and_held_back_by_their_times(table):
    readings = runs_of_tables([table], Roles(time="t", u="A1,A2"))
    cropped = edit_runs(readings, ["crop 1 to"])
    assert [run["t"].tolist() for run in cropped.runs] == [[1, 2, 3]] * 2
    assert cropped.runs[1]["u"].tolist() == [4, 6, 8]
    held = edit_runs(readings, ["hold back 34 %"])
    assert held.runs[0]["t"].tolist() == [0, 1]
    assert without_test(["crop 1 to", "hold back 34 %"]) == ["crop 1 to"]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ("improve it", "is not understood"),
        ("drop A1 lines 99", "no row of numbers in line 99"),
        ("drop A9 lines 3", "has no column 'A9'"),
        ("subtract rubbish from A1", "neither a number nor a column"),
        ("multiply A1 by nothing", "neither a number nor a column"),
        ("multiply A1 by 0", "leaves nothing"),
        ("drop A1 lines 9-3", "are not understood"),
    ],
)
def test_what_cannot_be_done_is_told(table, edit, words):
    with pytest.raises(DataError, match=words):
        edit_table(table, [edit])


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ("crop 3 to 1", "keeps no time"),
        ("crop 50 to 60", "keeps no time"),
        ("hold back 100 %", "less than 100"),
    ],
)
def test_runs_that_would_vanish_are_told(table, edit, words):
    with pytest.raises(DataError, match=words):
        edit_runs(runs_of_tables([table], Roles(time="t", u="A1")), [edit])


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([0, 0, 0, 5, 5, 5, 1, 1], [0, 0, 0, 0, 0, 5, 5, 5]),  # steps stay steps: by two samples
        ([0, 1, 4, 9, 16, 25, 36, 49], [0, 0, 0, 0.8, 3.4, 8, 14.6, 23.2]),
    ],
)
def test_an_input_comes_later(tmp_path, column, expected):
    rows = "\n".join(f"{i},{i * i % 5},{value}" for i, value in enumerate(column))
    (tmp_path / "a.csv").write_text(f"t,u,valve\n{rows}\n")
    _, readings = read_dataset(
        [str(tmp_path / "a.csv")], DataOptions(time="t", u="u", force="valve", edit=("shift valve by 2.2",))
    )
    (key,) = readings.inputs
    np.testing.assert_allclose(readings.runs[0][key], expected)


def test_what_cannot_come_later_is_told(table):
    readings = runs_of_tables([table], Roles(time="t", u="A1"))
    for edit, words in (("shift x by 2", "must be an input or a state"), ("shift A1 by day", "day")):
        with pytest.raises(DataError, match=words):
            edit_runs(readings, [edit])
