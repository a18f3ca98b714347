import numpy as np
import pytest

from gode.errors import DataError
from gode.measured import read_arguments
from gode.tables.dataset import DataOptions, dataset_of, read_dataset
from gode.tables.guess_roles import Roles, assign_columns, assign_roles
from gode.tables.name_clues import in_steps, roughness
from gode.tables.read import read_table
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
        ("t,roof_acc,ground_acc", {"time": "t", "acceleration": "roof_acc", "force": "ground_acc"}),
        ("t,acc_1,acc_2", {"time": "t", "u": "acc_1"}),  # of two states, perhaps
        ("t,u(t),u'(t)", {"time": "t", "u": "u", "velocity": "u'"}),
        ("hours,biomass", {"time": "hours", "u": "biomass"}),
        ("t,lynx,hare", {"time": "t", "u": "lynx"}),
    ],
)
def test_columns_are_guessed_by_name_then_by_place(header, expected):
    assert roles_of(header) == expected


def test_a_column_of_times_that_is_named_as_a_signal_is_told_as_the_mistake():
    with pytest.raises(DataError, match=r"'t', the column that looks like time, is named as a signal"):
        assign_roles(parse_table(b"t,u\n0,3\n1,2\n2,1\n", "data.csv"), Roles(u="t"))


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


EVERY = [np.arange(60)]


def read(path, text, **options):
    path.write_text(text)
    return read_dataset([str(path)], DataOptions(**options))


def table(head, *columns):
    return "\n".join([head, *(",".join(f"{v:.4f}" for v in row) for row in zip(*columns, strict=True))])


def test_time_by_its_name_beats_a_capital_t_and_what_falls_is_no_time(tmp_path):
    falling = 90 - np.arange(20.0)
    _, told = read(tmp_path / "a.csv", table("T [K],cA,time [min]", 300 + falling, falling**2, np.arange(20)))
    assert told.labels["t"] == "time [min]"
    _, told = read(tmp_path / "b.csv", table("T,elapsed_h", falling, np.arange(20)))
    assert (told.labels["t"], told.labels["u"]) == ("elapsed_h [h]", "T")


def test_states_named_beside_a_time_leave_the_time_alone(tmp_path):
    t = np.arange(20.0)
    text = table("Time [min],Tc,cA,T [K]", t, 290 + t % 2, np.exp(-t / 9), 300 + np.sqrt(t))
    data, told = read(tmp_path / "a.csv", text, states="cA,T")
    assert (data.states, told.labels["t"]) == (("cA", "T"), "Time [min]")


