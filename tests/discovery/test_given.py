import numpy as np
import pytest

import gode
from gode.discovery.given import GUESSES, _guesses
from gode.equation import parse_skeleton
from gode.equation.system import parse_system_values
from gode.errors import DataError
from gode.solve import solve

T = np.linspace(0.0, 8.0, 60)


def test_an_equation_that_cannot_be_fitted_gets_a_sentence():
    with pytest.raises(DataError, match=r"u' = C\*log\(u\) cannot be fitted to these data: "):
        gode.fit("u' = C*log(u)", T, -1.0 - T)


def test_guesses_lie_about_one_with_either_sign_and_are_always_the_same():
    skeleton = parse_skeleton("u' = C*u + C*u^C")
    values = np.array([e.constants for e in _guesses(skeleton)])
    assert values.shape == (GUESSES, 3)
    assert np.all((np.abs(values) >= 0.3) & (np.abs(values) <= 2.0))
    assert 0.3 < np.mean(values > 0) < 0.7
    assert values.tolist() == [list(e.constants) for e in _guesses(skeleton)]


def test_the_fit_is_to_the_whole_of_a_long_record():
    t = np.linspace(0.0, 100.0, 1000)
    found = gode.fit("u'' = C*u", t, np.cos(2 * t), initial=[1.0, 0.0])
    assert found.prepared.target is not found.prepared.whole
    assert found.candidates[0].n_values == found.prepared.whole.dataset.n_observed
    assert found.equation.constants[0].value == pytest.approx(-4.0, rel=1e-6)


def test_a_system_is_fitted_though_one_equation_diverges_with_the_other_state_given():
    true = parse_system_values(["x' = 0.24 - x + x^2*y", "y' = 1.43 - x^2*y"])
    t = np.linspace(0.0, 10.0, 150)
    clean = solve(true, t, [0.14, 0.6]).values[[0, 3]].T
    x = clean * (1 + 0.05 * np.random.default_rng([1, 50]).standard_normal(clean.shape))
    found = gode.fit(["x' = C + C*x + C*x^2*y", "y' = C + C*x^2*y"], t, x).equation
    known = {"1": 0.24, "x": -1.0, "x^2*y": 1.0}
    assert all(c.value == pytest.approx(known[c.place], abs=0.1) for c in found["x"].constants)
