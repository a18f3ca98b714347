import numpy as np
import pytest

from gode.discovery.prediction import MOST, with_weights
from gode.equation import parse_equation
from gode.selection import Candidate, SelectionConfig

CONFIG = SelectionConfig(temperature=1.0)


def candidate(criterion: float) -> Candidate:
    return Candidate(parse_equation("u' = 2*u"), np.zeros((1, 1)), np.eye(1), 1.0, criterion, 50, 2, 50.0)


def weights(*criteria: float) -> list[float]:
    return [weight for _, weight in with_weights([candidate(c) for c in criteria], CONFIG)]


def test_weights_are_posterior_probabilities():
    assert weights(0.0, 0.0) == pytest.approx([0.5])
    odds = np.exp(-1.0)
    assert weights(0.0, 2.0) == pytest.approx([odds / (1 + odds)])
    assert weights(0.0) == []


def test_the_most_probable_come_first_and_what_is_negligible_is_left_out():
    found = with_weights([candidate(c) for c in (0.0, 6.0, 1.0, 40.0)], CONFIG)
    assert [c.criterion for c, _ in found] == [1.0, 6.0]


def test_no_more_than_a_number_of_rivals_is_followed_and_the_weights_still_add_up():
    found = weights(*[0.0] * (MOST + 6))
    assert len(found) == MOST
    assert sum(found) == pytest.approx(MOST / (MOST + 1))
