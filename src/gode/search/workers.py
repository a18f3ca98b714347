"""Trajectory fits, in this process or spread over several; the answer is the same."""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType, TracebackType
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from gode.arrays import Bool, Float, Rows
from gode.data import Dataset
from gode.equation import Law
from gode.errors import ConfigError
from gode.fitting.population import own_places
from gode.fitting.prepare import Prepared
from gode.fitting.problem import is_resolved
from gode.fitting.target import Target
from gode.fitting.trajectory import ShootConfig
from gode.fitting.trajectory_fit import shoot
from gode.options.checks import whole_number
from gode.search.settings import Settings
from gode.search.zero_starts import is_hidden, is_positive, may_be_zero, with_zeros
from gode.selection import Candidate, judge

BRIEF = 3  # After the time limit a fit takes so many steps, and tries so many dampings for each.

_ours: list["Workers"] = []  # in a worker process: what it works on
SELDOM = 10_000  # Between two full collections of garbage lie so many of younger objects.


def cores() -> int:
    """Return how many processes can work at a time here."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def processes(n_jobs: int, dataset: Dataset) -> int:
    """Return the number of processes to use: at most one for each core.

    It is one where an input is a callable, which cannot be sent to another process, and in processes that
    cannot start others, such as those of multiprocessing.Pool and of joblib.

    Raises:
        ConfigError: if `n_jobs` is no number of processes.
    """
    if whole_number(n_jobs) < 1:
        raise ConfigError(f"n_jobs must be a whole number from 1 on, got {n_jobs!r}")
    sendable = all(isinstance(v, str | np.ndarray) for run in dataset.runs for v in run.inputs.values())
    n_jobs = min(n_jobs, cores()) if sendable else 1
    if n_jobs > 1 and not may_start_others():
        warnings.warn("this process cannot start others, so n_jobs=1 is used", stacklevel=2)
        return 1
    return n_jobs


def may_start_others() -> bool:
    """Tell whether this process may start others, which a worker of multiprocessing or of joblib may not."""
    method = multiprocessing.get_start_method(allow_none=True)
    known = method is None or method in multiprocessing.get_all_start_methods()  # joblib has one of its own
    return known and not multiprocessing.current_process().daemon


class Start(NamedTuple):
    """Where a fit to the trajectory starts: the equation with its constants, and what it is fitted to."""

    equation: Law
    whole: bool = False  # fit whole records, not their first part
    patient: bool = False  # complete the fit, even where it is far from the data
    view: str = ""  # which view of the data, where there are several states
    initial: Rows = ()  # initial values to start from; by default smoothed ones
    each: Rows = ()  # constants of each run to start from, where these have constants of their own
    own: tuple[int, ...] | None = None  # which constants each run has for itself; by default as was asked for


class Workers:
    """Fits equations to the trajectory with `n_jobs` processes; use it as a context."""

    def __init__(
        self,
        prepared: Prepared,
        settings: Settings,
        n_jobs: int = 1,
        check: Callable[[], None] | None = None,
    ) -> None:
        self.prepared, self.settings, self.n_jobs = prepared, settings, n_jobs
        self.check = check  # raises KeyboardInterrupt if the work is to end
        self.brief = False
        self.doubtful: dict[tuple[int, ...], Bool] = {}
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> "Workers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def hurry(self, *, brief: bool) -> None:
        """From now on take a few steps of each fit only: the time is over, and an answer is wanted."""
        self.brief = brief

    def fits(self, starts: Sequence[Start]) -> Iterator[tuple[Start, Candidate | None]]:
        """Yield each start with its candidate, in order."""
        done = 0
        if self.n_jobs > 1 and len(starts) > 1:
            try:
                for start, candidate in zip(starts, self._spread(starts), strict=True):
                    yield start, candidate
                    done += 1
            except BrokenProcessPool:
                if self.check:
                    self.check()  # a signal to all processes ends the workers, too
                warnings.warn("a worker process died; its work is done again in this one", stacklevel=2)
                self.n_jobs, self._pool = 1, None
        for start in starts[done:]:
            yield start, self.fit(start)

    def fit(self, start: Start, *, strict: bool = True) -> Candidate | None:
        """Return the candidate of one start, None if it has no solution along the data.

        With `strict`, also None if it does something between the samples that they do not show, and
        initial values of zero are tried where the record may begin so.
        """
        equation, config = start.equation, self.settings.shooting
        if self.brief:
            config = replace(config, max_iterations=BRIEF, attempts=BRIEF)
        if start.patient:
            config = replace(config, rough=config.tolerance, segmented=True)
        target = self.prepared.whole if start.whole else self.prepared.target
        initial = np.array(start.initial) if start.initial else None
        own = start.own
        if own is None:
            own = own_places(equation.skeleton, self.settings.individual)
        constants = np.array(start.each or start.equation.constants)
        found = self._fitted(equation, constants, own, target, config, start.whole, initial)
        if found is None or not strict:
            return found
        if not self._is_resolved(found):
            return None
        return found if found.rms > config.far else self._from_zero(found, target, config)

    def _from_zero(self, found: Candidate, target: Target, config: ShootConfig) -> Candidate:
        """Return the candidate with initial values of zero where its criterion is less for it.

        Measurements often begin at rest or from nothing, and a value that is known is none to fit.
        """
        orders = found.equation.skeleton.orders
        if orders not in self.doubtful:
            self.doubtful[orders] = may_be_zero(self.prepared, orders)
            if self.settings.selection.lasting:  # what is zero at the start is never above it
                self.doubtful[orders] &= ~is_positive(self.prepared, orders)
            if self.settings.known.frame:  # a state with a name has the zero that its user gave it
                self.doubtful[orders] &= ~is_hidden(self.prepared, orders)
        rows = [self.prepared.number_of(i, whole=found.whole) for i in range(len(found.initial))]
        doubtful = self.doubtful[orders][rows]
        zero = np.zeros_like(doubtful)
        for i in np.flatnonzero(doubtful.any(axis=0)):
            more = zero.copy()
            more[:, i] = doubtful[:, i]
            there = with_zeros(target, orders, more)
            own = () if found.own is None else found.own.places
            other = self._fitted(
                found.equation, _constants(found), own, there, config, found.whole, found.initial
            )
            better = other is not None and other.criterion < found.criterion
            if other is not None and better and self._is_resolved(other):
                held = tuple((int(run), int(k)) for run, k in np.argwhere(more))
                found, zero = replace(other, held=held), more
        return found

    def _fitted(
        self,
        equation: Law,
        constants: Float,
        own: tuple[int, ...],
        target: Target,
        config: ShootConfig,
        whole: bool,
        initial: Float | None = None,
    ) -> Candidate | None:
        skeleton, check = equation.skeleton, self.check
        shot = shoot(skeleton, constants, target, own, config=config, start=initial, check=check)
        found = judge(shot, self.prepared.floor, self.settings.selection, self.prepared.columns)
        return None if found is None else replace(found, whole=whole)

    def _is_resolved(self, found: Candidate) -> bool:
        """Tell whether the samples show what the law does between them, in every run."""
        columns = self.prepared.columns
        if found.own is None:
            return is_resolved(found.equation, columns)
        return all(
            is_resolved(found.law_of(i), columns.of_run(self.prepared.number_of(i, whole=found.whole)))
            for i in range(len(found.own.values))
        )

    def _spread(self, starts: Sequence[Start]) -> Iterator[Candidate | None]:
        if self._pool is None:
            plain = Workers(self.prepared.portable(), self.settings)
            context = starting("gode.search.workers")
            self._pool = ProcessPoolExecutor(self.n_jobs, context, initializer=_begin, initargs=(plain,))
        with without_main():
            return self._pool.map(_work, starts)


def _constants(found: Candidate) -> Float:
    """Return the constants of a fit, of each run where these have their own."""
    if found.own is None:
        return np.array(found.equation.constants)
    return np.array([found.law_of(i).constants for i in range(len(found.own.values))])


def starting(preload: str) -> Any:
    """Return how worker processes are started, as a context of multiprocessing.

    On Linux they are forked from a server process that has imported the module `preload`, once for all of
    them; the server is fresh, so that no lock and no thread of this process is copied. Elsewhere forking is
    not safe, and each worker is a new process that imports for itself.
    """
    if not sys.platform.startswith("linux"):
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([preload])
    return context


@contextmanager
def without_main() -> Iterator[None]:
    """Start processes that do not run the program of the user again; they need nothing of it.

    Without `if __name__ == "__main__"` in that program, each of them would begin a discovery of its own.
    """
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


def _begin(workers: Workers) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asked
    threadpool_limits(1)
    _ours.append(workers)
    threading.Thread(target=end_with_parent, daemon=True).start()


def end_with_parent() -> None:
    """End this process when its parent ends, even if that is killed: it would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(start: Start) -> Candidate | None:
    return _ours[0].fit(start)


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
