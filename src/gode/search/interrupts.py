"""Ctrl-C and a limit of time, at a safe place: compiled code that is interrupted half-way fails in ways that
cannot be caught.

So the first Ctrl-C is noted, and raised as KeyboardInterrupt at the next call of `check`, which is at most
one fit away. The second one is raised at once. A search whose time is over ends in the same way, but not
before it has what any answer needs.
"""

import math
import signal
import threading
import time
from types import FrameType, TracebackType


class Interrupts:
    """Puts off Ctrl-C while it is entered; does nothing outside the main thread or under another handler."""

    def __init__(self, max_seconds: float | None = None) -> None:
        self.pressed = False
        self.timed_out = False  # whether the last KeyboardInterrupt was the clock's
        self._holds = False
        self._begin = time.monotonic()
        self.limit(max_seconds)

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

    def limit(self, seconds: float | None) -> None:
        """Let a search end this long after the beginning, once `enough` was called."""
        self._deadline = math.inf if seconds is None else self._begin + seconds
        self._enough = False
        self.timed_out = False

    def enough(self) -> None:
        """Note that the search has what an answer needs: from now on the limit of time counts."""
        self._enough = True

    @property
    def spent(self) -> float:
        """The seconds since the beginning."""
        return time.monotonic() - self._begin

    @property
    def left(self) -> float:
        """The seconds until the limit."""
        return max(self._deadline - time.monotonic(), 0.0)

    def check(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed since the last time, or, once, if time is over."""
        if self.pressed:
            self.pressed = False
            raise KeyboardInterrupt
        if self._enough and time.monotonic() > self._deadline:
            self._deadline, self.timed_out = math.inf, True
            raise KeyboardInterrupt

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
