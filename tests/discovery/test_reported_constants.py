"""The constants of a law as it is written: values, error bars, places, names and letters."""

import numpy as np
import pytest

import gode
from gode.cli.results import interval_of
from gode.discovery import Constant, Finding
from gode.discovery.reported_constants import lines_with_letters, shared_words
from gode.equation import Link, System, SystemSkeleton, parse_equation, parse_system
from gode.errors import DataError
from gode.selection import Candidate

PREDATION = ["prey' = C*prey + C*prey*pred", "pred' = C*pred + C*prey*pred"]
T = np.linspace(0, 10, 60)
U = 500 / (1 + 9 * np.exp(-0.8 * T)) + 5 * np.random.default_rng(0).standard_normal(60)
LOGISTIC = "u' = r*u*(1 - u/K)"


def tied(texts, links, constants):
    free = parse_system(texts)
    return System(SystemSkeleton(free.states, free.parts, free.inputs, tuple(links)), constants)


def finding(law, errors=None):
    errors = np.zeros(len(law.constants)) if errors is None else errors
    return Finding(Candidate(law, np.zeros((1, 2)), np.diag(np.square(errors)), 1.0, 0.0))


SIR = ["S' = C*S*I", "I' = C*S*I + C*I", "R' = C*I"]


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


@pytest.fixture
def free():
    return finding(tied(PREDATION, (), (0.5, -1.0, -0.25, 2.0)), (0.01, 0.02, 0.04, 0.03))


@pytest.fixture
def predation():
    links = (Link(0), Link(1), Link(0, -1.0), Link(2))
    return finding(tied(PREDATION, links, (0.5, -1.0, 2.0)), (0.01, 0.02, 0.03))


def test_a_system_has_a_line_for_each_state(free):
    assert str(free) == "prey' = prey - 0.5*prey*pred\npred' = -2*pred + 0.25*pred*prey"
    assert repr(free) == "<prey' = prey - 0.5*prey*pred; pred' = -2*pred + 0.25*pred*prey>"


def test_one_equation_has_its_own_constants_and_error_bars(free):
    own = free["pred"]
    assert str(own) == "pred' = -2*pred + 0.25*pred*prey"
    assert [(c.value, c.place) for c in own.constants] == [(-2.0, "pred"), (0.25, "pred*prey")]
    assert [c.error for c in own.constants] == pytest.approx([0.03, 0.04])
    assert own.rhs() == "-2*pred + 0.25*pred*prey"
    assert own.sympy() == free.sympy()[1]
    assert (
        own.latex() == r"\dot{\mathrm{pred}} = -2 \, \mathrm{pred} + 0.25 \, \mathrm{pred} \, \mathrm{prey}"
    )


def test_a_name_that_is_no_state_is_refused(free):
    with pytest.raises(DataError, match="no state is called 'fox'; the states are prey, pred"):
        free["fox"]


def test_constants_of_the_whole_law_say_in_which_equation_they_stand(free):
    places = [c.place for c in free.constants]
    assert places == ["prey, in prey'", "prey*pred, in prey'", "pred, in pred'", "pred*prey, in pred'"]


def test_a_shared_constant_is_there_once_with_one_error_bar(predation):
    assert [c.place for c in predation.constants] == [
        "prey, in prey'",
        "pred*prey, in both equations",
        "pred, in pred'",
    ]
    shared = predation.constants[1]
    assert (shared.value, shared.error) == (0.5, pytest.approx(0.01))
    assert predation.covariance.shape == (3, 3)
    assert [c.value for c in predation["prey"].constants] == [1.0, -0.5]
    assert [c.error for c in predation["prey"].constants] == pytest.approx([0.02, 0.01])


def test_shared_constants_are_named_with_their_error_bars(predation):
    assert predation.named_lines() == [
        "prey' = prey - a*prey*pred",
        "pred' = -2*pred + a*pred*prey",
        "a = 0.500 ± 0.020 at 95 % (one constant in two equations)",
    ]


def test_without_shared_constants_both_forms_are_the_same(free):
    assert free.named_lines() == free.lines()


