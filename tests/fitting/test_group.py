"""Trajectory fits in which runs have constants of their own."""

import numpy as np
import pytest

from gode.data import Dataset, make_run
from gode.equation import parse_equation
from gode.fitting.group import shoot_law
from gode.fitting.prepare import prepare
from gode.fitting.shooting import ShootConfig, shoot

T = np.linspace(0.0, 6.0, 12)
RATES, LEVELS = np.array([0.7, 0.9, 1.2, 1.0]), np.array([4.0, 6.0, 5.0, 8.0])
START = parse_equation("u' = 1.1*u - 0.2*u^2")
LOGISTIC, BEGIN = START.skeleton, START.constants
RATE = int(np.argmax(np.abs(BEGIN)))  # the place of the constant of u
CONFIG = ShootConfig()


def _logistic(rates, levels, noise=0.0):
    rng = np.random.default_rng(0)
    runs = []
    for rate, level in zip(rates, levels, strict=True):
        u = level / (1 + 9 * np.exp(-rate * T))
        runs.append(make_run(T, u=u + noise * rng.standard_normal(len(T))))
    return prepare(Dataset(tuple(runs)), 1, 1e-5, individual=True).target


def test_each_run_gets_its_own_constants():
    shot = shoot_law(LOGISTIC, BEGIN, _logistic(RATES, LEVELS), (0, 1), config=CONFIG)
    rate, other = np.abs(shot.own.values[:, [RATE, 1 - RATE]]).T
    assert rate == pytest.approx(RATES, rel=1e-3)
    assert rate / other == pytest.approx(LEVELS, rel=1e-3)
    assert shot.n_free == 12  # two constants and an initial value of each


def test_a_shared_constant_is_one_number_for_all_runs():
    target = _logistic([0.9] * 4, LEVELS, noise=0.02)
    shot = shoot_law(LOGISTIC, BEGIN, target, (1 - RATE,), config=CONFIG)
    assert abs(shot.equation.constants[RATE]) == pytest.approx(0.9, abs=0.03)
    assert 0.9 / np.abs(shot.own.values[:, 0]) == pytest.approx(LEVELS, rel=0.05)
    assert shot.n_free == 1 + 4 + 4
    assert 0 < shot.covariance[RATE, RATE] ** 0.5 < 0.03


def test_shared_constants_reach_the_least_squares_of_the_joint_fit():
    target = _logistic([0.9] * 4, [5.0] * 4, noise=0.1)
    all_shared = shoot(LOGISTIC, BEGIN, target, config=CONFIG)
    partly = shoot_law(LOGISTIC, BEGIN, target, (1 - RATE,), config=CONFIG)
    each = shoot_law(LOGISTIC, BEGIN, target, (0, 1), config=CONFIG)
    assert each.sse <= partly.sse * (1 + 1e-4) <= all_shared.sse * (1 + 2e-4)


def test_a_run_whose_fit_fails_is_fitted_from_the_constants_of_others():
    target = _logistic(RATES, LEVELS, noise=0.02)
    good = shoot_law(LOGISTIC, BEGIN, target, (0, 1), config=CONFIG)
    table = good.own.values.copy()
    table[2] = -30 * table[2]  # explodes at once
    again = shoot_law(LOGISTIC, table, target, (0, 1), config=CONFIG)
    assert again.own.values == pytest.approx(good.own.values, rel=1e-2)


def test_without_constants_of_its_own_the_fit_is_that_of_one_law():
    target = _logistic([0.9] * 4, [5.0] * 4, noise=0.02)
    one = shoot(LOGISTIC, BEGIN, target, config=CONFIG)
    same = shoot_law(LOGISTIC, BEGIN, target, (), config=CONFIG)
    assert same.equation == one.equation
    assert same.own is None
