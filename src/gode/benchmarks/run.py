"""Run jobs in worker processes: each result is written at once, and earlier ones are kept.

Each worker has one BLAS thread. If it crashes or exceeds the time limit, only its job counts as failed.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from gode.benchmarks.jobs import Job
from gode.benchmarks.methods import method
from gode.benchmarks.records import Record, Store, open_store
from gode.benchmarks.worker import broken, serve
from gode.errors import ConfigError, GodeError

ONE_THREAD = {
    name: "1"
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
}
POLL = 1.0  # seconds between two checks of the time limit


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """How the jobs are run."""

    workers: int = 1
    limit: float = 1800.0  # seconds that a job may take
    retry: bool = False  # whether to repeat jobs that failed earlier
    pools: Path | None = None  # folder in which the candidates of each discovery are saved

    def __post_init__(self) -> None:
        if not 1 <= self.workers <= 1024:
            raise ConfigError(f"the number of processes must lie between 1 and 1024, got {self.workers}")
        if not self.limit > 0:
            raise ConfigError(f"the time limit must be positive, got {self.limit:g} s")


@dataclass(frozen=True)
class StudyProgress:
    """The state of a study after a finished job."""

    record: Record
    done: int
    total: int
    left: float  # estimated seconds for the rest


def run_jobs(
    jobs: Sequence[Job],
    folder: Path,
    config: RunConfig,
    on_step: Callable[[StudyProgress], None] | None = None,
) -> list[Record]:
    """Run the jobs that have no result in `folder` yet; return the records of all, sorted by job.

    Raises:
        GodeError: if the records cannot be written, or no worker can be started.
    """
    unique = list(dict.fromkeys(jobs))
    with open_store(folder) as store:
        waiting = [job for job in unique if _must_run(job, store, config)]
        waiting.sort(key=lambda job: (-method(job.method).weight * job.size, job))
        if waiting:
            _Pool(waiting, store, config, on_step).work()
        return sorted((store.records[job.key] for job in unique), key=lambda r: r.job)


def _must_run(job: Job, store: Store, config: RunConfig) -> bool:
    record = store.records.get(job.key)
    return record is None or (config.retry and record.equation is None)


@dataclass
class _Worker:
    process: SpawnProcess
    connection: "Connection[Job, Record | None]"
    job: Job | None = None
    started: float = 0.0


@dataclass
class _Pool:
    """The worker processes, the waiting jobs, and the store of results."""

    waiting: list[Job]
    store: Store
    config: RunConfig
    on_step: Callable[[StudyProgress], None] | None
    workers: list[_Worker] = field(default_factory=list)
    finished: list[Record] = field(default_factory=list)
    total: int = 0
    ready: bool = False  # the first worker has filled the cache of compiled code; only then others start

    def work(self) -> None:
        """Run all jobs; no worker survives the end of this call, however it ends."""
        self.total = len(self.waiting)
        try:
            self._start(1)
            while self.workers:
                ready = wait([w.connection for w in self.workers], timeout=POLL)
                for worker in [w for w in self.workers if w.connection in ready]:
                    self._receive(worker)
                self._stop_overdue()
        finally:
            for worker in list(self.workers):
                self._stop(worker)

    def _start(self, n: int) -> None:
        with _environment(ONE_THREAD), _without_interrupts():
            for _ in range(n):
                ours, theirs = get_context("spawn").Pipe()
                process = get_context("spawn").Process(
                    target=serve, args=(theirs, self.config.pools), daemon=True
                )
                process.start()
                theirs.close()
                self.workers.append(_Worker(process, ours))

    def _receive(self, worker: _Worker) -> None:
        """Store the record that a worker sends, and send it the next job."""
        try:
            record = worker.connection.recv()
        except (EOFError, ConnectionResetError):
            self._replace(worker)
            return
        if record is not None:
            self._store(record)
        elif not self.ready:
            self.ready = True
            self._start(min(self.config.workers, len(self.waiting)) - 1)
        worker.job = None
        if not self.waiting:
            self._stop(worker)
            return
        worker.job, worker.started = self.waiting.pop(0), time.monotonic()
        try:
            worker.connection.send(worker.job)
        except OSError:  # it has just died
            self._replace(worker)

    def _replace(self, worker: _Worker) -> None:
        """Record the job of a dead worker as failed, and start another worker."""
        worker.process.join()
        job, code = worker.job, worker.process.exitcode
        self._stop(worker)
        if job is None:
            raise GodeError(f"a process of the benchmark could not start (exit code {code}); see its message")
        failure = f"the process died with exit code {code}"
        self._store(broken(job, failure, time.monotonic() - worker.started))
        self._start(1 if self.waiting else 0)

    def _stop_overdue(self) -> None:
        for worker in list(self.workers):
            spent = time.monotonic() - worker.started
            if worker.job is not None and spent > self.config.limit:
                self._stop(worker)
                self._store(broken(worker.job, f"not finished after {self.config.limit:g} s", spent))
                self._start(1 if self.waiting else 0)

    def _stop(self, worker: _Worker) -> None:
        self.workers.remove(worker)
        worker.connection.close()
        worker.process.kill()
        worker.process.join()

    def _store(self, record: Record) -> None:
        self.store.append(record)
        self.finished.append(record)
        if self.on_step:
            self.on_step(StudyProgress(record, len(self.finished), self.total, self._left()))

    def _left(self) -> float:
        """Return the estimated seconds left, from the durations so far."""
        done = {r.job for r in self.finished}
        busy = [w.job for w in self.workers if w.job is not None and w.job not in done]
        todo = sum(self._estimate(job) for job in [*self.waiting, *busy])
        return todo / max(1, min(self.config.workers, len(self.waiting) + len(busy)))

    def _estimate(self, job: Job) -> float:
        """Return the estimated duration of a job, from runs of its method or else from all runs."""
        own = [r for r in self.finished if r.job.method == job.method] or self.finished
        weights = sum(_weight(r.job) for r in own)
        return sum(r.seconds for r in own) * _weight(job) / weights


def _weight(job: Job) -> float:
    return method(job.method).weight * (200 + job.size)


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


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Make processes started inside ignore Ctrl-C, which a terminal sends to all of them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
