"""Tapes: the compiled interpreter against plain evaluation and against SymPy's derivatives."""

import math
import warnings

import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gode.equation import Node, Skeleton, Term, parse_skeleton, parse_tree
from gode.equation.operators import FUNCTIONS, KINKED
from gode.equation.symbolic import expression
from gode.equation.tape import (
    ADDEND,
    COLUMNS,
    EXPONENT,
    FACTOR,
    Evaluation,
    compile_scales,
    compile_tape,
    evaluate,
)
from gode.equation.terms import linear_terms
from gode.equation.tree import call, const, count_constants, mul, num, var, walk
from gode.errors import EquationError
from strategies import constant_values, free_expressions, plain_value, points, skeleton_trees

NAMES = (*COLUMNS, "F")
SMOOTH = tuple(
    name for name in FUNCTIONS if name not in KINKED
)  # SymPy is at a loss with derivatives of sign


def columns_of(where: list[dict[str, float]]) -> np.ndarray:
    return np.array([[at[name] for at in where] for name in NAMES])


def run(tree: Node, c: list[float], where: list[dict[str, float]]) -> Evaluation:
    tape = compile_tape(linear_terms(tree), NAMES, count_constants(tree))
    return evaluate(tape, c, columns_of(where))


def at_state(u: float) -> list[dict[str, float]]:
    return [{"t": 0.5, "u": u, "u'": 0.0, "u''": 0.0, "F": 0.0}]


@given(free_expressions("t", "u", "u'", "F"), st.lists(points, min_size=1, max_size=4), st.data())
@settings(max_examples=120, deadline=None)
def test_values_are_those_of_the_plain_twin(tree, where, data):
    c = data.draw(st.lists(constant_values, min_size=count_constants(tree), max_size=count_constants(tree)))
    expected = np.array([plain_value(tree, at, c) for at in where])
    assume(np.isfinite(expected).all())
    near = [plain_value(tree, {k: v * (1 + 1e-12) for k, v in at.items()}, c) for at in where]
    assume(np.allclose(near, expected, rtol=1e-9, atol=1e-9))
    result = run(tree, c, where)
    assert result.finite
    np.testing.assert_allclose(result.value, expected, rtol=1e-8, atol=1e-8)


