"""Engines: our own processes, and any executor that a user gives."""

import math
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor

from gode.errors import ConfigError
from gode.fleet.cluster import threads_behind
from gode.fleet.engine import LOST, Engine
from gode.fleet.processes import Processes
from gode.search.settings import whole
from gode.search.workers import cores, may_start_others

UNKNOWN = 64  # tasks at a time of an executor that does not say how many workers it has
PATIENCE = 60.0  # seconds that a given executor has to take work again
WIDTHS = ("_max_workers", "num_workers", "max_workers")  # of the standard library, mpi4py, others


class OwnProcesses:
    """Processes of this machine, by default one for each core."""

    def __init__(
        self, n_jobs: int | None = None, *, limit: float = math.inf, begin: Callable[[], None] | None = None
    ) -> None:
        if n_jobs is not None and whole(n_jobs) < 1:
            raise ConfigError(f"n_jobs must be a whole number from 1 on, got {n_jobs!r}")
        if not may_start_others():
            raise ConfigError(
                "this process cannot start others, as it is a worker itself; call from the main process, "
                "or give an executor"
            )
        self.width = min(n_jobs or cores(), cores())
        self.limit, self.begin = limit, begin
        self._made: Processes | None = None

    def executor(self) -> Executor:
        """Return the executor of the processes."""
        if self._made is None:
            self._made = Processes(self.width, limit=self.limit, begin=self.begin)
        return self._made

    def check(self) -> list[str]:
        """Return nothing: a process that dies is told with its task."""
        return []

    def renew(self) -> str:
        """Start other processes."""
        self.close()
        return f"going on in {self.width} new processes of this machine"

    def close(self) -> None:
        """End the processes at once."""
        if self._made is not None:
            self._made.shutdown(wait=True, cancel_futures=True)
            self._made = None


class Given:
    """An executor that the user made and will shut down; if it breaks, processes of our own take over."""

    def __init__(self, executor: Executor, begin: Callable[[], None] | None = None) -> None:
        if not isinstance(executor, Executor):
            raise ConfigError(
                f"executor must be a concurrent.futures.Executor, got {type(executor).__name__}; "
                "a Dask client has client.get_executor()"
            )
        self._given, self._begin = executor, begin
        self._own: OwnProcesses | None = None
        self._threads = threads_behind(executor)

    @property
    def width(self) -> int:
        """The number of workers, where the executor tells it."""
        if self._own is not None:
            return self._own.width
        found = (getattr(self._given, name, None) for name in WIDTHS)
        return next((n for n in (self._threads, *found) if isinstance(n, int) and n > 0), UNKNOWN)

    def executor(self) -> Executor:
        """Return the executor."""
        return self._given if self._own is None else self._own.executor()

    def check(self) -> list[str]:
        """Count the workers of a cluster; what an executor loses it tells by its futures."""
        if self._own is None:
            self._threads = threads_behind(self._given) or self._threads
        return []

    def renew(self) -> str:
        """Wait until the executor takes work again; else go on in our own processes."""
        if self._own is not None:
            return self._own.renew()
        if _takes_work(self._given):
            return "the executor takes work again"
        self._own = OwnProcesses(begin=self._begin)
        return f"the executor is broken; going on in {self._own.width} processes of this machine"

    def close(self) -> None:
        """End the processes that took over."""
        if self._own is not None:
            self._own.close()


def _takes_work(executor: Executor) -> bool:
    """Tell whether an executor takes work, which one that lost its connection may do after a while."""
    end, pause = time.monotonic() + PATIENCE, 0.5
    while True:
        try:
            executor.submit(_nothing).result(timeout=PATIENCE)
        except (BrokenExecutor, RuntimeError):  # for good
            return False
        except LOST:
            if time.monotonic() > end:
                return False
            time.sleep(pause)
            pause *= 2
        else:
            return True


def _nothing() -> None:
    return None


def engine_of(
    executor: Executor | None, n_jobs: int | None = None, begin: Callable[[], None] | None = None
) -> Engine:
    """Return the engine of a given executor, or of our own processes."""
    return OwnProcesses(n_jobs, begin=begin) if executor is None else Given(executor, begin)
