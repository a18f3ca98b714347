"""Processes: an executor of worker processes of our own, which knows whose work ended which process.

The pool of the standard library gives up all its work when one process dies, and cannot end a task that
takes too long. Here a thread minds each process: it hands over one task at a time, and starts another process
after a death.
"""

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from gode.errors import GodeError
from gode.search.workers import end_with_parent, starting, without_main

ONE_THREAD = {
    name: "1"
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
}
STARTS = 3  # attempts to start a process


class WorkerDiedError(GodeError, RuntimeError):
    """The process that worked on a task died."""


class OverdueError(GodeError, RuntimeError):
    """A task took longer than it may; its process was ended."""


class StartError(GodeError, RuntimeError):
    """No worker process can be started."""


class WorkError(GodeError, RuntimeError):
    """A task raised an exception in its process."""


class _Call(NamedTuple):
    future: "Future[Any]"
    work: tuple[Any, ...]  # function, arguments, keyword arguments


class _Worker(NamedTuple):
    process: BaseProcess
    connection: "Connection[Any, Any]"

    def stop(self) -> int | None:
        """End the process, and return its exit code."""
        self.process.kill()
        self.process.join()
        self.connection.close()
        return self.process.exitcode


class Processes(Executor):
    """An executor of `n` processes, started as work comes; each has one thread for linear algebra.

    Args:
        limit: seconds that a task may take.
        begin: called in each process before its first task. The first process calls it alone, as it may
            compile what the others then find in the cache.
    """

    def __init__(self, n: int, *, limit: float = math.inf, begin: Callable[[], None] | None = None) -> None:
        self.n, self.limit, self.begin = n, limit, begin
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._lock = threading.Lock()  # for what follows, and while a process starts
        self._threads: list[threading.Thread] = []
        self._workers: set[_Worker] = set()
        self._open, self._killed = True, False
        self._first = threading.Lock()  # held while the first process begins
        self._begun = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Return the future of fn(*args, **kwargs), which is pickled to another process."""
        with self._lock:
            if not self._open:
                raise RuntimeError("these processes were shut down")
            future: Future[Any] = Future()
            self._calls.put(_Call(future, (fn, args, kwargs)))
            if len(self._threads) < self.n:
                self._threads.append(threading.Thread(target=self._mind, daemon=True))
                self._threads[-1].start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes: after the work that is left, or with `cancel_futures` at once."""
        with self._lock:
            self._open = False
            if cancel_futures:
                self._killed = True
                self._cancel()
                for worker in self._workers:
                    worker.process.kill()
            for _ in self._threads:
                self._calls.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _cancel(self) -> None:
        while True:
            try:
                call = self._calls.get_nowait()
            except Empty:
                return
            if call is not None:
                call.future.cancel()

    def _mind(self) -> None:
        """Give the calls to a process, one by one, until there are no more."""
        _block_interrupts()
        worker: _Worker | None = None
        while (call := self._calls.get()) is not None:
            if not call.future.set_running_or_notify_cancel():
                continue
            try:
                worker = worker or self._started()
                result = self._answer(worker, call)
            except GodeError as error:
                if not isinstance(error, WorkError) and worker is not None:
                    self._dropped(worker)
                    worker = None
                call.future.set_exception(error)
            else:
                call.future.set_result(result)
        if worker is not None:
            self._dropped(worker)

    def _started(self) -> _Worker:
        """Return a process that has begun.

        Raises:
            StartError: if it dies before that, again and again.
        """
        with self._first:
            if not self._begun:
                worker = self._tried()
                self._begun = True
                return worker
        return self._tried()

    def _tried(self) -> _Worker:
        code: int | None = None
        for _ in range(STARTS):
            worker = self._spawned()
            try:
                worker.connection.recv()
            except (EOFError, OSError):
                code = self._dropped(worker)
            else:
                return worker
        raise StartError(f"a worker process could not start (exit code {code}); see its message")

    def _spawned(self) -> _Worker:
        context = starting("gode.fleet.ready")
        with self._lock, _environment(ONE_THREAD), without_main():
            if self._killed:
                raise StartError("these processes were shut down")
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(theirs, self.begin), daemon=True)
            process.start()
            theirs.close()
            worker = _Worker(process, ours)
            self._workers.add(worker)
        return worker

    def _dropped(self, worker: _Worker) -> int | None:
        with self._lock:
            self._workers.discard(worker)
        return worker.stop()

    def _answer(self, worker: _Worker, call: _Call) -> object:
        """Return what the process says to a call.

        Raises:
            WorkerDiedError, OverdueError, WorkError: if that is no result.
        """
        begin = time.monotonic()
        try:
            _send(worker, call)
            if not worker.connection.poll(None if math.isinf(self.limit) else self.limit):
                raise OverdueError(f"not finished after {self.limit:g} s")
            fine, answer = worker.connection.recv()
        except (EOFError, OSError):
            worker.process.join()
            spent = time.monotonic() - begin
            raise WorkerDiedError(
                f"the process died with exit code {worker.process.exitcode} after {spent:.1f} s"
            ) from None
        if not fine:
            raise WorkError(answer)
        return answer


def _send(worker: _Worker, call: _Call) -> None:
    try:
        worker.connection.send(call.work)
    except OSError:  # it has just died
        raise
    except Exception as error:  # noqa: BLE001 - pickle raises many kinds
        raise WorkError(
            f"it cannot be sent to another process ({error}); give functions as formulas or samples"
        ) from None


def serve(connection: "Connection[Any, Any]", begin: Callable[[], None] | None) -> None:
    """Answer the calls that come over a connection until the other side closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    threading.Thread(target=end_with_parent, daemon=True).start()
    if begin:
        begin()
    try:
        connection.send(None)
        while True:
            work, args, kwargs = connection.recv()
            try:
                answer = (True, work(*args, **kwargs))
            except Exception as error:  # noqa: BLE001 - what a task raises is for its caller
                answer = (False, f"{type(error).__name__}: {error}")
            connection.send(answer)
    except (EOFError, OSError):
        return


def _block_interrupts() -> None:
    """Keep Ctrl-C, which a terminal sends to all processes, from those that this thread starts."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables for the processes started inside."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
