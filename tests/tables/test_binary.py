"""Excel, MATLAB and Parquet files as the programs write them, and hostile ones."""

import io
import struct
import sys
import zipfile
import zlib
from contextlib import suppress
from datetime import datetime, time, timedelta

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from gode.errors import DataError
from gode.tables import binary
from gode.tables.guess_roles import Roles
from gode.tables.read import parse_file, read_table
from gode.tables.runs import runs_of_tables

T = np.arange(8) * 0.5
U = np.sin(T) / 3


def workbook(sheets):
    openpyxl = pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def matlab(**variables):
    out = io.BytesIO()
    savemat(out, variables, do_compression=True)
    return out.getvalue()


def hdf5(fill, head=b""):
    h5py = pytest.importorskip("h5py", reason="MATLAB 7.3 files need h5py")
    out = io.BytesIO()
    with h5py.File(out, "w", userblock_size=512 if head else 0) as file:
        fill(file)
    return head + out.getvalue()[len(head) :]


def parquet(frame):
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    out = io.BytesIO()
    frame.to_parquet(out)
    return out.getvalue()


def columns(data, part=""):
    table = parse_file(data, "data", part)
    return {name: table.numbers(name).tolist() for name in table.names if table.is_numeric(name)}


PAIR = {"t": T.tolist(), "u": U.tolist()}
ROWS = list(zip(T.tolist(), U.tolist(), strict=True))


def test_the_first_sheet_with_numbers_is_read_below_its_title():
    data = workbook({"About": [["Made by"], ["us"]], "Data": [["Well A1"], [], ["t [s]", "u"], *ROWS]})
    table = parse_file(data, "data.xlsx")
    np.testing.assert_allclose([table.numbers(name) for name in ("t", "u")], [T, U], rtol=1e-15)
    assert (table.names, table.units) == (("t", "u"), ("s", ""))
    assert "sheet 'Data'" in table.notes
    assert table.lines[0] == 4


def test_another_sheet_is_named_after_a_colon(tmp_path):
    data = workbook({"One": [["t", "u"], *ROWS], "Two": [["t", "v"], [0, 1], [1, 2], [2, None], [3, 5]]})
    (tmp_path / "data.xlsx").write_bytes(data)
    table = read_table(f"{tmp_path}/data.xlsx:Two")
    np.testing.assert_array_equal(table.numbers("v"), [1, 2, np.nan, 5])
    with pytest.raises(DataError, match="has no sheet 'Three'; its sheets are 'One', 'Two'"):
        read_table(f"{tmp_path}/data.xlsx:Three")


def test_times_and_dates_of_excel_become_seconds():
    days = [[datetime(2024, 12, 31, 23, 59, 58 + i) if i < 2 else datetime(2025, 1, 1), i] for i in range(3)]
    clock = [[time(23, 0), 0], [datetime(1900, 1, 1, 1, 0), 1], [timedelta(days=2), 2]]
    for rows, expected in ((days, [0, 1, 2]), (clock, [0, 7200, 90000])):
        table = parse_file(workbook({"A": [["Time", "u"], *rows]}), "data.xlsx")
        assert runs_of_tables([table], Roles()).runs[0]["t"].tolist() == expected


def test_a_workbook_of_empty_sheets_and_other_archives_are_refused():
    with pytest.raises(DataError, match="has no sheet with numbers"):
        parse_file(workbook({"A": [["nothing"]]}), "data.xlsx")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("data.csv", "t,u\n0,1\n")
    with pytest.raises(DataError, match="is a ZIP archive and no Excel workbook; unpack it"):
        parse_file(out.getvalue(), "data.zip")


def test_vectors_of_equal_length_are_the_columns_of_a_matlab_file():
    assert columns(matlab(t=T, u=U[:, None], fs=2.0, note="x", short=[1, 2, 3])) == PAIR


def test_a_matrix_is_its_columns_whichever_way_it_lies():
    both = np.column_stack([T, U])
    expected = {"column 1": PAIR["t"], "column 2": PAIR["u"]}
    assert columns(matlab(data=both)) == columns(matlab(data=both.T)) == expected
    assert list(columns(matlab(t=T, y=np.column_stack([U, U])))) == ["t", "y 1", "y 2"]


def test_a_struct_is_its_fields():
    data = matlab(out={"t": T, "u": U}, other={"t": T[:3], "w": U[:3]}, fs=2.0)
    assert columns(data) == PAIR
    assert list(columns(data, "other")) == ["t", "w"]
    with pytest.raises(DataError, match="has no variable 'nowhere'; it has"):
        columns(data, "nowhere")


