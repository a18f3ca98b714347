"""Known inputs: formulas, callables and samples mean the same; bad ones are refused."""

import math

import numpy as np
import pytest

from gode.data import Interpolation, Samples
from gode.equation import parse_equation
from gode.errors import DataError
from gode.solve import Solution, SolveConfig, solve

T = np.linspace(0, 10, 201)
FORCED = parse_equation("u'' + 4*u = F")  # with F = 3 sin t: cos 2t + sin t
EXACT = np.cos(2 * T) + np.sin(T)
LAG = parse_equation("u' = F - u")


def forced(signal, t=T, *, rtol: float = 1e-9, interpolation=Interpolation.CUBIC) -> Solution:
    config = SolveConfig(rtol=rtol, interpolation=interpolation, max_steps=100_000)
    return solve(FORCED, t, [1.0, 1.0], inputs={"F": signal}, config=config)


def test_formula_callable_and_dense_samples_agree():
    dense = np.linspace(-1, 11, 3001)
    for signal in ("3*sin(t)", lambda t: 3 * math.sin(t), (dense, 3 * np.sin(dense))):
        found = forced(signal)
        assert found.failure is None
        np.testing.assert_allclose(found.u, EXACT, atol=1e-7)


def test_samples_at_the_times_of_the_solution_suffice():
    np.testing.assert_allclose(forced(3 * np.sin(T)).u, EXACT, atol=1e-4)
    np.testing.assert_allclose(forced(list(3 * np.sin(T))).u, EXACT, atol=1e-4)


def test_samples_may_lie_anywhere(rng):
    own = np.concatenate([[-0.3], np.sort(rng.uniform(0, 10, 400)), [10.2]])
    np.testing.assert_allclose(forced((own, 3 * np.sin(own))).u, EXACT, atol=1e-3)


def test_cubic_beats_linear_beats_hold():
    errors = [
        np.max(np.abs(forced(3 * np.sin(T), interpolation=kind, rtol=1e-7).u - EXACT))
        for kind in (Interpolation.CUBIC, Interpolation.LINEAR, Interpolation.HOLD)
    ]
    assert errors[0] < 0.1 * errors[1] < 0.01 * errors[2]


def test_linear_samples_are_joined_by_lines():
    # u' = F: the integral of the polygon through (0, 0), (1, 2), (2, 0)
    t = np.linspace(0, 2, 5)
    config = SolveConfig(interpolation=Interpolation.LINEAR, rtol=1e-8)
    signal = ([0.0, 1.0, 2.0], [0.0, 2.0, 0.0])
    found = solve(parse_equation("u' = F"), t, [0.0], inputs={"F": signal}, config=config)
    np.testing.assert_allclose(found.u, [0, 0.25, 1, 1.75, 2], atol=1e-7)


def test_held_samples_stay_until_the_next():
    t = np.linspace(0, 2, 5)
    config = SolveConfig(interpolation=Interpolation.HOLD, rtol=1e-8)
    signal = ([0.0, 1.0, 2.0], [1.0, 3.0, 7.0])
    found = solve(parse_equation("u' = F"), t, [0.0], inputs={"F": signal}, config=config)
    np.testing.assert_allclose(found.u, [0, 0.5, 1, 2.5, 4], atol=1e-5)


def test_a_switch_is_held_and_a_pulse_is_not():
    # u' = F: a switch on at t = 1 gives t - 1; held samples of a smooth pulse would come half a step late
    t = np.linspace(0, 4, 41)
    config = SolveConfig(rtol=1e-8)
    switch = np.where(t >= 1.0, 1.0, 0.0)
    found = solve(parse_equation("u' = F"), t, [0.0], inputs={"F": switch}, config=config)
    np.testing.assert_allclose(found.u, np.maximum(t - 1, 0), atol=1e-4)
    pulse = np.where((t > 1) & (t < 2), np.sin(np.pi * (t - 1)) ** 4, 0.0)
    found = solve(parse_equation("u' = F"), t, [0.0], inputs={"F": pulse}, config=config)
    assert found.u[-1] == pytest.approx(3 / 8, rel=1e-3)
    assert found.u[15] == pytest.approx(3 / 16, rel=1e-2)


def test_a_function_is_sampled_no_finer_than_the_digits_of_time():
    t = 1e12 + np.linspace(0, 1, 11)
    found = solve(parse_equation("u' = F"), t, [0.0], inputs={"F": lambda s: 2.0 if s < 1e12 + 0.5 else 0.0})
    assert found.u[-1] == pytest.approx(1.0, abs=0.1)


