import numpy as np
import pytest

from gode.data import Dataset, make_run
from gode.equation import parse_equation, parse_skeleton
from gode.errors import Failure
from gode.fitting.prepare import prepare
from gode.fitting.target import Target
from gode.fitting.trajectory import ShootConfig
from gode.fitting.trajectory_fit import shoot
from gode.solve import solve


def target_of(runs, noise, guides):
    weights = np.array([1 / noise if noise else 0.0] * 3)
    scale = max(float(np.abs(g[0]).max()) for g in guides)
    return Target(Dataset(tuple(runs)), weights, tuple(guides), (scale,))


def logistic(t, u0):
    return 5.0 / (1.0 + (5.0 / u0 - 1.0) * np.exp(-0.8 * t))


def make_logistic(t, u0, noise, rng, *, known):
    u = logistic(t, u0)
    du = 0.8 * u - 0.16 * u**2
    run = make_run(t, u=u + noise * rng.standard_normal(len(t)), initial=[u0] if known else None)
    return run, np.vstack([u, du, np.gradient(du, t)])


def test_constants_and_unknown_initial_values_are_found_over_several_runs(rng):
    t = np.linspace(0.0, 8.0, 60)
    pairs = [make_logistic(t, u0, 0.02, rng, known=False) for u0 in (0.3, 1.0, 8.0)]
    target = target_of([r for r, _ in pairs], 0.02, [g for _, g in pairs])
    shot = shoot(parse_skeleton("u' = C*u + C*u^2"), (0.1, -0.5), target, config=ShootConfig())
    assert shot.equation is not None
    assert sorted(shot.equation.constants) == pytest.approx([-0.8, 0.16], rel=0.02)
    assert shot.initial[:, 0] == pytest.approx([0.3, 1.0, 8.0], abs=0.06)
    assert shot.sse / shot.n_values == pytest.approx(1.0, rel=0.3)
    assert shot.n_free == 5


def test_standard_errors_match_the_scatter_of_the_estimates(rng):
    t = np.linspace(0.0, 8.0, 40)
    found, errors = [], []
    for _ in range(40):
        run, guide = make_logistic(t, 0.5, 0.05, rng, known=True)
        shot = shoot(
            parse_skeleton("u' = C*u + C*u^2"),
            (0.16, -0.8),
            target_of([run], 0.05, [guide]),
            config=ShootConfig(),
        )
        found.append(shot.equation.constants)
        errors.append(np.sqrt(np.diag(shot.covariance)))
    assert np.mean(errors, axis=0) == pytest.approx(np.std(found, axis=0), rel=0.4)


def test_acceleration_alone_fixes_a_forced_oscillator(rng):
    t = np.linspace(0.0, 20.0, 200)
    truth = parse_equation("2*u'' + u' + 5*u = F")
    force = "2*sin(0.5*t)"
    solved = solve(truth, t, [0.0, 3.0], inputs={"F": force})
    noisy = solved.d2u + 0.05 * rng.standard_normal(len(t))
    run = make_run(t, acceleration=noisy, initial=[0.0, 3.0], inputs={"F": force})
    target = target_of([run], 0.05, [np.vstack([solved.u, solved.du, solved.d2u])])
    start = np.array(truth.constants) * 1.3
    shot = shoot(truth.skeleton, start, target, config=ShootConfig())
    assert shot.equation.constants == pytest.approx(truth.constants, rel=0.05)


@pytest.mark.parametrize(
    ("text", "start"),
    [("u' = u^3 + 10", ()), ("u' = C*log(u - 100)", (1.0,))],
    ids=["it diverges", "it is undefined"],
)
def test_what_cannot_be_solved_is_a_failure_not_an_error(text, start, rng):
    run, guide = make_logistic(np.linspace(0.0, 8.0, 30), 0.5, 0.02, rng, known=True)
    shot = shoot(parse_skeleton(text), start, target_of([run], 0.02, [guide]), config=ShootConfig())
    assert (shot.failure, shot.equation, shot.sse) == (Failure.DIVERGED, None, np.inf)


