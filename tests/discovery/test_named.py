"""fit() with named, fixed, bounded and tied constants."""

import numpy as np
import pytest

import gode

T = np.linspace(0, 10, 60)
U = 500 / (1 + 9 * np.exp(-0.8 * T)) + 5 * np.random.default_rng(0).standard_normal(60)
LOGISTIC = "u' = r*u*(1 - u/K)"


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
    assert bounded.equation.constants[1].value == 480
