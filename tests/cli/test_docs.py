import re
import shlex
import shutil
from pathlib import Path

import pytest

from commands import GROWTH, gode

FLEETS = ("gode discover-many ", "gode watch ")  # they need folders of records, or never end
DOCS = Path(__file__).parents[2] / "docs" / "command-line.md"


def commands():
    text = DOCS.read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    inline = re.findall(r"`(gode simulate \"[^`]*)`", text)
    found = [line for block in blocks for line in block.splitlines()] + inline
    return [line for line in found if not line.startswith(FLEETS)]


@pytest.mark.slow
def test_the_commands_of_the_page_run_one_after_the_other(tmp_path, monkeypatch):
    shutil.copy(GROWTH, tmp_path / "data.csv")
    monkeypatch.chdir(tmp_path)
    assert len(commands()) > 10
    for command in commands():
        program, *words = shlex.split(command)
        assert program == "gode"
        result = gode(*words)
        assert result.exit_code == 0, f"{command}: {result.output}"
    assert {"model.py", "page.html", "longer.csv", "result"} <= {path.name for path in tmp_path.iterdir()}
