"""Real runs in real processes: they stop, die, are killed and go on."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import active_children
from pathlib import Path

import pytest

from gode.errors import ConfigError
from gode_bench.jobs import suite_jobs
from gode_bench.records import FILE, open_store, read_records
from gode_bench.run import RunConfig, run_jobs
from gode_bench.tables import settings, suite_table
from gode_bench.worker import broken, run_job

PROGRAM = [sys.executable, "-c", "from gode.cli import main; main()", "bench"]
NAMES = ("ID2", "ID3", "ID7", "LODE4")
COMMON = {"noise": (0.05,), "initial": "known", "effort": "quick"}
METHODS = ("floor", "floor-derivatives")
JOBS = suite_jobs(("b1", "b2"), problems=NAMES, methods=METHODS, seeds=(0, 1), **COMMON)
OPTIONS = f"--problems {' '.join(NAMES)} --seeds 0 1 --methods {' '.join(METHODS)} --effort quick"
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")


@contextmanager
def started(folder: Path) -> Iterator[subprocess.Popen]:
    """A study in a process of its own, which ends with the block."""
    command = [*PROGRAM, "all", *OPTIONS.split(), "--jobs", "1", "--out", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def n_lines(folder: Path) -> int:
    path = folder / FILE
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for(condition, seconds: float = 300.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def children(pid: int) -> list[int]:
    """The children of a process, which any of its threads may have started."""
    lists = [task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/children")]
    return [int(child) for text in lists for child in text.split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")")[-1].split()[0] != "Z"
    except OSError:
        return False


def rows(records) -> list[tuple[str, ...]]:
    """The rows of all tables, without the time and the memory."""
    return [row[:-2] for setting, own in settings(records).items() for row in suite_table(setting, own).rows]


@needs_proc
def test_a_study_that_is_killed_goes_on_to_the_same_table(tmp_path):
    with started(tmp_path) as killed:
        wait_for(lambda: n_lines(tmp_path) >= 2)
        workers = children(killed.pid)
    wait_for(lambda: not any(map(alive, workers)))  # nobody goes on alone
    kept = (tmp_path / FILE).read_bytes()
    kept = kept[: kept.rindex(b"\n") + 1]
    assert workers
    assert n_lines(tmp_path) < len(JOBS)
    with open(tmp_path / FILE, "ab") as file:
        file.write(b'{"job": {"study"')  # torn

    records = run_jobs(JOBS, tmp_path, RunConfig(workers=2))
    assert (tmp_path / FILE).read_bytes().startswith(kept)  # nothing is done twice
    assert n_lines(tmp_path) == len(JOBS)
    assert records == read_records(tmp_path)
    assert rows(records) == rows([run_job(job) for job in JOBS])


@needs_proc
@pytest.mark.slow
def test_a_study_that_is_interrupted_says_how_to_go_on(tmp_path):
    with started(tmp_path) as stopped:
        wait_for(lambda: n_lines(tmp_path) >= 2)
        workers = children(stopped.pid)
        stopped.send_signal(signal.SIGINT)
        text, _ = stopped.communicate(timeout=60)
    assert stopped.returncode == 130
    assert "the same command goes on" in text
    assert "Traceback" not in text
    wait_for(lambda: not any(map(alive, workers)))
    assert 2 <= len(read_records(tmp_path)) < len(JOBS)


def test_the_job_of_a_worker_that_dies_is_given_to_another(tmp_path):
    jobs = suite_jobs(("b1",), problems=NAMES[:3], methods=("floor",), seeds=(0,), **COMMON)
    notes = []

    def kill_after_the_first(progress) -> None:
        if progress.done == 1:
            active_children()[0].kill()

    records = run_jobs(jobs, tmp_path, RunConfig(), kill_after_the_first, notes.append)
    assert [r.score.exact for r in records] == [True] * 3
    assert len(notes) == 1
    assert "died with exit code -9" in notes[0]
    assert "given to another worker" in notes[0]
    assert active_children() == []


def test_a_job_that_takes_too_long_is_a_failure(tmp_path):
    jobs = suite_jobs(("b3",), problems=("Pendulum",), methods=("gode",), seeds=(0,), **COMMON)
    steps = []
    (record,) = run_jobs(jobs, tmp_path, RunConfig(limit=0.05), steps.append)
    assert record.equation is None
    assert "not finished after 0.05 s" in record.score.failure
    assert record.score.above
    assert [(step.done, step.total, step.left) for step in steps] == [(1, 1, 0.0)]


def test_failures_are_done_again_on_demand_only(tmp_path):
    jobs = suite_jobs(("b1",), problems=("ID2",), methods=("floor",), seeds=(0,), **COMMON)
    with open_store(tmp_path) as store:
        store.append(broken(jobs[0], "a bad day", 1.0))
    (kept,) = run_jobs(jobs, tmp_path, RunConfig())
    assert kept.score.failure == "a bad day"
    (again,) = run_jobs(jobs, tmp_path, RunConfig(retry=True))
    assert again.score.exact
    assert run_jobs(jobs, tmp_path, RunConfig(retry=True)) == [again]


@pytest.mark.parametrize("options", [{"workers": 0}, {"limit": 0.0}, {"limit": float("nan")}])
def test_nonsense_is_refused(options):
    with pytest.raises(ConfigError):
        RunConfig(**options)
