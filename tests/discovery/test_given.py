import numpy as np
import pytest
from click.testing import CliRunner

import gode
from gode.cli import main
from gode.discovery.given import GUESSES, _guesses
from gode.equation import parse_skeleton
from gode.equation.system import parse_system_values
from gode.errors import ConfigError, DataError
from gode.report.repeat import python_call
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


def test_a_guess_leads_out_of_a_wrong_minimum(tmp_path):
    t = np.linspace(0.0, 10.0, 60)
    u = np.sin(17.0 * t) + 0.01 * np.random.default_rng(0).standard_normal(60)
    law = "u' = a*cos(w*t)"
    guess = {"w": 16.83, "a": 17}
    assert abs(gode.fit(law, t, u).candidates[0].equation.constants[1]) < 12
    found = gode.fit(law, t, u, guess=guess)
    assert found.candidates[0].equation.constants == pytest.approx((17, 17), rel=0.01)
    assert "guess={'w': 16.83, 'a': 17.0}" in python_call(found)
    with pytest.raises(ConfigError, match="guess= has k, which is no constant to fit; these are a, w"):
        gode.fit(law, t, u, guess={"k": 1})
    path = tmp_path / "wave.csv"
    np.savetxt(path, np.column_stack([t, u]), delimiter=",", header="t,u", comments="")
    words = ["--guess", "w=16.83", "--guess", "a=17", "--quiet"]
    told = CliRunner().invoke(main, ["fit", law, str(path), *words])
    assert told.exit_code == 0
    assert "cos(17" in told.output


def test_a_guess_is_a_start_of_laws_with_hidden_states():
    law = ["d' = -ka*d", "c' = ka*d/V - ke*c"]
    c = 20 * (np.exp(-0.2 * T) - np.exp(-2 * T))
    options = {"doses": [("d", 0.0, 300.0)], "initial": {"c": 0}}
    found = gode.fit(law, T, {"c": c}, guess={"ka": 2, "V": 16}, **options)
    values = dict(zip(("ka", "V", "ke"), found.candidates[0].equation.constants, strict=True))
    assert values == pytest.approx({"ka": 2.0, "V": 300 * 2 / 1.8 / 20, "ke": 0.2}, rel=0.01)
    with pytest.raises(ConfigError, match="guess= has kb, which is no constant"):
        gode.fit(law, T, {"c": c}, guess={"kb": 2}, **options)


@pytest.mark.parametrize("option", ["guess", "fixed"])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_value_of_a_constant_that_is_not_finite_is_refused(option, number):
    t = np.linspace(0.0, 10.0, 40)
    with pytest.raises(ConfigError, match="value of k must be a finite number, got"):
        gode.fit("x' = -k*x", t, {"x": np.exp(-0.3 * t)}, **{option: {"k": number}})
