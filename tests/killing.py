"""Kill `gode discover --out` many times: python killing.py FILE FOLDER KILLS.

Everything is imported and compiled once; each attempt is a fork of that, so it costs only its own work.
After every few kills the command may finish, and must leave the record of an undisturbed run.
"""

import os
import random
import shutil
import signal
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path

from gode.cli import main

KILLS_PER_RECORD = 10


def discover(words: list[str]) -> int:
    """Run the command in this process; return its exit code."""
    with open(os.devnull, "w") as sink, redirect_stdout(sink):
        try:
            main(words, prog_name="gode")
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 1
    return 0


def forked(words: list[str]) -> int:
    """Run the command in a fork; return its process."""
    pid = os.fork()
    if pid == 0:
        os._exit(discover(words))
    return pid


def kill_at(pid: int, checkpoint: Path, n_fits: int, delay: float) -> bool:
    """Kill the process some fits and some time later; tell whether it was still at work."""
    first = None
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        lines = checkpoint.read_bytes().count(b"\n") if checkpoint.exists() else 0
        first = lines if first is None and lines else first
        if first is not None and lines >= first + n_fits:
            time.sleep(delay)
            os.kill(pid, signal.SIGKILL)
            return os.WIFSIGNALED(os.waitpid(pid, 0)[1])
        time.sleep(0.005)
    return False


def run(data: str, folder: Path, n_kills: int, options: list[str]) -> None:
    """Kill that often; raise if a record differs."""
    rng = random.Random(0)
    words = ["discover", data, *options, "--out"]
    assert os.waitpid(forked([*words, str(folder / "whole")]), 0)[1] == 0
    whole = (folder / "whole" / "record.json").read_bytes()
    killed = 0
    while killed < n_kills:
        out = folder / "killed"
        for _ in range(KILLS_PER_RECORD):
            pid = forked([*words, str(out)])
            delay = rng.choice([0.0, rng.uniform(0, 0.1), rng.uniform(0, 2)])
            killed += kill_at(pid, out / "checkpoint.jsonl", rng.randint(0, 12), delay)
        assert os.waitpid(forked([*words, str(out)]), 0)[1] == 0
        assert (out / "record.json").read_bytes() == whole, f"after {killed} kills"
        assert not (out / "checkpoint.jsonl").exists()
        shutil.rmtree(out)
        sys.stderr.write(f"{killed} killed\n")


if __name__ == "__main__":
    discover(["discover", sys.argv[1], *sys.argv[4:], "--out", sys.argv[2] + "/warm"])
    run(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
