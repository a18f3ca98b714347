from math import log

import pytest

from gode.errors import GrammarError
from gode.grammar import Grammar, load_grammar
from gode.grammar.learning import cross_validated, nats
from gode.prior import known_laws, read_corpus
from gode.prior.terms import ways_of_writing
from gode.prior.writing import spelled_term, write_laws

LAWS = """
[one]
growth: u' = C*u + C*u^2/(C + u^2)
drained: h' = -C*sqrt(h)
radiating: T' = C*(F - T) + C*T^4
pendulum: a'' = C*sin(a) + C*a'
strange: x' = C*tanh(exp(x)^2)
[two]
predators: x' = C*x - C*x*y/(C + x); y' = C*x*y/(C + x) - C*y
"""


@pytest.mark.parametrize(
    ("name", "n_written", "n_missed", "beyond"),
    [("first-order", 3, 1, 3), ("second-order", 1, 0, 6), ("systems", 2, 0, 5), ("implicit", 1, 4, 2)],
)
def test_laws_within_the_scope_of_a_grammar_are_written_or_named(
    name: str, n_written: int, n_missed: int, beyond: int
) -> None:
    found = write_laws(load_grammar(name), read_corpus(LAWS, "laws"))
    assert (len(found.written), len(found.missed), found.beyond) == (n_written, n_missed, beyond)


def test_the_laws_that_cannot_be_written_are_named() -> None:
    found = write_laws(load_grammar("first-order"), read_corpus(LAWS, "laws"))
    assert found.missed[0].startswith("strange: ")


def test_all_orders_of_terms_count() -> None:
    grammar = Grammar.from_text("%template u' = {sentence}\ns -> t '+' t\nt -> 'C' [0.3] | 'C' '*' 'u' [0.7]")
    found = write_laws(grammar, read_corpus("a: u' = C + C*u", "laws"))
    assert nats(grammar, found.written)[0] == pytest.approx(-log(2 * 0.3 * 0.7))


def test_derivatives_are_written_as_the_grammar_does() -> None:
    found = write_laws(load_grammar("b3"), read_corpus("driven: u'' = C*u + C*u' + C*u*u*u' + F", "laws"))
    assert len(found.written) == 1


def test_a_template_that_is_no_sum_is_refused() -> None:
    grammar = Grammar.from_text("%template u'*({sentence}) = 1\ns -> 'C' '*' 'u'")
    with pytest.raises(GrammarError, match="laws can be written for"):
        write_laws(grammar, known_laws())


def test_divisors_and_orders_of_factors_are_spelled() -> None:
    (law,) = read_corpus("a: u' = C*u^2*F/(C + u)", "laws")
    ((body, _),) = ways_of_writing(law.skeleton.parts[0])[0].terms
    texts = set(spelled_term(body))
    assert {"C*F*u^2/(C+u)", "C*u^2*F/(C+u)", "C*u*u*F/(u+C)"} <= texts


def test_roots_and_differences_are_spelled() -> None:
    (law,) = read_corpus("a: u' = C*sqrt(sin(u))*sqrt(u^2 + F^2)*cos(u - F)", "laws")
    ((body, _),) = ways_of_writing(law.skeleton.parts[0])[0].terms
    assert "C*sqrt(sin(u))*sqrt(u^2+F^2)*cos(u-F)" in set(spelled_term(body))


@pytest.mark.parametrize("name", ["first-order", "second-order"])
def test_learned_probabilities_predict_laws_of_other_fields_better_than_hand_set_ones(name: str) -> None:
    grammar = load_grammar(name)
    found = write_laws(grammar, known_laws())
    unseen = cross_validated(grammar, found.written, strength=20.0)
    assert unseen.mean() < nats(grammar, found.written).mean() - 0.2
