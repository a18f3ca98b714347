import pytest

from gode.equation import Equation, parse_equation, parse_skeleton
from gode.equation.frame import parse_frame
from gode.equation.printer import to_text
from gode.equation.tree import call, const, mul, num, power, var
from gode.model import open_space
from gode.search import Vocabulary, neighbours
from gode.search.templates import FrameTemplate, SumTemplate, additions, borrowed, deletions, swaps

U, T = var("u"), var("t")
SQUARE = power(U, num(2))
TEMPLATE = SumTemplate("u' = {sentence}")
WORDS = Vocabulary((U, SQUARE, T, call("sin", mul(const(0), U))), TEMPLATE)


def test_terms_and_skeleton_undo_each_other():
    for text in ("u' = C*u + C*u^2", "u' = C*sin(C*u) + C*t", "u' = C*u"):
        skeleton = parse_skeleton(text)
        assert TEMPLATE.skeleton(TEMPLATE.terms_of(skeleton)) == skeleton


def test_neighbours_differ_by_one_term():
    bodies = frozenset({U, SQUARE})
    assert set(deletions(bodies)) == {frozenset({U}), frozenset({SQUARE})}
    assert all(len(new) == 3 and bodies < new for new in additions(bodies, WORDS.bodies))
    assert all(len(new) == 2 and len(new & bodies) == 1 for new in swaps(bodies, WORDS.bodies))
    assert len(list(neighbours(bodies, WORDS.bodies))) == 2 + 2 + 4


def test_a_single_term_is_not_deleted():
    assert list(deletions(frozenset({U}))) == []


def test_a_neighbour_starts_from_the_constants_of_the_terms_it_shares():
    near = parse_equation("u' = 0.5*u - 2*sin(3*u)")
    wider = parse_skeleton("u' = C*u + C*sin(C*u) + C*t")
    assert borrowed(TEMPLATE, wider, near, [7.0] * 4).text() == "u' = 0.5*u - 2*sin(3*u)"
    assert borrowed(TEMPLATE, parse_skeleton("u' = C*sin(C*u)"), near, [7.0] * 2).text() == "u' = -2*sin(3*u)"


def test_a_new_term_starts_at_zero_with_other_inner_constants():
    skeleton = parse_skeleton("u' = C*u + C*exp(C*t)")
    found = borrowed(TEMPLATE, skeleton, parse_equation("u' = 0.5*u"), [7.0] * 3)
    assert sorted(found.constants) == [-0.5, 0.0, 7.0]


def test_a_term_with_a_fixed_factor_keeps_it_as_a_start():
    near = Equation(parse_skeleton("u' = C*u - u^2"), (-3.0,))
    found = borrowed(TEMPLATE, parse_skeleton("u' = C*u + C*u^2 + C"), near, [7.0] * 3)
    assert found.text() == near.text() == "u' = 3*u - u^2"


@pytest.fixture
def pendulum():
    """The frame of a pendulum with unknown friction."""
    return FrameTemplate(parse_frame("u'' + k*sin(u) = f(u')"))


def test_a_frame_is_filled_with_terms_and_gives_them_back(pendulum):
    friction = frozenset(body for body in pendulum.words(open_space("first-order"), (), Anything(), 3))
    assert len(friction) == 3
    skeleton = pendulum.skeleton(friction)
    assert pendulum.terms_of(skeleton) == friction
    assert (pendulum.order, skeleton.order) == (2, 2)
    assert pendulum.fixed == var("u''")
    assert [to_text(body) for body in pendulum.linear] == ["sin(u)"]


def test_a_wider_function_starts_from_the_constants_of_the_terms_it_shares(pendulum):
    first, second, _ = pendulum.words(open_space("first-order"), (), Anything(), 3)
    near = pendulum.skeleton(frozenset({first}))
    values = {name: 9.0 for name in pendulum.named(near)}
    known = Equation(near, tuple(values.get(p.name, 0.5) for p in near.parameters))
    wider = pendulum.skeleton(frozenset({first, second}))
    found = borrowed(pendulum, wider, known, [7.0] * wider.n_constants)
    assert sorted(found.constants) == [0.0, 0.5, 9.0]


def test_a_frame_takes_no_numbers_and_has_no_constant_rate(pendulum):
    assert pendulum.with_numbers(pendulum.known, {0: 1.0}) is None
    assert pendulum.constant_rate() is None
    assert str(SumTemplate(order=2).constant_rate()) == "u'' = C"


class Anything:
    """Data that allow every term."""

    def allows(self, body):
        return True

    def distinguishes(self, tree):
        return True
