"""Names that no file can have: one sentence, whatever the command does with them."""

import pytest

from commands import GROWTH, gode, refused
from examples_found import fitted_oscillator

LONG = "n" * 300


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    path = tmp_path_factory.mktemp("record") / "record.json"
    fitted_oscillator().save(path)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ["simulate", f"{LONG}.json"],
        ["report", LONG],
        ["report", "RECORD", "--out", LONG],
        ["export", LONG, "--to", "c"],
        ["export", "RECORD", "--to", "c", "--out", LONG],
        ["simulate", "RECORD", "--out", LONG],
        ["simulate", "RECORD", "--out", "a/" * 3000],
        ["grammars", LONG],
        ["grammars", f"{LONG}.grammar"],
        ["train", LONG, "--out", "models"],
        ["train", "first-order", "--out", "models", "--name", LONG],
        ["train", "first-order", "--out", LONG],
        ["model", "check", LONG],
        ["discover", GROWTH, "--out", LONG, "--effort", "quick"],
        ["discover", GROWTH, "--grammar", LONG, "--effort", "quick"],
        ["fit", "u' = C*u", LONG],
    ],
    ids=lambda words: " ".join(word[:12] for word in words),
)
def test_a_name_that_is_too_long_is_one_sentence(words, record, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(refused(*(str(record) if word == "RECORD" else word for word in words))) < 1200


def test_a_device_is_written_to_by_every_command_and_stays_one(record, tmp_path):
    (tmp_path / "null").symlink_to("/dev/null")
    for words in (["simulate", record], ["export", record, "--to", "c"], ["report", record]):
        result = gode(*words, "--out", tmp_path / "null")
        assert result.exit_code == 0, result.output
    assert (tmp_path / "null").is_symlink()
    assert (tmp_path / "null").is_char_device()
