"""Discoveries inside other people's processes and threads: they work, and leave no trace there."""

import gc
import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from gode import discover
from gode.data import Dataset, make_run
from gode.search.workers import one_thread, processes
from robust_cases import PLAIN

T = np.linspace(0.0, 5.0, 20)
SMALL = {"order": 1, "effort": "quick", "grammar": "first-order", "without": PLAIN[1]}
WORK = f"""
import numpy as np, gode
def work(number):
    t = np.linspace(0.0, 5.0, 20)
    return str(gode.discover(t, np.exp(-t), n_jobs=2, **{SMALL}))
"""


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr("gode.search.workers.cores", lambda: 2)


def test_a_daemonic_process_works_alone_and_says_so(two_cores, monkeypatch):
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    with pytest.warns(UserWarning, match="this process cannot start others, so n_jobs=1 is used"):
        found = discover(T, np.exp(-T), **SMALL, n_jobs=2)
    assert str(found) == "u' = -u"


def test_there_are_no_more_processes_than_cores():
    dataset = Dataset((make_run(T, u=np.exp(-T)),))
    assert 1 <= processes(10**9, dataset) <= os.cpu_count()


def ran(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_a_program_without_a_main_guard_may_use_processes(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(WORK + "print(work(0))")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("u' = -u\n", "")


@pytest.mark.slow
def test_a_worker_of_joblib_works_alone_without_a_traceback():
    pytest.importorskip("joblib")
    program = (
        "from joblib import Parallel, delayed; print(Parallel(n_jobs=2)(delayed(work)(i) for i in range(2)))"
    )
    done = ran(WORK + program)
    assert done.stdout == str(["u' = -u"] * 2) + "\n"
    assert "Traceback" not in done.stderr


def test_discoveries_that_overlap_leave_the_threads_of_linear_algebra_as_they_were():
    def threads():
        shared = [pool for pool in threadpool_info() if pool.get("threading_layer") == "pthreads"]
        return [pool["num_threads"] for pool in shared]

    def discovery(entered, leave):
        with one_thread():
            entered.set()
            leave.wait(timeout=10)

    before = threads()
    if set(before) <= {1}:
        pytest.skip("linear algebra has no threads here that all share")
    events = [(threading.Event(), threading.Event()) for _ in range(3)]
    runs = [threading.Thread(target=discovery, args=pair) for pair in events]
    for run, (entered, _) in zip(runs, events, strict=True):
        run.start()
        entered.wait(timeout=10)
    for run, (_, leave) in zip(runs, events, strict=True):
        assert set(threads()) == {1}
        leave.set()
        run.join()
    assert threads() == before


def test_full_collections_are_rare_within_a_discovery_and_as_before_after_it():
    before = gc.get_threshold()
    with one_thread():
        with one_thread():
            assert gc.get_threshold()[2] > 100 * before[2]
        assert gc.get_threshold()[2] > 100 * before[2]
    assert gc.get_threshold() == before
