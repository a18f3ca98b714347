"""A real Dask cluster of separate processes on this machine: workers are killed, the scheduler goes away."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import gode
from fleet_data import cooling, few, growth
from fleet_work import Sum, add
from gode.errors import ConfigError
from gode.fleet import cluster as module
from gode.fleet.cluster import DaskCluster
from gode.fleet.engine import GivenExecutor, work_through

distributed = pytest.importorskip("distributed", reason="needs the extra gode-engine[dask]")
pytestmark = pytest.mark.filterwarnings("ignore")  # Dask warns of ports that are taken, and of its own ends
LIMIT = 300  # seconds for a test


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


class Cluster:
    """A scheduler and workers in processes of their own; a worker that dies is started again.

    Dask's nannies do not always do that: one whose worker dies while it starts may never start another.
    """

    def __init__(self, n: int) -> None:
        self.n, self.port, self.closing = n, free_port(), threading.Event()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler = self._scheduler()
        self.workers: list[subprocess.Popen] = []
        self.tender = threading.Thread(target=self._tend, daemon=True)
        self.tender.start()

    def _started(self, *words: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:], "--no-dashboard"]
        paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
        # Dask itself gives no task to another worker, so that ours has to.
        own = {"PYTHONPATH": paths, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
        return subprocess.Popen(command, env={**os.environ, **own}, stderr=subprocess.DEVNULL)

    def _scheduler(self) -> subprocess.Popen:
        return self._started("scheduler", "--port", str(self.port), "--host", "127.0.0.1")

    def _worker(self) -> subprocess.Popen:
        return self._started("worker", self.address, "--nthreads", "1", "--no-nanny")

    def _tend(self) -> None:
        while not self.closing.wait(0.2):
            self.workers = [w for w in self.workers if w.poll() is None]
            self.workers += [self._worker() for _ in range(self.n - len(self.workers))]

    def restart_scheduler(self) -> None:
        self.scheduler.kill()
        self.scheduler.wait()
        self.scheduler = self._scheduler()

    def close(self) -> None:
        self.closing.set()
        self.tender.join()
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster():
    made = Cluster(2)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def bounded():
    """Let a test fail that waits for workers which never come."""
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail(f"not finished after {LIMIT} s"))
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_a_cluster_gives_the_results_of_records_alone_and_survives_a_killed_worker(cluster, tmp_path):
    records = {"a": growth(0), "b": cooling(1), "c": growth(2), "d": cooling(3), "e": growth(4)}
    options = {"grammar": few(tmp_path), "effort": "quick"}
    with distributed.Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(2)
        assert GivenExecutor(client.get_executor()).width == 2
        victim = next(iter(client.run(os.getpid).values()))
        found = {}
        for result in gode.discover_many(records, executor=client.get_executor(), **options):
            if not found:
                os.kill(victim, signal.SIGKILL)
            assert result.id not in found
            found[result.id] = result.equation
    assert found == {name: str(gode.discover(*r, **options).equation) for name, r in records.items()}


@pytest.mark.slow
def test_a_task_that_kills_every_worker_is_given_up_and_no_other(cluster, tmp_path):
    tasks = [Sum("bad", kills=99, folder=str(tmp_path)), *(Sum(str(i)) for i in range(5))]
    engine = DaskCluster(cluster.address)
    notes = []
    try:
        done = {str(d.task): d for d in work_through(tasks, add, engine, on_note=notes.append)}
    finally:
        engine.close()
    assert done.pop("bad").result is None
    assert sorted(done) == ["0", "1", "2", "3", "4"]
    assert all(d.result[1] == 3 for d in done.values())


@pytest.mark.slow
def test_work_goes_on_after_the_scheduler_was_restarted(cluster):
    notes, done = [], []
    engine = DaskCluster(cluster.address)
    tasks = [Sum(str(i), seconds=0.2) for i in range(30)]
    try:
        for each in work_through(tasks, add, engine, on_note=notes.append):
            done.append(each)
            if len(done) == 5:
                cluster.restart_scheduler()
    finally:
        engine.close()
    assert sorted(int(str(d.task)) for d in done) == list(range(30))
    assert all(d.result[1] == 3 for d in done)
    assert any("connected to" in note for note in notes)


@pytest.mark.slow
def test_a_cluster_without_workers_is_waited_for_and_that_is_told():
    empty, notes = Cluster(0), []
    engine = DaskCluster(empty.address)

    def note(sentence: str) -> None:
        if "waiting" in sentence:
            empty.n = 1
        notes.append(sentence)

    try:
        (done,) = work_through([Sum("a")], add, engine, on_note=note)
    finally:
        engine.close()
        empty.close()
    assert done.result[1] == 3
    assert sum("no worker; waiting for one" in each for each in notes) == 1


def test_without_dask_the_sentence_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'gode-engine\[dask\]'"):
        DaskCluster("tcp://127.0.0.1:1")


def test_what_is_no_address_is_told_at_once(tmp_path):
    for text in ("nonsense", str(tmp_path / "nowhere.json"), "tcp://10.0.0.1"):
        with pytest.raises(ConfigError, match=r"such as tcp://10\.0\.0\.1:8786"):
            DaskCluster(text)
    file = tmp_path / "scheduler.json"
    file.write_text("{}")
    with pytest.raises(ConfigError, match="a file without one"):
        DaskCluster(str(file))
    file.write_text('{"address": "tcp://10.0.0.7:8786"}')
    assert module.written_address(str(file)) == "tcp://10.0.0.7:8786"


def test_an_address_without_a_scheduler_is_told(monkeypatch):
    monkeypatch.setattr(module, "CONNECT", "1s")
    with pytest.raises(ConfigError, match="no Dask scheduler answers at"):
        DaskCluster("tcp://127.0.0.1:1")
