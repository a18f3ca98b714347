import numpy as np
import pytest

from gode.fitting.normal import Normal, add_normal, add_rows, damped_arrow_step, damped_step


def test_runs_add_up_to_the_normal_equations(rng):
    n, k = 20, 3
    normal, gradient = np.zeros((k, k)), np.zeros(k)
    rows, rests = [], []
    for place in ([0, 1], [0, 2]):  # a shared constant, and an initial value of each run
        out, sens = rng.standard_normal((3, n)), rng.standard_normal((2, 3, n))
        observed, weights = rng.standard_normal((n, 3)), rng.random((n, 3)) * (rng.random((n, 3)) > 0.3)
        assert add_normal(out, sens, observed, weights, np.array(place), normal, gradient)
        wide = np.zeros((k, 3 * n))
        wide[place] = (sens * weights.T).reshape(2, -1)
        rows.append(wide)
        rests.append(((observed.T - out) * weights.T).ravel())
    j, r = np.hstack(rows), np.concatenate(rests)
    assert normal == pytest.approx(j @ j.T)
    assert gradient == pytest.approx(j @ r)


def test_sensitivities_that_are_no_numbers_are_refused():
    out, sens, weights = np.zeros((3, 5)), np.full((1, 3, 5), np.nan), np.ones((5, 3))
    assert not add_normal(out, sens, weights, weights, np.array([0]), np.zeros((1, 1)), np.zeros(1))


@pytest.mark.parametrize("size", [np.nan, np.inf, 1e200])
def test_limited_readings_without_usable_derivatives_are_refused(size):
    """Their squares overflowed, and the covariance of the fit could not be computed."""
    normal = Normal(np.zeros((2, 2)), np.zeros(2))
    assert not add_rows(np.ones(3), np.full((2, 3), size), np.arange(2), normal)
    assert not normal.matrix.any()


def test_limited_readings_add_up_to_the_normal_equations(rng):
    normal, slopes, residuals = (
        Normal(np.zeros((3, 3)), np.zeros(3)),
        rng.standard_normal((2, 5)),
        rng.standard_normal(5),
    )
    assert add_rows(residuals, slopes, np.array([0, 2]), normal)
    wide = np.zeros((3, 5))
    wide[[0, 2]] = slopes
    assert normal.matrix == pytest.approx(wide @ wide.T)
    assert normal.gradient == pytest.approx(wide @ residuals)


def test_arrow_equations_that_overflow_have_no_step():
    runs = [Normal(np.array([[1e190, 1e190], [1e190, 1e-190]]), np.ones(2)) for _ in range(2)]
    assert all(np.isnan(step).all() for step in damped_arrow_step(runs, [0], 0.0))


def test_a_damped_step_solves_the_damped_equations(rng):
    j = rng.standard_normal((4, 30)) * np.array([[1.0], [1e6], [1e-6], [1.0]])
    normal, gradient = j @ j.T, j @ rng.standard_normal(30)
    expected = np.linalg.solve(normal + 0.1 * np.diag(np.diag(normal)), gradient)
    assert damped_step(normal, gradient, 0.1) == pytest.approx(expected)


def test_numbers_without_effect_stay_where_they_are():
    normal, gradient = np.diag([2.0, 0.0]), np.array([4.0, 0.0])
    assert damped_step(normal, gradient, 1.0) == pytest.approx([1.0, 0.0])


def test_the_step_of_an_arrow_is_that_of_the_dense_equations(rng):
    places = [[0, 2, 1, 3], [0, 4, 1]]  # where in p the numbers of each run stand: p[0] and p[1] are shared
    wide, right, runs = np.zeros((5, 5)), np.zeros(5), []
    for place in places:
        j, r = rng.standard_normal((len(place), 12)), rng.standard_normal(12)
        runs.append(Normal(j @ j.T, j @ r))
        wide[np.ix_(place, place)] += runs[-1].matrix
        right[place] += runs[-1].gradient
    expected = damped_step(wide, right, 0.3)
    for place, step in zip(places, damped_arrow_step(runs, [0, 2], 0.3), strict=True):
        assert step == pytest.approx(expected[place])


def test_numbers_that_are_held_do_not_move(rng):
    j = rng.standard_normal((3, 30))
    normal = Normal(j @ j.T, j @ rng.standard_normal(30)).held_at(np.array([False, True, False]))
    step = damped_step(*normal, 0.0)
    others = np.linalg.solve((j @ j.T)[np.ix_([0, 2], [0, 2])], normal.gradient[[0, 2]])
    assert step == pytest.approx([others[0], 0.0, others[1]])
