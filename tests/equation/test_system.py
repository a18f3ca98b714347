"""Systems: own views, shared constants, reading and printing."""

import numpy as np
import pytest
import sympy

from gode.equation import Link, System, SystemSkeleton, parse_system
from gode.equation.system import columns_seen, parse_system_values
from gode.errors import EquationError

PREDATION = ["prey' = C*prey - C*prey*pred", "pred' = C*prey*pred - C*pred"]


def test_each_equation_sees_itself_as_u_and_the_others_as_v():
    found = parse_system(["x' = C*y*z", "y' = C*x", "z' = C*x - C*y"])
    assert [str(part) for part in found.parts] == ["u' = C*v1*v2", "u' = C*v1", "u' = C*v1 + C*v2"]


def test_columns_of_one_state_are_those_of_a_scalar_equation():
    assert columns_seen(0, 1, 1) == ("t", "u", "u'", "u''", "F")


def test_columns_are_the_same_in_every_view_but_for_their_names():
    assert columns_seen(1, 2, 2) == ("t", "v1", "v1'", "v1''", "u", "u'", "u''", "F", "v2")


def test_a_system_prints_one_line_for_each_state():
    found = System(parse_system(PREDATION), (0.5, -1.0, -0.25, 2.0))
    assert str(found) == "prey' = prey - 0.5*prey*pred\npred' = -2*pred + 0.25*pred*prey"


def test_a_shared_constant_is_one_number():
    free = parse_system(PREDATION)
    tied = SystemSkeleton(free.states, free.parts, (), (Link(0), Link(1), Link(0, -1.0), Link(2)))
    assert (free.n_constants, tied.n_constants) == (4, 3)
    assert np.array_equal(tied.numbers((0.5, -1.0, 2.0)), [0.5, -1.0, -0.5, 2.0])
    assert free != tied


def test_order_of_the_texts_is_no_matter_if_the_states_are_named():
    assert parse_system(PREDATION[::-1], states=("prey", "pred")) == parse_system(PREDATION)


def test_sympy_has_functions_of_the_names():
    first, second = System(parse_system(PREDATION), (0.5, -1.0, -0.25, 2.0)).sympy()
    t = sympy.Symbol("t", real=True)
    prey = sympy.Function("prey", real=True)(t)
    assert first.lhs == prey.diff(t)
    assert second.rhs.has(prey)


def test_latex_is_an_aligned_block():
    text = parse_system_values(["x1' = 2*x1*y", "y' = -y"]).latex()
    assert text == (
        "\\begin{aligned}\n\\dot{x_{1}} &= 2 \\, x_{1} \\, y \\\\\n\\dot{y} &= -y\n\\end{aligned}"
    )


def test_orders_may_differ_and_inputs_are_those_that_occur():
    found = parse_system_values(["x'' = -2*x + y' + heat", "y' = 3 - x*y"], inputs=("F", "heat"))
    assert (found.skeleton.orders, found.skeleton.inputs) == ((2, 1), ("heat",))
    assert str(found).splitlines()[0] == "x'' = y' + heat - 2*x"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["x' = C*y", "x' = C*x"], "the state x needs one equation, got 2"),
        (["x' = C*y"], "'y' is unknown"),
        (["C*x = 1", "y' = C"], "expected the derivative of one state"),
        (["x' + y' = C", "y' = C"], "got x, y"),
        ([3], "an equation must be text, got int"),
    ],
)
def test_a_system_that_makes_no_sense_is_refused_in_a_sentence(texts, expected):
    with pytest.raises(EquationError, match=expected):
        parse_system(texts)
