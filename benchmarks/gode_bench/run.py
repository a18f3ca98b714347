"""Run jobs by the machinery of fleets: each result is written at once, and earlier ones are kept.

If a worker dies, its job is given to another, three times at most. If a job exceeds the time limit, its
process is ended, and only that job counts as failed.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from gode.errors import ConfigError
from gode.fleet.cluster import DaskCluster
from gode.fleet.engine import Engine, OwnProcesses, work_through
from gode_bench.jobs import Job
from gode_bench.methods import method
from gode_bench.records import Record, Store, open_store
from gode_bench.worker import broken, run_warm_job, warm_up


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """How the jobs are run."""

    workers: int = 1
    limit: float = 1800.0  # seconds that a job may take; workers of a cluster do not keep it
    retry: bool = False  # whether to repeat jobs that failed earlier
    pools: Path | None = None  # folder in which the candidates of each discovery are saved
    dask: str | None = None  # address of the scheduler of a cluster

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
    on_note: Callable[[str], None] | None = None,
) -> list[Record]:
    """Run the jobs that have no result in `folder` yet; return the records of all, sorted by job.

    Args:
        on_note: called with a sentence where a worker died or the connection to a cluster was lost.

    Raises:
        GodeError: if the records cannot be written, or no worker can be started.
    """
    unique = list(dict.fromkeys(jobs))
    with open_store(folder) as store:
        waiting = [job for job in unique if _must_run(job, store, config)]
        waiting.sort(key=lambda job: (-method(job.method).weight * job.size, job))
        if waiting:
            _run(waiting, store, config, on_step, on_note)
        return sorted((store.records[job.key] for job in unique), key=lambda r: r.job)


def _must_run(job: Job, store: Store, config: RunConfig) -> bool:
    record = store.records.get(job.key)
    return record is None or (config.retry and record.equation is None)


def _run(
    waiting: Sequence[Job],
    store: Store,
    config: RunConfig,
    on_step: Callable[[StudyProgress], None] | None,
    on_note: Callable[[str], None] | None,
) -> None:
    """Run all jobs; no process survives the end of this call, however it ends."""
    engine: Engine = (
        DaskCluster(config.dask)
        if config.dask
        else OwnProcesses(config.workers, limit=config.limit, begin=warm_up)
    )
    study = _Study(list(waiting))
    work = partial(run_warm_job, pools=config.pools)
    try:
        for done in work_through(waiting, work, engine, on_note=on_note):
            record = done.result or broken(done.task, done.failure, done.seconds)
            store.append(record)
            step = study.stepped(record, engine.width)
            if on_step:
                on_step(step)
    finally:
        engine.close()


@dataclass
class _Study:
    """The jobs that are not finished, and the durations of those that are."""

    left: list[Job]
    finished: list[Record] = field(default_factory=list)

    def stepped(self, record: Record, width: int) -> StudyProgress:
        """Return the state after one more record."""
        self.left.remove(record.job)
        self.finished.append(record)
        total = len(self.left) + len(self.finished)
        todo = math.fsum(self._estimate(job) for job in self.left) / max(1, min(width, len(self.left)))
        return StudyProgress(record, len(self.finished), total, todo)

    def _estimate(self, job: Job) -> float:
        """Return the estimated duration of a job, from runs of its method or else from all runs."""
        own = [r for r in self.finished if r.job.method == job.method] or self.finished
        weights = sum(_weight(r.job) for r in own)
        return sum(r.seconds for r in own) * _weight(job) / weights


def _weight(job: Job) -> float:
    return method(job.method).weight * (200 + job.size)
