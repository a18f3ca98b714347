import numpy as np
import pytest

from gode.errors import DataError
from gode.tables.read import read_table
from gode.tables.roles import Roles, assign_roles
from gode.tables.runs import Readings, runs_of_tables
from gode.tables.text import parse_table


def read_runs(paths, asked) -> Readings:
    return runs_of_tables([read_table(path) for path in paths], asked)


def roles_of(header, **asked):
    width = header.count(",") + 1
    rows = "\n".join(",".join(str(i * (k + 1)) for k in range(width)) for i in range(6))
    return dict(assign_roles(parse_table(f"{header}\n{rows}".encode(), "data.csv"), Roles(**asked)).items())


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("t,u", {"time": "t", "u": "u"}),
        ("Time [s],Position [m]", {"time": "Time", "u": "Position"}),
        ("u,force,t", {"time": "t", "u": "u", "force": "force"}),
        ("t,x,v,a,F", {"time": "t", "u": "x", "velocity": "v", "acceleration": "a", "force": "F"}),
        ("t,v", {"time": "t", "u": "v"}),  # a voltage, perhaps
        ("t,acceleration", {"time": "t", "acceleration": "acceleration"}),
        ("t,u(t),u'(t)", {"time": "t", "u": "u", "velocity": "u'"}),
        ("hours,biomass", {"time": "hours", "u": "biomass"}),
        ("t,lynx,hare", {"time": "t", "u": "lynx"}),
    ],
)
def test_columns_are_guessed_by_name_then_by_place(header, expected):
    assert roles_of(header) == expected


def test_what_is_asked_for_wins_and_none_means_none():
    asked = roles_of("t,u,force", u="force", force="none")
    assert asked == {"time": "t", "u": "force"}
    assert roles_of("t,a,b", u="3") == {"time": "t", "u": "b"}


def test_a_missing_column_is_answered_with_those_there_are():
    with pytest.raises(DataError, match=r"data.csv has no column 'w'; its columns are 't', 'u'"):
        roles_of("t,u", velocity="w")


def test_a_column_cannot_have_two_roles():
    with pytest.raises(DataError, match="column 'u' cannot be both u and force"):
        roles_of("t,u", u="u", force="u")


def test_a_column_of_runs_makes_runs():
    text = "run,t,u\nA,0,1\nA,1,2\nB,0,5\nA,2,3\nB,1,6\n"
    found = runs_of_tables([parse_table(text.encode(), "data.csv")], Roles())
    assert [run["u"].tolist() for run in found.runs] == [[1, 2, 3], [5, 6]]
    assert "2 runs by 'run'" in found.told[0]
    assert found.names == ("A", "B")


def test_runs_keep_their_names(tmp_path):
    text = "patient,t,u\n7,0,1\n7,1,2\n9,0,5\n9,1,6\n"
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "day.csv").write_text(text)
    paths = [tmp_path / "a" / "day.csv", tmp_path / "b" / "day.csv"]
    assert read_runs(paths[:1], Roles(run="patient")).names == ("patient 7", "patient 9")
    names = read_runs(paths, Roles(run="patient")).names
    assert names[:3] == ("day, patient 7", "day, patient 9", "day, patient 7 (2)")


def test_several_files_are_several_runs(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("t;u\n0;1\n1;2,5\n")
    found = read_runs([tmp_path / "a", tmp_path / "b"], Roles())
    np.testing.assert_array_equal(found.column("u"), [[1, 2.5], [1, 2.5]])
    assert "separated by semicolons, with decimal commas" in found.told[1]
    assert found.column("force") is None


def test_files_must_go_together(tmp_path):
    (tmp_path / "a").write_text("t,u,force\n0,1,1\n1,2,1\n")
    (tmp_path / "b").write_text("t,u\n0,1\n1,2\n")
    with pytest.raises(DataError, match="name the same ones for all files"):
        read_runs([tmp_path / "a", tmp_path / "b"], Roles())


def test_what_was_taken_is_said():
    text = "time (s),u [m],note\n0,1,x\n1,2,y\n"
    (told,) = runs_of_tables([parse_table(text.encode(), "data.csv")], Roles()).told
    assert told == "data.csv: 2 rows; time from 'time [s]', u from 'u [m]'; not used: 'note'"


def test_no_times_and_nothing_observed_are_refused():
    with pytest.raises(DataError, match="--u none leaves nothing observed"):
        roles_of("t,u", u="none")
    with pytest.raises(DataError, match="times are needed"):
        roles_of("t,u", time="none")


def test_of_dates_the_unit_is_told():
    text = "date,u\n" + "".join(f"2024-05-0{i},{i}\n" for i in range(1, 8))
    (told,) = runs_of_tables([parse_table(text.encode(), "data.csv")], Roles()).told
    assert "time from 'date' (dates, in seconds), u from 'u'" in told
