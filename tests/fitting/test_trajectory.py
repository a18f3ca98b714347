"""The least-squares problem of trajectories: its numbers, residuals, derivatives, prior and bounds."""

from dataclasses import replace

import numpy as np
import pytest

from gode.data import Dataset, make_run
from gode.equation import parse_equation
from gode.equation.skeleton import Parameter
from gode.fitting.target import Target
from gode.fitting.trajectory import Prior, ShootConfig, Trajectories, make_parameters

T = np.linspace(0.0, 5.0, 20)
LAW = parse_equation("u' = 0.8*u - 0.2*u^2")
FORM = LAW.skeleton
NOISE = 0.02
SIGN = np.sign(max(LAW.constants, key=abs))  # of the constant of u in the skeleton


def target(n_runs=3, first=None):
    rng, runs, guides = np.random.default_rng(0), [], []
    for i in range(n_runs):
        u = 4.0 / (1.0 + (7.0 + i) * np.exp(-0.9 * T))
        runs.append(
            make_run(T, u=u + NOISE * rng.standard_normal(len(T)), initial=[0.5] if i == first else None)
        )
        guides.append(np.vstack([u, 0.9 * u - 0.225 * u**2, np.zeros_like(u)]))
    return Target(Dataset(tuple(runs)), np.array([1 / NOISE, 0.0, 0.0]), tuple(guides), (4.0,))


def first(problem):
    return problem.first(np.array(LAW.constants), None)[0]


def test_numbers_stand_in_one_vector_shared_ones_first():
    numbers = make_parameters(FORM, target(first=1), per_run=(0,))
    assert numbers.shared == [1]
    assert [place.tolist() for place in numbers.places] == [[1, 0, 2], [3, 0], [4, 0, 5]]
    constants, initial = np.array([[1.0, 9.0], [2.0, 9.0], [3.0, 9.0]]), np.array([[0.1], [0.5], [0.3]])
    p = numbers.joined(constants, initial)
    assert p.tolist() == [9.0, 1.0, 0.1, 2.0, 3.0, 0.3]
    assert numbers.constants(p).tolist() == constants.tolist()
    assert numbers.initial(p).tolist() == initial.tolist()


@pytest.mark.parametrize("per_run", [(), (0,), (0, 1)])
def test_derivatives_are_those_of_the_residuals(per_run):
    problem = Trajectories(FORM, target(), ShootConfig(rtol=1e-10, noise_share=1e-9), per_run=per_run)
    p = first(problem)
    path = problem.solve(p)
    for i in range(len(p)):
        step = np.zeros(len(p))
        step[i] = 1e-5
        ends = [np.concatenate(problem.residuals(problem.solve(p + s * step))) for s in (-1, 1)]
        slope = (ends[0] - ends[1]) / 2e-5
        assert problem.jacobian(path)[i] == pytest.approx(slope, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("per_run", [(), (0,), (0, 1)])
def test_the_minimum_has_no_gradient(per_run):
    config = ShootConfig(tolerance=1e-12, rtol=1e-9, noise_share=1e-9)
    problem = Trajectories(FORM, target(), config, per_run=per_run)
    path = problem.minimise(first(problem))
    j, r = problem.jacobian(path), np.concatenate(problem.residuals(path))
    assert path.sse == pytest.approx(r @ r, rel=1e-9)
    assert np.abs(j @ r).max() < 1e-4 * np.linalg.norm(j, axis=1).max() * np.linalg.norm(r)


def test_without_effect_of_the_data_the_prior_decides():
    empty = target(1)
    empty = replace(empty, weights=1e-6 * empty.weights)
    mean, precision = np.array([*LAW.constants, 0.4]) + 0.1, np.diag([4.0, 9.0, 1.0])
    problem = Trajectories(FORM, empty, ShootConfig(), prior=Prior(mean, precision))
    path = problem.minimise(first(problem))
    assert path.p == pytest.approx(mean, abs=1e-3)
    assert path.normals[0].matrix == pytest.approx(precision, abs=1e-3)


def test_the_prior_weighs_against_the_data_by_its_precision():
    plain = Trajectories(FORM, target(1), ShootConfig(tolerance=1e-12))
    free = plain.minimise(first(plain))
    mean = free.p + 1e-4 * np.array([1.0, 2.0, -1.0])
    precision = free.normals[0].matrix  # as much as the data say: half way between
    pulled = Trajectories(FORM, target(1), plain.config, prior=Prior(mean, precision)).minimise(free.p)
    assert pulled.p == pytest.approx((free.p + mean) / 2, abs=1e-5)
    assert free.cost == free.sse
    assert pulled.cost > pulled.sse > free.sse


@pytest.mark.parametrize("per_run", [(), (0,), (0, 1)])
def test_constants_stay_within_their_bounds(per_run):
    start = first(Trajectories(FORM, target(), ShootConfig()))
    rate = int(np.argmax(np.abs(LAW.constants)))
    ranges = [Parameter("a"), Parameter("a")]
    ranges[rate] = Parameter("b", *sorted([0.1 * SIGN, 0.85 * SIGN]))
    bounded = replace(FORM, parameters=tuple(ranges))
    problem = Trajectories(bounded, target(), ShootConfig(), per_run=per_run)
    path = problem.minimise(problem.first(start[:2], None)[0])
    assert problem.parameters.constants(path.p)[:, rate] == pytest.approx([0.85 * SIGN] * 3)
