"""Processes, threads, memory and random states: nothing leaks, and a worker's death costs only time."""

import multiprocessing
import os
import random
import signal
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from commands import GROWTH, gode
from gode import GodeError, discover, load, load_model, parse_skeleton
from gode.data import Dataset, columns_of_run, make_run
from gode.data.example import load_example
from gode.fitting import ConstantsConfig, fit_constants, integral_problem
from gode.fitting.prepare import prepare
from gode.search import Objective, ObjectiveConfig
from gode.search.settings import Settings
from gode.search.templates import random_skeletons
from gode.search.workers import Start, Workers
from robust_cases import PLAIN

SMALL = {"order": 1, "effort": "quick", "grammar": "first-order", "without": PLAIN[1]}
TEXTS = [
    "u' = C*u",
    "u' = C*u + C",
    "u' = C*u + C*u^2",
    "u' = C*u^2 + C*u^3",
    "u' = C*u + C*u^3",
    "u' = C*u^2",
]


@pytest.fixture(scope="module")
def growth():
    example = load_example("growth")
    return discover(example.t, example.u, **SMALL)


@pytest.fixture(scope="module")
def prepared():
    example = load_example("growth")
    return prepare(Dataset((make_run(example.t, u=example.u),)), 1, 1e-4)


def scored(prepared, settings):
    """The skeletons of TEXTS with their cheap fits."""
    out = []
    for text in TEXTS:
        skeleton = parse_skeleton(text)
        found = fit_constants(skeleton, prepared.problems[0], config=settings.constants)
        out.append(Start(found.equation))
    return out


def told(pairs):
    return [(str(s.equation.skeleton), c and (c.equation.constants, c.criterion)) for s, c in pairs]


@pytest.mark.parametrize(
    "moment", ["in the middle", pytest.param("between two batches", marks=pytest.mark.slow)]
)
def test_a_killed_worker_is_reported_and_its_work_done_again(prepared, moment):
    settings = Settings(order=1, grammar="first-order")
    several = scored(prepared, settings) * 30  # so many that the kill comes before the end
    with Workers(prepared, settings) as alone:
        expected = told(alone.fits(several))
    found = []
    with Workers(prepared, settings, n_jobs=2) as workers:
        if moment == "between two batches":
            found += workers.fits(several)
        else:
            pairs = workers.fits(several)
            found.append(next(pairs))
        os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)
        with pytest.warns(UserWarning, match="a worker process died; its work is done again"):
            found += pairs if moment == "in the middle" else list(workers.fits(several))
        assert workers.n_jobs == 1
    assert told(found) == (expected if moment == "in the middle" else expected * 2)
    assert multiprocessing.active_children() == []


def test_no_process_or_thread_is_left_behind(growth):
    before = threading.active_count()
    example = load_example("growth")
    spread = discover(example.t, example.u, **SMALL, n_jobs=2)
    assert spread.equations.equals(growth.equations)
    assert multiprocessing.active_children() == []
    assert threading.active_count() == before


def test_no_process_or_thread_is_left_behind_by_an_error():
    before = threading.active_count()
    interrupted = signal.getsignal(signal.SIGINT)  # ignored in what a shell runs in the background
    example = load_example("growth")

    def fail(step):
        if step.n_solved >= 3:
            raise LookupError("from outside")

    with pytest.raises(LookupError, match="from outside"):
        discover(example.t, example.u, **SMALL, n_jobs=2, on_step=fail)
    with pytest.raises(GodeError):
        discover(example.t, example.u[:-1], **SMALL, n_jobs=2)
    assert multiprocessing.active_children() == []
    assert threading.active_count() == before
    assert signal.getsignal(signal.SIGINT) is interrupted


def test_python_a_thread_and_the_command_line_give_the_same_answer(growth, tmp_path):
    example = load_example("growth")
    with ThreadPoolExecutor(1) as pool:
        threaded = pool.submit(discover, example.t, example.u, **SMALL).result()
    assert threaded.equations.equals(growth.equations)
    words = [word for symbol in PLAIN[1] for word in ("--without", symbol)]
    result = gode(
        "discover", GROWTH, "--effort", "quick", "--grammar", "first-order", *words, "--out", tmp_path
    )
    assert result.exit_code == 0, result.output
    assert load(tmp_path / "record.json").equations.equals(growth.equations)


def test_no_global_random_state_is_touched():
    before = random.getstate(), np.random.get_state()[1].copy()  # noqa: NPY002  the state is what is looked at
    t = np.linspace(0.0, 5.0, 20)
    discover(t, np.exp(-t), **SMALL)
    assert random.getstate() == before[0]
    assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002


def test_one_call_does_not_change_the_next(growth):
    t = np.linspace(0.0, 5.0, 20)
    with pytest.raises(GodeError):
        discover(t, np.full(20, np.inf), **SMALL)
    example = load_example("growth")
    assert discover(example.t, example.u, **SMALL).equations.equals(growth.equations)


@pytest.mark.slow
def test_memory_grows_little_with_the_number_of_candidates():
    t = np.linspace(0.0, 5.0, 12)
    columns = columns_of_run(t, np.exp(-t), -np.exp(-t))
    fit = ConstantsConfig(max_constants=2, n_starts=1, max_iterations=1)
    objective = Objective([integral_problem(columns, 1)], config=ObjectiveConfig(order=1), fit=fit)
    drawn = random_skeletons(load_model("first-order"), 10**7, np.random.default_rng(0))
    sizes = []
    tracemalloc.start()
    for target in (20_000, 100_000):
        while objective.n_fitted < target:
            objective.score(next(drawn))
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert (sizes[1] - sizes[0]) / 80_000 < 500  # bytes each: a million candidates hold below 0.5 GB
