"""The integral form: its quadrature is exact for cubics, its unknown initial values cost nothing."""

import numpy as np
import pytest

from gode.data import Columns, columns_of_run, join_runs
from gode.data.columns import split_at_jumps
from gode.equation import parse_skeleton
from gode.errors import DataError
from gode.fitting import fit_constants, integral_problem, residual_problem
from gode.fitting.varpro import transform


def integrated(f: np.ndarray, columns: Columns, order: int) -> np.ndarray:
    """f integrated `order` times from each run's start, by the compiled quadrature."""
    n_runs = len(columns.starts) - 1
    problem = integral_problem(columns, order, initial=[[0.0] * order] * n_runs)
    rows = f[None].copy()
    transform(rows, problem.operator, np.empty(columns.n_points))
    return rows[0]


def columns_at(t: np.ndarray) -> Columns:
    return columns_of_run(t, np.zeros_like(t), np.zeros_like(t))


@pytest.mark.parametrize("n", [4, 5, 7, 100])
def test_quadrature_is_exact_for_cubics_on_irregular_grids(n: int, rng):
    t = np.sort(rng.uniform(-1, 3, n))
    polynomial = np.polynomial.Polynomial(rng.standard_normal(4))
    expected = polynomial.integ()(t) - polynomial.integ()(t[0])
    np.testing.assert_allclose(integrated(polynomial(t), columns_at(t), 1), expected, atol=1e-11)


def test_double_integral_is_exact_for_quadratics(rng):
    t = np.sort(rng.uniform(-1, 3, 30))
    twice = np.polynomial.Polynomial([0.3, -1.2, 0.7]).integ(2)
    once = twice.deriv()
    expected = twice(t) - twice(t[0]) - once(t[0]) * (t - t[0])
    np.testing.assert_allclose(integrated(once.deriv()(t), columns_at(t), 2), expected, atol=1e-11)


@pytest.mark.parametrize(("n", "degree"), [(2, 1), (3, 2)])
def test_short_runs_use_what_points_they_have(n: int, degree: int, rng):
    t = np.sort(rng.uniform(0, 1, n))
    polynomial = np.polynomial.Polynomial(rng.standard_normal(degree + 1))
    expected = polynomial.integ()(t) - polynomial.integ()(t[0])
    np.testing.assert_allclose(integrated(polynomial(t), columns_at(t), 1), expected, atol=1e-12)


def test_quadrature_converges_at_fourth_order():
    errors = []
    for n in (21, 41, 81):
        t = np.linspace(0, 3, n)
        errors.append(np.max(np.abs(integrated(np.cos(2 * t), columns_at(t), 1) - np.sin(2 * t) / 2)))
    assert errors[1] < errors[0] / 10
    assert errors[2] < errors[1] / 10


def test_runs_are_integrated_apart(rng):
    times = [np.sort(rng.uniform(0, 1, n)) for n in (2, 3, 9)]
    columns = join_runs([columns_at(t) for t in times])
    f = np.exp(columns.matrix[0])
    apart = np.concatenate([integrated(np.exp(t), columns_at(t), 2) for t in times])
    np.testing.assert_allclose(integrated(f, columns, 2), apart, rtol=1e-13)


@pytest.mark.parametrize("order", [1, 2])
def test_unknown_initial_values_do_not_matter(order: int, rng):
    t = np.linspace(0, 2, 30)
    u = np.sin(3 * t)
    skeleton = parse_skeleton("u' = C*t + C" if order == 1 else "u'' = C*t + C")
    shift = 5.0 + (order == 2) * 3.0 * t
    fits = [
        fit_constants(skeleton, integral_problem(columns_of_run(t, v, t, t), order)) for v in (u, u + shift)
    ]
    assert fits[0].loss == pytest.approx(fits[1].loss, rel=1e-9)
    np.testing.assert_allclose(fits[0].equation.constants, fits[1].equation.constants, rtol=1e-7)


@pytest.mark.parametrize(
    "initial", [[[1.0, 2.0]], [[1.0], [2.0]], [], [[np.inf]]], ids=["order", "runs", "none", "infinite"]
)
def test_unusable_initial_values_are_refused(initial):
    t = np.linspace(0, 1, 5)
    with pytest.raises(DataError, match=r"expected 1 finite initial value\(s\) for each of 1 run"):
        integral_problem(columns_at(t), 1, initial=initial)


def test_problems_do_not_touch_their_columns(rng):
    t = np.linspace(0, 1, 20)
    columns = columns_of_run(t, np.exp(t), np.exp(t))
    before = columns.matrix.copy()
    for problem in (residual_problem(columns), integral_problem(columns, 1)):
        fit_constants(parse_skeleton("u' = C*u/(C + u)"), problem)
    np.testing.assert_array_equal(columns.matrix, before)


def test_quadrature_does_not_reach_across_a_jump():
    t = np.linspace(0, 3, 13)
    held = np.where(t < 1, 2.0, np.where(t < 2.25, -1.0, 3.0))
    columns = split_at_jumps(columns_of_run(t, t, t, inputs={"F": held}), ["F"])
    found = integrated(columns.matrix[4], columns, 1)
    now = columns.matrix[0]
    exact = 2 * np.minimum(now, 1) - np.clip(now - 1, 0, 1.25) + 3 * np.maximum(now - 2.25, 0)
    np.testing.assert_allclose(found, exact, atol=1e-12)
