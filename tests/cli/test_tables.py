"""Tables as people have them, from the file to the equation."""

import json
import os
import re

import numpy as np
import pytest
from click.testing import CliRunner

from commands import GROWTH, gode, refused
from gode.cli import main
from gode.equation import parse_equation
from gode.solve import solve

QUICK = ("--effort", "quick", "--without", "t", "--json")
RATE, CAPACITY = 0.6, 1.3  # per hour
HOURS = np.arange(0.0, 15.1, 0.5)


def clock(hours):
    seconds = round(hours * 3600)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def plate(path, blanks, seed=3):
    """Write eight wells of one strain, each with its own inoculum and noise."""
    rng = np.random.default_rng(seed)
    starts = rng.uniform(0.03, 0.12, 8)
    growth = [CAPACITY / (1 + (CAPACITY / n - 1) * np.exp(-RATE * HOURS)) for n in starts]
    wells = [b + u + 0.006 * rng.standard_normal(len(HOURS)) for b, u in zip(blanks, growth, strict=True)]
    names = [f"{row}{i}" for row in "AB" for i in range(1, 5)]
    lines = [",".join([clock(h), *(f"{w[k]:.4f}" for w in wells)]) for k, h in enumerate(HOURS)]
    path.write_text("\n".join([",".join(["Time", *names]), *lines]))
    return str(path)


def shape(text):
    """The terms of an equation without its numbers."""
    return sorted(
        re.sub(r"\d[\d.e-]*\*?", "", term) for term in re.split(r" [+-] |= -?", text.replace("^2", "²"))[1:]
    )


def test_wells_in_columns_are_runs(tmp_path):
    path = plate(tmp_path / "plate.csv", [0.0] * 8)
    found = json.loads(gode("fit", "u' = C*u - C*u^2", path, "--u", "A1,B2", "--json").stdout)
    assert "2 runs by column; time from 'Time' (h:mm:ss, in hours)" in found["data"][0]
    check_growth(found["text"])


def check_growth(text):
    assert shape(text) == ["u", "u²"]
    linear, square = (float(number) for number in re.findall(r"\d\.\d+", text)[:2])
    assert linear == pytest.approx(RATE, rel=0.03)
    assert square == pytest.approx(RATE / CAPACITY, rel=0.04)


@pytest.mark.slow
def test_the_law_that_wells_share_is_found_and_the_record_names_them(tmp_path):
    path, out = plate(tmp_path / "plate.csv", [0.0] * 8), tmp_path / "out"
    check_growth(json.loads(gode("discover", path, "--u", "all", *QUICK, "--out", out).stdout)["text"])
    record = json.loads((out / "record.json").read_text())
    assert record["names"] == ["A1", "A2", "A3", "A4", "B1", "B2", "B3", "B4"]
    assert record["labels"]["t"] == "Time [h]"


@pytest.mark.slow
def test_one_well_with_its_blank_is_found(tmp_path):
    blanks = np.linspace(0.05, 0.12, 8)
    found = json.loads(gode("discover", plate(tmp_path / "plate.csv", blanks), "--u", "A1", *QUICK).stdout)
    assert found["text"].startswith("A1' = ")
    assert shape(found["text"].replace("A1", "u")) == ["", "u", "u²"]
    assert "not used: 'A2', 'A3', 'A4', 'B1', 'B2', 'B3', 'B4' (" in found["data"][0]
    assert "--u all if each is a run" in found["data"][0]


def hares(path):
    """Write yearly counts of prey and predator, a cycle of ten years."""
    years = np.arange(1900, 1931)
    t = np.linspace(0.0, 30.0, 31)
    rng = np.random.default_rng(1)
    lynx = 20 + 15 * np.sin(2 * np.pi * t / 10 + 0.5)
    solved = solve(parse_equation("u' = 0.5*u - 0.025*u*F"), t, [30.0], inputs={"F": lynx})
    hare = solved.u * (1 + 0.01 * rng.standard_normal(31))
    rows = zip(years, hare, lynx, strict=True)
    path.write_text("Year;Hare (thousands);Lynx\n" + "".join(f"{y};{h:.2f};{x:.3f}\n" for y, h, x in rows))
    return str(path)


def test_a_second_column_is_offered_as_the_input_and_then_drives_the_law(tmp_path):
    path = hares(tmp_path / "hares.csv")
    told = json.loads(gode("fit", "u' = C*u", path, "--json").stdout)["data"][0]
    assert (
        "time from 'Year', u from 'Hare [thousands]'; not used: 'Lynx' (pass it as --force Lynx if it" in told
    )
    found = json.loads(gode("fit", "u' = C*u - C*u*F", path, "--force", "Lynx", "--json").stdout)
    assert "not used" not in found["data"][0]
    assert [float(x) for x in re.findall(r"\d\.\d+", found["text"])] == pytest.approx([0.5, 0.025], rel=0.03)


@pytest.mark.slow
def test_the_law_of_prey_is_found_when_the_predator_is_its_input(tmp_path):
    found = json.loads(gode("discover", hares(tmp_path / "hares.csv"), "--force", "Lynx", *QUICK).stdout)
    assert shape(found["text"]) in (["Hare", "Hare*Lynx"], ["Hare", "Lynx*Hare"])


def test_standard_input_is_read(tmp_path):
    with open(GROWTH, "rb") as file:
        piped = CliRunner().invoke(main, ["fit", "u' = C*u - C*u^2", "-", "--json"], input=file.read())
    assert (
        json.loads(piped.stdout)["text"]
        == json.loads(gode("fit", "u' = C*u - C*u^2", GROWTH, "--json").stdout)["text"]
    )
    assert json.loads(piped.stdout)["data"][0].startswith("standard input: ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("discover", GROWTH, "--u", "A1", "--u", "A2"),
            "--u was given twice; for several columns write --u A1,A2",
        ),
        (
            ("discover", GROWTH, "--seed", "1", "--seed", "2", "--seed", "3"),
            "--seed was given 3 times; give it once",
        ),
        (
            ("fit", "u' = C*u", GROWTH, "--force", "a", "--force=b"),
            "--force was given twice; for several columns",
        ),
        (("model", "check", "x", "--seed", "1", "--seed", "2"), "--seed was given twice; give it once"),
    ],
)
def test_an_option_that_is_given_twice_is_told(words, sentence):
    assert sentence in refused(*words)


def test_an_option_that_may_be_repeated_still_may_be():
    words = ("fit", "u' = C*u - C*u^2", GROWTH, "--initial", "1", "--initial", "2")
    assert "--initial was given 2 times for 1 runs" in refused(*words)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no endless device")
def test_an_endless_device_is_no_file():
    assert "/dev/zero is a device; name a file" in refused("discover", "/dev/zero")


def test_a_name_that_is_too_long_is_one_sentence():
    assert "cannot be read (File name too long)" in refused("discover", "x" * 300 + ".csv")
    assert "cannot be read" in refused("discover", "x" * 300 + ".xlsx:Sheet")


def test_columns_of_several_runs_are_checked(tmp_path):
    path = plate(tmp_path / "plate.csv", [0.0] * 8)
    assert "has no column 'C9'" in refused("discover", path, "--u", "A1,C9")
    assert "--u names column 'A1' twice" in refused("discover", path, "--u", "A1,A1")
    assert "each a run of u alone" in refused("discover", path, "--u", "all", "--velocity", "A1")
    assert "cannot be both time and u" in refused("discover", path, "--u", "A1,Time")
