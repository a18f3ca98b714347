"""The lines of Python that the page shows do what its command does: both are run."""

import io
from contextlib import redirect_stdout

import numpy as np
import pytest
from click.testing import CliRunner

from gode.cli.app import main
from gode.cli.discover import asked_data
from gode.studio.takeaway import python_text
from gode.tables.read import read_table

T = np.linspace(0, 10, 25)
NOISE = np.random.default_rng(3).standard_normal((4, 25))
GROWTH = [k / (1 + 9 * np.exp(-0.8 * T)) + 0.02 * e for k, e in zip((5, 6), NOISE, strict=False)]


def table(head: str, *columns) -> str:
    rows = (",".join(str(x) for x in row) for row in zip(*columns, strict=True))
    return head + "\n" + "\n".join(rows) + "\n"


CLOCK = [f"{int(t)}:{round(60 * (t % 1)) % 60:02}:00" for t in T]
FILES = {
    "growth.csv": table("hours,cells", T, GROWTH[0]),
    "plate.csv": table("time,A1,B1,blank", CLOCK, GROWTH[0] + 1, GROWTH[1] + 1, np.ones(25)),
    "pair.csv": table("t,hare,lynx", T, np.cos(T) + 0.01 * NOISE[2], np.sin(T) + 0.01 * NOISE[3]),
    "shaker.csv": table("t,acc,shake", T, -np.sin(T) + 0.01 * NOISE[2], np.zeros(25) + 0.01 * NOISE[3]),
}
LOGISTIC = ("--frame", "u' = r*u*(1 - u/K)")
ASKED = {
    "a known constant": ("growth.csv", "--time", "hours", "--u", "cells", *LOGISTIC, "--fix", "K=5"),
    "a column by its name": ("growth.csv", "--frame", "cells' = r*cells - b*cells^2", "--bounds", "b=0:"),
    "edits": (
        "plate.csv", "--u", "A1,B1", "--edit", "subtract blank from A1,B1", "--edit",
        "multiply time by 0.0002777777777777778 as h", "--edit", "crop to 9", *LOGISTIC, "--initial", "0.5",
    ),
    "individuals": (
        "plate.csv", "--u", "A1,B1", "--edit", "subtract blank from A1,B1", *LOGISTIC, "--individual", "K",
    ),
    "two states": ("pair.csv", "--states", "hare,lynx", "--frame", "x' = a*y; y' = b*x", "--units", "t=s"),
    "an input": (
        "shaker.csv", "--u", "none", "--acceleration", "acc", "--force", "shake", "--interpolation", "linear",
        "--frame", "u'' = k*u + F", "--initial", "0,1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", ASKED)
def test_the_lines_find_what_the_command_finds(what, tmp_path, monkeypatch):
    name, *words = ASKED[what]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(FILES[name])
    told = CliRunner().invoke(main, ["discover", name, *words, "--quiet"])
    assert told.exit_code in (0, 3), told.output
    dataset, _, options, _ = asked_data([read_table(name)], words)
    lines = python_text([name], words, dataset, options.order)
    *found, report = lines.splitlines()
    assert report == 'd.report("report.html")'
    with redirect_stdout(io.StringIO()) as said:
        exec(compile("\n".join(found), "lines", "exec"), {})  # noqa: S102
    assert said.getvalue().strip() == told.output.strip()


def test_options_of_a_search_become_arguments(tmp_path):
    (tmp_path / "a.csv").write_text(FILES["shaker.csv"])
    words = [
        *("--u", "none", "--acceleration", "acc", "--force", "none", "--without", "log", "--without", "t"),
        *("--assume", "odd", "--effort", "quick", "--seed", "3", "--max-seconds", "5"),
    ]
    dataset, _, options, _ = asked_data([read_table(tmp_path / "a.csv")], words)
    lines = python_text(["a.csv"], words, dataset, options.order)
    for part in (
        "order=2",
        "without=['log', 't']",
        "assume=['odd']",
        "effort='quick'",
        "seed=3",
        "max_seconds=5.0",
    ):
        assert part in lines
