"""Multiple shooting: fits where one shot over the whole record cannot follow the motion."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gode
from gode.data import Dataset, make_run
from gode.equation import parse_skeleton
from gode.fitting.target import Target
from gode.fitting.trajectory import ShootConfig
from gode.fitting.trajectory_fit import shoot

FORM = ["x' = a*y - b*x", "y' = c*x - d*y - e*x*z", "z' = f*x*y - g*z"]
TRUE = {"a": 10, "b": 10, "c": 28, "d": 1, "e": 1, "f": 1, "g": 8 / 3}


def lorenz(t, state):
    x, y, z = state
    return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_fit_follows_chaotic_motion_over_the_whole_record(noise):
    t, rng = np.linspace(0.0, 8.0, 400), np.random.default_rng(3)
    u = solve_ivp(lorenz, (0.0, 8.0), [-8.0, 8.0, 27.0], t_eval=t, rtol=1e-11, atol=1e-11).y.T
    u = u + noise * u.std(axis=0) * rng.standard_normal(u.shape)
    found = gode.fit(FORM, t, u, names=["x", "y", "z"])
    assert found.quality.misfit == pytest.approx(1.0, abs=0.1)
    values = {constant.name: constant.value for constant in found.equation.constants}
    for name, value in TRUE.items():
        assert values[name] == pytest.approx(value, rel=0.04 if noise else 1e-5)


def swinging_target(rng):
    """Forty cycles of which a frequency that is 5 % off loses the phase at once."""
    t = np.linspace(0.0, 80.0, 800)
    u = np.cos(np.pi * t)
    guide = np.vstack([u, -np.pi * np.sin(np.pi * t), -(np.pi**2) * u])
    run = make_run(t, u=u + 0.05 * rng.standard_normal(len(t)), initial=[1.0, 0.0])
    return Target(Dataset((run,)), np.array([20.0, 0.0, 0.0]), (guide,), (1.0,))


def test_segments_find_the_frequency_of_many_cycles_where_one_shot_is_lost(rng):
    target, skeleton, start = swinging_target(rng), parse_skeleton("u'' = C*u"), (10.8,)
    at_once = shoot(skeleton, start, target, config=ShootConfig(segments=1))
    assert at_once.sse > 100 * at_once.n_values
    shot = shoot(skeleton, start, target, config=ShootConfig(segmented=True))
    assert shot.equation is not None
    assert shot.equation.constants == pytest.approx([np.pi**2], rel=1e-3)
    assert shot.sse / shot.n_values == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("start", [-0.1, -0.75, -2.0])
def test_a_record_that_ends_near_a_pole_is_fitted_from_the_segments_before(start):
    t = np.linspace(0.0, 0.999, 60)
    u = 1 / (1 - t)
    guide = np.vstack([u, u**2, 2 * u**3])
    target = Target(Dataset((make_run(t, u=u),)), np.array([20.0, 0.0, 0.0]), (guide,), (1000.0,))
    shot = shoot(parse_skeleton("u' = C*u^2"), (start,), target, config=ShootConfig(segmented=True))
    assert shot.equation is not None
    assert shot.equation.constants == pytest.approx([-1.0], rel=1e-4)


@pytest.mark.parametrize("seed", [100, 102, 104])
def test_near_a_pole_a_constant_is_found_within_its_error_where_noise_hides_the_start(seed):
    t = np.linspace(0.0, 0.999, 60)
    u = 1 / (1 - t)
    noise = 0.01 * np.std(u) * np.random.default_rng(seed).standard_normal(len(t))
    best = gode.fit("u' = C*u^2", t, u + noise).candidates[0]
    (c,), (error,) = best.equation.constants, best.errors
    assert c == pytest.approx(-1.0, abs=3 * error)  # of u' + C u^2 = 0
    assert error < 0.1


def test_segments_hold_every_reading_once_and_know_the_start_of_the_first_alone(rng):
    target = swinging_target(rng)
    parts = target.in_segments([np.array([0, 100, 350])])
    runs = parts.dataset.runs
    assert [run.n_points for run in runs] == [100, 250, 450]
    assert np.concatenate([run.observed[0] for run in runs]) == pytest.approx(
        target.dataset.runs[0].observed[0]
    )
    assert [bool(np.isfinite(run.initial).any()) for run in runs] == [True, False, False]
    assert np.hstack(parts.guides) == pytest.approx(target.guides[0])
