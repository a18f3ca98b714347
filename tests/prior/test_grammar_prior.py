from math import exp

import pytest

from gode.equation import parse_skeleton
from gode.prior.terms import pattern, ways_of_writing
from gode.prior.writing import term_probability

FREE_FIRST, SYSTEM_FIRST = (1, False, False), (1, True, False)


def probability(text: str, kind: tuple[int, bool, bool]) -> float:
    skeleton = parse_skeleton(f"u' = {text}", inputs=("F", "v1", "v2"))
    ((body, _),) = ways_of_writing(skeleton)[0].terms
    return term_probability(*pattern(body), kind)


def test_a_term_has_the_probability_of_its_derivation() -> None:
    # term -> 'C' '*' product, product -> power, power -> 'u' '^' '2' of the grammar first-order; 0.99 of its
    # terms need no input
    assert probability("C*u^2", FREE_FIRST) == pytest.approx(0.69 / 0.99 * 0.64 * 0.23)
    # term -> 'C' '*' power '/' bound
    assert probability("C*u/(C + u)", FREE_FIRST) == pytest.approx(0.08 / 0.99 * 0.5 * 0.8 * 0.5)


def test_what_no_grammar_writes_has_none() -> None:
    assert probability("C*tan(u)", FREE_FIRST) == 0
    assert probability("C*tanh(u)^7", FREE_FIRST) == 0


def test_labels_of_other_states_share_the_probability_of_their_pattern() -> None:
    assert probability("C*u*v1", SYSTEM_FIRST) == probability("C*u*v2", SYSTEM_FIRST) > exp(-4)
    assert probability("C*v1*v2", SYSTEM_FIRST) > exp(-6)
