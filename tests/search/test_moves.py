from gode.equation import Equation, parse_equation, parse_skeleton
from gode.equation.tree import call, const, mul, num, power, var
from gode.search import Vocabulary, neighbours
from gode.search.moves import additions, borrowed, deletions, swaps

U, T = var("u"), var("t")
SQUARE = power(U, num(2))
WORDS = Vocabulary((U, SQUARE, T, call("sin", mul(const(0), U))), "u' = {sentence}")


def test_terms_and_skeleton_undo_each_other():
    for text in ("u' = C*u + C*u^2", "u' = C*sin(C*u) + C*t", "u' = C*u"):
        skeleton = parse_skeleton(text)
        assert WORDS.skeleton(WORDS.terms_of(skeleton)) == skeleton


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
    assert borrowed(wider, near, [7.0] * 4).text() == "u' = 0.5*u - 2*sin(3*u)"
    assert borrowed(parse_skeleton("u' = C*sin(C*u)"), near, [7.0] * 2).text() == "u' = -2*sin(3*u)"


def test_a_new_term_starts_at_zero_with_other_inner_constants():
    skeleton = parse_skeleton("u' = C*u + C*exp(C*t)")
    found = borrowed(skeleton, parse_equation("u' = 0.5*u"), [7.0] * 3)
    assert sorted(found.constants) == [-0.5, 0.0, 7.0]


def test_a_term_with_a_fixed_factor_keeps_it_as_a_start():
    near = Equation(parse_skeleton("u' = C*u - u^2"), (-3.0,))
    found = borrowed(parse_skeleton("u' = C*u + C*u^2 + C"), near, [7.0] * 3)
    assert found.text() == near.text() == "u' = 3*u - u^2"
