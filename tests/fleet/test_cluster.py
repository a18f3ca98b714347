"""A real Dask cluster of separate processes on this machine: workers are killed, the scheduler goes away."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gode
from fleet_data import cooling, few, growth
from fleet_work import Sum, add
from gode.errors import ConfigError
from gode.fleet import cluster as module
from gode.fleet.cluster import DaskCluster
from gode.fleet.engine import work_through
from gode.fleet.engines import Given

distributed = pytest.importorskip("distributed", reason="needs the extra gode-engine[dask]")
pytestmark = pytest.mark.filterwarnings("ignore")  # Dask warns of ports that are taken, and of its own ends


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as made:
        yield made


def test_a_cluster_gives_the_results_of_records_alone_and_survives_a_killed_worker(cluster, tmp_path):
    records = {"a": growth(0), "b": cooling(1), "c": growth(2), "d": cooling(3), "e": growth(4)}
    options = {"grammar": few(tmp_path), "effort": "quick"}
    with distributed.Client(cluster, set_as_default=False) as client:
        assert Given(client.get_executor()).width == 2
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
    engine = DaskCluster(cluster.scheduler_address)
    notes = []
    try:
        done = {str(d.task): d for d in work_through(tasks, add, engine, on_note=notes.append)}
    finally:
        engine.close()
    assert done.pop("bad").result is None
    assert sorted(done) == ["0", "1", "2", "3", "4"]
    assert all(d.result[1] == 3 for d in done.values())


@pytest.mark.slow
def test_work_goes_on_after_the_scheduler_was_restarted(tmp_path):
    port = 18786 + os.getpid() % 1000
    address = f"tcp://127.0.0.1:{port}"

    def started(*words: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]]
        return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])})

    def everything() -> list[subprocess.Popen]:
        scheduler = started("scheduler", "--port", str(port), "--no-dashboard", "--host", "127.0.0.1")
        return [scheduler, started("worker", address, "--nthreads", "1", "--no-dashboard")]

    running, notes, done = everything(), [], []
    try:
        engine = DaskCluster(address)
        for each in work_through(
            [Sum(str(i), seconds=0.2) for i in range(30)], add, engine, on_note=notes.append
        ):
            done.append(each)
            if len(done) == 5:
                running[0].send_signal(signal.SIGKILL)
                running[0].wait()
                running[1].kill()
                running[1].wait()
                time.sleep(0.5)
                running = everything()
        engine.close()
    finally:
        for process in running:
            process.kill()
            process.wait()
    assert sorted(int(str(d.task)) for d in done) == list(range(30))
    assert all(d.result[1] == 3 for d in done)
    assert any("connected to" in note for note in notes)


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
