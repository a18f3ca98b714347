"""Error bars of runs with constants of their own, where the noise is correlated."""

import numpy as np

from gode.data import Dataset, make_run
from gode.equation import parse_equation
from gode.fitting.group import joint_covariance, uncertainty
from gode.fitting.individuals import Individuals
from gode.fitting.prepare import prepare
from gode.fitting.shooting import ShootConfig

CONFIG = ShootConfig()
RUNS, POINTS, PHI = 12, 60, 0.95
R, K = 0.6, 1.2


def wells(phi):
    rng = np.random.default_rng(5)
    t = np.linspace(0.0, 24.0, POINTS)
    truth = K / (1 + (K / 0.05 - 1) * np.exp(-R * t))
    for _ in range(RUNS):
        noise = rng.normal(size=POINTS)
        for i in range(1, POINTS):
            noise[i] = phi * noise[i - 1] + np.sqrt(1 - phi**2) * noise[i]
        yield make_run(t, u=truth + 0.01 * noise)


def errors(phi):
    """Standard errors of the growth rate: among all runs, and of each run alone."""
    law = parse_equation(f"u' = {R}*u - {R / K}*u^2")
    dataset = Dataset(tuple(wells(phi)))
    target = prepare(dataset, 1, 1e-5, individual=True).whole
    initial = np.full((RUNS, 1), 0.05)
    own = Individuals((0, 1), np.tile(law.constants, (RUNS, 1)), np.zeros((RUNS, 2, 2)))
    found = uncertainty(law, own, initial, target, config=CONFIG)
    together = [np.sqrt(found.of_run(i)[0][0, 0]) for i in range(RUNS)]
    alone = [
        joint_covariance(law, initial[:1], target.of_run(i), config=CONFIG)[0][0, 0] ** 0.5
        for i in range(RUNS)
    ]
    return np.median(together), np.median(alone)


def test_many_runs_make_no_error_bar_of_a_run_much_wider():
    together, alone = errors(PHI)
    assert 0.7 * alone < together < 2.0 * alone


def test_under_white_noise_a_run_has_the_error_bar_it_has_alone():
    together, alone = errors(0.0)
    assert 0.8 * alone < together < 1.2 * alone
