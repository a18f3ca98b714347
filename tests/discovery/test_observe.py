"""Laws whose measured columns are formulas of their states."""

import numpy as np
import pytest
from click.testing import CliRunner

import gode
from gode.cli import main
from gode.equation.system import moving_law, parse_system_values
from gode.errors import ConfigError, DataError, EquationError
from gode.solve import SolveConfig, solve

T = np.linspace(0.0, 10.0, 60)
CHAIN = ["a' = -k*a", "b' = k*a - m*b"]
FORMULA = {"signal": "2*(a + b) + offset"}


def chain(k=0.5, m=0.2):
    a = 5 * np.exp(-k * T)
    b = 5 * k / (k - m) * (np.exp(-m * T) - np.exp(-k * T))
    return 2 * (a + b) + 1 + 0.05 * np.random.default_rng(1).standard_normal(len(T))


@pytest.fixture(scope="module")
def sum_of_two():
    bounds = {"k": (0.3, None)}
    return gode.fit(
        CHAIN, T, {"signal": chain()}, observe=FORMULA, initial={"a": 5.0, "b": 0.0}, bounds=bounds
    )


def test_constants_of_states_and_formula_are_found(sum_of_two):
    truth = {"k": 0.5, "m": 0.2, "offset": 1.0}
    found = {c.place: c for c in sum_of_two.equation.constants}
    assert all(abs(found[name].value - x) < 4 * found[name].error for name, x in truth.items())
    assert sum_of_two.quality.verdict == "good"


def test_residuals_and_noise_are_those_of_the_measured_column(sum_of_two):
    assert [channel.name for channel in sum_of_two.quality.channels] == ["signal"]
    assert sum_of_two.quality.channels[0].rms == pytest.approx(0.05, rel=0.3)
    assert sum_of_two.predict(T)["signal"].u == pytest.approx(sum_of_two.simulate(T)["signal"])


def test_law_is_written_read_back_and_reported_with_its_formula(sum_of_two, tmp_path):
    assert str(sum_of_two.equation).splitlines()[2].startswith("signal = 2*a + 2*b")
    sum_of_two.save(tmp_path / "record.json")
    assert str(gode.load(tmp_path / "record.json").equation) == str(sum_of_two.equation)
    assert "signal" in sum_of_two.report(tmp_path / "report.html").read_text(encoding="utf-8")


def test_program_has_the_states_and_what_is_measured(sum_of_two):
    assert "def observe(t, y):" in sum_of_two.export("python")


def test_acceleration_of_a_floor_is_that_of_the_mass_and_of_the_ground():
    t = np.linspace(0.0, 20.0, 400)
    ground = np.sin(1.3 * t)
    truth = parse_system_values(["x'' = -F - 0.2*x' - 4*x", "y' = 0"], inputs=("F",))
    moved = solve(truth, t, [0.0, 0.0, 0.0], inputs={"F": ground}, config=SolveConfig(rtol=1e-9))
    floor = moved["x''"] + ground + 0.02 * np.random.default_rng(0).standard_normal(len(t))
    found = gode.fit(
        "x'' = -F - c*x' - k*x", t, {"floor": floor}, force={"F": ground}, observe={"floor": "x'' + F"},
        initial={"x": [0.0, 0.0]},
    )  # fmt: skip
    constants = {c.place: c for c in found.equation.constants}
    assert abs(constants["c"].value - 0.2) < 4 * constants["c"].error
    assert abs(constants["k"].value - 4.0) < 4 * constants["k"].error


def test_sensitivities_pass_through_a_formula():
    law = parse_system_values(["a' = -0.5*a", "s = 2*log(a) + 0.3*a"])
    found = solve(law, T, [5.0], sensitivities=True, config=SolveConfig(rtol=1e-9))
    assert np.allclose(found["s"], 2 * np.log(found["a"]) + 0.3 * found["a"])
    for place in range(3):
        step = 1e-6 * np.eye(3)[place]
        up, down = (
            solve(type(law)(law.skeleton, tuple(law.constants + s)), T, [5.0], config=SolveConfig(rtol=1e-9))
            for s in (step, -step)
        )
        assert np.allclose((up["s"] - down["s"]) / 2e-6, found.sensitivities[place, 3], atol=1e-5)


def test_formula_on_the_command_line(tmp_path):
    path = tmp_path / "signal.csv"
    path.write_text("t,signal\n" + "".join(f"{t:.6g},{y:.6g}\n" for t, y in zip(T, chain(), strict=True)))
    words = ["fit", "a' = -k*a; b' = k*a - m*b", str(path), "--observe", "signal = 2*(a + b) + offset"]
    done = CliRunner().invoke(main, [*words, "--initial", "a=5,b=0", "--bounds", "k=0.3:", "--quiet"])
    assert done.exit_code == 0, done.output
    assert "signal = 2*a + 2*b + 1.0" in done.output


def test_equations_without_formulas_are_what_moves():
    law = parse_system_values(["a' = -0.5*a + F", "s = 2*a"], inputs=("F",))
    assert str(moving_law(law)) == "a' = F - 0.5*a"


@pytest.mark.parametrize(
    ("observe", "kind", "message"),
    [
        ({"signal": "2*(a + b"}, EquationError, r"expected '\)' to close the parenthesis"),
        ({"signal": "foo(a)"}, EquationError, r"foo\(...\) is an unknown function"),
        ({"signal": "signal + a"}, EquationError, "signal stands on both sides"),
        ({"signal": "g*z + o"}, EquationError, r"does not hold any of the states a, b[\s\S]*\n {11}\^"),
        ({"level": "a + b"}, DataError, "the data hold 'signal', but the equations are those of a, b, level"),
    ],
)
def test_formulas_that_make_no_sense_are_refused(observe, kind, message):
    with pytest.raises(kind, match=message):
        gode.fit(CHAIN, T, {"signal": chain()}, observe=observe)


def test_what_is_measured_stands_in_no_equation():
    with pytest.raises(EquationError, match="signal is what is measured, by its formula"):
        gode.fit(["a' = -k*a*signal", "b' = k*a - m*b"], T, {"signal": chain()}, observe=FORMULA)


def test_formula_needs_equations():
    with pytest.raises(ConfigError, match="the equations of its states are missing"):
        gode.discover(T, {"signal": chain()}, observe=FORMULA)


def test_causes_are_sought_where_constants_of_a_formula_have_names():
    seen = (
        3 * np.exp(-0.5 * T) + 0.2 * np.sin(3 * T) + 0.01 * np.random.default_rng(2).standard_normal(len(T))
    )
    found = gode.fit("a' = -k*a", T, {"signal": seen}, observe={"signal": "s*a + b"}, initial={"a": 1.0})
    assert found.quality.verdict != "good"
