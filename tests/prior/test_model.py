import math
import time
from itertools import combinations

import numpy as np
import pytest

from gode.equation import parse_skeleton, parse_system
from gode.grammar import load_grammar
from gode.library import draw_library
from gode.prior import Smoothing, default_prior, known_laws, learn_prior, log_prior, read_corpus
from gode.prior.model import MOST_TERMS, _log_sums_over_sets, kept_prior, prior_text
from gode.prior.terms import View, labellings, pattern, ways_of_writing


def nats(text: str, **view: int) -> float:
    return log_prior(parse_skeleton(text, inputs=("F", "v1", "v2")), **view)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("plausible", "far_fetched"),
    [
        ("u'' = C + C*u'", "u''^2 = C*u"),
        ("u'' = C", "u'' = C/u"),
        ("u'' = C + C*u'*abs(u')", "u'' = C/u + C"),
        ("u'' = C*u + C*u'", "u'' = C*u + C*cos(C*t)*sign(u')"),
        ("u'' = C*u + C*u^3 + C*u' + C*F", "u'' = C*u + C*sin(C*u) + C*u' + C*F"),
        ("u' = C + C*u", "u' = C + C*u + C*u^34"),
        ("u' = C*u + C*u^2", "u' = C*u^4 + C*u^5"),
    ],
)
def test_what_a_scientist_would_sign_is_more_probable(plausible: str, far_fetched: str) -> None:
    assert nats(plausible) > nats(far_fetched) + 1


def test_order_of_writing_and_values_of_factors_do_not_count() -> None:
    assert nats("u' = C*u^2 + C*u") == nats("2*u' - 3*u*(1 + C*u) = 0")
    assert nats("u'' = C*u' + C*u") == nats("C*u + C*u'' = C*u'")


def test_other_states_are_exchangeable() -> None:
    assert nats("u' = C*u*v1 + C*v2", others=2) == pytest.approx(nats("u' = C*u*v2 + C*v1", others=2))
    one = parse_system(["x' = C*x - C*x*y", "y' = C*z", "z' = C*x*y*z"])
    two = parse_system(["z' = C*x*y*z", "x' = C*x - C*x*y", "y' = C*z"])
    assert log_prior(one) == pytest.approx(log_prior(two))


def test_a_system_is_the_sum_over_its_equations() -> None:
    system = parse_system(["x' = C*x + C*y", "y' = C*x*y"])
    assert log_prior(system) == pytest.approx(nats("u' = C*u + C*v1") + nats("u' = C*u*v1"))


def test_a_common_factor_does_not_change_the_law_much() -> None:
    assert abs(nats("u*u'' + C*u = 0") - nats("u'' = C")) < 0.1


def test_probabilities_of_equations_of_known_terms_sum_to_less_than_one() -> None:
    """The sets of up to three known terms: what is left are larger sets and new terms."""
    laws = "a: u' = C*u; \nb: u' = C*u + C*u^2\nc: u' = C + C*u\nd: u'' = C*sin(u)\ne: u' = C*exp(C*u)"
    prior = learn_prior(read_corpus(laws, "laws"))
    bodies = ["C", "C*u", "C*u^2", "C*sin(u)", "C*exp(C*u)"]
    total = sum(
        math.exp(prior.log_prior(parse_skeleton(f"u' = {' + '.join(chosen)}")))
        for n in (1, 2, 3)
        for chosen in combinations(bodies, n)
    )
    assert 0.3 < total < 1.0


def test_sums_over_sets_are_elementary_symmetric_polynomials() -> None:
    odds = [0.5, 0.2, 2.0, 0.1]
    plain = [math.log(sum(math.prod(chosen) for chosen in combinations(odds, n))) for n in range(5)]
    np.testing.assert_allclose(_log_sums_over_sets(odds, 0.0)[:5], plain)


def test_every_sentence_of_every_grammar_has_a_finite_prior_in_little_time() -> None:
    for name in ("first-order", "second-order", "implicit", "systems"):
        skeletons = list(draw_library(load_grammar(name), 150, order=None, rng=0))
        default_prior()
        start = time.process_time()
        values = [log_prior(skeleton) for skeleton in skeletons]
        assert time.process_time() - start < 2.0
        assert all(-400 < value < 0 for value in values)


@pytest.mark.parametrize(
    "text",
    [
        "u' = 0*u + u^(C*u)",
        "u'' = sin(u'')",
        "u'^C = 2^u + 17.3*u",
        "u' = C*exp(C*sin(C*u + C*t)^3/(C + abs(u)))^0.123",
        "u' = " + " + ".join(f"C*u^{n}" for n in range(1, MOST_TERMS + 4)),
        "u'*u'' + C*u''^2*sin(u) = C",
    ],
)
def test_strange_equations_are_improbable_but_possible(text: str) -> None:
    assert -1000 < nats(text) < -8


def test_a_force_that_is_there_is_expected_in_the_law() -> None:
    with_it, without = nats("u'' = C*u + C*u' + C*F"), nats("u'' = C*u + C*u'", forced=True)
    assert with_it > without


def test_laws_of_another_field_are_predicted_better_than_by_a_prior_that_knows_none() -> None:
    known = [law for law in known_laws() if law.field != "pharmacology"]
    unseen = [law for law in known_laws() if law.field == "pharmacology"]
    learned, ignorant = learn_prior(known), learn_prior(unseen[:1], Smoothing(events=1e3, number=1e3))
    gain = [learned.log_prior(law.skeleton) - ignorant.log_prior(law.skeleton) for law in unseen[1:]]
    assert np.mean(gain) > 1


def test_patterns_forget_the_numbers_of_other_states() -> None:
    one = pattern(ways_of_writing(parse_skeleton("u' = C*v2^2*v3", inputs=("v2", "v3")))[0].terms[0][0])
    two = pattern(ways_of_writing(parse_skeleton("u' = C*v3^2*v1", inputs=("v1", "v3")))[0].terms[0][0])
    assert one == two
    assert labellings(one[1], one[2], 3) == 6


def test_the_view_says_what_can_occur() -> None:
    view = View(1, 2, False)
    assert [view.holds(name) for name in ("u", "u'", "v2", "v3", "v1'", "F", "t")] == [
        True, False, True, False, False, False, True,
    ]  # fmt: skip


def test_a_law_of_second_order_is_expected_as_a_pair_too() -> None:
    laws = read_corpus("pendulum: a'' = C*sin(a) + C*a' + C*F", "laws")
    pair = parse_system(["x' = C*y", "y' = C*sin(x) + C*y + C*F"])
    other = parse_system(["x' = C*x", "y' = C*cos(x) + C*x + C*F"])
    prior = learn_prior(laws)
    assert prior.log_prior(pair) > prior.log_prior(other) + 2


def test_the_kept_prior_is_the_one_learned_from_the_laws() -> None:
    kept, learned = kept_prior(), learn_prior(known_laws())
    assert kept is not None, "the laws changed; run python scripts/learn_prior.py"
    assert prior_text(kept) == prior_text(learned), "learning changed; run python scripts/learn_prior.py"
    assert kept.counts == learned.counts
    assert kept.composition == learned.composition
    assert kept.smoothing == learned.smoothing
