from itertools import combinations

import numpy as np
import pytest

from gode.data import columns_of_run, join_runs
from gode.equation import parse_equation, parse_tree
from gode.equation.sums import to_sum
from gode.fitting import ConstantsConfig, fit_constants, integral_problem, residual_problem
from gode.search import Vocabulary
from gode.search.cheap import _Products, _rows, best_sums
from gode.search.templates import SumTemplate
from gode.solve import solve

TEXTS = ("1", "u", "u^2", "u^3", "t", "1/u", "sin(u)", "t*u", "log(u)", "cos(C*t)*t", "exp(C*u)", "u/(u + C)")
TRUTH = "u' = 0.8*u - 0.06*u^2 + 0.3*t*cos(1.3*t)"


def bodies(*texts):
    return tuple(next(iter(to_sum(parse_tree(text)))) for text in texts)


@pytest.fixture(scope="module")
def columns():
    path = solve(parse_equation(TRUTH), np.linspace(0.5, 12, 150), [2.0])
    return columns_of_run(path.t, path.u, path.du)


def vocabulary(template="u' = {sentence}"):
    return Vocabulary(bodies(*TEXTS), SumTemplate(template))


@pytest.mark.parametrize("make", [lambda c: integral_problem(c, 1), residual_problem])
def test_the_true_sum_is_among_the_best_of_its_size(columns, make):
    found = best_sums(vocabulary(), make(columns), 20, ConstantsConfig(), "u'")
    assert frozenset(bodies("u", "u^2", "cos(C*t)*t")) in found  # though its frequency is only near 1.3
    assert [len(sum_) for sum_ in found] == [2] * 20 + [3] * 20 + [4] * 20
    assert len(set(found)) == 60


def test_sums_without_inner_constants_come_in_the_order_of_their_fits(columns):
    plain = Vocabulary(bodies("1", "u", "u^2", "t", "1/u"), SumTemplate("u' = {sentence}"))
    problem = integral_problem(columns, 1)
    found = [s for s in best_sums(plain, problem, 100, ConstantsConfig(), "u'") if len(s) == 2]
    losses = [fit_constants(plain.template.skeleton(sum_), problem).loss for sum_ in found]
    assert len(found) == 10
    assert losses == sorted(losses)


def test_implicit_sums_are_led_by_terms_with_the_highest_derivative(columns):
    texts = ("u'^2", "u*u'", "u'", "1", "u", "u^2")
    implicit = Vocabulary(bodies(*texts), SumTemplate("{sentence} = 0"))
    found = best_sums(implicit, residual_problem(columns), 8, ConstantsConfig(), "u'")
    assert found
    assert all(any(body in sum_ for body in bodies("u'^2", "u*u'")) for sum_ in found)


def test_the_energy_of_a_draining_tank_is_found():
    t = np.linspace(0, 3, 60)
    u = (2 - 0.5 * t) ** 2 + 1  # u'^2 = u - 1
    columns = columns_of_run(t, u, 0.5 * t - 2)
    implicit = Vocabulary(bodies("u'^2", "u*u'", "u'", "1", "u", "u^2"), SumTemplate("{sentence} = 0"))
    found = best_sums(implicit, residual_problem(columns), 8, ConstantsConfig(), "u'")
    assert frozenset(bodies("u'^2", "1", "u")) in found


def test_none_are_given_if_none_are_wanted(columns):
    assert best_sums(vocabulary(), residual_problem(columns), 0, ConstantsConfig(), "u'") == []


def test_terms_that_the_data_do_not_allow_are_passed_over():
    t = np.linspace(0, 3, 60)
    columns = columns_of_run(t, np.cos(t), -np.sin(t))  # no log(u) here
    found = best_sums(vocabulary(), residual_problem(columns), 200, ConstantsConfig(), "u'")
    assert found
    assert not any(bodies("log(u)")[0] in sum_ for sum_ in found)


def test_no_sum_of_terms_that_are_nearly_one_another_explains_more_than_there_is():
    t = np.linspace(0, 12, 200)
    path = solve(parse_equation("u'' = -0.3*u' - 4*u + 0.005"), t, [0.01, 0.0])  # where sin(u) is u
    problem = residual_problem(columns_of_run(t, path.u, path.du, path.d2u))
    terms = bodies("u", "u'", "1", "u^3", "sin(u)", "cos(u)", "u^5", "sin(u)*u'", "u*u'", "cos(u)*u'")
    (rows,), _ = _rows(terms, [problem], ConstantsConfig())
    sums = np.array(list(combinations(range(len(terms)), 3)))
    gains = _Products(rows, path.d2u, range(len(terms))).scores(sums, np.arange(len(rows)))
    assert gains.max() == pytest.approx(path.d2u @ path.d2u, rel=1e-6)


def test_a_template_with_an_input_that_is_not_given_has_no_target(columns):
    assert (
        best_sums(vocabulary("{sentence} = F"), residual_problem(columns), 5, ConstantsConfig(), "u'") == []
    )


def explained(rows, target):
    return target @ rows.T @ np.linalg.lstsq(rows.T, target, rcond=None)[0]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_gain_of_a_sum_is_what_least_squares_explains(size, rng):
    rows, target = rng.standard_normal((7, 40)), rng.standard_normal(40)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    plain = [1, 2, 4, 6]  # the others only as the last term
    sums = np.array(list(combinations(range(len(plain)), size)))
    gains = _Products(rows, target, plain).scores(sums, np.arange(len(rows)))
    for own, row in zip(sums, gains, strict=True):
        chosen = [plain[i] for i in own]
        expected = [explained(rows[sorted({*chosen, last})], target) for last in range(7)]
        assert row == pytest.approx(expected, rel=1e-6)


def test_a_sum_of_dependent_terms_gains_nothing(rng):
    rows, target = rng.standard_normal((3, 40)), rng.standard_normal(40)
    rows[1] = rows[0] + 1e-5 * rows[1]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    gains = _Products(rows, target, range(3)).scores(np.array([[0, 1], [0, 2]]), np.arange(3))
    assert np.all(gains[0] == 0)
    assert gains[1, 1] == pytest.approx(gains[1, 0])  # the dependent one adds nothing


def test_only_the_sixteen_commonest_terms_form_sums_with_each_other(columns):
    texts = [f"u^{power}" for power in range(1, 10)] + [f"t*u^{power}" for power in range(1, 11)]
    many = Vocabulary(bodies(*texts), SumTemplate("u' = {sentence}"))
    found = best_sums(many, residual_problem(columns), 10_000, ConstantsConfig(), "u'")
    rare = set(many.bodies[16:])
    assert max(len(sum_) for sum_ in found) == 4
    assert max(len(sum_ & rare) for sum_ in found) == 1
    assert set().union(*found) == set(many.bodies)


def test_a_run_whose_signal_is_zero_says_nothing_about_sums():
    t = np.linspace(0.0, 3.0, 60)
    runs = [columns_of_run(t, np.exp(-t), -np.exp(-t)), columns_of_run(t, 0.0 * t + 1.0, 0.0 * t)]
    rates = Vocabulary(bodies("1", "u", "u^2", "t"), SumTemplate("{sentence} = u'"))
    each = [residual_problem(run) for run in runs]
    found = best_sums(rates, residual_problem(join_runs(runs)), 5, ConstantsConfig(), "u'", each)
    assert found == best_sums(rates, each[0], 5, ConstantsConfig(), "u'", each[:1])
