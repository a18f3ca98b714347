from dataclasses import replace

import numpy as np
import pytest

from gode_bench.jobs import Job, initial_values, measured
from gode_bench.problems import problem, truth

JOB = Job(study="b1", problem="ID3", method="gode")


def test_noise_has_the_wanted_size_and_is_nowhere_absent():
    data = measured(JOB)
    _, u, _, _ = truth(problem("ID3"))
    noise = data.signal[0] - u
    assert np.all(noise != 0)
    assert np.std(noise) == pytest.approx(0.05 * np.std(u), rel=0.25)


def test_every_method_gets_the_same_data_and_every_seed_others():
    first, second = measured(JOB), measured(replace(JOB, method="pysindy", effort="quick"))
    np.testing.assert_array_equal(first.signal[0], second.signal[0])
    assert not np.array_equal(first.signal[0], measured(replace(JOB, seed=1)).signal[0])


def test_sweeps_of_noise_scale_one_draw():
    _, u, _, _ = truth(problem("ID3"))
    small, large = (measured(replace(JOB, noise=level)).signal[0] - u for level in (0.01, 0.1))
    np.testing.assert_allclose(10 * small, large, rtol=1e-9, atol=1e-12)


def test_acceleration_alone_is_measured_in_b3():
    data = measured(Job(study="b3", problem="Duffing", method="gode"))
    assert (data.observed, data.force) == ("acceleration", "cos(2*t)")
    assert data.initial == ((0.0, 1.5),)
    _, _, _, d2u = truth(problem("Duffing"))
    assert np.std(data.signal[0] - d2u) == pytest.approx(0.05 * np.std(d2u), rel=0.15)


@pytest.mark.parametrize("n", [25, 50, 100, 200, 400])
@pytest.mark.parametrize("name", ["ID1", "LODE4", "Pendulum"])
def test_number_of_samples_is_as_asked(name, n):
    data = measured(Job(study="sweep-samples", problem=name, method="gode", samples=n))
    assert len(data.t[0]) == len(data.signal[0]) == n
    one = problem(name)
    np.testing.assert_allclose(data.t[0][[0, -1]], [one.t0, one.t1])


def test_dropped_samples_leave_the_ends():
    whole, part = measured(JOB), measured(replace(JOB, dropped=0.5))
    assert len(part.t[0]) == pytest.approx(len(whole.t[0]) / 2, abs=1)
    assert set(part.t[0]) < set(whole.t[0])
    np.testing.assert_array_equal(part.t[0][[0, -1]], whole.t[0][[0, -1]])


def test_unknown_initial_values_are_not_told():
    assert measured(replace(JOB, initial="unknown")).initial is None


def test_several_runs_start_elsewhere_and_stay_bounded():
    data = measured(replace(JOB, runs=3))
    assert len(data.t) == len(data.signal) == len(data.initial) == 3
    assert len(set(data.initial)) == 3
    assert data.initial[0] == problem("ID3").initial
    assert all(np.all(np.isfinite(signal)) for signal in data.signal)
    assert initial_values(problem("ID3"), 3) == list(data.initial)
