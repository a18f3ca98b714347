"""Work for the engines under test: worker processes import it, so it stands apart from the tests."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sum:
    """A task: some numbers, and what to do before they are added."""

    name: str
    numbers: tuple[int, ...] = (1, 2)
    seconds: float = 0.0
    kills: int = 0  # how many workers it ends, counted by files in `folder`
    folder: str = ""

    def __str__(self) -> str:
        return self.name


def add(task: Sum) -> tuple[str, int, int]:
    """Return name, sum and process."""
    if task.kills:
        marks = Path(task.folder)
        if len(list(marks.glob(f"{task.name}-*"))) < task.kills:
            (marks / f"{task.name}-{os.getpid()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(task.seconds)
    return task.name, sum(task.numbers), os.getpid()
