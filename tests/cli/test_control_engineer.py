"""A control engineer: from a record of a motor, whose controller acts at every sample, to a program."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from commands import gode, refused

COMPILER = shutil.which("gcc") or shutil.which("cc")
GAIN, LAG, STEP = 2.0, 0.5, 0.05  # speed' = (GAIN*voltage - speed)/LAG


@pytest.fixture(scope="module")
def plant(tmp_path_factory):
    """The folder with the record of a motor, what was found, and what was said."""
    rng, folder = np.random.default_rng(3), tmp_path_factory.mktemp("motor")
    voltage, speed, decay = rng.uniform(-1.0, 1.0, 160), np.zeros(160), np.exp(-STEP / LAG)
    for i in range(159):
        speed[i + 1] = decay * speed[i] + (1 - decay) * GAIN * voltage[i]
    noisy = speed + 0.02 * np.std(speed) * rng.standard_normal(160)
    rows = np.column_stack([STEP * np.arange(160), noisy, voltage])
    np.savetxt(folder / "motor.csv", rows, delimiter=",", header="t,speed,voltage", comments="", fmt="%.6g")
    columns = ["--u", "speed", "--force", "voltage"]
    result = gode("discover", folder / "motor.csv", *columns, "--effort", "quick", "--out", folder)
    assert result.exit_code == 0, result.output
    return folder, json.loads((folder / "record.json").read_text()), result.stdout


@pytest.mark.slow
def test_the_law_is_found_and_the_input_is_held(plant):
    _, record, said = plant
    assert "The input is held between its samples" in said
    best = record["candidates"][0]["equation"]
    assert len(best["constants"]) == 2, record["equation"]
    linear = json.loads(gode("export", plant[0], "--to", "linear", "--step", str(STEP)).stdout)
    decay = np.exp(-STEP / LAG)
    assert linear["A"][0][0] == pytest.approx(decay, rel=0.01)
    assert linear["B"][0][0] == pytest.approx(GAIN * (1 - decay), rel=0.02)
    continuous = json.loads(gode("export", plant[0], "--to", "linear").stdout)
    assert continuous["numerator"] == pytest.approx([GAIN / LAG], rel=0.02)
    assert continuous["denominator"] == pytest.approx([1.0, 1 / LAG], rel=0.02)


@pytest.mark.slow
def test_the_page_says_that_the_input_is_held(plant):
    assert "The input is held between its samples" in (plant[0] / "report.html").read_text()


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="no C compiler here")
def test_the_exported_program_gives_what_simulate_gives(plant, tmp_path):
    folder = plant[0]
    assert gode("export", folder, "--to", "c", "--out", tmp_path / "model.c").exit_code == 0
    subprocess.run([COMPILER, "-O2", tmp_path / "model.c", "-lm", "-o", tmp_path / "model"], check=True)
    printed = subprocess.run([tmp_path / "model"], capture_output=True, text=True, check=True).stdout
    program = np.array([[float(x) for x in line.split(",")] for line in printed.splitlines()])
    solved = gode("simulate", folder / "record.json", "--points", "201").stdout.splitlines()[1:]
    ours = np.array([[float(x) for x in line.split(",")] for line in solved])
    assert np.allclose(program[:, 0], ours[:, 0])
    assert np.max(np.abs(program[:, 1] - ours[:, 1])) < 1e-4 * np.std(ours[:, 1])


@pytest.mark.slow
def test_a_choice_against_the_data_is_kept_and_repeated(plant, tmp_path):
    data, columns = plant[0] / "motor.csv", ["--u", "speed", "--force", "voltage"]
    result = gode("fit", "u' = C*F + C*u", data, *columns, "--no-hold", "--out", tmp_path)
    assert "The input is joined by a cubic spline between its samples, as you chose." in result.stdout
    assert "--interpolation cubic" in (tmp_path / "report.html").read_text()
    assert "contradicts" in refused("fit", "u' = C*F", data, *columns, "--hold", "--interpolation", "cubic")


@pytest.mark.slow
def test_options_of_the_linear_model_belong_to_it(plant):
    assert "--force belongs to --to linear" in refused("export", plant[0], "--to", "c", "--force", "1")