def test_matlab_7_3_files_are_read():
    def fill(file):
        file["t"], file["u"] = T[None, :], U[:, None]
        file["t"].attrs["MATLAB_class"] = np.bytes_("double")
        file["name"] = np.frombuffer(b"a b c d ", np.uint16)
        file["name"].attrs["MATLAB_class"] = np.bytes_("char")

    def fill_struct(file):
        file["out/t"], file["out/u"] = T, U

    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM"
    assert columns(hdf5(fill, head)) == columns(hdf5(fill)) == columns(hdf5(fill_struct)) == PAIR


def test_links_out_of_an_hdf5_file_are_not_followed(tmp_path):
    h5py = pytest.importorskip("h5py", reason="MATLAB 7.3 files need h5py")
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["v"] = U

    def fill(file):
        file["t"], file["u"] = T, U
        file["v"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "v")
        file["self"] = h5py.SoftLink("/")

    assert columns(hdf5(fill)) == PAIR


def test_a_matlab_file_without_a_table_is_told_how_to_make_one():
    with pytest.raises(DataError, match=r"no two vectors .* \(variables: 'fs'\); save them with save"):
        columns(matlab(fs=2.0, name="x"))


def test_a_text_that_begins_like_a_matlab_file_is_told_to_be_damaged():
    with pytest.raises(DataError, match="a damaged file of MATLAB"):
        parse_file(b"MATLAB 5.0 notes\n" + b"t,u\n1,2\n" * 30, "notes.mat")


def test_parquet_columns_are_read_with_their_times():
    stamps = pd.to_datetime("2024-12-31 23:59:59") + pd.to_timedelta(T, unit="s")
    frame = pd.DataFrame({"when": stamps, "u [m]": U, "who": ["a"] * 8, "more": [[1]] * 8})
    table = parse_file(parquet(frame), "data.parquet")
    assert (table.names, table.units[1]) == (("when", "u", "who"), "m")
    np.testing.assert_array_equal(table.times("when").seconds, T)
    np.testing.assert_array_equal(table.numbers("u"), U)
    frame["when"] = pd.to_timedelta(T, unit="s")
    np.testing.assert_array_equal(parse_file(parquet(frame), "data.parquet").times("when").seconds, T)


def fill_pair(file):
    file["t"], file["u"] = T, U


KINDS = {
    "Excel": lambda: workbook({"Data": [["t", "u"], *ROWS]}),
    "MATLAB": lambda: matlab(t=T, u=U),
    "HDF5": lambda: hdf5(fill_pair),
    "Parquet": lambda: parquet(pd.DataFrame(PAIR)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_give_a_table_or_one_sentence(kind, rng):
    data = KINDS[kind]()
    for _ in range(60):
        bad = bytearray(data[: rng.integers(4, len(data) + 1)])
        for at in rng.integers(4, len(bad), rng.integers(0, 6)):
            bad[at] = rng.integers(256)
        with suppress(DataError):
            runs_of_tables([parse_file(bytes(bad), "data")], Roles())


@pytest.mark.parametrize(
    ("kind", "library"), [("Excel", "openpyxl"), ("HDF5", "h5py"), ("Parquet", "pyarrow")]
)
def test_without_its_library_a_file_is_answered_with_the_command_to_install_it(kind, library, monkeypatch):
    data = KINDS[kind]()
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(DataError, match=rf"needs {library}: pip install 'gode-engine\[files\]'"):
        parse_file(data, "data")


def test_what_unpacks_to_too_much_is_refused_before_it_does(monkeypatch):
    monkeypatch.setattr(binary, "MAX_UNPACKED", 100_000)
    monkeypatch.setattr("gode.tables.binary.MAX_UNPACKED", 100_000)
    monkeypatch.setattr(binary, "MAX_VALUES", 1000)
    long = np.zeros(20_000)
    block = zlib.compress(bytes(50_000_000))  # one that says nothing of its size
    bomb = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 15, len(block)) + block
    with pytest.raises(DataError, match="unpacks to more than"):
        parse_file(bomb, "data.mat")
    for data in (
        matlab(t=long, u=long),
        hdf5(lambda file: file.create_dataset("t", (10**12,), chunks=(10**6,), dtype="f8")),
        parquet(pd.DataFrame({"t": long, "u": long})),
        workbook({"A": [[0, 0]] * 600}),
    ):
        with pytest.raises(DataError, match="unpacks to more than"):
            parse_file(data, "data")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\xd0\xcf\x11\xe0" + bytes(600), "old Excel file .* save it as .xlsx or CSV"),
        (b"\x1f\x8b\x08" + bytes(60), "packed by gzip; unpack it"),
    ],
)
def test_other_packed_files_are_named(data, sentence):
    with pytest.raises(DataError, match=sentence):
        parse_file(data, "data")


def test_a_part_of_a_text_is_refused():
    with pytest.raises(DataError, match="is text and has no parts; leave out :A"):
        parse_file(b"t,u\n0,1\n", "data.csv", "A")
