"""Solving equations: known answers, units, grids, failures as values, errors for people."""

from itertools import pairwise

import numpy as np
import pytest

from gode.equation import parse_equation
from gode.errors import ConfigError, DataError, Failure
from gode.solve import Solution, SolveConfig, solve
from gode_bench.problems import problem as benchmark
from problems import PROBLEMS, TRACKED, Problem

TIMES = np.linspace(0, 2, 201)


def solution(text: str, t, initial, **options) -> Solution:
    config = {k: options.pop(k) for k in ("rtol", "max_steps", "bound") if k in options}
    return solve(parse_equation(text), t, initial, config=SolveConfig(**config), **options)


def check_failed(found: Solution) -> int:
    """Check that a failure is a value with NaN from one point on; return how many points came before."""
    assert found.failure is not None
    n = int(np.isfinite(found.u).sum())
    assert n < len(found.t)
    assert np.all(np.isfinite(found.u[:n]))
    assert np.all(np.isnan([found.u[n:], found.du[n:], found.d2u[n:]]))
    return n


# Known answers


@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
@pytest.mark.parametrize("one", PROBLEMS, ids=lambda one: one.name)
def test_known_answers_are_found(one: Problem, rtol: float):
    t, u, du, d2u = one.trajectory()
    guide = (du, d2u)[one.order - 1]
    found = solution(one.text, t, one.initial, rtol=rtol, guide=guide)
    assert found.failure is None
    for a, b in zip((found.u, found.du, found.d2u)[: one.order + 1], (u, du, d2u), strict=False):
        assert np.max(np.abs(a - b)) < 100 * rtol * np.max(np.abs(b))


@pytest.mark.parametrize("one", TRACKED, ids=lambda one: one.name)
def test_known_answers_need_no_guide(one: Problem):
    t, u, _, _ = one.trajectory()
    found = solution(one.text, t, one.initial)
    assert np.max(np.abs(found.u - u)) < 1e-4 * np.max(np.abs(u))


def test_tighter_tolerance_gives_smaller_error(oscillator):
    errors = [
        np.max(np.abs(solution("u'' = -4*u", oscillator.t, [1.0, 0.0], rtol=rtol).u - oscillator.u))
        for rtol in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
    ]
    assert all(fine < 0.1 * rough for rough, fine in pairwise(errors))


def test_guide_chooses_the_branch():
    exact = {1.0: (1 + TIMES / 2) ** 2, -1.0: (1 - TIMES / 2) ** 2}  # u'^2 = u
    for sign, u in exact.items():
        found = solution("u'^2 - u = 0", TIMES, [1.0], guide=sign * np.sqrt(u))
        np.testing.assert_allclose(found.u, u, atol=1e-4)


def test_start_may_be_degenerate():
    # Bessel's equation at t = 0 says nothing of u''; the solution that exists has u'' = -1/2 there
    expected = 0.22389077914123567  # J0(2)
    for guide in (None, np.full(201, -0.4)):
        found = solution("t*u'' + u' + t*u = 0", TIMES, [1.0, 0.0], guide=guide)
        assert found.u[-1] == pytest.approx(expected, abs=1e-5)
        assert found.d2u[0] == pytest.approx(-0.5, abs=1e-3)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", ["NLODE4", "NLODE5"])
def test_noisy_guide_still_chooses_the_branch_at_a_degenerate_start(name: str, seed: int):
    one = benchmark(name)
    u, _, d2u = one.exact(one.t)
    guide = d2u + 0.15 * np.std(d2u) * np.random.default_rng(seed).standard_normal(len(u))
    found = solve(one.equation, one.t, one.initial, guide=guide)
    assert found.failure is None
    np.testing.assert_allclose(found.u, u, atol=1e-4 * np.max(np.abs(u)))


