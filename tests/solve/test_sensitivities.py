"""Sensitivities are the derivatives of the computed solution: they agree with finite differences."""

import numpy as np
import pytest

from gode.equation import Equation, parse_equation
from gode.solve import Interpolation, SolveConfig, set_up, solve
from gode.solve.explicit import DONE, WORSE
from gode.solve.solution import NOTHING, integrate

T = np.linspace(0, 3, 61)
FINE = SolveConfig(rtol=1e-11, max_steps=100_000)
SMOOTH = np.sin(1.3 * T) + 0.5 * np.cos(2.9 * T)

CASES = {
    "linear": ("u' = -0.7*u + 0.2", (2.0,), {}),
    "nonlinear constants": ("u' = 1.3*u/(0.5 + u) - 0.4*u^1.5", (0.7,), {}),
    "all functions": (
        "u' = 0.3*tanh(1.2*u) + 0.2*log(2.1*u + 1) - 0.1*tan(0.3*u) + 0.2*sqrt(1.1*u + 0.1)"
        " - 0.4*u^2.3 + 0.1*cos(0.7*u)*exp(-0.5*u)/u^3",
        (0.7,),
        {},
    ),
    "explicit time": ("u' = -u + 2.1*sin(1.7*t)*exp(-0.3*t)", (0.2,), {}),
    "oscillator": ("u'' = -0.3*u' - 4*u - 0.8*u^3", (1.0, 0.5), {}),
    "nonlinear damping": ("u'' = -0.3*abs(u')*u' - 9.81*sin(1.1*u)", (1.0, 0.5), {}),
    "constant before u''": ("2*u'' + 0.7*u'*u^2 + 3*u = F", (1.0, 0.0), {"inputs": {"F": "cos(2*t)"}}),
    "forced by samples": ("u'' = -0.4*u' - 3*u + 1.2*F", (0.5, 0.0), {"inputs": {"F": SMOOTH}}),
    "implicit": ("u'^3 + 0.5*u' + 1.3*u = 0", (1.0,), {"guide": -np.exp(-T)}),
    "implicit, second order": ("u''^3 + 2*u'' + 0.2*u' + 6.1*u = 0", (1.0, 0.0), {"guide": -np.cos(T)}),
    "implicit, forced": (
        "u'^3 + 0.5*u' + 1.3*u^1.5 = F",
        (1.0,),
        {"guide": -np.exp(-T), "inputs": {"F": 0.1 + 0.05 * SMOOTH}},
    ),
}


def by_differences(equation: Equation, initial: tuple[float, ...], options: dict) -> np.ndarray:
    values = np.array([*equation.constants, *initial])
    k = len(equation.constants)
    slopes = []
    for i in range(len(values)):
        ends = []
        h = 1e-4 * max(abs(values[i]), 0.1)
        for sign in (1, -1):
            moved = values.copy()
            moved[i] += sign * h
            found = solve(Equation(equation.skeleton, tuple(moved[:k].tolist())), T, moved[k:], **options)
            assert found.failure is None
            ends.append(np.array([found.u, found.du, found.d2u]))
        slopes.append((ends[0] - ends[1]) / (2 * h))
    return np.array(slopes)


@pytest.mark.parametrize("name", CASES)
def test_sensitivities_agree_with_differences(name: str):
    text, initial, options = CASES[name]
    options = {"config": FINE} | options
    equation = parse_equation(text)
    found = solve(equation, T, initial, sensitivities=True, **options)
    assert found.failure is None
    order = equation.order
    expected = by_differences(equation, initial, options)[:, : order + 1]
    assert found.sensitivities.shape == (len(equation.constants) + order, 3, len(T))
    actual = found.sensitivities[:, : order + 1]
    size = np.max(np.abs(expected), axis=2, keepdims=True)
    assert np.max(np.abs(actual - expected) / np.maximum(size, 1e-3 * np.max(size))) < 1e-5