@given(skeleton_trees(), st.lists(points, min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_a_skeletons_tape_computes_its_normal_form(tree, where):
    skeleton = Skeleton(tree)
    c = [0.7 + 0.2 * i for i in range(skeleton.n_constants)]
    expected = [plain_value(skeleton.normal, at, c) for at in where]
    assume(np.all(np.abs(expected) < 1e4))
    result = evaluate(compile_tape(skeleton.terms, NAMES, skeleton.n_constants), c, columns_of(where))
    np.testing.assert_allclose(result.value, expected, rtol=1e-7, atol=1e-7)


class SymbolicTwin:
    """Values and first derivatives of a tree, by SymPy, in constants and then in columns."""

    def __init__(self, tree: Node) -> None:
        expr = expression(tree)
        symbols = {name: sympy.Symbol(f"x{i}", real=True) for i, name in enumerate(NAMES)}
        for name in ("u''", "u'", "u", "F", "t"):
            expr = expr.xreplace({expression(var(name)): symbols[name]})
        constants = [expression(const(i)) for i in range(count_constants(tree))]
        self.directions = [*constants, *symbols.values()]
        self.functions = [
            sympy.lambdify(self.directions, e, "math")
            for e in (expr, *(sympy.diff(expr, s) for s in self.directions))
        ]

    def __call__(self, c: list[float], at: dict[str, float]) -> np.ndarray:
        try:
            values = [complex(f(*c, *(at[name] for name in NAMES))) for f in self.functions]
        except (ValueError, ZeroDivisionError, OverflowError):
            return np.full(len(self.functions), np.nan)
        return np.array([v.real if v.imag == 0 else math.nan for v in values])


@given(free_expressions("t", "u", "u'", functions=SMOOTH, max_leaves=6), points, st.data())
@settings(max_examples=60, deadline=None)
def test_derivatives_are_those_of_sympy(tree, at, data):
    c = data.draw(st.lists(constant_values, min_size=count_constants(tree), max_size=count_constants(tree)))
    assume(math.isfinite(plain_value(tree, at, c)))
    twin = SymbolicTwin(tree)
    expected = twin(c, at)
    near = twin([x * (1 + 1e-13) for x in c], {name: x * (1 + 1e-13) for name, x in at.items()})
    scale = 1 + np.abs(expected).max()
    assume(np.isfinite(expected).all() and np.isfinite(near).all() and scale < 1e6)
    assume((np.abs(near - expected) < 1e-11 * scale).all())
    result = run(tree, c, [at])
    got = np.concatenate([result.value, result.in_constants[:, 0], result.in_columns[:, 0]])
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize(("u", "slope"), [(0.7, 1.0), (-0.7, -1.0), (0.0, 0.0)])
def test_abs_and_sign_have_one_sided_slopes(u, slope):
    size, sign = run(parse_tree("abs(u)"), [], at_state(u)), run(parse_tree("sign(u)"), [], at_state(u))
    assert (size.value[0], size.in_columns[1, 0]) == (abs(u), slope)
    assert (sign.value[0], sign.in_columns[1, 0]) == (slope, 0.0)


@pytest.mark.parametrize("exponent", [*range(-7, 8), 0.5, -0.5, 1.5, 64, 65, -65, 100])
@pytest.mark.parametrize("u", [0.9, -0.9])
def test_powers_and_their_derivatives(exponent, u):
    tree = Node("^", 0.0, (var("u"), num(exponent)))
    expected = plain_value(tree, {"u": u})
    result = run(tree, [], at_state(u))
    assert result.finite == math.isfinite(expected)
    if result.finite:
        assert result.value[0] == pytest.approx(expected, rel=1e-12)
        assert result.in_columns[1, 0] == pytest.approx(exponent * expected / u, rel=1e-12)


def test_an_exponent_may_be_a_constant_or_a_column():
    at = at_state(1.7)
    result = run(parse_tree("u^C"), [2.5], at)
    assert result.in_constants[0, 0] == pytest.approx(1.7**2.5 * math.log(1.7))
    result = run(parse_tree("u^t"), [], at)
    assert result.value[0] == pytest.approx(1.7**0.5)
    assert result.in_columns[0, 0] == pytest.approx(1.7**0.5 * math.log(1.7))


def test_a_negative_base_is_fine_with_a_whole_exponent():
    result = run(parse_tree("u^C"), [3.0], at_state(-2.0))
    assert result.value[0] == pytest.approx(-8.0)
    assert result.in_columns[1, 0] == pytest.approx(12.0)


def test_a_zero_base_is_fine_with_a_positive_exponent():
    result = run(parse_tree("u^C"), [1.5], at_state(0.0))
    assert result.finite
    assert result.value[0] == result.in_columns[1, 0] == result.in_constants[0, 0] == 0.0


@pytest.mark.parametrize(
    ("text", "u"),
    [
        ("log(u)", -1.0),
        ("log(u)", 0.0),
        ("1/u", 0.0),
        ("u^(-2)", 0.0),
        ("u^(-3)", 0.0),
        ("u^(-1.5)", 0.0),
        ("0^(-1)*u", 1.0),
        ("u^0.5", -1.0),
        ("u^1.5", -1.0),
        ("u^t", -1.0),
        ("(0*u - 8)^(1/3)", 1.0),
        ("exp(u)", 1000.0),
        ("exp(exp(u))", 10.0),
        ("u^64", 1e6),
        ("u^100", 1e6),
        ("u*u*u", 1e150),
        ("sin(exp(u))", 1000.0),
        ("u - exp(u) + exp(u)", 1000.0),
        ("u", math.nan),
        ("u", math.inf),
        ("sign(u)", math.nan),
        ("abs(u)", math.nan),
        ("1e308*(u + t)*10", 1.0),
        ("1e308*u + 1e308*u^2", 1.0),
    ],
)
def test_a_bad_point_is_a_failure_without_a_warning(text, u):
    good = {"t": 0.5, "u": 0.3, "u'": 0.0, "u''": 0.0, "F": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run(parse_tree(text), [], [good, {**good, "u": u}, good])
    assert not result.finite
    assert np.isnan(result.value).all()
    assert np.isnan(result.in_columns).all()


@pytest.mark.parametrize("text", ["C*u", "C*u + C*t", "exp(C*u)"])
def test_constants_that_overflow_are_a_failure(text):
    tree = parse_tree(text)
    result = run(tree, [1e308] * count_constants(tree), at_state(1e3))
    assert not result.finite


def test_no_points_are_no_failure():
    tape = compile_tape(linear_terms(parse_tree("log(u)")), NAMES, 0)
    result = evaluate(tape, [], np.empty((5, 0)))
    assert result.finite
    assert result.value.shape == (0,)


def deep(depth: int, *, right: bool) -> Node:
    """A tree that needs a stack as deep as itself, or one that needs two places."""
    node = var("u")
    for i in range(depth):
        other = mul(num(1 + i / 100), var("t"))
        args = (other, call("sin", node)) if right else (call("sin", node), other)
        node = Node("+", 0.0, args)
    return node


@pytest.mark.parametrize("right", [True, False])
def test_the_stack_is_deep_enough_for_deep_trees(right):
    tree = call("sin", deep(80, right=right))
    where = [{"t": 0.5, "u": u, "u'": 0.1, "u''": 0.0, "F": 0.0} for u in (0.2, 1.4)]
    tape = compile_tape([Term(1.0, None, tree)], NAMES, 0)
    expected = [plain_value(tree, at) for at in where]
    np.testing.assert_allclose(evaluate(tape, [], columns_of(where)).value, expected, rtol=1e-12)
    assert tape.depth >= (80 if right else 2)


def needed_depth(tape) -> int:
    """The stack a program really uses, counted by stepping through it."""
    highest = 0
    for start, stop in zip(tape.starts[:-1], tape.starts[1:], strict=True):
        height = 0
        for code in tape.code[start:stop]:
            height += 1 if code in (0, 1, 2) else (-1 if code in (3, 4, 6) else 0)
            highest = max(highest, height)
        assert height == 1
    return highest


@given(free_expressions("t", "u", max_leaves=15))
@settings(max_examples=100, deadline=None)
def test_the_depth_is_what_the_programs_need(tree):
    tape = compile_tape(linear_terms(tree), NAMES, count_constants(tree))
    assert tape.depth == needed_depth(tape)
    assert len(tape.code) == len(tape.arg) == len(tape.literal) == tape.starts[-1]


def test_a_tape_tells_linear_from_nonlinear_constants():
    skeleton = parse_skeleton("u' = C*u + C*sin(C*t) + C")
    tape = compile_tape(skeleton.terms, NAMES, skeleton.n_constants)
    inner = next(n for n in walk(skeleton.normal) if n.op == "sin").args[0].args[0]
    assert tape.nonlinear.tolist() == [inner.value]
    assert sorted(i for i in tape.linear.tolist() if i >= 0) == sorted({0, 1, 2, 3} - {int(inner.value)})
    assert skeleton.terms[tape.owner[0]].body.op == "sin"


@pytest.mark.parametrize(
    ("text", "role", "neighbour"),
    [
        ("sin(C*u)", FACTOR, 1.7),
        ("sin(C*u*t)", FACTOR, 0.85),
        ("t^C", EXPONENT, 1.0),
        ("sin(u + C)", ADDEND, 1.7),
        ("C^u", ADDEND, 1.0),
    ],
)
def test_scales_tell_what_stands_beside_a_constant(text, role, neighbour):
    scales = compile_scales(linear_terms(parse_tree(text)), NAMES, 1)
    assert scales.role.tolist() == [role]
    value = evaluate(scales.tape, np.ones(1), columns_of(at_state(1.7))).value
    assert value == pytest.approx([neighbour])


def test_a_shift_beside_a_scaled_column_has_no_size_of_its_own():
    scales = compile_scales(linear_terms(parse_tree("sin(C*u + C)")), NAMES, 2)
    assert scales.role.tolist() == [FACTOR, ADDEND]
    value = evaluate(scales.tape, np.ones(2), columns_of(at_state(1.7))).value
    assert value == pytest.approx([1.7 + 1.0])


@pytest.mark.parametrize(
    "text", ["F(t - C)", "C*F(t - C)", "sin(C*F(t - C))", "F(t - C)^C + C*u", "u^C*F(t - C)"]
)
def test_scales_are_of_the_constants_that_the_programs_read(text):
    skeleton = parse_skeleton(f"u' = {text}", inputs=("F",))
    tape = compile_tape(skeleton.rhs_terms, NAMES, skeleton.n_constants)
    scales = compile_scales(skeleton.rhs_terms, NAMES, skeleton.n_constants)
    assert len(scales.role) == len(scales.tape.multiplier) == len(tape.nonlinear)


def test_more_constants_than_directions_are_refused():
    tree = parse_tree(" + ".join(f"C*u^{i}" for i in range(1, 60)))
    tape = compile_tape(linear_terms(tree), NAMES, 59)
    with pytest.raises(EquationError, match="59 constants are too many; 57 are allowed"):
        evaluate(tape, np.ones(59), columns_of(at_state(1.0)))


def test_derivatives_are_right_in_the_last_direction_allowed():
    tree = parse_tree(" + ".join(f"sin(C*u^{i})" for i in range(1, 58)))
    result = run(tree, [0.5] * 57, at_state(0.9))
    expected = [0.9**i * math.cos(0.5 * 0.9**i) for i in range(1, 58)]
    np.testing.assert_allclose(result.in_constants[:, 0], expected, rtol=1e-12)
    slope = sum(0.5 * i * 0.9 ** (i - 1) * math.cos(0.5 * 0.9**i) for i in range(1, 58))
    assert result.in_columns[1, 0] == pytest.approx(slope)


def test_a_right_hand_side_of_nothing_still_has_its_constants():
    skeleton = parse_skeleton("u'' + C*u*u'' = 0")
    assert skeleton.rhs_terms == ()
    tape = compile_tape(skeleton.rhs_terms, NAMES, skeleton.n_constants)
    assert tape.n_constants == skeleton.n_constants == 1
    assert evaluate(tape, [2.0], np.ones((len(NAMES), 3))).in_constants.shape == (1, 3)
