import numpy as np
import pytest

from gode.equation import parse_equation
from gode.fitting.shooting import Shot
from gode.selection import Candidate, SelectionConfig, front, judge, ranked, ties


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
    assert ranked([SIMPLE, BLOATED, RIVAL, RIGHT]) == [RIGHT, RIVAL, BLOATED, SIMPLE]


def test_an_equation_is_ranked_once():
    worse = candidate("u' = 2.1*u - 3*u^2", 1.2, -20.0)
    assert ranked([worse, RIGHT]) == [RIGHT]


def test_ties_are_those_within_the_margin():
    assert ties(ranked([SIMPLE, BLOATED, RIVAL, RIGHT]), SelectionConfig()) == [RIGHT, RIVAL]


def test_the_front_gets_more_accurate_with_complexity():
    assert front([SIMPLE, BLOATED, RIVAL, RIGHT]) == [SIMPLE, RIGHT, BLOATED]


def test_a_term_must_earn_its_price():
    def shot(text: str, sse: float) -> Shot:
        equation = parse_equation(text)
        k = len(equation.constants)
        return Shot(equation.skeleton, equation, np.zeros((1, 1)), sse, 100, k, np.eye(k))

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