def test_sensitivities_of_a_stiff_equation_agree_with_differences():
    equation, options = parse_equation("u' = -30000*(u - cos(1.1*t))"), {"config": SolveConfig(rtol=1e-11)}
    found = solve(equation, T, [1.0], sensitivities=True, **options)
    expected = by_differences(equation, (1.0,), options)[:, 0]  # u' is dominated by rounding
    size = np.max(np.abs(expected), axis=1, keepdims=True)
    assert np.max(np.abs(found.sensitivities[:, 0] - expected) / size) < 1e-5


@pytest.mark.parametrize("kind", [Interpolation.LINEAR, Interpolation.HOLD])
def test_sensitivities_hold_for_each_interpolation(kind: Interpolation):
    config = SolveConfig(rtol=1e-12, interpolation=kind, max_steps=100_000)
    options = {"config": config, "inputs": {"F": SMOOTH}}
    equation = parse_equation("u' = -1.5*u + 0.8*F")
    found = solve(equation, T, [0.3], sensitivities=True, **options)
    expected = by_differences(equation, (0.3,), options)
    np.testing.assert_allclose(found.sensitivities[:, 0], expected[:, 0], atol=1e-5)


def test_solution_is_the_same_with_and_without():
    equation = parse_equation("u'' = -0.3*u' - 4*u - 0.8*u^3")
    plain, full = (solve(equation, T, [1.0, 0.0], sensitivities=on) for on in (False, True))
    np.testing.assert_array_equal(plain.u, full.u)
    assert plain.sensitivities.shape == (0, 3, len(T))


def test_sensitivities_start_at_the_identity():
    found = solve(parse_equation("u'' = -0.3*u' - 4*u"), T, [1.0, 0.5], sensitivities=True)
    np.testing.assert_array_equal(found.sensitivities[:, :2, 0], [[0, 0], [0, 0], [1, 0], [0, 1]])


def test_sensitivities_of_a_failure_are_nan_from_there_on():
    found = solve(parse_equation("u' = 1.0*u^2"), T, [1.0], sensitivities=True)
    assert found.failure is not None
    n = int(np.isfinite(found.u).sum())
    assert np.all(np.isnan(found.sensitivities[:, :, n:]))
    assert np.all(np.isfinite(found.sensitivities[:, 0, :n]))


def test_implicit_sensitivities_agree_with_explicit_ones():
    # the same oscillator, written so that it cannot be solved for u''
    options = {"sensitivities": True, "config": FINE}
    explicit = solve(parse_equation("u'' = -4.1*u"), T, [1.0, 0.5], **options)
    implicit = solve(parse_equation("u''^3 + 68.921*u^3 = 0"), T, [1.0, 0.5], guide=explicit.d2u, **options)
    np.testing.assert_allclose(implicit.u, explicit.u, atol=1e-7)
    np.testing.assert_allclose(implicit.sensitivities[-2:, 0], explicit.sensitivities[-2:, 0], atol=1e-5)


@pytest.mark.parametrize("text", ["u' = -0.7*u", "u' + 0.1*u'^3 = -0.7*u"])
def test_a_solution_ends_where_it_is_worse_than_the_limit(text: str):
    equation = parse_equation(text)
    system = set_up(equation.skeleton, T, guide=-0.6 * np.exp(-0.6 * T))
    observed, weights = np.zeros((len(T), 3)), np.zeros((len(T), 3))
    weights[:, :2] = 2.0

    def ended(limit: float) -> tuple[int, float, np.ndarray]:
        out, sens = np.empty((3, len(T))), np.empty((0, 3, len(T)))
        arguments = np.array(equation.constants), np.ones(1), NOTHING, out, sens, observed, weights
        status, _, sse = integrate(system, *arguments, limit)
        return status, sse, out

    status, sse, out = ended(np.inf)
    assert status == DONE
    assert sse == pytest.approx(4 * np.sum(out[:2] ** 2))
    status, part, out = ended(0.3 * sse)
    assert status == WORSE
    assert 0.3 * sse <= part < sse
    assert np.isnan(out[0, -1])
