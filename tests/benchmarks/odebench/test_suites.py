"""Suites of systems besides ODEBench."""

import numpy as np
import pytest

from gode.errors import ConfigError
from gode_bench.jobs import measured, system_jobs
from gode_bench.judge import score_job
from gode_bench.odebench.systems import AUTOSINDY, DYSTS, chosen_systems, clean, observed, system, systems


@pytest.mark.parametrize(("suite", "number", "points"), [(DYSTS, 38, 1000), (AUTOSINDY, 6, 5000)])
def test_a_suite_has_its_systems_with_two_starts(suite: str, number: int, points: int):
    assert len(systems(suite)) == number
    for one in systems(suite).values():
        assert all(len(start) == len(one.states) for start in one.initials)
        assert one.t[-1] == one.end
        assert one.n_points == points
        assert len(one.trees) == len(one.states)


def test_all_systems_of_dysts_have_three_states():
    assert {len(one.states) for one in systems(DYSTS).values()} == {3}


def test_noise_outside_odebench_is_a_share_of_the_standard_deviation_of_each_state():
    one = system("pendulum", AUTOSINDY)
    t, y = observed(one, 0.02, 0.0, 3)
    rest = (y - clean(one)) / np.std(clean(one), axis=0)
    assert len(t) == 5000
    np.testing.assert_allclose(np.std(rest, axis=0), 0.02, rtol=0.1)
    assert abs(np.corrcoef(rest[:, 0] ** 2, clean(one)[:, 0] ** 2)[0, 1]) < 0.1


def test_an_unknown_system_is_told_with_those_there_are():
    with pytest.raises(ConfigError, match="autosindy has no system 'lorenz'; choose from harmonic"):
        chosen_systems(["lorenz"], AUTOSINDY)


def test_the_truth_of_a_job_has_full_marks():
    (job,) = system_jobs(
        DYSTS, problems=["SprottD"], methods=["floor"], seeds=[0], noise=[0.01], dropped=[0.0], effort="quick"
    )
    assert measured(job).signal[0].shape == (1000, 3)
    score = score_job(job, "\n".join(system("SprottD", DYSTS).truths))
    assert score.structure
    assert min(score.r2) > 0.99
