"""The command line as the tests call it: in this process, or in one of its own."""

import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

from click.testing import CliRunner, Result

from gode.cli import main

WAIT = 300  # seconds after which a process hangs
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


def finished(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    """Wait for a process; return its exit code, output and errors."""
    output, errors = process.communicate(timeout=WAIT)
    return process.returncode, output, errors


def wait_for_work(process: "subprocess.Popen[str]", out: Path, n_fits: int) -> None:
    """Wait until that many more fits are in the checkpoint, or the process has ended."""
    path = out / "checkpoint.jsonl"
    known = None
    while process.poll() is None:
        lines = path.read_bytes().count(b"\n") if path.exists() else 0
        known = lines if known is None and lines else known
        if known is not None and lines >= known + n_fits:
            return
        time.sleep(0.02)
