"""Options and data of a wrong kind, or against each other: one sentence that says what to do."""

import numpy as np
import pytest

from gode import GodeError, ODERegressor, discover, fit, load
from gode.equation.tree import symbols
from gode.errors import DataError
from robust_cases import PLAIN

T = np.linspace(0.0, 5.0, 30)
U = np.exp(-T)
SMALL = {"order": 1, "effort": "quick", "grammar": "first-order"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"order": 1.0}, r"order must be 1, 2 or 'auto', got 1\.0"),
        ({"order": True}, "order must be 1, 2 or 'auto', got True"),
        ({"order": [1]}, r"order must be 1, 2 or 'auto', got \[1\]"),
        ({"effort": ["quick"]}, "effort must be one of quick, normal, thorough"),
        ({"preset": ["paper"]}, "preset must be one of default, paper"),
        ({"without": 5}, "without must be symbols as text"),
        ({"without": [1]}, "without must be symbols as text"),
        ({"start": "u'' = C*u"}, "start is of order 2, but order=1 was asked for"),
        ({"start": "u' = C*u + C*F"}, "start has the input F, which is not given"),
        ({"start": 5}, "an equation must be text, got int"),
        ({"grammar": 5}, "there is no model '5'"),
        ({"seed": "x"}, "seed must be a whole number"),
        ({"n_jobs": 0}, "n_jobs must be a whole number"),
    ],
)
def test_options_that_cannot_be_get_a_sentence(options, sentence):
    with pytest.raises(GodeError, match=sentence) as caught:
        discover(T, U, **{**SMALL, **options})
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"u": U.astype(complex)}, "u must be numbers"),
        ({"u": [10**400, *U[1:]]}, "u must be numbers"),
        ({"u": U[:-1]}, "u has 29 values, but t has 30"),
        ({"u": U[:, None, None]}, "u must have the shape"),
        ({"u": np.column_stack([U, U])}, "x1 and x2 are identical; drop one of them"),
        ({"u": None}, "nothing is observed"),
        ({"t": [[0.0, [1.0]], T]}, "must be a list of 2 arrays"),
        ({"t": [[0.0, [1.0]], T], "u": [U, U]}, "run 0: t must be numbers"),
        ({"t": T[::-1]}, "time must increase"),
        ({"t": 3.0}, "t must have one dimension"),
        ({"force": "C*t"}, "may depend on t alone, and has no free C"),
        ({"force": "cos(u)"}, "may depend on t alone"),
        ({"force": T[:-1]}, "F has 29 values, but t has 30"),
        ({"force": lambda t: "much"}, "F must be one number at each time"),
        ({"force": lambda t: np.ones(3)}, "F must be one number at each time"),
        ({"force": "1/(t - t)"}, "F is not finite"),
        ({"initial": [1.0, 2.0, 3.0]}, "initial must be"),
        ({"initial": [np.inf]}, "initial is infinite"),
    ],
)
def test_data_that_cannot_be_get_a_sentence(data, sentence):
    with pytest.raises(DataError, match=sentence):
        discover(**{"t": T, "u": U, **SMALL, **data})


@pytest.mark.parametrize(
    ("scaled", "sentence"),
    [
        ({"t": T * 1e-300}, "t is 5e-300 at most, too small to square; use other units"),
        ({"u": U * 1e-200}, "u is 1e-200 at most, too small to square; use other units"),
        ({"t": T * 1e-99}, r"t spans 5e-99, so that u'' is about 4e.196, too large to square"),
    ],
)
def test_numbers_whose_squares_are_none_are_refused(scaled, sentence):
    for call in (lambda **data: discover(**data, **SMALL), lambda **data: fit("u' = C*u", **data)):
        with pytest.raises(DataError, match=sentence):
            call(**{"t": T, "u": U, **scaled})


WRONG = [
    "x",
    ["a", "b"],
    object(),
    {},
    [1, [2]],
    1 + 2j,
    U * 1j,
    [10**400],
    [None],
    b"x",
    {1, 2},
    np.datetime64("2020"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: type(value).__name__)
def test_what_is_no_number_is_a_sentence_wherever_it_is_passed(wrong):
    found, model = fit("u' = C*u + C*F", T, U, force=np.sin(T)), ODERegressor(equation="u' = C*u").fit(T, U)
    calls = [
        lambda: found.simulate(wrong),
        lambda: found.simulate(None, wrong),
        lambda: found.simulate(None, None, wrong),
        lambda: found.simulate(run=wrong),
        lambda: found.predict(wrong),
        lambda: found.predict(T, wrong),
        lambda: found.predict(T, level=wrong),
        lambda: model.predict(wrong),
        lambda: model.predict(T, wrong),
        lambda: model.score(T, wrong),
        lambda: model.score(T, U, wrong),
        lambda: ODERegressor(equation="u' = C*u").fit(wrong, U),
        lambda: ODERegressor(equation="u' = C*u").fit(T, wrong),
    ]
    for call in calls:
        with pytest.raises(GodeError):
            call()


def test_an_input_with_a_free_constant_is_refused_where_it_is_solved():
    with pytest.raises(DataError, match="may depend on t alone"):
        fit("u' = C*u + C*F", T, U, force="C*sin(t)")


def test_whole_numbers_of_numpy_are_whole_numbers(tmp_path):
    numbers = {"order": np.int64(1), "seed": np.uint8(3), "n_jobs": np.int32(1)}
    found = discover(T, U, **{**SMALL, "without": PLAIN[1], **numbers})
    found.save(tmp_path / "record.json")
    assert load(tmp_path / "record.json").settings == found.settings
    assert type(found.settings.order) is type(found.settings.seed) is int


def test_a_masked_value_is_not_observed():
    spoilt = np.ma.array(U, mask=False)
    spoilt[3] = 1e6
    spoilt[3] = np.ma.masked
    found = fit("u' = C*u", T, spoilt)
    assert found.equation.constants[0].value == pytest.approx(-1.0, rel=1e-3)
    assert found.prepared.dataset.n_observed == len(T) - 1


def test_a_symbol_that_only_one_of_the_grammars_has_can_be_left_out():
    found = discover(T, U, order=1, effort="quick", without=["tanh", "abs"])
    assert not any("tanh" in text or "abs" in text for text in found.equations["equation"])


@pytest.mark.parametrize("barred", [["^"], ["*", "2"]])
def test_what_is_left_out_does_not_come_back_through_sums_and_moves(barred):
    found = discover(T, 1 / (1 + 3 * np.exp(-T)), **{**SMALL, "without": [*PLAIN[1], *barred]})
    terms = [term for c in found.candidates for term in c.equation.skeleton.terms if term.body.value != "u'"]
    assert not [term for term in terms if symbols(term.body) & set(barred)]


@pytest.mark.parametrize("needed", ["+", "-", "C", "("])
def test_what_every_equation_needs_cannot_be_left_out(needed):
    with pytest.raises(GodeError, match="without cannot leave out"):
        discover(T, U, **SMALL, without=[needed])


def test_no_grammar_has_the_symbol_to_be_left_out():
    with pytest.raises(GodeError, match="no terminal or rule sinh"):
        discover(T, U, order=1, effort="quick", without=["sinh"])
