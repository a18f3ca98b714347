"""Frames: named constants, unknown functions, and what becomes of them."""

import time

import numpy as np
import pytest

from gode.equation import Equation, parse_tree
from gode.equation.frame import parse_frame
from gode.equation.tape import compile_scales, compile_tape, evaluate
from gode.errors import ConfigError, EquationError

PREY = "x' = r*x*(1 - x/K) - f(x, y); y' = e*f(x, y) - m*y"


def test_a_name_used_twice_is_one_constant():
    skeleton = parse_frame("u' = r*u - r*u^2 + C", functions=False).law({})
    assert [p.name for p in skeleton.parameters] == ["r", "C1"]
    assert str(Equation(skeleton, (2.0, 3.0))) == "u' = 2*u - 2*u^2 + 3"


def test_each_constant_stands_in_one_term_of_a_named_skeleton():
    skeleton = parse_frame("u' = r*u - r*u^2 + a/(1 + h*u) + b*u/(1 + h*u)", functions=False).law({})
    x = np.array([[0.0, 1.0], [0.5, 0.7], [0.1, 0.2], [0.0, 0.0]])
    values = np.array([2.0, 0.3, 1.5, 0.4])  # r, a, h, b
    for terms in (skeleton.terms, skeleton.rhs_terms):
        tape = compile_tape(terms, ("t", "u", "u'", "u''"), 4)
        inside = tape.nonlinear.tolist()
        assert sorted(inside + [i for i in tape.linear.tolist() if i >= 0]) == [0, 1, 2, 3]
    u = x[1]
    expected = 2.0 * u - 2.0 * u**2 + (0.3 + 0.4 * u) / (1 + 1.5 * u)
    assert evaluate(tape, values, x).value == pytest.approx(expected)


def test_what_is_found_for_a_function_stands_in_all_its_places_with_tied_constants():
    frame = parse_frame(PREY, states=("x", "y"), inputs=())
    skeleton = frame.law({"f": parse_tree("C*u*v1/(C + u)", inputs=("v1",))})
    assert [p.name for p in skeleton.parameters] == ["r", "K", "f1", "f2", "e", "m"]
    assert skeleton.n_constants == 6
    lines = str(skeleton).splitlines()
    assert "f1*x*y/(f2 + x)" in lines[0]
    assert "e*f1*x*y/(f2 + x)" in lines[1]


def test_the_constants_of_a_function_are_linear_wherever_it_stands():
    frame = parse_frame("u'' = (F - 2*(u - f(u')))/(1 + u^2)")
    skeleton = frame.law({"f": parse_tree("C*u' + C*u'^3")})
    tape = compile_tape(skeleton.terms, ("t", "u", "u'", "u''", "F"), 2)
    assert tape.nonlinear.tolist() == []
    assert str(Equation(skeleton, (3.0, 0.5))) == (
        "u'' = 6*u'/(u^2 + 1) + u'^3/(u^2 + 1) + F/(u^2 + 1) - 2*u/(u^2 + 1)"
    )


def test_what_was_sought_is_each_function_once_and_not_what_was_known():
    frame = parse_frame("u'' = -9.81*sin(u) - f(u') - g(u)")
    law = frame.law({"f": parse_tree("C*u' + C*u'^3"), "g": parse_tree("C*u")})
    assert [str(each) for each in law.sought] == ["u'' = C*u' + C*u'^3", "u'' = C*u"]
    shared = parse_frame(PREY, states=("x", "y"), inputs=())
    (response,) = shared.law({"f": parse_tree("C*u*v1", inputs=("v1",))}).sought
    assert str(response) == "u' = C*u*v1"
    plain = parse_frame("u' = r*u - h")
    assert plain.law({}).sought == (plain.law({}),)


def test_a_constant_that_scales_a_function_is_left_out_where_the_equation_stands_alone():
    frame = parse_frame(PREY, states=("x", "y"), inputs=())
    part = frame.part(1, {"f": parse_tree("C*u*v1", inputs=("v1",))}, alone=True)
    assert [p.name for p in part.parameters] == ["m", "f1"]


def test_a_question_mark_is_a_function_of_all_columns():
    frame = parse_frame("u'' = -9.81*sin(u) + ?")
    assert frame.functions[0].formal == ("t", "u", "u'", "F")
    skeleton = frame.law({"?": parse_tree("C*u'")})
    assert str(skeleton) == "u'' = C_1*u' - 9.81*sin(u)"


def test_a_fixed_constant_is_a_number():
    skeleton = parse_frame("u' = r*u*(1 - u/K)", functions=False, fixed={"K": 500}).law({})
    assert [p.name for p in skeleton.parameters] == ["r"]
    assert str(Equation(skeleton, (0.5,))) == "u' = 0.5*u - 0.001*u^2"


@pytest.mark.parametrize(
    ("text", "reason", "place"),
    [
        ("u' = K(1 - u)", "lower-case names", 5),
        ("u' = r(1 - u/K)", "without free constants", 5),
        ("u' = f(u) + f(u, t)", "f has 2 arguments here and 1 before", 12),
        ("u' = f(g(u))", "another unknown function", 5),
        ("u' = f*u + f(u)", "f is a constant", 11),
        ("u' = f(u) + f", "f is an unknown function", 12),
        ("u' = u + v1", "gode uses itself", 9),
        ("u' = k*f(u)", "k only scales f", 5),
        ("u' = f(u) + f1*u", "what a constant of f is called", 12),
        ("u' = 2*f(u'')", "f depends on a derivative of order 2, but the equation is of order 1", 7),
        ("u = f(u)", "holds no derivative", 0),
        ("u' = f(u); x' = u", "one state needs one equation, got 2; another state, or", 10),
    ],
)
def test_a_bad_frame_is_refused_with_a_caret_under_the_place(text, reason, place):
    with pytest.raises(EquationError, match=reason) as caught:
        parse_frame(text)
    assert str(caught.value).splitlines()[-1] == "  " + " " * place + "^"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"fixed": {"Q": 1}}, "fixed has Q"),
        ({"bounds": {"Q": (0, 1)}}, "bounds has Q"),
        ({"fixed": {"K": 1}, "bounds": {"K": (2, 3)}}, "K is fixed at 1, outside of its bounds 2 to 3"),
        ({"fixed": {"K": "x"}}, "must be a finite number"),
        ({"bounds": {"K": (3, 2)}}, "must increase"),
        ({"bounds": {"K": 3}}, "must be a pair"),
    ],
)
def test_bad_values_are_refused_with_a_caret(given, reason):
    with pytest.raises(ConfigError, match=reason) as caught:
        parse_frame("u' = r*u*(1 - u/K)", functions=False, **given)
    assert str(caught.value).endswith("^")


def test_a_product_of_two_constants_can_be_fitted():
    skeleton = parse_frame("u' = a*b", functions=False).law({})
    assert compile_scales(skeleton.rhs_terms, ("t", "u", "u'", "u''"), 2).role.tolist() == [1]


def test_a_frame_of_very_many_unknown_functions_is_refused_soon():
    text = "u' = " + "+".join(f"f{i}(u)" for i in range(2000))
    begun = time.process_time()
    with pytest.raises(EquationError, match="f20 is one unknown function too many; a frame has 20 at most"):
        parse_frame(text)
    assert time.process_time() - begun < 1.0
    assert len(parse_frame(text.partition("+f20(")[0]).functions) == 20
