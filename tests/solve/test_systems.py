"""Systems: SciPy's solutions, sensitivities by finite differences, states of any size, errors for people."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from gode.equation import Link, System, SystemSkeleton, parse_equation, parse_skeleton
from gode.equation.system import parse_system_values
from gode.errors import DataError, EquationError, Failure
from gode.solve import SolveConfig, set_up, solve
from gode.solve.explicit import DONE, WORSE
from gode.solve.solution import NOTHING, integrate

T = np.linspace(0, 3, 61)
TIMES = np.linspace(0, 1, 101)
FINE = SolveConfig(rtol=1e-11, max_steps=100_000)
PUSH = np.sin(1.3 * T) + 0.5 * np.cos(2.9 * T)


class Case(NamedTuple):
    """A system, and the same as a function for SciPy of time and state vector."""

    texts: tuple[str, ...]
    initial: tuple[float, ...]
    twin: Callable[[float, np.ndarray], list[float]]
    options: dict = {}  # noqa: RUF012  # never changed


def root(cubic: float, rest: float) -> float:
    """Return the real w with w + cubic*w^3 + rest = 0."""
    found = np.roots([cubic, 0.0, 1.0, rest])
    return float(found[np.argmin(np.abs(found.imag))].real)


def coupled(x: float, dx: float, y: float, dy: float) -> list[float]:
    # y'' = 0.3 x'' - 2 y - 0.1 x', written into the other equation
    d2x = root(0.1 / 1.06, (3 * x + 0.2 * (-2 * y - 0.1 * dx)) / 1.06)
    return [dx, d2x, dy, 0.3 * d2x - 2 * y - 0.1 * dx]


CASES = {
    "Lotka-Volterra": Case(
        ("x' = 1.1*x - 0.4*x*y", "y' = 0.1*x*y - 0.4*y"),
        (10.0, 5.0),
        lambda t, y: [1.1 * y[0] - 0.4 * y[0] * y[1], 0.1 * y[0] * y[1] - 0.4 * y[1]],
    ),
    "Lorenz": Case(
        ("x' = 10*(y - x)", "y' = x*(28 - z) - y", "z' = x*y - 2.6666666666666665*z"),
        (1.0, 2.0, 20.0),
        lambda t, y: [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]],
    ),
    "SIR": Case(
        ("S' = -0.002*S*I", "I' = 0.002*S*I - 0.7*I", "R' = 0.7*I"),
        (990.0, 10.0, 0.0),
        lambda t, y: [-0.002 * y[0] * y[1], 0.002 * y[0] * y[1] - 0.7 * y[1], 0.7 * y[1]],
    ),
    "Van der Pol": Case(
        ("x' = y", "y' = 1*(1 - x^2)*y - x"), (2.0, 0.0), lambda t, y: [y[1], (1 - y[0] ** 2) * y[1] - y[0]]
    ),
    "two oscillators": Case(
        ("x'' = -3*x + 1.5*y - 0.1*x'", "y'' = 1.5*x - 2*y - 0.2*y^3"),
        (1.0, 0.0, -0.5, 0.3),
        lambda t, y: [
            y[1],
            -3 * y[0] + 1.5 * y[2] - 0.1 * y[1],
            y[3],
            1.5 * y[0] - 2 * y[2] - 0.2 * y[2] ** 3,
        ],
    ),
    "orders one and two": Case(
        ("i' = 2*v - 3*i", "x'' = -4*x + 1.2*i - 0.1*x'", "v' = 0.3*x' - 0.5*v"),
        (0.5, 1.0, 0.0, 0.2),
        lambda t, y: [
            2 * y[3] - 3 * y[0],
            y[2],
            -4 * y[1] + 1.2 * y[0] - 0.1 * y[2],
            0.3 * y[2] - 0.5 * y[3],
        ],
    ),
    "stiff Van der Pol": Case(
        ("x' = y", "y' = 100*(1 - x^2)*y - x"),
        (2.0, 0.0),
        lambda t, y: [y[1], 100 * (1 - y[0] ** 2) * y[1] - y[0]],
    ),
    "stiff kinetics": Case(
        ("a' = -0.04*a + 1e4*b*c", "b' = 0.04*a - 1e4*b*c - 3e7*b^2", "c' = 3e7*b^2"),
        (1.0, 0.0, 0.0),
        lambda t, y: [
            -0.04 * y[0] + 1e4 * y[1] * y[2],
            0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1] ** 2,
            3e7 * y[1] ** 2,
        ],
    ),
    "implicit": Case(("x' + 0.1*x'^3 = -y", "y' = x"), (1.0, 0.5), lambda t, y: [root(0.1, y[1]), y[0]]),
    "implicit, both": Case(
        ("x'' + 0.1*x''^3 = -3*x - 0.2*y''", "y'' = 0.3*x'' - 2*y - 0.1*x'"),
        (1.0, 0.0, -0.5, 0.3),
        lambda t, y: coupled(*y),
    ),
    "coupled by derivatives": Case(
        ("x' = -x + 0.5*y'", "y' = -2*y + 0.5*x' + 1.5*x"),
        (1.0, 0.5),
        lambda t, y: np.linalg.solve([[1, -0.5], [-0.5, 1]], [-y[0], -2 * y[1] + 1.5 * y[0]]).tolist(),
    ),
    "formula as input": Case(
        ("x' = y + 0.3*F", "y' = -2*x - 0.1*y*F"),
        (1.0, 0.0),
        lambda t, y: [y[1] + 0.3 * np.cos(2 * t), -2 * y[0] - 0.1 * y[1] * np.cos(2 * t)],
        {"inputs": {"F": "cos(2*t)"}},
    ),
}


def make(case: Case) -> System:
    return parse_system_values(case.texts, inputs=("F", "heat"))


def reference(case: Case, t: np.ndarray = T) -> np.ndarray:
    """Return the state vector at the times `t` by SciPy."""
    method = "Radau" if "1e4" in case.texts[0] or "100*" in case.texts[1] else "DOP853"
    found = solve_ivp(case.twin, (t[0], t[-1]), case.initial, method, t, rtol=1e-11, atol=1e-13)
    assert found.success
    return found.y


def channels(system: System) -> list[int]:
    return [3 * s + k for s, order in enumerate(system.skeleton.orders) for k in range(order)]


@pytest.mark.parametrize("name", CASES)
def test_solutions_agree_with_scipy(name: str):
    case = CASES[name]
    system, expected = make(case), reference(case)
    for rtol in (1e-6, 1e-9):
        found = solve(system, T, case.initial, config=SolveConfig(rtol=rtol), **case.options)
        assert found.failure is None
        size = np.max(np.abs(expected), axis=1, keepdims=True)
        assert np.max(np.abs(found.values[channels(system)] - expected) / size) < 300 * rtol


@pytest.mark.parametrize("name", CASES)
def test_highest_derivatives_are_those_of_the_equations(name: str):
    case = CASES[name]
    system = make(case)
    found = solve(system, T, case.initial, **case.options)
    here = channels(system)
    slopes = np.array([case.twin(t, y) for t, y in zip(T, found.values[here].T, strict=True)]).T
    size = np.max(np.abs(slopes), axis=1, keepdims=True)
    np.testing.assert_allclose(found.values[[c + 1 for c in here]] / size, slopes / size, atol=1e-9)


def by_differences(system: System, initial: tuple[float, ...], options: dict) -> np.ndarray:
    values = np.array([*system.constants, *initial])
    k = len(system.constants)
    slopes = []
    for i in range(len(values)):
        ends = []
        h = 1e-4 * max(abs(values[i]), 0.1 if i >= k else 0.0)
        for sign in (1, -1):
            moved = values.copy()
            moved[i] += sign * h
            found = solve(System(system.skeleton, tuple(moved[:k].tolist())), T, moved[k:], **options)
            assert found.failure is None
            ends.append(found.values)
        slopes.append((ends[0] - ends[1]) / (2 * h))
    return np.array(slopes)


def check_sensitivities(system: System, initial: tuple[float, ...], options: dict) -> None:
    options = {"config": FINE} | options
    found = solve(system, T, initial, sensitivities=True, **options)
    assert found.failure is None
    expected = by_differences(system, initial, options)
    assert found.sensitivities.shape == expected.shape
    here = sorted({*channels(system), *(c + 1 for c in channels(system))})
    size = np.max(np.abs(expected[:, here]), axis=2, keepdims=True)
    error = np.abs(found.sensitivities - expected)[:, here]
    assert np.max(error / np.maximum(size, 1e-3 * np.max(size, axis=0))) < 1e-4


@pytest.mark.parametrize("name", CASES)
def test_sensitivities_agree_with_differences(name: str):
    check_sensitivities(make(CASES[name]), CASES[name].initial, CASES[name].options)


def test_samples_are_inputs_of_every_equation():
    system = parse_system_values(["x' = y + 0.3*F", "y' = -2*x - 0.1*y*heat"], inputs=("F", "heat"))
    inputs = {"F": PUSH, "heat": (T, np.exp(-T))}
    found = solve(system, T, [1.0, 0.0], inputs=inputs, config=FINE)
    exact = solve(
        system, T, [1.0, 0.0], inputs={"F": "sin(1.3*t) + 0.5*cos(2.9*t)", "heat": "exp(-t)"}, config=FINE
    )
    np.testing.assert_allclose(found.values, exact.values, atol=1e-4)
    check_sensitivities(system, (1.0, 0.0), {"inputs": inputs})
    with pytest.raises(DataError, match="the input heat"):
        solve(system, T, [1.0, 0.0], inputs={"F": PUSH})


def test_an_input_that_no_equation_holds_need_not_be_given():
    skeleton = SystemSkeleton(("x", "y"), (parse_skeleton("u' = -v1", inputs=("v1",)),) * 2, ("F",))
    assert solve(System(skeleton), T, [1.0, 0.0]).failure is None


def test_sensitivities_are_in_the_free_constants():
    # what leaves S enters I: one infection rate, one recovery rate
    parts = [
        parse_skeleton(text, inputs=("v1", "v2"))
        for text in ("u' = C*u*v1", "u' = C*u*v1 + C*u", "u' = C*v2")
    ]
    links = (Link(0, 1.0), Link(0, -1.0), Link(1, 1.0), Link(1, -1.0))
    skeleton = SystemSkeleton(("S", "I", "R"), tuple(parts), (), links)
    order = skeleton.numbers((-0.002, -0.7))
    assert sorted(order) == [-0.7, -0.002, 0.002, 0.7]
    system = System(skeleton, (-0.002, -0.7))
    check_sensitivities(system, (990.0, 10.0, 0.0), {})
    values = solve(system, T, [990.0, 10.0, 0.0]).values
    np.testing.assert_allclose(values[0] + values[3] + values[6], 1000.0)


def test_a_system_of_one_state_is_its_equation():
    text, initial = "u'' = -0.3*u' - 4*u - 0.8*u^3", [1.0, 0.5]
    plain = solve(parse_equation(text), T, initial, sensitivities=True)
    system = solve(parse_system_values([text.replace("u", "x")]), T, initial, sensitivities=True)
    np.testing.assert_array_equal(system.values, plain.values)
    np.testing.assert_array_equal(system.sensitivities, plain.sensitivities)
    assert (plain.states, system.states) == (("u",), ("x",))


def test_uncoupled_equations_are_solved_as_if_alone():
    texts = ["x' = -0.7*x + 0.2", "y'' = -4*y - 0.1*y'"]
    both = solve(parse_system_values(texts), T, [2.0, 1.0, 0.0], config=FINE)
    alone = [
        solve(parse_equation("u' = -0.7*u + 0.2"), T, [2.0], config=FINE),
        solve(parse_equation("u'' = -4*u - 0.1*u'"), T, [1.0, 0.0], config=FINE),
    ]
    np.testing.assert_allclose(both.values, np.vstack([a.values for a in alone]), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_a_state_is_resolved_relative_to_its_own_size(unit: float):
    def solved(one: float):
        texts = [f"x' = 1.1*x - {0.4 / one!r}*x*y", f"y' = {0.1}*x*y - 0.4*y"]
        return solve(parse_system_values(texts), T, [10.0, 5.0 * one])

    plain, scaled = solved(1.0), solved(unit)
    assert scaled.n_steps == plain.n_steps
    np.testing.assert_allclose(scaled["y"] / unit, plain["y"], rtol=1e-9)


def test_states_are_found_by_name():
    found = solve(make(CASES["orders one and two"]), T, CASES["orders one and two"].initial)
    np.testing.assert_array_equal(found["x'"], found.values[4])
    np.testing.assert_array_equal(found["x''"], found.values[5])
    np.testing.assert_array_equal(found["i"], found.u)
    assert np.all(np.isnan(found["v''"]))
    for name in ("y", "x'''", "F"):
        with pytest.raises(DataError, match="the states are i, x, v"):
            found[name]


def test_one_state_that_blows_up_is_reported_as_divergence():
    found = solve(parse_system_values(["x' = -x", "y' = y^2"]), T, [1.0, 1.0])
    assert found.failure is Failure.DIVERGED
    n = int(np.isfinite(found["x"]).sum())
    assert 19 <= n <= 21
    assert np.all(np.isnan(found.values[:, n:]))
    assert np.all(np.isfinite(found.values[[0, 1, 3, 4], :n]))


def test_each_state_may_have_a_bound_of_its_own():
    system = parse_system_values(["x' = 3*x", "y' = -y"])
    options = {"bound": (100.0, 2.0)}
    assert solve(system, T, [1.0, 1.0], config=SolveConfig(**options)).failure is Failure.DIVERGED
    assert solve(system, T[:20], [1.0, 1.0], config=SolveConfig(**options)).failure is None
    assert solve(system, T, [1.0, 1.0], config=SolveConfig(bound=2.0)).failure is Failure.DIVERGED


def test_a_solution_ends_where_any_state_is_worse_than_the_limit():
    system = parse_system_values(["x' = -0.7*x", "y' = x - 0.1*y"])
    setup, n = set_up(system.skeleton, T), len(T)
    observed, weights = np.zeros((n, 6)), np.zeros((n, 6))
    weights[:, 3] = 2.0
    weights[:, 4] = 1.0

    def ended(limit: float) -> tuple[int, float, np.ndarray]:
        out, sens = np.empty((6, n)), np.empty((0, 6, n))
        arguments = np.array(system.constants), np.ones(2), NOTHING, out, sens, observed, weights
        status, _, sse = integrate(setup, *arguments, limit)
        return status, sse, out

    status, sse, out = ended(np.inf)
    assert status == DONE
    assert sse == pytest.approx(np.sum(4 * out[3] ** 2 + out[4] ** 2))
    status, part, out = ended(0.3 * sse)
    assert status == WORSE
    assert 0.3 * sse <= part < sse
    assert np.isnan(out[0, -1])


def test_unusable_initial_values_and_guides_are_refused():
    system = make(CASES["orders one and two"])
    with pytest.raises(
        DataError, match=r"4 finite initial value\(s\), i\(t0\), x\(t0\), x'\(t0\) and v\(t0\)"
    ):
        solve(system, T, [1.0, 2.0])
    with pytest.raises(DataError, match="61 times and 3 states"):
        solve(system, T, [1.0, 2.0, 3.0, 4.0], guide=T)


# Stiff systems, over times that the explicit method cannot span


def van_der_pol(mu: float) -> Case:
    return Case(
        ("x' = y", f"y' = {mu}*(1 - x^2)*y - x"),
        (2.0, 0.0),
        lambda t, y: [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]],
    )


STIFF = {
    "Van der Pol": (van_der_pol(100.0), np.linspace(0, 200, 101)),
    "kinetics": (CASES["stiff kinetics"], np.linspace(0, 400, 51)),
    "kinetics, long": (CASES["stiff kinetics"], np.concatenate([[0], np.logspace(-3, 6, 60)])),
    "equilibrium": (
        Case(
            ("x' = -1000*(x - y)", "y' = 1 - y + 0.001*x"),
            (0.0, 3.0),
            lambda t, y: [-1000 * (y[0] - y[1]), 1 - y[1] + 0.001 * y[0]],
        ),
        np.linspace(0, 60, 61),
    ),
}


@pytest.mark.parametrize("name", STIFF)
def test_stiff_systems_are_solved(name: str):
    case, t = STIFF[name]
    method = SolveConfig(max_steps=100)
    found, expected = solve(make(case), t, case.initial, config=method), reference(case, t)
    assert found.failure is None
    assert found.n_steps > 100 + 20 * len(t)  # the explicit method gave up
    size = np.max(np.abs(expected), axis=1, keepdims=True)
    assert np.max(np.abs(found.values[::3] - expected) / size) < 1e-4


def test_sensitivities_of_stiff_kinetics_agree_with_differences():
    t = np.linspace(0, 400, 21)
    system = make(CASES["stiff kinetics"])
    options = {"config": SolveConfig(rtol=1e-9, max_steps=5000)}
    found = solve(system, t, [1.0, 0.0, 0.0], sensitivities=True, **options)
    assert found.failure is None
    for i, value in enumerate(system.constants):
        ends = []
        for sign in (1, -1):
            moved = list(system.constants)
            moved[i] += sign * 1e-3 * value
            ends.append(solve(System(system.skeleton, tuple(moved)), t, [1.0, 0.0, 0.0], **options).values)
        expected = (ends[0] - ends[1])[::3] / (2e-3 * value)
        size = np.max(np.abs(expected), axis=1, keepdims=True)
        assert np.max(np.abs(found.sensitivities[i, ::3] - expected) / size) < 1e-3


def test_the_guide_chooses_the_branch_of_each_state():
    system = parse_system_values(["x'^2 = x", "y' = x - y"])
    for sign in (1.0, -1.0):
        x = (1 + sign * TIMES / 2) ** 2
        guide = np.array([sign * np.sqrt(x), x])
        found = solve(system, TIMES, [1.0, 0.0], guide=guide)
        np.testing.assert_allclose(found["x"], x, atol=1e-5)


def test_a_system_without_a_real_root_is_reported():
    found = solve(parse_system_values(["x'^2 = -1 - x^2", "y' = x"]), T, [1.0, 0.0])
    assert found.failure is Failure.NO_ROOT
    assert np.all(np.isnan(found.values[:, 1:]))


def test_a_start_where_one_equation_degenerates_is_left():
    # Bessel's equation at t = 0, and a state that it drives
    system = parse_system_values(["t*x'' = -x' - t*x", "y' = x"])
    found = solve(system, np.linspace(0, 2, 201), [1.0, 0.0, 0.0])
    assert found["x"][-1] == pytest.approx(0.22389077914123567, abs=1e-5)  # J0(2)
    assert found["x''"][0] == pytest.approx(-0.5, abs=1e-3)


def test_higher_derivatives_than_a_state_has_are_refused():
    system = parse_system_values(["x' = -x + y''", "y' = -y"])
    with pytest.raises(EquationError, match="highest derivatives"):
        solve(system, T, [1.0, 1.0])