def test_a_constant_fixed_at_a_number_is_none_of_the_constants():
    links = (Link(0), Link(-1, -1.0), Link(-1, -1.0), Link(1))
    found = finding(tied(PREDATION, links, (0.5, 2.0)), (0.01, 0.03))
    assert [c.value for c in found.constants] == [-0.5, -2.0]


def test_right_hand_sides_are_by_state(free):
    assert free.rhs() == {"prey": "prey - 0.5*prey*pred", "pred": "-2*pred + 0.25*pred*prey"}


def test_a_constant_unpacks_into_value_error_and_place():
    value, error, place = constant = Constant(0.5, 0.01, "u", "r", "1/h")
    assert (value, error, place) == (0.5, 0.01, "u")
    assert str(constant) == "r = 0.500 ± 0.020 1/h"
    assert repr(constant) == "Constant(value=0.5, error=0.01, place='u', name='r', unit='1/h')"


def test_a_constant_is_rounded_as_the_command_line_rounds_it():
    constant = Constant(0.02559, 0.0034 / 1.96, "k", "k")
    assert str(constant) == "k = 0.0256 ± 0.0034" == interval_of(constant)


def test_an_error_far_beyond_the_value_does_not_determine_it():
    assert Constant(1e-3, 0.5, "u").determined
    assert not Constant(1e-3, 5.0, "u").determined
    assert not Constant(1e-3, 2e-3, "u", vague=1.0).determined


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ((0.2, 0.9), "K = 0.5, between 0.2 and 0.9 g"),
        ((0.2, np.inf), "K > 0.2 g"),
        ((-np.inf, 0.9), "K < 0.9 g"),
        ((-np.inf, np.inf), "K is not determined by these data"),
    ],
)
def test_an_interval_of_the_likelihood_is_told_instead_of_the_error(interval, words):
    constant = Constant(0.5, 0.3, "u", "K", "g", interval=interval)
    assert str(constant) == words
    assert (constant.low, constant.high) == interval


def test_a_fit_speaks_of_the_constants_by_their_names(tmp_path):
    found = gode.fit(LOGISTIC, T, U)
    r, k = found.equation.constants
    assert (r.name, k.name) == ("r", "K")
    assert r.value == pytest.approx(0.8, abs=4 * r.error)
    assert k.value == pytest.approx(500, abs=4 * k.error)
    found.save(tmp_path / "record.json")
    again = gode.load(tmp_path / "record.json")
    assert again.equation.constants == found.equation.constants
    assert again.candidates[0].equation == found.candidates[0].equation


def test_a_fixed_constant_stays_and_a_bound_holds():
    fixed = gode.fit(LOGISTIC, T, U, fixed={"K": 500})
    assert [c.name for c in fixed.equation.constants] == ["r"]
    bounded = gode.fit(LOGISTIC, T, U, bounds={"K": (0, 480)})
    assert bounded.equation.constants[1].value == pytest.approx(480, rel=1e-12)


def test_shared_constants_are_named(epidemic):
    assert lines_with_letters(epidemic) == ["S' = -a*S*I", "I' = -b*I + a*I*S", "R' = b*I"]
    first, second = finding(epidemic, (0.0123, 0.01)).shared
    assert shared_words(first) == "a = 0.520 ± 0.024 at 95 % (one constant in two equations)"
    assert second.equations == ("I", "R")


def test_letters_are_no_names_of_states():
    law = tied(["a' = C*a*b", "b' = C*a*b"], [Link(0), Link(0, -1.0)], (0.5,))
    assert lines_with_letters(law) == ["a' = -c*a*b", "b' = c*b*a"]


def test_a_scalar_equation_shares_nothing():
    law = parse_equation("u' = 2*u")
    assert finding(law).shared == []
    assert lines_with_letters(law) == ["u' = 2*u"]


def test_a_constant_fixed_at_a_number_is_that_number():
    law = tied(["x' = C*x + C*y", "y' = C*x"], [Link(-1, 1.0), Link(0), Link(0, -1.0)], (0.5,))
    assert np.array_equal(law.skeleton.numbers(law.constants), [1.0, 0.5, -0.5])
    assert finding(law).shared[0].index == 0
