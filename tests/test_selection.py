from dataclasses import replace

import numpy as np
import pytest

from gode.data import Dataset, make_run
from gode.equation import parse_equation
from gode.fitting.shooting import Shot
from gode.fitting.target import Target
from gode.selection import (
    Candidate,
    SelectionConfig,
    by_smoothness,
    front,
    headline_first,
    in_order,
    is_misfit,
    is_supported,
    judge,
    ranked,
    ties,
)


def candidate(text: str, rms: float, criterion: float) -> Candidate:
    equation = parse_equation(text)
    k = len(equation.constants)
    return Candidate(
        equation, np.zeros((1, 1)), np.zeros(k), np.zeros((k, k)), rms, equation.complexity, criterion
    )


SIMPLE = candidate("u' = 2*u", 3.0, 10.0)
RIGHT = candidate("u' = 2*u - 3*u^2", 1.0, -50.0)
RIVAL = candidate("u' = 2*u - 3*u^3", 1.01, -47.0)
BLOATED = candidate("u' = 2*u - 3*u^2 + 0.1*sin(u)", 0.999, -40.0)


def test_the_least_criterion_comes_first():
    assert in_order([SIMPLE, BLOATED, RIVAL, RIGHT]) == [RIGHT, RIVAL, BLOATED, SIMPLE]


def test_an_equation_is_ranked_once():
    worse = candidate("u' = 2.1*u - 3*u^2", 1.2, -20.0)
    assert in_order([worse, RIGHT]) == [RIGHT]


def test_ties_are_those_within_the_margin():
    assert ties(in_order([SIMPLE, BLOATED, RIVAL, RIGHT]), SelectionConfig()) == [RIGHT, RIVAL]


def test_of_near_ties_the_one_that_bends_like_the_smoothed_data_comes_first():
    strains = {id(RIGHT): 20.0, id(RIVAL): 0.5, id(BLOATED): 0.0, id(SIMPLE): 0.0}
    order = by_smoothness([RIGHT, RIVAL, BLOATED, SIMPLE], lambda c: strains[id(c)])
    assert [str(c.equation) for c in order] == [str(c.equation) for c in (RIVAL, RIGHT, BLOATED, SIMPLE)]
    untouched = by_smoothness([RIGHT, RIVAL], lambda c: 1.0)
    assert untouched[1].criterion - untouched[0].criterion == pytest.approx(3.0)


def test_the_simplest_of_the_best_is_in_the_headline_and_of_equals_the_one_that_needs_less_tuning():
    def made(text, price, criterion):
        return replace(candidate(text, 1.0, criterion), price=price)

    plain, tuned = made("u' = 7*u + 25*u^3", 8.0, 1.0), made("u' = 162*u - 155*sin(u)", 8.0, 0.0)
    long, far = made("u' = 3*u + u^2 + u^5", 12.0, 0.5), made("u' = 3*u", 2.0, 3.0)
    order = [tuned, long, plain, far]
    found = headline_first(order, SelectionConfig(), equal_risks, lambda c: 20.0 if c is tuned else 1.0)
    assert found == [plain, tuned, long, far]


def equal_risks(near):
    return np.full(len(near), 0.1)


def test_a_near_tie_that_may_be_far_off_is_not_in_the_headline_unless_it_is_much_more_likely():
    def named(risk, gap):
        rival = replace(RIVAL, criterion=RIGHT.criterion + gap)
        order = [RIGHT, rival, BLOATED]
        return headline_first(order, SelectionConfig(), lambda near: np.array([risk, 0.02]), lambda c: 1.0)[0]

    assert named(0.3, 5.0).equation == RIVAL.equation
    assert named(0.03, 5.0) is RIGHT
    assert named(0.3, 9.0) is RIGHT  # no tie
    assert named(0.0, 1.0) is RIGHT


def test_the_front_gets_more_accurate_with_complexity():
    assert front([SIMPLE, BLOATED, RIVAL, RIGHT]) == [SIMPLE, RIGHT, BLOATED]


def shot(text: str, sse: float, independent: float = 100.0) -> Shot:
    equation = parse_equation(text)
    k = len(equation.constants)
    return Shot(equation.skeleton, equation, np.zeros((1, 1)), sse, 100, k, np.eye(k), independent)


