import codecs
import os
import random
import threading
import time
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gode.errors import GodeError
from gode.tables.guess_roles import Roles, reasons_against
from gode.tables.read import read_table
from gode.tables.runs import runs_of_tables
from gode.tables.table import frame_table
from gode.tables.text import parse_table

ROWS = [[0.0, 1.5, -2.0], [0.5, np.nan, 3.25e-12], [1.25, 4.0, 1e12], [2.0, 0.1, 7.0], [3.0, 1 / 3, 8.0]]


def written(rows, *, delimiter=",", decimal=".", header="t,u,force", end="\n", missing=""):
    """A table as some program might write it."""
    lines = [header.replace(",", delimiter)] if header else []
    for row in rows:
        cells = [missing if np.isnan(x) else repr(float(x)).replace(".", decimal) for x in row]
        lines.append(delimiter.join(cells))
    return end.join(lines) + end


def table_of(text, encoding="utf-8"):
    return parse_table(text.encode(encoding), "data.csv")


def values(table):
    return np.column_stack([table.numbers(name) for name in table.names])


SIGNS = (",.", ";.", "\t.", "|.", ";,", "\t,", "|,")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1")
HEADERS = ("t,u,force", "")
ENDS = ("\n", "\r\n", "\r")
LAYOUTS = [  # every pair of the four occurs
    (signs, encoding, HEADERS[(i + k) % 2], ENDS[(i + k) % 3])
    for i, signs in enumerate(SIGNS)
    for k, encoding in enumerate(ENCODINGS)
]


def test_the_layouts_hold_every_pair():
    for one, other in combinations(range(4), 2):
        met = {(layout[one], layout[other]) for layout in LAYOUTS}
        assert len(met) == len({pair[0] for pair in met}) * len({pair[1] for pair in met})


@pytest.mark.parametrize(("signs", "encoding", "header", "end"), LAYOUTS)
def test_every_layout_reads_back_with_every_digit(signs, encoding, header, end):
    delimiter, decimal = signs
    text = written(ROWS, delimiter=delimiter, decimal=decimal, header=header, end=end)
    table = table_of(text, encoding)
    np.testing.assert_array_equal(values(table), ROWS)
    assert table.names == (("t", "u", "force") if header else ("column 1", "column 2", "column 3"))


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("gap", [" ", "   ", " \t "])
def test_columns_may_stand_apart_by_spaces(decimal, gap):
    text = "  " + written(ROWS, delimiter=gap, decimal=decimal, missing="NaN").replace("\n", "\n  ")
    np.testing.assert_array_equal(values(table_of(text)), ROWS)


def test_units_in_headers_become_labels():
    table = table_of("time (s),u [m],u(t),v [m/s^2]\n0,1,2,3\n1,2,3,4\n")
    assert table.names == ("time", "u", "u_2", "v")
    assert [table.label(name) for name in table.names] == ["time [s]", "u [m]", "u_2", "v [m/s^2]"]
    assert table.find("u [m]") == "u"
    assert table.find("time (s)") == "time"
    assert table.find("4") == "v"
    assert table.find("TIME") == "time"


@pytest.mark.parametrize(
    ("header", "names", "units"),
    [
        ("Days after application;Residue mg/kg", ("Days after application", "Residue"), ("d", "mg/kg")),
        ("t_s;voltage_V;speed_rad_s", ("t_s", "voltage_V", "speed_rad_s"), ("s", "V", "rad/s")),
        ("day;temp_C;flow_mL_per_min", ("day", "temp_C", "flow_mL_per_min"), ("d", "°C", "mL/min")),
        ("t_s;A_V;rate_h;conc_A", ("t_s", "A_V", "rate_h", "conc_A"), ("s", "", "", "")),
        (
            "t_s;x_min;protein_deg;x_m_s;w/w",
            ("t_s", "x_min", "protein_deg", "x_m_s", "w/w"),
            ("s", *[""] * 4),
        ),
        ("t_s;gate m/h;signal A/V", ("t_s", "gate", "signal A/V"), ("s", "m/h", "")),
        ("t_s;signal_1;rate_K;cells_N", ("t_s", "signal_1", "rate_K", "cells_N"), ("s", "", "", "")),
    ],
)
def test_known_units_at_the_end_of_a_name_are_units(header, names, units):
    rows = "\n".join(";".join(f"{i}.5" for _ in names) for i in range(6))
    table = parse_table(f"{header}\n{rows}\n".encode(), "data.csv")
    assert (table.names, table.units) == (names, units)
    assert [table.find(head) for head in header.split(";")] == [*names]


