import json
import re

import numpy as np
import pytest

from commands import gode, refused


@pytest.fixture
def plasma(tmp_path):
    rng = np.random.default_rng(0)
    hours = [0.5, 1.0, 2.0, 4.0, 6.0, 8.0]
    rows = ["patient,hours,conc"]
    for name, rate in {"ann": 0.2, "bob": 0.4, "cid": 0.3}.items():
        rows += [f"{name},{t},{5 * np.exp(-rate * t) + 0.02 * rng.standard_normal():.4f}" for t in hours]
    path = tmp_path / "plasma.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_a_column_of_runs_gives_each_its_constants(plasma, tmp_path):
    out = tmp_path / "result"
    result = gode("fit", "u' = -k*u", plasma, "--runs", "patient", "--individual", "all", "--out", out)
    assert result.exit_code == 0, result.output
    assert "on average" in result.output
    assert "bob" in result.output
    assert (out / "runs.csv").read_text().splitlines()[0] == "run,k,k error"
    assert "Constants of each run" in (out / "report.html").read_text()
    assert "conc' = -0.4" in gode("export", out, "--to", "python", "--run", "bob").output


def test_machines_get_the_table_of_runs(plasma):
    result = gode("fit", "u' = -k*u", plasma, "--runs", "patient", "--individual", "auto", "--json")
    found = json.loads(result.stdout)
    assert [row["run"] for row in found["individuals"]] == ["ann", "bob", "cid"]
    assert found["population"][0]["mean"] == pytest.approx(0.3, abs=0.05)


def test_bad_questions_about_individuals_are_one_sentence(plasma):
    law = "u' = -k*u"
    assert "no column 'nobody'" in refused("fit", law, plasma, "--runs", "nobody", "--individual", "all")
    message = refused("fit", law, plasma, "--runs", "patient", "--individual", "V")
    assert "'V', which is no constant of the equation: its named constants are k" in message


def test_many_constants_of_runs_are_not_broken_across_lines(plasma):
    law = "u' = a - b*u - c*t*u + d*t"
    said = gode("fit", law, plasma, "--runs", "patient", "--individual", "all").output
    rows = [line for line in said.splitlines() if line.lstrip().startswith("bob")]
    assert len(rows) == 2
    assert sum(row.count(" ± ") for row in rows) == 4
    assert not re.search(r"±\s*$", said, re.M)
