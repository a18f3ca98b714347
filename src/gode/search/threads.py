"""One thread for linear algebra while a discovery runs: its matrices are small, its processes many.

Some libraries have a limit for the whole process, others one for each thread. That of the process belongs
to the thread that set it, so one of our own holds it, from the first discovery to begin to the last to end.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


class _Holder:
    """Holds the limit of the whole process as long as anybody needs it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.n_users = 0
        self.set, self.done = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._hold)

    def enter(self) -> None:
        with self.lock:
            self.n_users += 1
            if self.n_users == 1:
                self.set, self.done = threading.Event(), threading.Event()
                self.thread = threading.Thread(target=self._hold, daemon=True)
                self.thread.start()
                self.set.wait()

    def leave(self) -> None:
        with self.lock:
            self.n_users -= 1
            if self.n_users == 0:
                self.done.set()
                self.thread.join()

    def _hold(self) -> None:
        with threadpool_limits(1):
            self.set.set()
            self.done.wait()


_HOLDER = _Holder()


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep linear algebra to one thread within the block, which several threads may be in at a time."""
    _HOLDER.enter()
    try:
        with threadpool_limits(1):
            yield
    finally:
        _HOLDER.leave()