def test_two_inputs_keep_apart():
    equation = parse_equation("u'' = F + 2*G", inputs=("F", "G"))
    t = np.linspace(0, 1, 11)
    exact = t**2 / 2 + t**3 / 3
    for given in (
        {"F": "1", "G": "t"},
        {"F": np.ones(11), "G": lambda s: s},
        {"G": (np.array([-1.0, 0.5, 2.0, 3.0]), np.array([-1.0, 0.5, 2.0, 3.0])), "F": "1"},
    ):
        np.testing.assert_allclose(solve(equation, t, [0.0, 0.0], inputs=given).u, exact, atol=1e-9)


def test_input_may_enter_an_implicit_equation():
    t = np.linspace(0, 1, 51)
    found = solve(parse_equation("u'^3 + u^3 = F"), t, [1.0], inputs={"F": np.zeros(51)}, guide=-np.exp(-t))
    np.testing.assert_allclose(found.u, np.exp(-t), rtol=1e-5)


def test_superfluous_inputs_are_ignored():
    t = np.linspace(0, 1, 11)
    found = solve(parse_equation("u' = -u"), t, [1.0], inputs={"F": np.ones(3)})
    np.testing.assert_allclose(found.u, np.exp(-t), rtol=1e-5)


def test_sharp_callable_ends_its_refinement():
    found = solve(
        LAG, np.linspace(0, 2, 41), [0.0], inputs={"F": lambda t: float(t > 1)}, config=SolveConfig(rtol=1e-5)
    )
    assert found.failure is None
    assert found.u[-1] == pytest.approx(1 - math.exp(-1), abs=1e-3)


@pytest.mark.parametrize(
    ("signal", "message"),
    [
        (np.ones(5), "has 5 samples for 201 times"),
        (2.0, "has 1 samples for 201 times"),
        ([], "has 0 samples"),
        (np.ones((201, 2)), "samples for 201 times"),
        ((np.linspace(0, 10, 5), np.ones(4)), "has 4 samples for 5 times"),
        (([0.0], [1.0]), "at least 2"),
        (np.full(201, np.nan), "must be finite at increasing times"),
        (([0.0, 11.0], [0.0, np.inf]), "must be finite at increasing times"),
        (([0.0, 10.0, 9.0], [0.0, 1.0, 2.0]), "must be finite at increasing times"),
        (([0.0, np.inf], [0.0, 1.0]), "must be finite at increasing times"),
        (([0.0, 9.0], [0.0, 1.0]), "covers 0 to 9, but the solution is asked for 0 to 10"),
        (([1.0, 10.0], [0.0, 1.0]), "covers 1 to 10"),
        (["a"] * 201, "must be numbers"),
        (None, "samples for 201 times"),
        ("u + t", "may depend on t alone, not on u"),
        (lambda t: math.inf if t > 5 else 0.0, "not finite at t ="),
    ],
)
def test_unusable_inputs_are_refused(signal, message):
    with pytest.raises(DataError, match=message):
        forced(signal)


@pytest.mark.parametrize("inputs", [None, {}, {"G": "t"}])
def test_missing_input_is_named(inputs):
    with pytest.raises(DataError, match="has the input F, but no value is given"):
        solve(FORCED, T, [1.0, 1.0], inputs=inputs)


def test_steps_end_where_a_held_input_jumps(rng):
    # u' = 4 F - 2 u between the jumps: an exponential; a handful of steps for each jump is enough
    t = np.linspace(0, 10, 201)
    held = rng.uniform(-1, 1, 201)
    exact, decay = np.zeros(201), math.exp(-0.1)
    for i in range(200):
        exact[i + 1] = decay * exact[i] + (1 - decay) * 2 * held[i]
    for times in (t, np.linspace(0, 10, 777)):
        signal = Samples(t, held, Interpolation.HOLD)
        found = solve(parse_equation("u' = 4*F - 2*u"), times, [0.0], inputs={"F": signal})
        np.testing.assert_allclose(np.interp(t[::25], times, found.u), exact[::25], atol=1e-4)
        assert found.n_steps < 500
    assert np.max(np.abs(found.u)) < 2.0


def test_samples_may_bring_their_own_interpolation():
    t = np.linspace(0, 2, 5)
    for how, end in ((Interpolation.HOLD, 4.0), (Interpolation.LINEAR, 7.0)):
        signal = Samples(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 7.0]), how)
        found = solve(parse_equation("u' = F"), t, [0.0], inputs={"F": signal})
        assert found.u[-1] == pytest.approx(end, abs=1e-6)
