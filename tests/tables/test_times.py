import numpy as np
import pytest

from gode.errors import DataError
from gode.tables.guess_roles import Roles
from gode.tables.runs import runs_of_tables
from gode.tables.text import parse_table
from gode.tables.times import read_times


def seconds(*words, unit=""):
    return read_times(words, unit, lambda row: f"line {row}").seconds.tolist()


def readings(times, head="time", sign=",", **roles):
    rows = "".join(f"{word}{sign}{i}\n" for i, word in enumerate(times))
    return runs_of_tables([parse_table(f"{head}{sign}u\n{rows}".encode(), "data.csv")], Roles(**roles))


@pytest.mark.parametrize(
    ("words", "unit", "expected"),
    [
        (["0:00:00", "0:00:01.5", "1:00:00"], "", [0, 1.5, 3600]),
        (["23:00:00", "100:00:00"], "", [82800, 360000]),
        (["00:00.25", "00:00.5", "61:00.0"], "", [0.25, 0.5, 3660]),
        (["0:00", "0:30", "1:00"], "h:mm", [0, 1800, 3600]),
        (["0:00", "0:30", "1:00"], "mm:ss", [0, 30, 60]),
        (["8:15", "8:30"], "", [29700, 30600]),  # a time of day
        (["59:00", "59:30"], "", [3540, 3570]),  # no time of day
        (["59:30", "1:00:00"], "", [3570, 3600]),
        (["12:00 AM", "1:45 PM", "11:00:05 p.m."], "", [0, 49500, 82805]),
        (["0 days 00:00:30", "1 days 00:00:00"], "", [30, 86400]),
        (["0:00:00,5", "", "0:00:01,5"], "", [0.5, np.nan, 1.5]),
    ],
)
def test_clocks_become_seconds(words, unit, expected):
    np.testing.assert_array_equal(seconds(*words, unit=unit), expected)


@pytest.mark.parametrize(
    ("words", "form", "expected"),
    [
        (["31.12.2024 13:45", "01.01.2025 00:00"], "the day first", [49500, 86400]),
        (["12/31/2024 1:45 PM", "1/1/2025 12:00 AM"], "the month first", [49500, 86400]),
        (["31/12/24", "01/01/25"], "the day first", [0, 86400]),
        (["01.02.2024", "02.02.2024"], "the day first", [0, 86400]),  # nobody writes 02.01. for January
        (["01/02/2024 08:00", "01/02/2024 09:00:30"], "dates", [28800, 32430]),  # the same day either way
        (
            ["11/01/2024", "12/01/2024", "01/02/2024"],
            "the day first",
            [0, 86400, 21 * 86400],
        ),  # else back in time
        (["31-Dec-2024 23:59:59", "01-Jan-2025 00:00:00"], "dates", [86399, 86400]),
        (["Dec 31, 2024", "1 January 2025"], "dates", [0, 86400]),
        (["2024-12-31", "31.12.2024 01:00", "2024-12-31T02:00:00"], "the day first", [0, 3600, 7200]),
    ],
)
def test_dates_of_any_form_become_seconds(words, form, expected):
    found = read_times(words, "", str)
    np.testing.assert_array_equal(found.seconds, expected)
    assert found.form.endswith(form)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["0:00", "0:30"], r"line 0: .* hours and minutes or minutes and seconds; .* 'time \[h:mm\]'"),
        (
            ["01/02/2024", "02/02/2024"],
            "line 0: in '01/02/2024' and all other dates .* write them as 2024-12-31",
        ),
        (["31/12/2024", "12/31/2024"], "some dates have the day first and some the month"),
        (["30.01.2024", "31.02.2024"], "line 1: there is no date '31.02.2024'"),
        (["1:00:00", "1:61:00"], "line 1: expected a time such as 13:45:10, got '1:61:00'"),
        (["1:00:00", "soon"], "line 1: expected a time"),
        (["1:00 PM", "13:00 PM"], "line 1: '13:00 PM' is no time of a clock of 12 hours"),
        (["2024-01-01", "tomorrow"], "line 1: expected a date such as 2024-05-31 12:00:00, got 'tomorrow'"),
    ],
)
def test_what_is_no_time_or_could_be_two_is_refused(words, sentence):
    with pytest.raises(DataError, match=sentence):
        seconds(*words)


