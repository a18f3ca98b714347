import numpy as np
import pytest

from gode.studio.reading import guess, how_read, sheets, suggested
from gode.tables.read import read_table

PLATE = "Zeit;Temp [°C];A1;B1;Blank\n00:00:00;37,0;0,12;0,13;0,1\n00:20:00;37,0;0,14;0,15;0,1\n"
COURSE = [(0, 0), (0.5, 3), (1, 6), (2, 8), (4, 7), (8, 4), (12, 2), (24, 0.5)]
CASES = {
    "plate.csv": (PLATE, ["time", "ignored", "state", "state", "ignored"], True),
    "shaker.csv": ("t,acc,force\n0,1,2\n1,2,3\n", ["time", "acceleration", "input"], False),
    "long.csv": ("run,hours,od\n1,0,1\n1,1,2\n2,0,1\n2,1,3\n", ["run", "time", "state"], False),
    "tablets.csv": (
        "Subject,Wt,Dose,Time,conc\n"
        + "".join(f"{i},{60 + i},{4 + i},{t},{c}\n" for i in (1, 2, 3) for t, c in COURSE),
        ["run", "ignored", "dose", "time", "state"],
        False,
    ),
    "dishes.csv": (  # what grows under a dose is not cleared of it
        "run,dose,hours,od\n" + "".join(f"{i},{i},{t},{t + i}\n" for i in (1, 2, 3) for t in range(8)),
        ["run", "ignored", "time", "state"],
        False,
    ),
    "bare.csv": ("0 1\n1 2\n2 4\n", ["time", "state"], False),
}


@pytest.mark.parametrize("name", CASES)
def test_roles_are_guessed(tmp_path, name):
    text, roles, wells = CASES[name]
    (tmp_path / name).write_text(text)
    found, many, why, _ = guess(read_table(tmp_path / name))
    assert (found, many) == (roles, wells)
    assert all(why)


def test_readings_that_rise_after_a_dose_suggest_a_depot(tmp_path):
    (tmp_path / "tablets.csv").write_text(CASES["tablets.csv"][0])
    table = read_table(tmp_path / "tablets.csv")
    known, asks = suggested(table, CASES["tablets.csv"][1])
    assert known["frame"] == ["depot' = -ka*depot; conc' = ka*depot/V - ke*conc"]
    assert known["bounds"] == ["ka = 0.5:"]  # one over the latest peak
    assert "absorbed from a depot" in asks[0]
    assert suggested(table, ["run", "ignored", "ignored", "time", "state"]) == ({}, [])
    injected = [f"{i},60,4,{t},{8 * 0.8**t:.3f}\n" for i in (1, 2, 3) for t in range(1, 9)]
    (tmp_path / "vein.csv").write_text("Subject,Wt,Dose,Time,conc\n" + "".join(injected))
    table = read_table(tmp_path / "vein.csv")
    assert guess(table)[0] == CASES["tablets.csv"][1]
    assert suggested(table, guess(table)[0]) == ({}, [])


def test_a_blank_asks_to_be_subtracted(tmp_path):
    (tmp_path / "plate.csv").write_text(PLATE)
    table = read_table(tmp_path / "plate.csv")
    assert suggested(table, CASES["plate.csv"][1]) == (
        {},
        ["'Blank' is not subtracted; “Edit the data” does it, if readings hold it"],
    )


def test_what_was_guessed_about_the_text_comes_with_what_shows_it(tmp_path):
    path = tmp_path / "plate.csv"
    path.write_text(PLATE)
    said = " ".join(how_read(read_table(path), path))
    assert "separated by semicolons: line 2 has 4 for 5 columns" in said
    assert "decimal commas, as in 37,0" in said
    assert "the numbers begin in line 2" in said
    assert "Temp in °C" in said
    assert "Zeit holds times and is counted from its start" in said
    path.write_text("0,1\n1,2\n2,4\n")
    assert "no header: the numbers begin in line 1" in " ".join(how_read(read_table(path), path))


def test_sheets_of_a_workbook_are_listed(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    rows = book.create_sheet("Plate 1")
    for row in np.arange(12.0).reshape(6, 2).tolist():
        rows.append(row)
    book.save(tmp_path / "a.xlsx")
    assert sheets(tmp_path / "a.xlsx") == ["Notes", "Plate 1"]
    assert how_read(read_table(tmp_path / "a.xlsx"), tmp_path / "a.xlsx") == []
    (tmp_path / "a.csv").write_text("t,u\n0,1\n")
    assert sheets(tmp_path / "a.csv") == []
