"""How a process works during a discovery: linear algebra in one thread, few collections of garbage.

Its matrices are small. A full collection looks at the million objects that the libraries hold, in vain, and
takes a fifth of the time of a discovery.

Some libraries have a limit per process, others one per thread. The limit of the process belongs to the thread
that set it, so a thread of ours keeps it from the beginning of the first discovery to the end of the last.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

SELDOM = 10_000  # collections of younger objects between two full ones


class _Holder:
    """Keeps the limits of the process while any discovery runs."""

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
        young, middle, old = gc.get_threshold()
        gc.set_threshold(young, middle, SELDOM)
        with threadpool_limits(1):
            self.set.set()
            self.done.wait()
        gc.set_threshold(young, middle, old)


_HOLDER = _Holder()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit linear algebra to one thread, and full collections, within the block, which threads may share."""
    _HOLDER.enter()
    try:
        with threadpool_limits(1):
            yield
    finally:
        _HOLDER.leave()
