"""Limits linear algebra to one thread during a discovery, whose matrices are small.

Some libraries have a limit per process, others one per thread. The limit of the process belongs to the thread
that set it, so a thread of ours keeps it from the beginning of the first discovery to the end of the last.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


class _Holder:
    """Keeps the limit of the process while any discovery runs."""

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
    """Limit linear algebra to one thread within the block, which several threads may enter."""
    _HOLDER.enter()
    try:
        with threadpool_limits(1):
            yield
    finally:
        _HOLDER.leave()