# Units and grids


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@pytest.mark.parametrize(
    ("text", "initial"),
    [
        ("u' = -0.7*u", (2.0,)),
        ("u' = {unit} - u", (0.0,)),
        ("u' = {unit}*t", (0.0,)),
        ("u' = {unit}*sin(t + 3.141592653589793)", (0.0,)),
        ("u' = u*(1 - u/{unit})", (0.1,)),
        ("u'' = -4*u", (1.0, 0.0)),
        ("u'' = -4*u + {unit}*t", (0.0, 0.0)),
        ("u'' = -u - u^3/{unit}^2", (0.0, 1.0)),
        ("u''^2 - 81*u^2 = 0", (1.0, 0.0)),
    ],
)
def test_result_does_not_depend_on_the_unit(text: str, initial: tuple[float, ...], unit: float):
    def solved(one: float) -> Solution:
        guide = -9 * np.cos(3 * TIMES) * one if "^2 - 81" in text else None
        return solution(
            text.replace("{unit}", f"{one:g}"), TIMES, [v * one for v in initial], rtol=1e-8, guide=guide
        )

    plain, scaled = solved(1.0), solved(unit)
    assert plain.failure is None
    assert scaled.failure is None
    assert scaled.n_steps == plain.n_steps
    np.testing.assert_allclose(scaled.u / unit, plain.u, rtol=1e-9, atol=1e-9 * np.max(np.abs(plain.u)))


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_result_does_not_depend_on_the_unit_of_time(unit: float):
    u = solution(f"u'' = -{4 / unit**2!r}*u", TIMES * unit, [0.0, 1 / unit]).u
    np.testing.assert_allclose(u, np.sin(2 * TIMES) / 2, atol=1e-5)


def test_small_start_is_no_divergence():
    assert solution("u' = 1 - u", TIMES, [1e-9]).failure is None


def test_values_do_not_depend_on_the_grid(rng):
    irregular = np.concatenate([[0.0], np.sort(rng.uniform(0, 2, 500)), [2.0]])
    ends = solution("u' = u*(1 - u)", [0.0, 2.0], [0.1])
    for t in (irregular, TIMES, np.linspace(0, 2, 100_001)):
        found = solution("u' = u*(1 - u)", t, [0.1])
        np.testing.assert_array_equal(found.t, t)
        np.testing.assert_allclose(found.u, 1 / (1 + 9 * np.exp(-t)), rtol=1e-6)
        assert found.u[-1] == ends.u[-1]


def test_implicit_and_stiff_equations_take_any_grid(rng):
    irregular = np.concatenate([[0.0], np.sort(rng.uniform(0, 2, 50)), [2.0]])
    for t in (irregular, np.array([0.0, 2.0]), np.linspace(0, 2, 20_001)):
        found = solution("u'^3 + u^3 = 0", t, [1.0], guide=-np.exp(-t))
        np.testing.assert_allclose(found.u, np.exp(-t), rtol=1e-4)
        found = solution("u' = -1e6*(u - cos(t))", t, [1.0])
        np.testing.assert_allclose(found.u, np.cos(t), atol=1e-4)


def test_times_may_be_far_from_zero():
    t = 1.7e9 + TIMES  # seconds since 1970
    np.testing.assert_allclose(solution("u' = -u", t, [1.0]).u, np.exp(-TIMES), rtol=1e-5)


def test_same_call_gives_same_answer():
    a, b = (solution("u'' = -u - u^3", TIMES, [1.0, 0.0], sensitivities=True) for _ in range(2))
    np.testing.assert_array_equal(a.u, b.u)
    np.testing.assert_array_equal(a.sensitivities, b.sensitivities)


def test_state_at_rest_is_woken_by_a_jump():
    t = np.linspace(0, 2, 201)
    expected = np.where(t > 1, (1 - np.exp(-3 * np.maximum(t - 1, 0))) / 3, 0.0)
    for rtol in (1e-6, 1e-10):
        found = solution("u' = -3*u + (1 + sign(t - 1))/2", t, [0.0], rtol=rtol)
        np.testing.assert_allclose(found.u, expected, atol=1e-5)


# Failures