@pytest.mark.parametrize(
    ("values", "steps"),
    [
        (np.arange(60) // 8 % 2, True),
        (np.repeat([0, 30, 10, 80, 50, 20], 10), True),
        (np.arange(60) // 8 % 2 + 0.004 * np.cos(7.0 * np.arange(60)), True),
        (np.round(np.linspace(20, 23, 60)), False),  # a slow signal with few digits
        (1 / (1 + np.exp(-(np.arange(60) - 30.0) / 4)), False),
        (np.sin(np.arange(60) / 5), False),
    ],
)
def test_what_is_set_moves_in_steps(values, steps):
    assert in_steps(np.asarray(values, float), EVERY) is steps


def test_what_is_rough_drives_what_is_smooth(tmp_path):
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(60)
    smooth = np.cumsum(np.cumsum(noise)) / 20
    assert roughness(noise, EVERY) > 5 * roughness(smooth, EVERY)
    _, told = read(tmp_path / "a.csv", table("t,level,wind", np.arange(60), smooth, noise))
    assert (told.labels["u"], told.labels["F"]) == ("level", "wind")
    assert "'wind' is taken as the known input: it is much rougher than the others (" in told.told[1]
    assert "--states level,wind if it is a state, --force none to leave it out" in told.told[1]


def test_a_controlled_temperature_is_neither_input_nor_state_and_that_is_told(tmp_path):
    t, rng = np.arange(40.0), np.random.default_rng(0)
    text = table("Time [h],OD600,Temp [°C]", t, 1 / (1 + 20 * np.exp(-t / 4)), 37 + 0.1 * rng.normal(size=40))
    data, told = read(tmp_path / "a.csv", text)
    assert (data.states, data.inputs) == (("u",), ()) or (data.states, data.inputs) == (("OD600",), ())
    assert "constant but for its noise" in str(told)


def test_force_none_leaves_out_what_would_have_been_the_input(tmp_path):
    t, rng = np.arange(40.0), np.random.default_rng(0)
    text = table("t,level,flow", t, np.sin(t / 9), rng.normal(size=40))
    assert len(read(tmp_path / "a.csv", text)[0].inputs) == 1
    data, _ = read(tmp_path / "a.csv", text, force="none")
    assert (len(data.states), data.inputs) == (1, ())


def test_a_dose_that_never_changes_within_a_subject_is_told_and_not_the_signal(tmp_path):
    rows = [f"{s},{h},{d},{d * np.exp(-h / 3):.3f}" for s, d in ((1, 4), (2, 5)) for h in range(6)]
    _, told = read(tmp_path / "a.csv", "\n".join(["subject,time,dose,conc", *rows]))
    assert (told.labels["u"], told.labels["run"]) == ("conc", "subject")
    assert "'dose' (the same throughout each run, --force dose if it acts on the system)" in told.told[0]


def test_cells_without_a_reading_are_counted_and_other_text_asks(tmp_path):
    path = tmp_path / "a.csv"
    text = "t,u\n0,5\n1,4\n2,<0.05\n3,n.d.\n4,bubble\n5,2\n6,1\n7,1\n8,0.5\n"
    with pytest.raises(DataError, match=r"line 6, column 'u': .* 'bubble'; .* with --missing bubble"):
        read(path, text)
    data, told = read(path, text, missing=("bubble",))
    assert "known of 'u' as limits only, fitted by their probability: once below 0.05" in told.told
    assert "left out of 'u', as no reading: once 'n.d.', once 'bubble'" in told.told
    assert "2 rows hold no reading: lines 5, 6" in told.told
    assert read(path, text, missing=("text",))[0].n_observed == data.n_observed


def test_an_input_of_what_is_known_is_told_without_naming_it_a_state(tmp_path):
    text = "t,valve,level\n" + "\n".join(f"{i},{i % 3},{np.exp(-i / 5):.3f}" for i in range(9))
    assert "(--states level,valve if it is a state, --force none" in read(tmp_path / "a.csv", text)[1].told[1]
    told = read(tmp_path / "a.csv", text, u="level")[1].told
    assert "(--force none to leave it out)" in told[1]


def test_a_whole_plate_is_told_in_a_short_line(tmp_path):
    wells = [f"{row}{i}" for row in "ABCD" for i in range(1, 7)]
    rows = [",".join(f"{np.exp(-i / (5 + k)):.3f}" for k in range(24)) for i in range(9)]
    text = f"t,{','.join(wells)}\n" + "\n".join(f"{i},{row}" for i, row in enumerate(rows))
    asks = read(tmp_path / "a.csv", text)[1].told[1]
    assert asks.startswith("'A1', 'A2', 'A3', 'A4', 'A5', 'A6' and 18 more are taken as runs with one law")
    assert asks.endswith("(--states A1,A2,... if they are states of one system, --u A1 for one alone)")


def test_limits_of_readings_are_kept_at_their_times():
    text = (
        "t;a;b;valve\n-1;< 0,5;1,5;<2\n0;5;2,5;0\n1;4;0,1;0\n2;>1e2;0,7;1\n"
        "3;2;1,1;1\n4;1;0,2;1\n5;0,6;0,4;1\n6;<=0,05;n.d.;1\n"
    )
    found, told = dataset_of(
        [parse_table(text.encode(), "a.csv")],
        DataOptions(
            states="a,b", force="valve", edit=("multiply a by -2", "subtract 1 from a", "crop to 5.5")
        ),
    )
    limits = found.runs[0].limits
    assert limits.t.tolist() == [-1, 2]
    assert limits.channel.tolist() == [0, 0]
    assert list(zip(limits.low, limits.high, strict=True)) == [(-2, np.inf), (-np.inf, -201)]
    words = "once above -2, once below -201, once above -1.1"
    assert f"known of 'a' as limits only, fitted by their probability: {words}" in told.told
    assert "left out of 'valve', as no reading: once '<2'" in told.told
    assert found.runs[0].state(0).limits.t.tolist() == [-1, 2]
    assert found.runs[0].state(1).limits is None
    assert found.runs[0].segment(0, 1).limits.t.tolist() == [-1]  # the row of t = -1 has no input


def test_limits_after_the_last_reading_are_no_rows(tmp_path):
    text = "t,conc\n" + "".join(f"{t},{8 * 0.5**t:.4f}\n" for t in range(8)) + "8,<0.05\n9,<0.05\n"
    found, _ = read(tmp_path / "a.csv", text)
    run = found.runs[0]
    assert run.n_points == 8
    assert run.limits.t.tolist() == [8, 9]
    assert run.limits.high.tolist() == [0.05, 0.05]
    left, _ = read(tmp_path / "a.csv", text, missing=("<0.05",))
    assert left.runs[0].limits is None


def test_the_header_and_the_first_lines_may_be_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,2\n3,4\nt,u\n0,5\n1,4\n2,3\n3,3\n4,2\n")
    for said in ({"header": 3}, {"skip": 2}):
        np.testing.assert_array_equal(read_arguments(str(path), **said)["u"], [5, 4, 3, 3, 2])
    with pytest.raises(DataError, match="has no text in line 40, which --header names"):
        read_arguments(str(path), header=40)


@pytest.mark.parametrize(("said", "first"), [(None, 1234), (".", 1.234), (",", 1234)])
def test_points_beside_dates_with_points_separate_thousands(tmp_path, said, first):
    path = tmp_path / "a.csv"
    path.write_text("Datum;Zellen\n" + "".join(f"{d:02}.03.2024;{d}.234\n" for d in range(1, 10)))
    assert read_arguments(str(path), decimal=said)["u"][0] == first
    _, told = read(path, path.read_text())
    assert any(
        "'1.234' is read as 1234" in line and "(--decimal . if it is 1.234)" in line for line in told.told
    )


def test_points_without_such_dates_are_decimal_and_that_is_told(tmp_path):
    text = "t;u\n" + "".join(f"{i};{i + 1}.234\n" for i in range(8))
    data, told = read(tmp_path / "a.csv", text)
    assert data.runs[0].observed[0, 0] == 1.234
    assert any("--decimal , if it is 1234" in line for line in told.told)


def test_clocks_count_in_the_unit_of_their_length(tmp_path):
    text = "Time,od\n" + "".join(f"{i:02}:00:00,{i * i}\n" for i in range(20))
    data, told = read(tmp_path / "a.csv", text)
    assert (told.labels["t"], data.runs[0].t[-1]) == ("Time [h]", 19.0)
    for edit in (f"multiply Time by {1 / 3600!r} as h", "multiply Time by 1 as h"):
        assert read(tmp_path / "a.csv", text, edit=(edit,))[0].runs[0].t[-1] == pytest.approx(19.0)


def test_columns_with_a_comma_in_their_names_are_runs_too(tmp_path):
    path = tmp_path / "plate.csv"
    path.write_text(
        't;"dose, low";high\n' + "".join(f"{i};{i};{i * i}\n" for i in range(6)), encoding="utf-8"
    )
    found = assign_columns(read_table(path), Roles(time="t", u='"dose, low",high'))
    assert [roles.u for roles in found] == ["dose, low", "high"]