def test_units_may_stand_in_a_second_line():
    table = table_of("t;u\n[s];mm\n0,0;1,5\n0,5;2,5\n")
    assert table.units == ("s", "mm")
    np.testing.assert_array_equal(values(table), [[0, 1.5], [0.5, 2.5]])


def test_umlauts_in_a_header_of_windows_are_read():
    assert table_of("Zeit;Höhe\n0;1\n1;2\n", "latin-1").names == ("Zeit", "Höhe")


def test_comments_blank_lines_and_a_preamble_are_skipped():
    text = "# made on Monday\nInstrument: A7, serial 12, room 3, hall\n\nt,u\n0,1\n# pause\n\n1,2\n"
    table = table_of(text)
    assert table.names == ("t", "u")
    np.testing.assert_array_equal(values(table), [[0, 1], [1, 2]])
    assert table.lines.tolist() == [5, 8]


def test_a_title_above_two_columns_is_no_header():
    assert table_of("Well A1\n\nt,u\n0,1\n1,2\n").names == ("t", "u")


def test_a_commented_header_is_a_header():
    assert table_of("# t u\n0 1\n1 2\n").names == ("t", "u")


@pytest.mark.parametrize(
    "header",
    [
        "# t [s]  theta [rad]",
        "# t [s] theta [rad]",
        "t [s]   theta [rad]",
        "%t [s], theta [rad]",
        "t(s) theta(rad)",
    ],
)
def test_names_apart_by_spaces_may_hold_spaces(header):
    table = table_of(f"{header}\n0.0 1.0\n0.5 1.5\n1.0 2.0\n")
    assert (table.names, table.units) == (("t", "theta"), ("s", "rad"))


def test_units_apart_by_spaces_belong_to_the_names_above_them():
    table = table_of(
        "id   time   conc\n      (h)   (mg/l)\n 1     0.0    4.5\n 1     1.0    3.5\n 1     2.0    2.5\n"
    )
    assert (table.names, table.units) == (("id", "time", "conc"), ("", "h", "mg/l"))


def test_a_unit_may_stand_behind_a_slash_with_spaces():
    table = table_of("t / min,U / mV,x/y,a / b\n0,1,2,3\n1,2,3,4\n")
    assert table.names == ("t", "U", "x/y", "a / b")
    assert table.units == ("min", "mV", "", "")


def test_names_that_differ_in_brackets_alone_keep_them():
    assert table_of("t,A (412 nm),A (560 nm)\n0,1,2\n1,2,3\n").names == ("t", "A (412 nm)", "A (560 nm)")
    assert table_of("t,T (K),T (°C)\n0,1,2\n1,2,3\n").names == ("t", "T", "T_2")


def test_repeated_names_get_those_of_their_groups():
    table = table_of(",Tank 1,,Tank 2,\nt,level (cm),salt,level (cm),pump\n0,1,2,3,4\n1,2,3,4,5\n2,3,5,5,6\n")
    assert table.names == ("t", "Tank 1 level", "salt", "Tank 2 level", "pump")
    assert table.units[1] == "cm"


def test_lines_that_name_each_value_are_rows():
    text = "Ready!\nmillis: 0, T=20.5 C pwm:128\nmillis: 10, T=21.5 C pwm:0\n"
    table = table_of(text + "sensor lost\nmillis: 20, T=-1e-1 C pwm:0\n")
    assert (table.names, table.units) == (("millis", "T", "pwm"), ("ms", "C", ""))
    np.testing.assert_array_equal(values(table), [[0, 20.5, 128], [10, 21.5, 0], [20, -0.1, 0]])
    assert table.lines.tolist() == [2, 3, 5]
    assert table.notes[0] == "each value behind its name"