@pytest.mark.parametrize(
    ("text", "initial", "n"),
    [("u' = u^2", (1.0,), 100), ("u' = exp(u)", (1.0,), 37), ("u'' = u'^2", (0.0, 1.0), 100)],
)
def test_blow_up_is_reported_as_divergence(text, initial, n):
    found = solution(text, TIMES, initial)
    assert found.failure is Failure.DIVERGED
    assert abs(check_failed(found) - n) <= 1


def test_a_solution_beyond_the_bound_has_diverged():
    found = solution("u' = 20*u", TIMES, [1.0], bound=100.0)
    assert found.failure is Failure.DIVERGED
    assert 1 < check_failed(found) < 200


def test_stiff_equations_are_solved():
    found = solution("u' = -1e6*(u - cos(t))", TIMES, [0.0])
    assert found.failure is None
    np.testing.assert_allclose(found.u[1:], np.cos(TIMES[1:]), atol=1e-5)
    found = solution("u'' = 1000*(1 - u^2)*u' - u", np.linspace(0, 2000, 501), [2.0, 0.0])
    assert found.failure is None
    assert found.u[-1] == pytest.approx(1.7062, abs=1e-3)  # by SciPy's Radau at rtol 1e-9: 1.706168


def test_budget_is_kept():
    found = solution("u'' = 1000*(1 - u^2)*u' - u", np.linspace(0, 2000, 6), [2.0, 0.0], max_steps=20)
    assert found.failure is Failure.BUDGET
    assert found.n_steps <= 2 * (20 + 20 * 6) + 8  # twenty more for each time, for each of two methods
    check_failed(found)
    assert solution("u' = sin(1e5*t)", TIMES, [0.0], max_steps=100).failure is Failure.BUDGET


@pytest.mark.parametrize(
    ("text", "initial"),
    [
        ("u' = -1/u", (1.0,)),
        ("u' = -sqrt(u) - 0.1", (0.25,)),
        ("u' = sqrt(u)", (-1.0,)),
        ("u' = 1/u", (0.0,)),
        ("u' = log(t - 1)", (1.0,)),
        ("u'' = 1/(1 - t)^3", (0.0, 0.0)),
        ("u' = 1/(u - t)", (0.0,)),
        ("t*u' = u", (1.0,)),
        ("u' = 1e300*u^5", (1e10,)),
        ("u' = -sign(u - 0.1*t)", (0.5,)),
    ],
)
def test_singular_equations_fail_as_values(text, initial):
    found = solution(text, TIMES, initial)
    check_failed(found)
    assert found.failure in (Failure.SINGULAR, Failure.DIVERGED, Failure.NO_ROOT)


def test_solution_before_a_singularity_is_kept():
    found = solution("u' = -1/u", TIMES, [1.0])
    n = check_failed(found)
    assert n == 51
    np.testing.assert_allclose(found.u[: n - 1], np.sqrt(1 - 2 * TIMES[: n - 1]), rtol=1e-4)


@pytest.mark.parametrize("guide", [None, np.zeros(201)])
def test_equation_without_a_real_root_is_reported(guide):
    found = solution("u'^2 + 1 + u^2 = 0", TIMES, [1.0], guide=guide)
    assert found.failure is Failure.NO_ROOT
    check_failed(found)


@pytest.mark.parametrize("text", ["exp(u') = 0", "exp(-u')*u = 0", "exp(u'') = 0", "tanh(u') = 1"])
def test_what_is_too_small_for_a_number_is_no_root(text):
    found = solution(text, TIMES, [1.0] * (2 if "''" in text else 1))
    assert found.failure is Failure.NO_ROOT


# Errors


@pytest.mark.parametrize(
    "t",
    [[0.0], [], [0.0, 0.0], [1.0, 0.0], [0.0, np.nan], [0.0, np.inf], [-np.inf, 0.0], [[0.0, 1.0]]],
    ids=str,
)
def test_unusable_times_are_refused(t):
    with pytest.raises(DataError, match="increasing times"):
        solution("u' = -u", t, [1.0])


