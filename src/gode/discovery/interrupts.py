"""Ctrl-C at a safe place: compiled code that is interrupted half-way fails in ways that cannot be caught.

So the first Ctrl-C is noted, and raised as KeyboardInterrupt at the next call of `check`, which is at most
one fit away. The second one is raised at once.
"""

import signal
import threading
from types import FrameType, TracebackType


class Interrupts:
    """Puts off Ctrl-C while it is entered; does nothing outside the main thread or under another handler."""

    def __init__(self) -> None:
        self.pressed = False
        self._holds = False

    def __enter__(self) -> "Interrupts":
        main = threading.current_thread() is threading.main_thread()
        self._holds = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._holds:
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._holds:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def check(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed since the last time."""
        if self.pressed:
            self.pressed = False
            raise KeyboardInterrupt

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