def test_a_named_value_whose_unit_changes_is_refused():
    text = "t: 0 s, U: 900 mV\nt: 1 s, U: 950 mV\nt: 2 s, U: 1.02 V\n"
    with pytest.raises(GodeError, match="line 3: U is in V, but in mV in the lines above"):
        table_of(text)
    assert table_of(text.replace(" V", " up").replace(" mV", " down")).names == ("t", "U")


def test_one_named_value_a_line_is_text_above_the_table():
    assert table_of("gain: 3\nrate: 5\nt,u\n0,1\n1,2\n2,3\n").names == ("t", "u")


def test_a_second_column_of_the_same_times_is_no_signal():
    table = table_of("X,a,X,b\n" + "".join(f"{i},{i * i},{i},{3 - i * i}\n" for i in range(9)))
    assert reasons_against(table, Roles(time="X")) == {"X_2": "the same as 'X'"}


def test_row_names_need_no_header():
    table = table_of('"t","u"\n"1",0,1.5\n"2",1,2.5\n')
    assert table.names == ("column 1", "t", "u")
    np.testing.assert_array_equal(table.numbers("u"), [1.5, 2.5])


def test_a_trailing_delimiter_makes_no_column():
    assert table_of("t,u,\n0,1,\n1,2,\n").names == ("t", "u")


@pytest.mark.parametrize("cell", ["", "NaN", "nan", "NA", "null", "-", "#N/A", "?"])
def test_a_missing_cell_is_not_observed(cell):
    np.testing.assert_array_equal(table_of(f"t,u\n0,1\n1,{cell}\n2,3\n").numbers("u"), [1, np.nan, 3])


def test_dates_become_seconds():
    table = table_of("time,u\n2024-05-31 12:00:00,1\n2024-05-31 12:00:01.5,2\n2024-06-01 12:00:00,3\n")
    np.testing.assert_allclose(table.times("time").seconds, [0, 1.5, 86400])


BAD = {
    "empty": (b"", "data.csv is empty"),
    "only blank lines": (b"\n\n \n", "data.csv is empty"),
    "only a comment": (b"# t,u\n", "data.csv is empty"),
    "only a header": (b"t,u\n", "holds no row of numbers"),
    "one row": (b"t,u\n0,1\n", "too few"),
    "two rows": (b"t,u\n0,1\n1,2\n", "too few"),
    "one column": (b"1\n2\n3\n4\n5\n6\n", "nothing observed besides the time"),
    "no time": (b"a,b\n1,5\n0,2\n1,3\n", "name it with --time"),
    "all missing": (b"t,u\n0,\n1,\n2,\n3,\n4,\n", "nothing observed|nothing is observed"),
    "text in a number column": (b"t,u\n0,1\n1,2\n2,abc\n3,4\n", "line 4, column 'u': .* got 'abc'"),
    "infinite": (b"t,u\n0,1\n1,inf\n2,3\n", "line 3, column 'u': expected a finite number, got inf"),
    "too many cells": (b"t,u\n0,1\n1,2,9\n2,3\n3,4\n", "line 3: 3 cells, but the other lines have 2"),
    "unsorted": (b"t,u\n0,1\n2,2\n1,3\n3,4\n", "line 4, column 't': time must increase, but 1 follows 2"),
    "repeated": (b"t,u\n0,1\n1,2\n1,3\n3,4\n", "line 4, column 't': time must increase, but 1 follows 1"),
    "nearly equal": (b"t,u\n0,1\n1,2\n1.00000000000001,3\n3,4\n5,6\n9,9\n", "nearly coincide"),
    "zero bytes": (b"t,u\n0,1\n\0\0\0,2\n", "no text file"),
    "half UTF-16": (codecs.BOM_UTF16_LE + "t,u\n0,1\n".encode("utf-16-le")[:-1], "not whole utf-16"),
    "open quote": (b't,u\n0,1\n1,"2\n2,3\n', "quotation mark"),
    "prose": (b"Dear all,\nplease find the data attached.\nYours\n", "holds no row of numbers"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "no text file"),
}  # fmt: skip


