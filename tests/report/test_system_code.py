"""Programs of systems in the languages that cannot be run here, and the names in them."""

import re
import runpy
from dataclasses import replace

import numpy as np
import pytest

from gode.data.doses import make_doses
from gode.discovery import fit
from gode.equation import Link, System, SystemSkeleton
from gode.equation.system import parse_system_values
from gode.errors import EquationError
from gode.report.languages import code
from gode.report.program import element_names
from gode.report.record import discovery_of, record_of
from gode.report.repeat import python_call
from gode.solve import solve

ROWS = {
    "julia": "dy[{}] = {}",
    "matlab": "dy({}, 1) = {};",
}


@pytest.mark.parametrize("language", sorted(ROWS))
def test_each_state_has_its_row(language, predation, masses):
    text = code(predation, language)
    assert ROWS[language].format(1, "c1*prey + c2*prey*pred") in text
    assert ROWS[language].format(2, "c3*pred + c4*pred*prey") in text
    text = code(masses, language)
    assert ROWS[language].format(1, "x_rate") in text
    assert ROWS[language].format(3, "y_rate") in text


def test_modelica_declares_each_state_with_its_start(predation, masses):
    text = code(predation, "modelica")
    assert re.search(r"Real prey\(start = [\d.]+, fixed = true\);", text)
    assert "der(pred) = c3*pred + c4*pred*prey;" in text
    assert "der(x) = x_rate;" in code(masses, "modelica")


def test_a_shared_constant_is_one_parameter(predation):
    free = predation.candidates[0].equation
    places = [Link(0), Link(1), Link(0, -0.25), Link(2)]
    skeleton = SystemSkeleton(free.states, free.skeleton.parts, (), tuple(places))
    numbers = [free.constants[i] for i in (0, 1, 3)]
    best = replace(predation.candidates[0], equation=System(skeleton, tuple(numbers)), covariance=np.eye(3))
    tied = replace(predation, candidates=[best])
    text = code(tied, "python")
    assert "c1*prey + c2*prey*pred," in text
    assert "c3*pred - 0.25*c2*pred*prey," in text
    assert "c4" not in text


def test_names_that_mean_something_in_a_program_are_replaced():
    names = element_names(["y", "y'", "c1", "lambda", "prey", "größe"])
    assert list(names.values()) == ["state_y", "y_rate", "state_c1", "state_lambda", "prey", "gr__e"]


def test_names_that_become_equal_are_told_apart():
    assert [*element_names(["aä", "aö"]).values()] == ["a_", "a__"]


@pytest.fixture(scope="module")
def cubic():
    """x' + x'^3 = -y, y' = x - y: a state whose derivative cannot be isolated."""
    t = np.linspace(0.0, 5.0, 80)
    law = parse_system_values(["x' + x'^3 = -y", "y' = x - y"])
    values = solve(law, t, [1.0, 0.5]).values[::3].T
    values = values + 0.005 * np.random.default_rng(0).standard_normal(values.shape)
    return fit(["x' + x'^3 = C*y", "y' = C*y + C*x"], t, values, names=["x", "y"])


def test_a_derivative_that_cannot_be_isolated_makes_residuals(cubic):
    assert "r[1] = dy[1] + dy[1]^3 + c1*state_y" in code(cubic, "julia")
    assert "r(2, 1) = dy(2) + c2*state_y + c3*x;" in code(cubic, "matlab")
    assert "der(x) + der(x)^3 + c1*state_y = 0;" in code(cubic, "modelica")
    with pytest.raises(EquationError, match="cannot be solved for its highest derivative"):
        code(cubic, "python")


def test_one_state_with_two_inputs_is_exported_recorded_and_repeated(tmp_path):
    t = np.linspace(0.0, 20.0, 100)
    force = {"F": np.sin(t), "G": np.cos(2.3 * t)}
    law = parse_system_values(["u' = -u + 2*F + 0.5*G"], inputs=("F", "G"))
    u = solve(law, t, [1.0], inputs=force).u + 0.01 * np.random.default_rng(0).standard_normal(100)
    found = fit("u' = C*u + C*F + C*v1", t, u, force=force)
    path = tmp_path / "model.py"
    path.write_text(found.export("python"), encoding="utf-8")
    again = runpy.run_path(str(path))["simulate"](t)
    assert np.allclose(again[0], found.simulate().u, atol=1e-4)
    assert str(discovery_of(record_of(found)).equation) == str(found.equation)
    assert "force={'F': F, 'G': G}" in python_call(found)
    assert found.linearise(force={"F": 1.0}).equilibrium[0] == pytest.approx(2.0, abs=0.05)


def test_python_program_gives_the_doses_of_the_data(tmp_path):
    t = np.linspace(0.5, 48.0, 50)
    rows = [("d", 0.0, 300.0), ("d", 12.0, 200.0), ("c", 20.0, 6.0, 3.0)]
    law = ["d' = -1.2*d", "c' = 0.06*d - 0.15*c"]
    doses = make_doses(rows, ("d", "c"), "")
    clean = solve(parse_system_values(law), np.append(0.0, t), [0.0, 0.0], doses=doses)["c"][1:]
    measured = clean + 0.05 * np.random.default_rng(0).standard_normal(len(t))
    texts = ["d' = -ka*d", "c' = ka*d/V - ke*c"]
    found = fit(texts, t, {"c": measured}, doses=rows, initial={"c": 0.0})
    path = tmp_path / "model.py"
    path.write_text(found.export("python"))
    program = runpy.run_path(str(path))
    at = np.linspace(0.0, 48.0, 97)
    assert np.allclose(program["simulate"](at), found.simulate(at).values[[0, 3]], atol=1e-5)
    later = [(12.0, 0, 10.0), (99.0, 0, 1e6)]
    other = found.simulate(at, doses=[("d", 12.0, 10.0)]).values[[0, 3]]
    assert np.allclose(program["simulate"](at, doses=later, input_infusion_c=np.zeros_like), other, atol=1e-5)
