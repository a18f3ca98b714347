"""A law as it is written, with the error bars of its numbers."""

import numpy as np
import pytest

from gode.discovery.finding import Finding
from gode.equation import Link, System, SystemSkeleton, parse_system
from gode.errors import DataError
from gode.selection import Candidate

PREDATION = ["prey' = C*prey + C*prey*pred", "pred' = C*pred + C*prey*pred"]


def finding(texts, links, constants, errors):
    free = parse_system(texts)
    law = System(SystemSkeleton(free.states, free.parts, free.inputs, tuple(links)), constants)
    return Finding(Candidate(law, np.zeros((1, 2)), np.diag(np.square(errors)), 1.0, 0.0))


@pytest.fixture
def free():
    return finding(PREDATION, (), (0.5, -1.0, -0.25, 2.0), (0.01, 0.02, 0.04, 0.03))


@pytest.fixture
def tied():
    links = (Link(0), Link(1), Link(0, -1.0), Link(2))
    return finding(PREDATION, links, (0.5, -1.0, 2.0), (0.01, 0.02, 0.03))


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


def test_a_shared_constant_is_there_once_with_one_error_bar(tied):
    assert [c.place for c in tied.constants] == [
        "prey, in prey'",
        "pred*prey, in both equations",
        "pred, in pred'",
    ]
    shared = tied.constants[1]
    assert (shared.value, shared.error) == (0.5, pytest.approx(0.01))
    assert tied.covariance.shape == (3, 3)
    assert [c.value for c in tied["prey"].constants] == [1.0, -0.5]
    assert [c.error for c in tied["prey"].constants] == pytest.approx([0.02, 0.01])


def test_shared_constants_are_named_with_their_error_bars(tied):
    assert tied.named_lines() == [
        "prey' = prey - a*prey*pred",
        "pred' = -2*pred + a*pred*prey",
        "a = 0.5 ± 0.02 at 95 % (one constant in two equations)",
    ]


def test_without_shared_constants_both_forms_are_the_same(free):
    assert free.named_lines() == free.lines()


def test_a_constant_fixed_at_a_number_is_none_of_the_constants():
    links = (Link(0), Link(-1, -1.0), Link(-1, -1.0), Link(1))
    found = finding(PREDATION, links, (0.5, 2.0), (0.01, 0.03))
    assert [c.value for c in found.constants] == [-0.5, -2.0]


def test_right_hand_sides_are_by_state(free):
    assert free.rhs() == {"prey": "prey - 0.5*prey*pred", "pred": "-2*pred + 0.25*pred*prey"}
