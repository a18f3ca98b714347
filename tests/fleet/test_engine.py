"""Real processes that die, break and take too long: every task ends once, with a result or a sentence."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import active_children, get_context

import pytest

from fleet_work import Sum, add
from gode.errors import ConfigError
from gode.fleet.engine import GivenExecutor, OwnProcesses, work_through


def through(tasks, engine, notes=None):
    try:
        return list(work_through(tasks, add, engine, on_note=(notes if notes is not None else []).append))
    finally:
        engine.close()


def test_each_task_ends_once_in_a_process_of_ours():
    done = through([Sum(str(i), (i, 1)) for i in range(20)], OwnProcesses(2))
    assert sorted(d.result[:2] for d in done) == sorted((str(i), i + 1) for i in range(20))
    assert 1 <= len({d.result[2] for d in done}) <= 2
    assert active_children() == []


def test_tasks_are_taken_as_they_are_needed():
    taken = []

    def tasks():
        for i in range(100):
            taken.append(i)
            yield Sum(str(i))

    engine = OwnProcesses(1)
    done = work_through(tasks(), add, engine)
    try:
        next(done)
        assert len(taken) <= 3
    finally:
        done.close()
        engine.close()
    assert active_children() == []


def test_a_task_that_ends_its_worker_three_times_is_given_up_and_no_other(tmp_path):
    bad = Sum("bad", kills=9, folder=str(tmp_path))
    once = Sum("once", kills=1, folder=str(tmp_path))
    notes = []
    done = through([Sum("a"), bad, Sum("b"), once, Sum("c")], OwnProcesses(2), notes)
    found = {str(d.task): d for d in done}
    assert len(done) == 5
    assert found["bad"].result is None
    assert "died 3 times" in found["bad"].failure
    assert found["once"].result[1] == 3
    assert found["once"].deaths == 1
    assert all(found[name].result[1] == 3 for name in "abc")
    assert sum("given to another worker" in note for note in notes) == 3


def test_a_task_that_takes_too_long_ends_with_its_process():
    done = through([Sum("slow", seconds=60.0), Sum("fast")], OwnProcesses(1, limit=2.0))
    found = {str(d.task): d for d in done}
    assert found["slow"].failure == "not finished after 2 s"
    assert found["fast"].result[1] == 3


def test_what_cannot_be_sent_is_a_sentence():
    (done,) = through([Sum("odd", numbers=(lambda: 1,))], OwnProcesses(1))
    assert "cannot be sent to another process" in done.failure


def test_any_executor_works_and_stays_open():
    with ThreadPoolExecutor(3) as pool:
        done = through([Sum(str(i)) for i in range(7)], GivenExecutor(pool))
        assert len(done) == 7
        assert pool.submit(int, 3).result() == 3


@pytest.mark.slow
def test_our_processes_take_over_from_a_pool_that_breaks(tmp_path):
    bad = Sum("bad", kills=9, folder=str(tmp_path))
    notes = []
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        done = through([Sum("a"), bad, *(Sum(str(i)) for i in range(4))], GivenExecutor(pool), notes)
    found = {str(d.task): d for d in done}
    assert len(found) == len(done) == 6
    assert found.pop("bad").result is None
    assert all(d.result[1] == 3 for d in found.values())
    assert any("the executor is broken; going on in" in note for note in notes)


def test_nonsense_is_refused():
    with pytest.raises(ConfigError, match="n_jobs must be a whole number"):
        OwnProcesses(0)
    with pytest.raises(ConfigError, match="has client"):
        GivenExecutor(3)
