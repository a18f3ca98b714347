"""Work through many tasks with any executor: few in flight, those lost with a worker given to another.

Work is a function of one task that returns a value whatever the task holds: what a future raises is then a
matter of the machines. Three losses are told apart:

- one process died, and its executor says so (our own processes): that task is tried again;
- a pool broke, or Dask gave a task up: each task in it may have been the cause. A task that was lost so twice
  is tried once more at the end with no other beside it, so that none is given up for the deeds of another;
- the connection to a cluster was lost, or it dropped the task: that is no fault of the task.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from gode.errors import GodeError, shortened
from gode.fleet.processes import OverdueError, StartError, WorkerDiedError, WorkError

T = TypeVar("T")
R = TypeVar("R")

DEATHS = 3  # of workers, after which a task is given up
SUSPECT = 2  # losses in company, after which a task is tried alone
LOSSES = 25  # of the connection, after which a task is given up
CHECK = 2.0  # seconds between two looks at the engine
LOST = (CancelledError, ConnectionError, TimeoutError, OSError)
KILLED = "KilledWorker"  # Dask's exception, whose module need not be installed


class Engine(Protocol):
    """What runs the work; see `gode.fleet.engines`."""

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


def seconds_left(done: int, total: int, begin: float) -> float:
    """Return the estimated seconds for the rest, from the pace since `begin` (time.monotonic)."""
    return (time.monotonic() - begin) / max(done, 1) * (total - done)
