import zipfile

import numpy as np
import pytest

import commands
from commands import GROWTH, refused
from gode import __version__, fit


@pytest.fixture
def result(tmp_path):
    """A folder as gode discover --out leaves it, without the pictures."""
    t = np.linspace(0.0, 5.0, 40)
    folder = tmp_path / "result"
    folder.mkdir()
    fit("u' = C*u", t, np.exp(-t)).save(folder / "record.json")
    return folder


def test_the_archive_holds_result_data_command_and_versions(result, tmp_path):
    out = tmp_path / "a.zip"
    done = commands.gode("pack", result, GROWTH, "--out", out, "--said", 'gode fit "u\' = C*u" growth.csv')
    assert done.exit_code == 0, done.output
    with zipfile.ZipFile(out) as archive:
        assert archive.namelist() == ["about.txt", "record.json", "growth.csv"]
        with open(GROWTH, "rb") as file:
            assert archive.read("growth.csv") == file.read()
        about = archive.read("about.txt").decode()
    assert "command as typed: gode fit" in about
    assert 'command of the record: gode fit "' in about or "command of the record: gode fit '" in about
    assert f"gode {__version__}" in about
    assert f"numpy {np.__version__}" in about


def test_data_alone_can_be_packed(tmp_path):
    out = tmp_path / "a.zip"
    assert commands.gode("pack", GROWTH, "--out", out).exit_code == 0
    with zipfile.ZipFile(out) as archive:
        assert archive.namelist() == ["about.txt", "growth.csv"]


def test_what_cannot_be_packed_gets_a_sentence(result, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no record.json" in refused("pack", empty)
    assert "nothing.csv" in refused("pack", tmp_path / "nothing.csv")
    assert "two files are called record.json" in refused("pack", result, result / "record.json")
    assert not (tmp_path / "gode-pack.zip").exists()
