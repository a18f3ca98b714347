"""Ctrl-C and a time limit, raised at safe points: an interrupt inside compiled code cannot be caught.

The first Ctrl-C is noted and raised as KeyboardInterrupt by the next call of `check`, at most one fit later;
the second is raised at once. A time limit ends a search in the same way, once it can give an answer; where
what is left to do takes long as well, it is raised once more.
"""

import math
import signal
import threading
import time
from types import FrameType, TracebackType

GRACE = 0.25  # This share of the limit after it, what is left to do is ended, too.
POLISH = 0.5  # This share of the limit after it, the answer stays as it is.
HURRY = 0.25  # Preparations that take more than this share of the limit are done less carefully.


class Interrupts:
    """Defers Ctrl-C while it is entered; does nothing outside the main thread or under another handler."""

    def __init__(self, max_seconds: float | None = None) -> None:
        self.pressed = False
        self.timed_out = False  # whether the last KeyboardInterrupt came from the time limit
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
        """Set the time limit, counted from the beginning; it applies once `enough` was called."""
        self._since = time.monotonic()
        self._end = math.inf if seconds is None else self._begin + seconds
        self._deadlines = [self._end, self._end + GRACE * (self._end - self._since)]
        self._enough = False
        self.timed_out = False

    def enough(self) -> None:
        """Note that the search can give an answer: from now on the time limit applies."""
        self._enough = True

    def finish(self) -> None:
        """Note that what is left to do is needed for an answer: the time limit does not apply to it."""
        self._deadlines = []

    def polish(self) -> None:
        """Note that there is an answer, which may be made better for a while after the limit."""
        self._deadlines = [self._end + POLISH * (self._end - self._since)]

    @property
    def hurried(self) -> bool:
        """Whether preparations have taken so much of the time that they should end."""
        now = time.monotonic()
        return now - self._since > HURRY * (self._end - self._since)

    @property
    def spent(self) -> float:
        """The seconds since the beginning."""
        return time.monotonic() - self._begin

    @property
    def left(self) -> float:
        """The seconds until the limit."""
        return max(self._end - time.monotonic(), 0.0)

    def check(self) -> None:
        """Raise KeyboardInterrupt after Ctrl-C since the last call, or after the time limit, twice."""
        if self.pressed:
            self.pressed = False
            raise KeyboardInterrupt
        if self._enough and self._deadlines and time.monotonic() > self._deadlines[0]:
            del self._deadlines[0]
            self.timed_out = True
            raise KeyboardInterrupt

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
