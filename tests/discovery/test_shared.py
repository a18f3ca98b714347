import numpy as np
import pytest

from gode.discovery.shared import conserved, conserved_words, named_lines, shared_constants
from gode.equation import Link, System, SystemSkeleton, parse_equation, parse_system

SIR = ["S' = C*S*I", "I' = C*S*I + C*I", "R' = C*I"]


def tied(texts, links, constants):
    free = parse_system(texts)
    return System(SystemSkeleton(free.states, free.parts, free.inputs, tuple(links)), constants)


@pytest.fixture
def epidemic():
    """S' = -b S I, I' = b S I - g I, R' = g I."""
    free = parse_system(SIR)
    places = {
        ("S", "S*I"): Link(0),
        ("I", "S*I"): Link(0, -1.0),
        ("I", "I"): Link(1),
        ("R", "I"): Link(1, -1.0),
    }
    links = []
    for i, (state, part) in enumerate(zip(free.states, free.parts, strict=True)):
        names = free.names(i)
        for term in part.terms:
            if term.constant is not None:
                used = sorted((names[n.value] for n in term.body.args or (term.body,)), reverse=True)
                links.append(places[state, "*".join(used)])
    return tied(SIR, links, (0.52, 0.3))


def test_shared_constants_are_named(epidemic):
    assert named_lines(epidemic) == ["S' = -a*S*I", "I' = -b*I + a*I*S", "R' = b*I"]
    first, second = shared_constants(epidemic)
    assert first.told(0.0123) == "a = 0.52 ± 0.024 at 95 % (one constant in two equations)"
    assert second.equations == ("I", "R")


def test_letters_are_no_names_of_states():
    law = tied(["a' = C*a*b", "b' = C*a*b"], [Link(0), Link(0, -1.0)], (0.5,))
    assert named_lines(law) == ["a' = -c*a*b", "b' = c*b*a"]


def test_a_sum_that_all_equations_conserve_is_found(epidemic):
    assert conserved(epidemic) == [{"S": 1, "I": 1, "R": 1}]
    assert conserved_words(epidemic) == ["S + I + R is conserved"]


def test_numbers_that_are_only_nearly_equal_conserve_nothing():
    law = System(parse_system(["x' = C*x*y", "y' = C*x*y"]), (0.5, -0.5000001))
    assert conserved(law) == []


def test_differences_are_conserved_where_both_change_alike():
    law = tied(["x' = C*sin(C*x)*y", "y' = C*sin(C*x)*y"], [Link(0), Link(1), Link(0), Link(1)], (0.5, 2.0))
    assert conserved_words(law) == ["x - y is conserved"]


def test_momentum_of_a_law_of_second_order_is_the_sum_of_derivatives():
    texts = ["x'' = C*x + C*y", "y'' = C*x + C*y"]
    law = tied(texts, [Link(0), Link(0, -1.0), Link(0), Link(0, -1.0)], (2.0,))
    assert conserved_words(law) == ["x' + y' is conserved"]


def test_a_scalar_equation_shares_and_conserves_nothing():
    law = parse_equation("u' = 2*u")
    assert (conserved(law), shared_constants(law), named_lines(law)) == ([], [], ["u' = 2*u"])


def test_a_constant_fixed_at_a_number_is_that_number():
    law = tied(["x' = C*x + C*y", "y' = C*x"], [Link(-1, 1.0), Link(0), Link(0, -1.0)], (0.5,))
    assert np.array_equal(law.skeleton.numbers(law.constants), [1.0, 0.5, -0.5])
    assert shared_constants(law)[0].place == 0