@pytest.mark.parametrize("initial", [[], [1.0, 2.0], [np.nan], [np.inf]], ids=str)
def test_unusable_initial_values_are_refused(initial):
    with pytest.raises(DataError, match="finite initial value"):
        solution("u' = -u", TIMES, initial)


def test_second_order_needs_two_initial_values():
    with pytest.raises(DataError, match="needs 2 finite initial"):
        solution("u'' = -u", TIMES, [1.0])


@pytest.mark.parametrize("guide", [np.zeros(3), np.full(201, np.nan)])
def test_unusable_guide_is_refused(guide):
    with pytest.raises(DataError, match="guide must hold one finite value"):
        solution("u' = -u", TIMES, [1.0], guide=guide)


@pytest.mark.parametrize("options", [{"rtol": 0.0}, {"rtol": 1.0}, {"max_steps": 0}])
def test_unusable_configuration_is_refused(options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        SolveConfig(**options)


def test_dry_friction_brings_a_body_to_rest():
    t = np.linspace(0.0, 14.0, 200)
    found = solve(parse_equation("u'' = -0.35*sign(u') - 7*u"), t, [0.97, 0.0], sensitivities=True)
    assert found.failure is None
    assert found.u[-1] == pytest.approx(-0.03, abs=1e-5)  # each half swing takes 2*0.35/7 off
    assert found.du[-1] == found.d2u[-1] == 0
    assert np.all(found.sensitivities[:, 1:, -1] == 0)
    assert found.sensitivities[2, 0, -1] == pytest.approx(1.0, abs=1e-3)  # it moves with where it started


def test_sensitivities_know_that_constants_move_the_reversals_under_dry_friction():
    k, w = 7.0, np.sqrt(7.0)
    t = np.linspace(0.0, 3.4, 120)
    found = solve(parse_equation("u'' = -0.35*sign(u') - 7*u"), t, [0.97, 0.0], sensitivities=True)
    swing = np.floor(w * t / np.pi)  # in each the middle is at +-f/k, and the amplitude 2 f/k less
    by_friction = ((2 * swing + 1) * np.cos(w * t) - (-1.0) ** swing) / k
    assert found.u == pytest.approx(0.97 * np.cos(w * t) - 0.35 * by_friction, abs=1e-5)
    assert found.sensitivities[0, 0] == pytest.approx(-by_friction, abs=1e-5)


def test_a_body_that_sticks_comes_loose_when_it_is_pushed_hard_enough():
    t = np.linspace(0.0, 8.0, 161)
    found = solve(parse_equation("u'' = -1.5*sign(u') - 7*u + 0.5*t"), t, [0.0, 0.0])
    assert np.all(found.u[t <= 3] == 0)
    moving = (t > 3.001) & (t < 4)
    assert np.all(found.du[moving] > 0)
    later = t[moving] - 3
    w = np.sqrt(7)
    assert found.u[moving] == pytest.approx(0.5 / 7 * (later - np.sin(w * later) / w), abs=1e-6)


def test_a_body_comes_loose_at_the_sample_where_it_is_pushed():
    t = np.linspace(0.0, 6.0, 61)
    push = np.where(t < 2.95, 0.0, 2.0)
    found = solve(parse_equation("u'' = -sign(u') + F"), t, [0.0, 0.0], inputs={"F": push})
    assert np.all(found.d2u[:30] == 0)
    assert found.d2u[30:] == pytest.approx(1.0)
    assert found.u[-1] == pytest.approx(4.5, abs=1e-4)


def test_rest_without_dry_friction_is_no_sticking():
    t = np.linspace(0.0, 2.0, 21)
    found = solve(parse_equation("u'' = -0.5*u'"), t, [1.0, 0.0], sensitivities=True)
    assert found.sensitivities[-1, 0] == pytest.approx(2 * (1 - np.exp(-0.5 * t)), abs=1e-3)


def test_a_body_sticks_at_any_time_stamps():
    t = 1.7e18 + np.arange(0, 1e5, 2560)
    found = solve(parse_equation("u'' = -0.5*sign(u')"), t, [1.0, 0.0])
    assert np.all(found.u == 1)
