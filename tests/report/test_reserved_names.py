"""States whose names mean something in a language."""

import shutil
import subprocess

import numpy as np
import pytest

from gode.discovery import fit
from gode.report.languages import code

COMPILER = shutil.which("gcc") or shutil.which("cc")
T = np.linspace(0.0, 3.0, 30)


@pytest.mark.skipif(COMPILER is None, reason="there is no compiler of C")
@pytest.mark.parametrize(("one", "other"), [("NAN", "unix"), ("M_PI", "fabs"), ("EOF", "int")])
def test_states_called_like_words_of_c_compile(one, other, tmp_path):
    data = {one: np.exp(-T), other: np.exp(-T) + T * np.exp(-T)}
    found = fit([f"{one}' = C*{one}", f"{other}' = C*{one} + C*{other}"], T, data)
    source = tmp_path / "model.c"
    source.write_text(code(found, "c"), encoding="utf-8")
    done = subprocess.run(
        [COMPILER, "-Wall", "-Werror", source, "-lm", "-o", tmp_path / "model"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