def test_a_clock_goes_on_past_midnight_and_that_is_said():
    found = readings(["23:59:50", "23:59:55", "00:00:00", "12:00:00", "00:00:00"])
    np.testing.assert_array_equal(found.runs[0]["t"], [0, 5, 10, 43210, 86410])
    assert "time from 'time' (h:mm:ss, past midnight, in seconds)" in found.told[0]
    assert found.labels["t"] == "time [s]"


def test_a_clock_that_goes_back_a_little_is_refused():
    with pytest.raises(DataError, match="line 3, column 'time': time must increase"):
        readings(["10:00:00", "09:59:00", "10:01:00"])


@pytest.mark.parametrize(
    "text",
    [
        "Date,Time,u\n2024-12-31,23:30,1\n2025-01-02,00:30,2\n",
        "Time;Date;u\n23:30;31.12.2024;1,5\n00:30;02.01.2025;2\n",
        "2024-12-31 23:30:00 1.5\n2025-01-02 00:30:00 2.5\n",
    ],
)
def test_date_and_time_of_day_may_stand_in_two_columns(text):
    found = runs_of_tables([parse_table(text.encode(), "data.csv")], Roles())
    assert found.runs[0]["t"].tolist() == [0, 90000]
    assert "not used" not in found.told[0]
    assert " and h:mm" in found.told[0]


def test_each_run_has_a_clock_of_its_own():
    rows = ["A;31.12.2024 23:00;1", "A;01.01.2025 01:00;2,5", "B;05.02.2025 12:00;3", "B;05.02.2025 12:01;4"]
    text = "\n".join(["run;Zeit;u", *rows])
    found = runs_of_tables([parse_table(text.encode(), "data.csv")], Roles())
    assert [run["t"].tolist() for run in found.runs] == [[0, 7200], [0, 60]]


@pytest.mark.parametrize("sign", [",", ";", "\t", " "])
def test_times_of_day_stand_in_any_layout(sign):
    found = readings([f"{i}:30:00" for i in range(6)], head="Time", sign=sign)
    np.testing.assert_array_equal(found.runs[0]["t"], 3600.0 * np.arange(6))


def test_times_need_no_known_name():
    assert readings(["8:00:00", "8:00:05"], head="stamp").runs[0]["t"].tolist() == [0, 5]


@pytest.mark.parametrize(
    ("name", "unit"), [("time_h", "h"), ("time_min", "min"), ("t_ms", "ms"), ("Time in s", "s")]
)
def test_a_name_of_time_may_hold_its_unit_also_beside_runs(name, unit):
    text = f"patient,dose,{name},conc\n" + "".join(f"{p},5,{t},{p + t}\n" for p in (1, 2) for t in range(3))
    found = runs_of_tables([parse_table(text.encode(), "data.csv")], Roles(run="patient", u="conc"))
    assert [run["t"].tolist() for run in found.runs] == [[0, 1, 2], [0, 1, 2]]
    assert found.labels["t"] == f"{name} [{unit}]"


def test_a_column_without_a_name_of_time_is_found_beside_runs():
    text = "who,stage,u\n" + "".join(f"{p},{t},{-t}\n" for p in "ab" for t in range(3))
    found = runs_of_tables([parse_table(text.encode(), "data.csv")], Roles(run="who"))
    assert found.labels["t"] == "stage"


def test_many_dates_are_read_in_little_time():
    words = [f"{1 + i % 28:02}.{1 + i // 28 % 12:02}.{2000 + i // 336} 12:00" for i in range(20_000)]
    assert len(read_times(words, "", str).seconds) == 20_000
