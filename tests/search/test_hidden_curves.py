"""Other laws for the curve of one that fits."""

import numpy as np
import pytest

from gode.data import Interpolation
from gode.data.from_arrays import make_dataset
from gode.discovery.hidden import with_hidden
from gode.equation import parse_tree
from gode.equation.sums import to_sum
from gode.equation.system import parse_system_values
from gode.equation.tree import FREE, mul, unlabelled
from gode.search.hidden_curves import Curves
from gode.search.hidden_forms import ENTRIES, Coordinates, entered_by, seen_by
from gode.search.settings import Settings
from gode.search.templates import SumTemplate
from gode.solve import solve

T = np.linspace(0.0, 80.0, 120)
PUMP = np.repeat(np.random.default_rng(3).uniform(0.6, 1.5, 12), 10)
LAW = ["l' = sqrt(w) - 0.5*sqrt(l)", "w' = 0.2*F - 0.15*sqrt(w)"]
WORDS = (
    ("u", "1", "u^2", "sqrt(u)"),
    ("u", "1", "v1", "F", "u^2", "F*u", "sqrt(u)", "F/u", "u*v1", "sqrt(v1)"),
)


def term(text):
    (body,) = to_sum(unlabelled(mul(FREE, parse_tree(text, inputs=("F",), states=("u", "v1")))))
    return body


@pytest.fixture(scope="module")
def tanks():
    """The level of the lower of two tanks, in two runs of which the second is a part of the first."""
    clean = solve(parse_system_values(LAW), T, [3.0, 4.0], inputs={"F": (T, PUMP)})
    parts = slice(0, 120), slice(30, 90)
    dataset = make_dataset(
        [T[part] for part in parts],
        {"l": [clean["l"][part] for part in parts]},
        force={"F": [PUMP[part] for part in parts]},
        interpolation=Interpolation.HOLD,
    )
    level, upper = clean["l"], clean["w"]
    columns = np.full((8, len(T)), np.nan)
    columns[[0, 1, 4, 7]] = T, level, upper, PUMP
    columns[2] = np.sqrt(upper) - 0.5 * np.sqrt(level)
    return with_hidden(dataset, ("w",)), [columns[:, part] for part in parts]


def form(dataset, entry):
    texts = [f"u' = {entry.format(w='v1')} + {{sentence}}", "u' = {sentence}"]
    templates = tuple(SumTemplate(text, 1, s) for s, text in enumerate(texts))
    words = tuple((s, term(text)) for s, texts in enumerate(WORDS) for text in texts)
    return Coordinates(dataset, templates, words, entry, 0)


TRUE = {
    "{w}": {(0, term("sqrt(u)")): 0.5, (1, term("1")): 0.075, (1, term("F/u")): -0.1},
    "sqrt({w})": {(0, term("sqrt(u)")): 0.5, (1, term("F")): -0.2, (1, term("sqrt(u)")): 0.15},
}


@pytest.mark.parametrize("entry", TRUE)
def test_law_is_found_along_its_curve_from_one_that_has_none_of_its_terms(tanks, entry):
    dataset, columns = tanks
    curves = Curves(dataset, columns, 0.02, Settings(order=1, grammar="systems"), np.random.default_rng(0))
    begun = {(0, term("u")): 0.1, (1, term("F*u")): 0.3}
    first, *_ = curves.guesses([form(dataset, entry)], begun, 5)
    assert first.values == pytest.approx(TRUE[entry], rel=0.03)  # on the side of the derivative
    upper = np.array([part[4, 0] for part in columns])
    assert first.start == pytest.approx(np.sqrt(upper) if entry == "{w}" else upper, rel=0.03)


@pytest.mark.parametrize("entry", ENTRIES)
def test_what_enters_tells_the_hidden_state_and_how_fast_it_changes_with_it(entry):
    w, u = np.array([0.5, 1.0, 2.0]), np.array([3.0, -1.0, 2.0])

    def entering(w):
        return {"{w}": w, "{w}*u": w * u, "sqrt({w})": np.sqrt(w)}[entry]

    found, slope = entered_by(entry, entering(w), u)
    assert found == pytest.approx(w)
    assert slope == pytest.approx((entering(w + 1e-6) - entering(w - 1e-6)) / 2e-6, rel=1e-4)


def test_no_hidden_state_has_a_negative_root():
    assert np.isnan(entered_by("sqrt({w})", np.array([-0.1]), np.array([1.0]))[0]).all()


def test_each_equation_sees_its_own_state_first(tanks):
    dataset, columns = tanks
    names, seen = seen_by(dataset, 1, columns[0])
    assert dict(zip(names, seen[:, 5], strict=True))["u"] == columns[0][4, 5]
    assert dict(zip(names, seen[:, 5], strict=True))["v1"] == columns[0][1, 5]
    assert seen[names.index("F"), 5] == PUMP[5]
