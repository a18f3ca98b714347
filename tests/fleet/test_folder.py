"""Folders of results: killed at any time, they go on to the same table."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner

import gode
from fleet_data import cooling, few, growth, write
from gode.cli import main
from gode.errors import ConfigError
from gode.fleet.engine import GivenExecutor
from gode.fleet.folder import TABLE, file_name, run_folder, settle_folder, write_table
from gode.fleet.many import tasks_of

NAMES = [f"r{i}" for i in range(8)]


@pytest.fixture
def records(tmp_path):
    """A folder of eight records of two laws and a file that is none."""
    folder = tmp_path / "in"
    folder.mkdir()
    for i, name in enumerate(NAMES):
        write(folder / f"{name}.csv", *(growth(i, rate=0.6 + 0.1 * i) if i % 2 else cooling(i)))
    (folder / "bad.csv").write_text("t,u\n1,2\n")
    return folder


def run(source, out, grammar, *, stop: int | None = None) -> list:
    """Discover the records in threads of this process; stop after some."""
    steps = []
    options = {"grammar": grammar, "effort": "quick"}
    with ThreadPoolExecutor(2) as pool:
        tasks = tasks_of(source, picture=True, options=options)
        for step in run_folder(tasks, 9, out, GivenExecutor(pool), settings=options):
            steps.append(step)
            if len(steps) == stop:
                break
    return steps


def lines(out) -> list[dict]:
    return [json.loads(line) for line in (out / TABLE).read_text().splitlines()]


def test_a_run_that_was_stopped_goes_on_to_the_same_table(records, tmp_path):
    grammar = few(tmp_path)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    steps = run(records, whole, grammar)
    assert [step.done for step in steps] == list(range(1, 10))
    assert all(step.total == 9 for step in steps)
    assert len(run(records, parts, grammar, stop=3)) == 3
    with open(parts / TABLE, "ab") as file:
        file.write(b'{"id": "r7.csv", "law"')  # torn
    run(records, parts, grammar)
    assert len(lines(parts)) == 9
    tables = [write_table(gode.Fleet.read(out).table, out).read_text() for out in (whole, parts)]
    assert tables[0] == tables[1]
    assert tables[0].count("\n") == 10
    assert run(records, parts, grammar) == []

    fleet = gode.Fleet.read(whole)
    assert fleet.groups["records"].sum() == 8
    assert "too few" in fleet.table.loc["bad.csv", "failure"]
    found = gode.load(whole / "records" / "r1.csv.json")
    assert str(found.equation) == fleet.table.loc["r1.csv", "equation"]
    assert (whole / "pictures" / "r1.csv.svg").read_bytes().startswith(b"<svg ")


def test_other_options_are_refused_in_the_same_folder(records, tmp_path):
    grammar, out = few(tmp_path), tmp_path / "out"
    run(records, out, grammar, stop=1)
    with ThreadPoolExecutor(1) as pool, pytest.raises(ConfigError, match="results with effort 'quick'"):
        list(run_folder([], 0, out, GivenExecutor(pool), settings={"grammar": grammar, "effort": "normal"}))


def test_laws_that_others_share_are_fitted_to_the_rest(records, tmp_path):
    grammar, out = few(tmp_path), tmp_path / "out"
    run(records, out, grammar)
    rows = lines(out)
    for row in rows[:2]:  # as if these had not tried the law of the others
        row["fits"] = [fit for fit in row["fits"] if fit[0] not in ("u' = C*u + C", "u' = C*u + C*u^2")]
        row["fits"] = row["fits"] or [["u' = C", 0.0, 4.0, 9.0, [1.0], [0.1], ["1"]]]
    (out / TABLE).write_text("".join(json.dumps(row) + "\n" for row in rows))
    with ThreadPoolExecutor(1) as pool:
        steps = list(settle_folder(out, gode.Fleet.read(out).unsettled, GivenExecutor(pool)))
    assert steps[-1][0] == steps[-1][1] >= 1
    fleet = gode.Fleet.read(out)
    assert set(fleet.groups["law"]) == {"u' = C*u + C", "u' = C*u + C*u^2"}
    assert fleet.unsettled == {}


def test_the_command_that_is_killed_goes_on(records, tmp_path):
    out = tmp_path / "out"
    words = [str(records), "--grammar", few(tmp_path), "--effort", "quick", "--jobs", "1", "--out", str(out)]
    program = [sys.executable, "-c", "from gode.cli import main; main()", "discover-many", *words]
    with subprocess.Popen(program, stdout=subprocess.DEVNULL) as command:
        while not (out / TABLE).exists() or (out / TABLE).read_bytes().count(b"\n") < 2:
            time.sleep(0.02)
        command.kill()
    known = len(lines(out))
    result = CliRunner().invoke(main, ["discover-many", *words])
    assert result.exit_code == 0, result.output
    assert len(lines(out)) == 9
    assert result.output.count(" left: ") == 9 - known
    assert "9 records, 1 without a law" in result.output
    assert "u' = C*u + C*u^2" in result.output
    assert (out / "table.csv").read_text().count("\n") == 10
    assert "<script>" in (out / "index.html").read_text()


def test_results_do_not_go_into_the_folder_of_the_records(records):
    result = CliRunner().invoke(main, ["discover-many", str(records), "--out", str(records)])
    assert result.exit_code == 2
    assert "is the folder of the records" in result.output


def test_names_of_files_are_safe_and_differ():
    names = ["a/b", "a%2Fb", "..", ".hidden", "ü" * 80, "ü" * 81, "x y.csv"]
    files = [file_name(name) for name in names]
    assert len(set(files)) == len(names)
    assert all("/" not in name and not name.startswith(".") and len(name) < 120 for name in files)
