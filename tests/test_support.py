"""What a system must gain to be supported, and what a preference or a constraint is worth."""

from dataclasses import replace

import numpy as np
import pytest

from gode.data import columns_of_states
from gode.equation import parse_system
from gode.equation.system import make_law
from gode.fitting.evidence import Residuals, deviance
from gode.fitting.trajectory_fit import Shot
from gode.selection import UNUSUAL, Candidate, Pool, SelectionConfig, judge, rank

CONFIG = SelectionConfig()
N = 100
STATES = (Residuals(1.0, 0.5), Residuals(1.0, 0.5))  # mean square, share of the values


def law(text: str):
    skeleton = parse_system([part.strip() for part in text.split(";")])
    return make_law(skeleton, [0.5] * skeleton.n_constants)


def unusual(text: str, config: SelectionConfig = CONFIG) -> float:
    t = np.linspace(0.0, 5.0, N)
    values = np.array([np.exp(-t), -np.exp(-t), np.exp(-t)] * 2)
    found = law(text)
    k = len(found.constants)
    shot = Shot(found.skeleton, found, np.zeros((1, 2)), 50.0, N, k + 2, np.eye(k), 50.0, by_state=STATES)
    judged = judge(shot, (0.0, 0.0), config, columns_of_states(t, values, states=("x", "y"), inputs={}))
    assert judged is not None
    return judged.unusual


def best(text: str = "x' = C*x; y' = C*y") -> Candidate:
    found = law(text)
    k = len(found.constants)
    return Candidate(found, np.zeros((1, 2)), np.eye(k), 1.0, 0.0, N, k + 2, float(N), by_state=STATES)


@pytest.mark.parametrize(("gain", "supported"), [(11.0, False), (19.0, False), (21.0, True)])
def test_each_state_of_a_system_must_gain(gain, supported):
    (one,) = rank(Pool([best()], (0.0, 0.0)), CONFIG).candidates
    square = float(np.exp((one.criterion + gain) / N))
    for _ in range(60):  # until the polynomial is worse by just this
        left = [state._replace(square=square) for state in one.states]
        off = deviance(left, N, 2, (0.0, 0.0), [0.0, 0.0]) - one.criterion - gain
        square *= float(np.exp(-off / N))
    pool = Pool([best()], (0.0, 0.0), [((square, square), 2)])
    assert rank(pool, CONFIG).supported is supported


def test_laws_that_last_are_preferred_and_not_supported_by_that():
    lasting, arising = "x' = C*x; y' = C*y*x", "x' = C*x; y' = C*x"
    preferring = replace(CONFIG, lasting=5.0)
    assert unusual(lasting, preferring) == pytest.approx(unusual(lasting) - 10.0)
    assert unusual(arising, preferring) == pytest.approx(unusual(arising))
    one, rng = best(), np.random.default_rng(0)
    series = [(np.cumsum(rng.standard_normal(50)), rng.standard_normal(50)) for _ in range(2)]
    preferred = replace(one, unusual=one.unusual - 200.0)
    for config in (CONFIG, replace(CONFIG, lasting=100.0)):
        found = rank(Pool([preferred], (0.0, 0.0), series=series), config).supported
        assert found is (config is CONFIG)


def test_a_factor_of_one_in_a_system_has_its_price():
    free, one = unusual("x' = C*x; y' = C*x"), unusual("x' = C*x; y' = x")
    assert one == pytest.approx(free + UNUSUAL)
