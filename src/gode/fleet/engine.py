"""Work through many tasks with any executor: few in flight, those lost with a worker given to another.

Work is a function of one task that returns a value whatever the task holds: what a future raises is then a
matter of the machines. Three losses are told apart:

- one process died, and its executor says so (our own processes): that task is tried again;
- a pool broke, or Dask gave a task up: each task in it may have been the cause. A task that was lost so twice
  is tried once more at the end with no other beside it, so that none is given up for the deeds of another;
- the connection to a cluster was lost, or it dropped the task: that is no fault of the task.

An engine is what runs the work: our own processes, the executor of a user, or a Dask cluster (`cluster`).
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from gode.errors import ConfigError, GodeError, shortened
from gode.fleet.cluster import threads_behind
from gode.fleet.processes import OverdueError, Processes, StartError, WorkerDiedError, WorkError
from gode.options.checks import whole_number
from gode.search.workers import cores, may_start_others

T = TypeVar("T")
R = TypeVar("R")

DEATHS = 3  # A task is given up after three deaths of its worker: chance hardly hits the same task thrice.
SUSPECT = 2  # A task is tried alone after so many crashes of a pool that it shared with others.
LOSSES = 25  # A task is given up after so many lost connections, so that a fleet ends on the worst network.
CHECK = 2.0  # The engine is looked at every two seconds.
UNKNOWN_WIDTH = 64  # Tasks in flight on an executor that does not say how many workers it has.
PATIENCE = 60.0  # Seconds that a given executor has to take work again before our own processes take over.
WIDTHS = ("_max_workers", "num_workers", "max_workers")  # Of the standard library, mpi4py, and others.
LOST = (CancelledError, ConnectionError, TimeoutError, OSError)
KILLED = "KilledWorker"  # Dask's exception, whose module need not be installed.


class Engine(Protocol):
    """What runs the work."""

    @property
    def width(self) -> int:
        """How many tasks it can work on at a time, as far as is known now."""
        ...

    def executor(self) -> Executor:
        """Return the executor to submit to."""
        ...

    def check(self) -> list[str]:
        """Return what happened to it since the last call.

        Raises:
            ConnectionError: if the work in flight is lost.
        """
        ...

    def renew(self) -> str:
        """Replace a broken executor, and return a sentence on it.

        Raises:
            GodeError: if there is no other.
        """
        ...

    def close(self) -> None:
        """End what the engine started."""
        ...


@dataclass(frozen=True)
class Done(Generic[T, R]):
    """A task with its result, or with a sentence on why there is none."""

    task: T
    result: R | None
    failure: str = ""
    deaths: int = 0  # of workers that had it
    seconds: float = 0.0  # from its last submission to its end


@dataclass(frozen=True)
class _Try(Generic[T]):
    task: T
    deaths: int = 0
    losses: int = 0
    alone: bool = False
    since: float = 0.0  # time.monotonic() when it was submitted
    era: int = 0  # which executor it was submitted to: the first, the second, ...

    def done(self, result: R | None, failure: str = "") -> Done[T, R]:
        return Done(self.task, result, failure, self.deaths, time.monotonic() - self.since)


class OwnProcesses:
    """Processes of this machine, by default one for each core."""

    def __init__(
        self, n_jobs: int | None = None, *, limit: float = math.inf, begin: Callable[[], None] | None = None
    ) -> None:
        if n_jobs is not None and whole_number(n_jobs) < 1:
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


class GivenExecutor:
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
        return next((n for n in (self._threads, *found) if isinstance(n, int) and n > 0), UNKNOWN_WIDTH)

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


def engine_of(
    executor: Executor | None, n_jobs: int | None = None, begin: Callable[[], None] | None = None
) -> Engine:
    """Return the engine of a given executor, or of our own processes."""
    return OwnProcesses(n_jobs, begin=begin) if executor is None else GivenExecutor(executor, begin)


def work_through(
    tasks: Iterable[T],
    work: Callable[[T], R],
    engine: Engine,
    *,
    ahead: int = 2,
    on_note: Callable[[str], None] | None = None,
) -> Iterator[Done[T, R]]:
    """Yield the tasks as they end, in any order, each once; tasks are taken from their iterator as they go.

    Args:
        ahead: tasks in flight for each worker.
        on_note: called with a sentence on each loss.

    Raises:
        GodeError: if no engine can work.
    """
    yield from _Flight(iter(tasks), work, engine, ahead, on_note or (lambda _: None)).run()


def seconds_left(done: int, total: int, begin: float) -> float:
    """Return the estimated seconds for the rest, from the pace since `begin` (time.monotonic)."""
    return (time.monotonic() - begin) / max(done, 1) * (total - done)


class _Flight(Generic[T, R]):
    """The tasks in flight, those to try again, and those to try alone."""

    def __init__(
        self,
        tasks: Iterator[T],
        work: Callable[[T], R],
        engine: Engine,
        ahead: int,
        note: Callable[[str], None],
    ) -> None:
        self.tasks, self.work, self.engine, self.ahead, self.note = tasks, work, engine, ahead, note
        self.flying: dict[Future[Any], _Try[T]] = {}
        self.again: deque[_Try[T]] = deque()
        self.suspects: deque[_Try[T]] = deque()
        self.ended: SimpleQueue[Future[Any]] = SimpleQueue()
        self.broken, self.era = False, 0
        self.next_check = time.monotonic() + CHECK

    def run(self) -> Iterator[Done[T, R]]:
        try:
            while True:
                self._fill()
                if not self.flying:
                    return
                if time.monotonic() > self.next_check:
                    yield from self._checked()
                try:
                    future = self.ended.get(timeout=CHECK)
                except Empty:
                    continue
                trial = self.flying.pop(future, None)
                if trial is not None:
                    yield from self._judged(trial, future)
        finally:
            for future in self.flying:
                future.cancel()

    def _fill(self) -> None:
        """Submit as many tasks as may fly."""
        while len(self.flying) < max(1, self.ahead * self.engine.width):
            trial = self._next()
            if trial is None:
                return
            self._submit(trial)
            if trial.alone:
                return

    def _next(self) -> "_Try[T] | None":
        if any(trial.alone for trial in self.flying.values()):
            return None
        if self.again:
            return self.again.popleft()
        for task in self.tasks:
            return _Try(task)
        if self.suspects and not self.flying:
            return replace(self.suspects.popleft(), alone=True)
        return None

    def _submit(self, trial: _Try[T]) -> None:
        while True:
            if self.broken:
                self.note(self.engine.renew())
                self.broken, self.era = False, self.era + 1
            try:
                # The number of the attempt makes another task of it for engines that remember results.
                n = trial.deaths + trial.losses
                future = self.engine.executor().submit(_attempt, self.work, trial.task, n)
            except (BrokenExecutor, RuntimeError, *LOST):
                self.broken = True
                continue
            self.flying[future] = replace(trial, since=time.monotonic(), era=self.era)
            future.add_done_callback(self.ended.put)
            return

    def _checked(self) -> Iterator[Done[T, R]]:
        """Look at the engine, now and then."""
        self.next_check = time.monotonic() + CHECK
        try:
            for sentence in self.engine.check():
                self.note(sentence)
        except ConnectionError as error:
            lost, self.flying, self.broken = list(self.flying.values()), {}, True
            self.note(f"{error}; {_count(len(lost))} in flight will be done again")
            for trial in lost:
                yield from self._lost(trial)

    def _judged(self, trial: _Try[T], future: "Future[Any]") -> Iterator[Done[T, R]]:
        try:
            result: R = future.result()
        except StartError:
            if trial.era == self.era:
                raise
            yield from self._lost(trial)
        except ModuleNotFoundError as error:
            raise GodeError(
                f"a worker cannot do the work ({error}); install the same gode-engine there as here"
            ) from error
        except Exception as error:  # noqa: BLE001 - whatever an engine raises becomes a row
            yield from self._without_result(trial, error)
        else:
            yield trial.done(result)

    def _without_result(self, trial: _Try[T], error: Exception) -> Iterator[Done[T, R]]:
        if isinstance(error, OverdueError):
            yield trial.done(None, str(error))
        elif isinstance(error, WorkerDiedError):
            yield from self._died(replace(trial, alone=True), str(error))
        elif isinstance(error, BrokenExecutor):
            self.broken = self.broken or trial.era == self.era
            yield from self._died(trial, f"the pool of workers broke ({shortened(str(error), 120)})")
        elif type(error).__name__ == KILLED:
            yield from self._died(trial, "its worker died each time that it was tried")
        elif isinstance(error, LOST):
            if trial.era == self.era and not self.broken:
                self.note(f"work in flight was dropped ({type(error).__name__}); it is done again")
                self.broken = True
            yield from self._lost(trial)
        else:
            kind = "" if isinstance(error, WorkError) else f"{type(error).__name__}: "
            said = shortened(f"{kind}{error}", 300)
            yield trial.done(None, f"it could not be worked on: {said}")

    def _died(self, trial: _Try[T], how: str) -> Iterator[Done[T, R]]:
        """Try a task again whose worker died, if it did not do so too often."""
        trial = replace(trial, deaths=trial.deaths + 1)
        name = shortened(str(trial.task), 80)
        if trial.deaths >= DEATHS and trial.alone:
            failure = f"its worker died {trial.deaths} times, so it was given up: {how}"
            yield trial.done(None, failure)
            return
        self.note(f"{name}: {how}; it is given to another worker")
        company = not trial.alone and trial.deaths >= SUSPECT
        (self.suspects if company else self.again).append(replace(trial, alone=False))

    def _lost(self, trial: _Try[T]) -> Iterator[Done[T, R]]:
        trial = replace(trial, losses=trial.losses + 1)
        if trial.losses >= LOSSES:
            yield trial.done(None, f"the connection was lost {trial.losses} times, so it was given up")
        else:
            self.again.append(trial)


def _attempt(work: Callable[[T], R], task: T, number: int) -> R:
    return work(task)


def _count(n: int) -> str:
    return "one record" if n == 1 else f"{n} records"


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
