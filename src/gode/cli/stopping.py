"""SIGTERM as Ctrl-C: what was found is kept, and the exit code tells which of them it was."""

import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import NoReturn

import click

INTERRUPTED, TERMINATED = 130, 143  # exit codes of a program that SIGINT, or SIGTERM, ended


class Termination:
    """Passes SIGTERM on as Ctrl-C while it is entered; does nothing outside the main thread."""

    def __init__(self) -> None:
        self.exit_code = INTERRUPTED
        self._before: object = None

    def __enter__(self) -> "Termination":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGTERM, self._pass_on)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)  # type: ignore[arg-type]

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        self.exit_code = TERMINATED
        signal.raise_signal(signal.SIGINT)


def exit_interrupted() -> NoReturn:
    """End the command that runs now with the exit code of what interrupted it."""
    termination = click.get_current_context().find_object(Termination)
    sys.exit(termination.exit_code if termination else INTERRUPTED)