def dataset_of(data, roles=None):
    from gode.data.from_arrays import make_dataset

    found = runs_of_tables([parse_table(data, "data.csv")], roles or Roles())
    columns = [found.column(name) for name in ("t", "u", "velocity", "acceleration", "force")]
    return make_dataset(*(None if c is None else (c[0] if len(c) == 1 else c) for c in columns), None)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_clear_sentence(name):
    data, sentence = BAD[name]
    with pytest.raises(GodeError, match=sentence) as caught:
        dataset_of(data)
    assert "\n" not in str(caught.value)


def test_a_directory_is_no_file(tmp_path):
    with pytest.raises(GodeError, match="is a directory; name a file in it"):
        read_table(tmp_path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(GodeError, match=r"nowhere.csv cannot be read \(No such file"):
        read_table(tmp_path / "nowhere.csv")


def test_a_file_that_shrinks_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "data.csv"
    path.write_text(written(ROWS))
    size, fstat = path.stat().st_size, os.fstat

    def cut_after(handle):
        before = fstat(handle)
        os.truncate(path, size // 2)
        return before

    monkeypatch.setattr(os, "fstat", cut_after)
    with pytest.raises(GodeError, match=f"had {size} bytes when it was opened, but {size // 2}"):
        read_table(path)


def test_a_file_cut_at_any_moment_is_whole_or_refused(tmp_path):
    path = tmp_path / "data.csv"
    text = "t,u\n" + "".join(f"{i},{i % 7}\n" for i in range(60_000))
    for delay in (0.0, 0.0002, 0.001, 0.004):
        path.write_text(text)
        timer = threading.Timer(delay, lambda: os.truncate(path, len(text) // 3))
        timer.start()
        table, sentence = outcome(lambda: read_table(path))
        timer.join()
        assert table or "being written" in sentence
        assert not table or table.n_rows in (60_000, table_of(text[: len(text) // 3]).n_rows)


@pytest.mark.parametrize("n", [50_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_long_tables_keep_every_digit(n):
    t, u = np.arange(n) * 1e-3, np.sin(np.arange(n) * 1e-3)
    lines = map("{!r},{!r}".format, t.tolist(), u.tolist())
    data = ("t,u\n" + "\n".join(lines)).encode()
    start = time.process_time()
    table = parse_table(data, "data.csv")
    assert time.process_time() - start < 10
    np.testing.assert_array_equal(table.numbers("u"), u)
    assert table.n_rows == n


def test_a_dataframe_is_a_table():
    frame = pd.DataFrame({"u": [1.0, 2.0, None]}, index=pd.Index([0.0, 0.5, 1.0], name="t"))
    table = frame_table(frame)
    assert table.names == ("t", "u")
    np.testing.assert_array_equal(table.numbers("u"), [1, 2, np.nan])
    with pytest.raises(GodeError, match="is empty"):
        frame_table(pd.DataFrame())
    with pytest.raises(GodeError, match="two columns of the same name"):
        frame_table(pd.DataFrame([[1, 2]], columns=["u", "u"]))
    with pytest.raises(GodeError, match="line 1, column 'u': expected a number, got 'x'"):
        frame_table(pd.DataFrame({"u": [1, "x"]})).numbers("u")


PER_EXAMPLE = 50
CELLS = [
    "",
    "nan",
    "1",
    "-2.5",
    "3,5",
    "1e400",
    "1e-320",
    "inf",
    "x",
    '"',
    '"a',
    "'",
    "\0",
    "é",
    "1_0",
    "0x1",
]
CELLS += ["1:30", "0:00:05", "31.12.2024 13:45", "12/31/2024 1:45 PM", "1,067", "1.067,5", "1,234,567"]
CELLS += ["#", " ", "2024-01-01", "u''", "∞", "٣"]
HEADS = ["t", "time", "u", "u [m]", "x (mm)", "v", "a", "force", "run", "", '"u"', "5", "#", "[", "t t", "é"]
PIECES = [*',;\t |\n\r"#%.-e\ufeff\x0b\u2028', "\r\n", "//"]


def random_file(rng):
    """A table with some of everything that goes wrong."""
    delimiter, decimal = rng.choice([",", ";", "\t", " ", "|", "  ", ", "]), rng.choice(".,")
    width, height = rng.randint(0, 5), rng.choice([0, 1, 2, 3, 7, 12])
    lines = [delimiter.join(rng.choice(HEADS) for _ in range(width))] * (rng.random() < 0.7)
    step, plain = rng.choice([0.0, 1e-13, 0.1, 1.0, 1e11, -1.0]), rng.random() < 0.8
    for i in range(height):
        cells = [
            f"{(i * step):.12g}" if plain else f"{i}:{i * i % 61:02}:{i % 60:02}",
            *(f"{rng.gauss(0, 1e3):.5g}" for _ in range(width - 1)),
        ][:width]
        cells = [rng.choice(CELLS) if rng.random() < 0.06 else c.replace(".", decimal) for c in cells]
        lines.append(delimiter.join(cells))
    text = rng.choice(["\n", "\r\n", "\r"]).join(lines) + rng.choice(["", "\n"])
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice(PIECES) + text[at + rng.randint(0, 2) :]
    data = text.encode(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"]), errors="replace")
    return data if rng.random() < 0.9 else data[: rng.randint(0, len(data))]


def random_roles(rng):
    names = ("time", "u", "velocity", "acceleration", "force", "run")
    return Roles(**{n: rng.choice([*HEADS, "1", "2", "none", "\0"]) for n in names if rng.random() < 0.12})


def outcome(call):
    """What a call returns, or the sentence of the error it raises."""
    try:
        return call(), ""
    except GodeError as error:
        return None, str(error)


def check_file(data, roles):
    dataset, sentence = outcome(lambda: dataset_of(data, roles))
    assert dataset or (sentence and "\n" not in sentence), data
    for run in dataset.runs if dataset else ():
        assert np.isfinite(run.t).all()
        assert (np.diff(run.t) > 0).all()
        assert not np.isinf(run.observed).any()


def check_random_files(seed):
    rng = random.Random(seed)
    for _ in range(PER_EXAMPLE):
        check_file(random_file(rng), random_roles(rng))


@settings(max_examples=24, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_random_files_give_a_dataset_or_one_sentence(seed):
    check_random_files(seed)


@pytest.mark.slow
@settings(max_examples=250, deadline=None)
@given(st.integers(0, 2**64))
def test_twelve_thousand_random_files_give_a_dataset_or_one_sentence(seed):
    check_random_files(seed)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_table_or_one_sentence(data):
    check_file(data, Roles())


def test_messages_between_the_rows_of_a_serial_monitor_are_left_out():
    rows = [f"14:07:{i:02}.000 -> pwm:{180 - i} temp:{20 + 0.5 * i}" for i in range(12)]
    text = "\n".join(["Port open", "Setup done", *rows[:6], "Sensor error, retrying", *rows[6:]])
    table = parse_table(text.encode(), "arduino.log")
    assert table.names == ("time", "pwm", "temp")
    np.testing.assert_array_equal(np.diff(table.times("time").seconds), np.ones(11))
    np.testing.assert_array_equal(table.numbers("temp"), 20 + 0.5 * np.arange(12))
    assert "without 3 lines that are no rows" in " ".join(table.notes)
    bare = text.replace("pwm:", "").replace(" temp:", "\t")
    np.testing.assert_array_equal(
        parse_table(bare.encode(), "a.log").numbers("column 3"), table.numbers("temp")
    )
