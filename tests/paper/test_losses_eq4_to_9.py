import numpy as np
import pytest
from scipy.optimize import minimize

from gode.data import columns_of_run, join_runs
from gode.equation import Equation, parse_equation, parse_skeleton
from gode.errors import ConfigError, DataError, Failure
from gode.paper.losses_eq4_to_9 import (
    PaperConfig,
    criterion,
    fit_by_simplex,
    has_vanished,
    is_trivial,
    possible_solutions,
    residual_loss,
    solution_loss,
    triviality,
)
from gode.solve import solve

T = np.linspace(0.0, 4.0, 81)
DECAY = columns_of_run(T, np.exp(-T), -np.exp(-T), np.exp(-T))
CONFIG = PaperConfig()


def test_residual_loss_is_equation_4():
    three = columns_of_run([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], [5.0, 5.0, 5.0])
    equation = parse_equation("u' - 2*u = 0")  # residuals 3, 1, -1
    assert residual_loss(equation, three) == pytest.approx(np.sqrt(11 / 3))


def test_residual_loss_does_not_see_the_scale_of_an_equation():
    once, thrice = parse_equation("u' - 2*u - 1 = 0"), parse_equation("3*u' - 6*u - 3 = 0")
    assert residual_loss(once, DECAY) == pytest.approx(residual_loss(thrice, DECAY))


def test_residual_loss_knows_the_force():
    forced = columns_of_run(T, np.exp(-T), -np.exp(-T), inputs={"F": np.exp(-T)})
    assert residual_loss(parse_equation("u' + 2*u = F"), forced) == pytest.approx(0.0, abs=1e-14)


def test_residual_loss_of_what_is_not_real_is_infinite():
    assert residual_loss(parse_equation("u' = log(0.5 - u)"), DECAY) == np.inf


def test_solution_loss_is_equation_5():
    solution = solve(parse_equation("u' + 2*u = 0"), T, [1.0])
    smooth = DECAY.matrix[1:3]
    found = np.array([np.exp(-2 * T), -2 * np.exp(-2 * T)])
    by_hand = sum(np.mean((s - f) ** 2) / np.mean(s**2) for s, f in zip(smooth, found, strict=True))
    assert solution_loss([solution], DECAY, 1) == pytest.approx(by_hand, rel=1e-4)


def test_solution_loss_of_second_order_adds_the_second_derivative():
    solution = solve(parse_equation("u'' = -u"), T, [0.0, 1.0])
    smooth = columns_of_run(T, np.sin(T), np.cos(T), -2 * np.sin(T))
    assert solution_loss([solution], smooth, 2) == pytest.approx(0.25, rel=1e-4)
    both = join_runs([smooth, smooth])
    assert solution_loss([solution, solution], both, 2) == pytest.approx(0.25, rel=1e-4)


def test_solution_loss_of_a_failure_is_infinite():
    solution = solve(parse_equation("u' = u^2"), T, [1.0])
    assert solution.failure is not None
    assert solution_loss([solution], DECAY, 1) == np.inf


def test_possible_solutions_come_with_their_derivatives():
    step = 1e-5
    now, up, down = (possible_solutions(T + s) for s in (0.0, step, -step))
    assert now[:, 0] == pytest.approx(
        np.array([T, -2.5 * T, np.sin(3 * T), 2 * np.cos(T / 4) + T / 3]), rel=1e-12
    )
    assert now[:, 1:] == pytest.approx((up - down)[:, :2] / (2 * step), rel=1e-5, abs=1e-5)


def test_triviality_is_equation_8():
    means = [np.mean(np.abs(f[0] * 0 + f[1] - 1.0)) for f in possible_solutions(T)]
    assert triviality(parse_equation("u' = 1"), DECAY) == pytest.approx(np.mean(means))


@pytest.mark.parametrize("text", ["u'' - u''*cos(0.001*t) = 0", "u'*exp(0.002*t) - u' = 0"])
def test_equations_true_for_any_function_are_trivial(text):
    assert is_trivial(parse_equation(text), DECAY, CONFIG)


@pytest.mark.parametrize("text", ["u' + u = 0", "u'' = -4*u", "u' = log(0.5 - 9*u - 9*t)", "u'^2 = u"])
def test_equations_that_say_something_are_not(text):
    assert not is_trivial(parse_equation(text), DECAY, CONFIG)


def test_solution_that_dies_out_is_seen_unless_the_signal_does():
    dying = solve(parse_equation("u' = -50*u"), T, [1.0])
    assert has_vanished(dying, np.ones_like(T))
    assert not has_vanished(dying, np.exp(-50 * T))
    assert not has_vanished(solve(parse_equation("u' = -u"), T, [1.0]), np.ones_like(T))


def test_criterion_is_equation_9():
    assert criterion(16, 0.25, 100, 0.1) == pytest.approx(0.1 * 16 + 0.9 * 100 * 0.25)


@pytest.mark.parametrize(
    "text",
    [
        "u' = C*u",
        "u' = C*u + C*u^2 + C*sin(C*u) + C*t",
        "u' = C*exp(C*u) + C/(C + u)",
        "u'' + C*u'*u + C*u = 0",
        "u''*u' + C*u^2 + C*t = 0",
    ],
)
def test_simplex_search_is_that_of_scipy(text, rng):
    noise = 0.05 * rng.standard_normal(len(T))
    columns = columns_of_run(T, 1 + np.exp(-T), noise - np.exp(-T), np.exp(-T))
    skeleton = parse_skeleton(text)
    # later, rounding decides which of two nearly equal corners is dropped
    found = fit_by_simplex(skeleton, columns, PaperConfig(max_iterations=80))
    twin = minimize(
        lambda c: residual_loss(Equation(skeleton, tuple(c)), columns),
        np.ones(skeleton.n_constants),
        method="Nelder-Mead",
        options={"maxiter": 80, "fatol": 1e-3, "xatol": 1e-3},
    )
    assert found.loss == pytest.approx(twin.fun, rel=1e-6)
    assert found.evaluations == pytest.approx(twin.nfev)
    assert found.equation.constants == pytest.approx(twin.x, rel=1e-6)


def test_a_skeleton_without_constants_is_just_evaluated():
    found = fit_by_simplex(parse_skeleton("u' + u = 0"), DECAY, CONFIG)
    assert found.loss == pytest.approx(0.0, abs=1e-14)
    assert found.evaluations == 1


def test_what_cannot_be_fitted_is_a_failure():
    many = "u' = " + " + ".join(f"C*u^{i}" for i in range(1, 10))
    assert fit_by_simplex(parse_skeleton(many), DECAY, CONFIG).failure is Failure.TOO_MANY_CONSTANTS
    nowhere = parse_skeleton("u' = C*log(-u)")
    assert fit_by_simplex(nowhere, DECAY, CONFIG).failure is Failure.NOT_FINITE


def test_a_missing_input_gets_a_sentence():
    with pytest.raises(DataError, match="needs the input F"):
        fit_by_simplex(parse_skeleton("u' + C*u = F"), DECAY, CONFIG)


@pytest.mark.parametrize(("option", "value"), [("alpha", 1.5), ("max_iterations", 0)])
def test_bad_options_get_a_sentence(option, value):
    with pytest.raises(ConfigError, match=option):
        PaperConfig(**{option: value})
