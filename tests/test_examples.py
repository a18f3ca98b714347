"""Every example runs as a user runs it, and says what it promises."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gode
from gode.data.example import load_example
from gode.errors import DataError
from gode.solve import solve

FOLDER = Path(__file__).parents[1] / "examples"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
DATA = ("growth", "pendulum", "shaker", "bubble")


def printed(name: str) -> str:
    """Run an example in a process of its own, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:gode", str(FOLDER / f"{name}.py")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def line(text: str, start: str) -> str:
    return next(row for row in text.splitlines() if row.startswith(start))


def test_there_are_six_examples_and_each_says_how_to_run_it():
    assert len(NAMES) == 6
    for name in NAMES:
        text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        assert f"python examples/{name}.py" in text
        assert f"def test_{name}" in Path(__file__).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DATA)
def test_example_data_are_a_noisy_solution_of_the_truth_they_state(name: str):
    example = load_example(name)
    text = re.search(r"(?:growth |; )(.*) from u\(0\)", example.truth)
    initial = [float(x) for x in re.findall(r"\(0\) = (-?[\d.]+)", example.truth)]
    noise = float(re.search(r"([\d.]+) ?% noise", example.truth)[1]) / 100
    force = {"F": (example.t, example.columns["force"])} if "force" in example.columns else None
    clean = solve(gode.parse_equation(text[1]), example.t, initial, inputs=force)
    seen, true = (example.columns["acceleration"], clean.d2u) if name == "pendulum" else (example.u, clean.u)
    assert np.std(seen - true) == pytest.approx(noise * np.std(true), rel=0.25)


def test_unknown_example_is_named():
    with pytest.raises(DataError, match="no example 'pendulums'; known are bubble, growth"):
        load_example("pendulums")


@pytest.mark.slow
def test_growth():
    text = printed("growth")
    assert re.match(r"found: u' = 0\.\d+\*u - 0\.0\d+\*u\^2", line(text, "found"))
    assert "95 % confidence" in text


@pytest.mark.slow
def test_pendulum():
    text = printed("pendulum")
    assert "sin(u)" in line(text, "found")
    assert "natural frequency" in text


@pytest.mark.slow
def test_shaker():
    errors = re.findall(r"([\d.]+)%", line(printed("shaker"), "error of the forecast"))
    assert float(errors[1]) < 6 < float(errors[0])


@pytest.mark.slow
def test_bubble():
    text = printed("bubble")
    assert line(text, "found").endswith("= 0")
    known = line(text, "with the form known")
    assert float(re.search(r"([\d.]+)\*u'\^2", known)[1]) == pytest.approx(1.5, rel=0.15)


@pytest.mark.slow
def test_own_grammar():
    text = printed("own_grammar")
    if importlib.util.find_spec("torch") is None:
        assert "needs torch" in text
    else:
        assert "u^2" in line(text, "found")


@pytest.mark.slow
def test_own_benchmark():
    rows = [row.split() for row in printed("own_benchmark").splitlines() if "%" in row]
    assert [float(row[1]) < 0.05 for row in rows] == [True, True]