def judged(text: str, sse: float, independent: float = 100.0) -> Candidate:
    found = judge(shot(text, sse, independent), 0.0, SelectionConfig())
    assert found
    return found


def test_a_term_must_earn_its_price():
    config = SelectionConfig()
    small = judge(shot("u' = 2*u", 100.0), 0.0, config)
    little_better = judge(shot("u' = 2*u - 3*u^2", 99.0), 0.0, config)
    much_better = judge(shot("u' = 2*u - 3*u^2", 50.0), 0.0, config)
    assert small
    assert little_better
    assert much_better
    assert much_better.criterion < small.criterion < little_better.criterion
    assert small.errors == pytest.approx([1.0])


def test_a_failure_is_no_candidate():
    equation = parse_equation("u' = 2*u")
    failed = Shot(equation.skeleton, None, np.zeros((0, 0)), np.inf, 10, 1, np.zeros((1, 1)))
    assert judge(failed, 0.0, SelectionConfig()) is None


def test_drifting_residuals_count_for_less():
    plain, longer = judged("u' = 2*u", 100.0, 10.0), judged("u' = 2*u - 3*u^2", 70.0, 10.0)
    white = judged("u' = 2*u", 100.0), judged("u' = 2*u - 3*u^2", 70.0)
    assert ranked([plain, longer])[0].complexity == plain.complexity
    assert ranked(white)[0].complexity == longer.complexity
    assert is_misfit(ranked([plain, longer]))
    assert not is_misfit(ranked(white))


def test_functions_and_time_cost_more_than_powers():
    same = [judged(text, 100.0) for text in ("u' = 2*u^2", "u' = 2*sin(u)", "u' = 2*t*u", "u' = 2*sin(3*u)")]
    prices = [c.price for c in same]
    assert prices[0] < min(prices[1:])
    assert prices[1] < prices[3]


@pytest.mark.parametrize(
    ("signal", "expected"),
    [(lambda t: 0 * t, False), (lambda t: 3 * t, False), (lambda t: np.exp(0.3 * t), True)],
    ids=["noise alone", "straight line", "growth"],
)
def test_an_equation_must_beat_a_straight_line(signal, expected, rng):
    t = np.linspace(0.0, 10.0, 100)
    u = signal(t) + 0.1 * rng.standard_normal(100)
    target = Target(Dataset((make_run(t, u=u),)), np.array([10.0, 0.0, 0.0]), (np.zeros((3, 100)),), 1.0)
    best = judged("u' = 0.3*u", 100.0)  # as good as the noise allows
    assert is_supported([best], target, SelectionConfig()) is expected


def test_a_factor_of_one_costs_as_much_as_another():
    def price(text, free):
        equation = parse_equation(text)
        k = len(equation.constants)
        shot = Shot(equation.skeleton, equation, np.zeros((1, 1)), 9.0, 10, free, np.zeros((k, k)))
        return judge(shot, 0.0, SelectionConfig()).price

    assert price("u' = u", 0) == price("u' = -u", 0) == price("u' = 2*u", 1)
    assert price("u' = u + 3*u^2", 1) == price("u' = -u + 3*u^2", 1) == price("u' = 2*u + 3*u^2", 2)


def test_what_a_random_walk_explains_as_well_is_not_supported(rng):
    t = np.linspace(0.0, 10.0, 120)
    walk = np.cumsum(rng.standard_normal(120))
    target = Target(Dataset((make_run(t, u=walk),)), np.array([1.0, 0.0, 0.0]), (np.zeros((3, 120)),), 1.0)
    best = replace(RIGHT, n_values=120, n_free=5, independent=120.0, rms=0.1, criterion=-500.0)
    curve = np.polynomial.Polynomial.fit(t, walk, 4)  # as an equation with some constants might follow it
    follows = [(walk, walk - curve(t))]
    assert is_supported([best], target, SelectionConfig())
    assert not is_supported([best], target, SelectionConfig(), follows)
    noise = 0.05 * rng.standard_normal(120)
    grown = 5 / (1 + 9 * np.exp(-0.8 * t)) + noise
    seen = replace(target, dataset=Dataset((make_run(t, u=grown),)))
    assert is_supported([best], seen, SelectionConfig(), [(grown, noise)])
