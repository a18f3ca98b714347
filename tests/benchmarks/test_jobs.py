import json
from dataclasses import asdict

import pytest

from gode.errors import ConfigError
from gode_bench.jobs import SWEEP_PROBLEMS, SWEEPS, Job, job_from, suite_jobs, sweep_jobs
from gode_bench.methods import METHODS, method

COMMON = {"methods": ("gode", "floor"), "seeds": (0, 1), "initial": "known", "effort": "normal"}


def test_suite_is_every_problem_method_and_seed():
    jobs = suite_jobs(("b2",), noise=(0.05,), **COMMON)
    assert len(jobs) == len(set(jobs)) == 10 * 2 * 2
    assert {job.study for job in suite_jobs(("b1", "b3"), noise=(0.05,), **COMMON)} == {"b1", "b3"}


def test_problems_are_chosen_by_name():
    jobs = suite_jobs(("b1", "b3"), problems=("Duffing", "ID3"), noise=(0.05, 0.1), **COMMON)
    assert {(job.study, job.problem) for job in jobs} == {("b1", "ID3"), ("b3", "Duffing")}
    assert {job.noise for job in jobs} == {0.05, 0.1}


@pytest.mark.parametrize("what", SWEEPS)
def test_sweep_varies_one_thing(what):
    jobs = sweep_jobs(what, **COMMON)
    assert sorted({getattr(job, what) for job in jobs}) == sorted(SWEEPS[what])
    others = {"noise", "samples", "dropped", "runs"} - {what}
    assert all(len({getattr(job, name) for job in jobs}) == 1 for name in others)
    assert {job.problem for job in jobs} <= set(SWEEP_PROBLEMS)


def test_a_job_survives_json():
    job = Job(study="b1", problem="ID3", method="gode", noise=0.1, samples=50, runs=2)
    assert job_from(json.loads(json.dumps(asdict(job)))) == job
    assert job.key != Job(study="b1", problem="ID3", method="gode", noise=0.1, samples=51, runs=2).key


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"problem": "ID99"}, "no problem 'ID99'"),
        ({"seed": -1}, "seed"),
        ({"noise": -0.1}, "noise"),
        ({"noise": float("nan")}, "noise"),
        ({"samples": 3}, "samples"),
        ({"dropped": 1.0}, "dropped"),
        ({"runs": 0}, "runs"),
        ({"initial": "guessed"}, "initial"),
        ({"effort": "heroic"}, "effort"),
        ({"problem": "Duffing", "initial": "unknown"}, "acceleration alone"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(change, word):
    with pytest.raises(ConfigError, match=word):
        Job(**{"study": "b1", "problem": "ID1", "method": "gode", **change})


def test_unknown_names_are_refused():
    with pytest.raises(ConfigError, match="b1 has no problem 'Duffing'"):
        suite_jobs(("b1",), problems=("Duffing",), noise=(0.05,), **COMMON)
    with pytest.raises(ConfigError, match="no sweep 'colour'"):
        sweep_jobs("colour", **COMMON)
    with pytest.raises(ConfigError, match="one initial value only"):
        sweep_jobs("runs", problems=("LODE4",), **COMMON)
    with pytest.raises(ConfigError, match="fields of a job"):
        job_from({"study": "b1"})
    with pytest.raises(ConfigError, match="no method 'oracle'"):
        method("oracle")


def test_only_the_floors_are_told_the_skeleton():
    assert {name for name, each in METHODS.items() if each.sees_skeleton} == {"floor", "floor-derivatives"}
