"""The table of the paper's problems says what the paper means."""

import numpy as np
import pytest

from gode.equation import parse_tree
from gode.equation.tape import COLUMNS, compile_tape, evaluate
from gode.errors import ConfigError
from gode.paper.benchmarks_sec3 import true_skeletons
from gode.solve.signals import write_in
from gode_bench.problems import SUITES, Problem, noisy, problem, suite, truth

ALL = [one for problems in SUITES.values() for one in problems]
each_problem = pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)


def residual(one: Problem, t, u, du, d2u):
    """The equation on a trajectory, and the size of its largest term."""
    formulas = {} if one.force is None else {"F": parse_tree(one.force, inputs=())}
    terms = write_in(one.equation.skeleton.terms, formulas)
    x = np.vstack([t, u, du, d2u])
    values = [
        evaluate(compile_tape([term], COLUMNS, len(one.equation.constants)), one.equation.constants, x).value
        for term in terms
    ]
    return np.sum(values, axis=0), np.max(np.abs(values))


@each_problem
def test_truth_satisfies_its_equation(one):
    value, size = residual(one, *truth(one))
    assert np.max(np.abs(value)) <= 1e-9 * size


@each_problem
def test_truth_begins_at_the_initial_values(one):
    _, u, du, _ = truth(one)
    assert len(one.initial) == one.order == one.equation.order
    np.testing.assert_allclose((u[0], du[0])[: one.order], one.initial, rtol=1e-12, atol=1e-12)


@each_problem
def test_derivatives_of_the_truth_are_those_of_u(one):
    t, u, du, d2u = truth(one)
    for f, df in ((u, du), (du, d2u)):
        h = t[1] - t[0]
        middle = (f[2:] - f[:-2]) / (2 * h)
        error = np.sqrt(np.mean((middle - df[1:-1]) ** 2)) / np.max(np.abs(df))
        assert error < 0.06  # the error of the differences, largest where the solution starts steeply


def test_suites_hold_the_papers_problems():
    assert [one.name for one in suite("b1")] == [f"ID{i}" for i in range(1, 31)]
    assert [one.name for one in suite("b2")] == [
        *(f"LODE{i}" for i in range(1, 6)),
        *(f"NLODE{i}" for i in range(1, 6)),
    ]
    assert [one.name for one in suite("b3")] == ["Pendulum", "Duffing", "VanDerPol"]
    assert all(one.suite == name for name, problems in SUITES.items() for one in problems)
    assert all((one.exact is not None) == (one.suite == "b2") for one in ALL)
    assert all((one.force is not None) == (one.suite == "b3") for one in ALL)


def test_equations_stay_symbolic_in_structure():
    explicit = {one.name for one in ALL if one.equation.skeleton.explicit}
    assert {one.name for one in ALL} - explicit == {"NLODE4"}


def test_the_equations_of_the_paper_are_those_of_all_problems_in_their_order():
    ours = [one.equation.skeleton for problems in SUITES.values() for one in problems]
    assert list(true_skeletons()) == ours
    assert len(ours) == 43


def test_grid_is_that_of_the_paper():
    assert len(problem("ID1").t) == int((15.0 - 0.1) * 8 + 1) == 120
    assert problem("ID1").t[[0, -1]].tolist() == [0.1, 15.0]
    assert len(problem("Pendulum").t) == 601


def test_misprints_are_corrected():
    assert problem("LODE1").exact(np.array([0.1]))[0] == pytest.approx(20.1)
    assert truth(problem("ID19"))[1][-1] == pytest.approx(0.93, abs=0.03)  # grows to its equilibrium
    assert truth(problem("ID20"))[1][-1] < 1.0
    assert truth(problem("ID21"))[1][-1] > 1.0
    assert np.max(np.abs(truth(problem("VanDerPol"))[1])) < 2.0  # damped, as printed


def test_noise_is_relative_to_the_signal(rng):
    one = problem("Pendulum")
    t, _, _, d2u = truth(one)
    times, signal = noisy(one, 0.05, rng=rng)
    np.testing.assert_array_equal(times, t)
    assert np.std(signal - d2u) == pytest.approx(0.05 * np.std(d2u), rel=0.1)
    one = problem("ID1")
    _, signal = noisy(one, 0.05, rng=rng)
    assert np.std(signal - truth(one)[1]) == pytest.approx(0.05 * np.std(truth(one)[1]), rel=0.2)


def test_noise_repeats_with_its_seed():
    draws = [noisy(problem("ID2"), 0.1, rng=np.random.default_rng(7))[1] for _ in range(2)]
    np.testing.assert_array_equal(*draws)
    np.testing.assert_array_equal(
        noisy(problem("ID2"), 0.0, rng=np.random.default_rng(7))[1], truth(problem("ID2"))[1]
    )


def test_unknown_names_are_refused():
    with pytest.raises(ConfigError, match="no problem 'ID31'"):
        problem("ID31")
    with pytest.raises(ConfigError, match="no suite 'b4'"):
        suite("b4")
