"""The command line as the tests call it: in this process, or in one of its own."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

from click.testing import CliRunner, Result

from gode.cli import main

GROWTH = str(files("gode.data.examples") / "growth.csv")


def gode(*words: str | Path) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(word) for word in words])


def start(*words: str | Path, **options: object) -> "subprocess.Popen[str]":
    """Start a command in a process of its own."""
    program = "from gode.cli import main; main(prog_name='gode')"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", program, *map(str, words)], **{**pipes, **options})


def refused(*words: str | Path) -> str:
    """Run a command that must fail with exit code 2 and one sentence; return the sentence."""
    result = gode(*words)
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("gode: "), result.stderr
    assert "Traceback" not in result.output
    assert result.stderr.count("\n") == 1, result.stderr
    return result.stderr