def test_from_a_start_that_diverges_the_fit_proceeds_over_segments(rng):
    run, guide = make_logistic(np.linspace(0.0, 8.0, 60), 0.5, 0.02, rng, known=True)
    target, skeleton, start = target_of([run], 0.02, [guide]), parse_skeleton("u' = C*u + C*u^2"), (-1.5, 0.1)
    at_once = shoot(skeleton, start, target, config=ShootConfig(segments=1))
    assert at_once.failure is Failure.DIVERGED
    shot = shoot(skeleton, start, target, config=ShootConfig())
    assert sorted(shot.equation.constants) == pytest.approx([-0.8, 0.16], rel=0.05)


def test_a_poor_smoothed_slope_at_the_start_does_no_harm():
    t = np.linspace(0.0, 6.0, 40)
    solved = solve(parse_equation("u'' = -4*u + 0.5*u^3"), t, [1.0, 0.5])
    guide = np.vstack([solved.u, solved.du, solved.d2u])
    guide[1, 0] = -300.0
    target = target_of([make_run(t, u=solved.u)], 0.01, [guide])
    shot = shoot(parse_skeleton("u'' = C*u + C*u^3"), (4.0, -0.4), target, config=ShootConfig())
    assert shot.equation is not None
    assert shot.initial[0] == pytest.approx([1.0, 0.5], abs=1e-3)


def test_no_constants_have_no_covariance(rng):
    t = np.linspace(0.0, 8.0, 60)
    run, guide = make_logistic(t, 0.5, 0.02, rng, known=True)
    shot = shoot(parse_skeleton("u' = u - u^2"), (), target_of([run], 0.02, [guide]), config=ShootConfig())
    assert shot.covariance.shape == (0, 0)


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
    shot = shoot(LOGISTIC, BEGIN, _logistic(RATES, LEVELS), (0, 1), config=CONFIG)
    rate, other = np.abs(shot.own.values[:, [RATE, 1 - RATE]]).T
    assert rate == pytest.approx(RATES, rel=1e-3)
    assert rate / other == pytest.approx(LEVELS, rel=1e-3)
    assert shot.n_free == 12  # two constants and an initial value of each


def test_a_shared_constant_is_one_number_for_all_runs():
    target = _logistic([0.9] * 4, LEVELS, noise=0.02)
    shot = shoot(LOGISTIC, BEGIN, target, (1 - RATE,), config=CONFIG)
    assert abs(shot.equation.constants[RATE]) == pytest.approx(0.9, abs=0.03)
    assert 0.9 / np.abs(shot.own.values[:, 0]) == pytest.approx(LEVELS, rel=0.05)
    assert shot.n_free == 1 + 4 + 4
    assert 0 < shot.covariance[RATE, RATE] ** 0.5 < 0.03


def test_shared_constants_reach_the_least_squares_of_the_joint_fit():
    target = _logistic([0.9] * 4, [5.0] * 4, noise=0.1)
    all_shared = shoot(LOGISTIC, BEGIN, target, config=CONFIG)
    partly = shoot(LOGISTIC, BEGIN, target, (1 - RATE,), config=CONFIG)
    each = shoot(LOGISTIC, BEGIN, target, (0, 1), config=CONFIG)
    assert each.sse <= partly.sse * (1 + 1e-4) <= all_shared.sse * (1 + 2e-4)


def test_a_run_whose_fit_fails_is_fitted_from_the_constants_of_others():
    target = _logistic(RATES, LEVELS, noise=0.02)
    good = shoot(LOGISTIC, BEGIN, target, (0, 1), config=CONFIG)
    table = good.own.values.copy()
    table[2] = -30 * table[2]  # explodes at once
    again = shoot(LOGISTIC, table, target, (0, 1), config=CONFIG)
    assert again.own.values == pytest.approx(good.own.values, rel=1e-2)
