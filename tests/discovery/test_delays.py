"""Laws on which a known input acts some time after it was recorded."""

import io
import re
import runpy
import shutil
import subprocess
from contextlib import redirect_stdout

import numpy as np
import pytest

import gode
from gode.cli.results import print_constants
from gode.data import Interpolation, Samples
from gode.equation.system import parse_system_values
from gode.errors import ConfigError, DataError, EquationError
from gode.report.repeat import command, python_call
from gode.solve import SolveConfig, solve

COMPILER = shutil.which("gcc") or shutil.which("cc")
T = np.linspace(0.0, 40.0, 401)
FEW = dict(effort="quick", without=["log", "exp", "sin", "cos", "/", "^", "t"])
FINE = SolveConfig(rtol=1e-9)
WAVES = np.sin(0.7 * T) + 0.5 * np.sin(1.9 * T)
LATE = parse_system_values(["x' = -0.5*x + F(t - 2.3)"], inputs=("F",))
NOW = parse_system_values(["x' = -0.5*x + F"], inputs=("F",))


def shifted(samples, by):
    """The same input, recorded later; before that it is as at its start."""
    t, values = np.append(samples.t[0], samples.t + by), np.append(samples.values[0], samples.values)
    return Samples(t, values, samples.interpolation)


@pytest.mark.parametrize("how", [Interpolation.LINEAR, Interpolation.HOLD])
def test_delayed_input_is_one_that_was_recorded_later(how):
    given = Samples(T, WAVES if how is Interpolation.LINEAR else np.sign(WAVES), how)
    late = solve(LATE, T, [0.3], inputs={"F": given}, config=FINE)
    now = solve(NOW, T, [0.3], inputs={"F": shifted(given, 2.3)}, config=FINE)
    assert late.failure is None
    assert np.allclose(late["x"], now["x"], atol=1e-6)


def test_formula_of_an_input_is_delayed_by_its_time():
    late = solve(LATE, T, [0.3], inputs={"F": "sin(t)"}, config=FINE)
    now = solve(NOW, T, [0.3], inputs={"F": "sin(t - 2.3)"}, config=FINE)
    assert np.allclose(late["x"], now["x"], atol=1e-8)


@pytest.mark.parametrize("how", [Interpolation.CUBIC, Interpolation.HOLD])
def test_sensitivity_in_a_delay_is_that_of_differences(how):
    values = WAVES if how is Interpolation.CUBIC else np.sign(WAVES)
    t = np.linspace(0.013, 39.987, 97)  # not the times of jumps, where the sensitivity jumps
    given = {"F": Samples(T, values, how)}
    place = int(np.argmin(np.abs(np.array(LATE.constants) - 2.3)))
    found = solve(LATE, t, [0.3], inputs=given, sensitivities=True, config=FINE)
    step = 1e-5 * np.eye(2)[place]
    up, down = (
        solve(type(LATE)(LATE.skeleton, tuple(LATE.constants + s)), t, [0.3], inputs=given, config=FINE)["x"]
        for s in (step, -step)
    )
    slopes = (up - down) / 2e-5
    assert np.abs(found.sensitivities[place, 0] - slopes).max() < 2e-3 * np.abs(slopes).max()


@pytest.fixture(scope="module")
def late():
    switched = np.sign(WAVES)
    clean = solve(LATE, T, [0.0], inputs={"F": Samples(T, switched, Interpolation.HOLD)}, config=FINE)["x"]
    noisy = clean + 0.03 * np.std(clean) * np.random.default_rng(0).standard_normal(len(T))
    return gode.fit("x' = -k*x + g*F(t - tau)", T, {"x": noisy}, force={"F": switched}, hold=True)


def test_delay_is_fitted_with_its_error(late):
    constants = {c.place: c for c in late.equation.constants}
    for name, value in {"k": 0.5, "g": 1.0, "tau": 2.3}.items():
        assert abs(constants[name].value - value) < 4 * constants[name].error
    assert 0 < constants["tau"].error < 0.05


def test_law_with_a_delay_is_recorded_and_reported(late, tmp_path):
    assert "F(t - 2.3" in str(late.equation)
    late.save(tmp_path / "record.json")
    again = gode.load(tmp_path / "record.json")
    assert str(again.equation) == str(late.equation)
    assert np.allclose(again.simulate(T)["x"], late.simulate(T)["x"])
    late.report(tmp_path / "report.html")


SMOOTH = {"samples": WAVES, "formula": "sin(0.7*t) + 0.5*sin(1.9*t)"}


@pytest.fixture(scope="module", params=["held", *SMOOTH])
def exported(request, late):
    """A law with a late input that is held, joined by a spline, or a formula."""
    if request.param == "held":
        return late
    force = {"F": SMOOTH[request.param]}
    clean = solve(LATE, T, [0.0], inputs=force, config=FINE)["x"]
    return gode.fit("x' = -k*x + g*F(t - tau)", T, {"x": clean}, force=force, bounds={"tau": (2, 3)})


def rows_of(text):
    return np.array([[float(x) for x in line.split(",")] for line in text.splitlines()])


def test_a_python_program_reads_the_late_input(exported, tmp_path):
    (tmp_path / "model.py").write_text(exported.export("python"), encoding="utf-8")
    with redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(str(tmp_path / "model.py"), run_name="__main__")
    t, x = rows_of(printed.getvalue()).T
    assert np.allclose(x, exported.simulate(t)["x"], atol=1e-4)


@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
def test_a_c_program_reads_the_late_input(exported, tmp_path):
    (tmp_path / "model.c").write_text(exported.export("c"), encoding="utf-8")
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2"]
    subprocess.run([COMPILER, *strict, tmp_path / "model.c", "-lm", "-o", tmp_path / "model"], check=True)
    done = subprocess.run([tmp_path / "model"], capture_output=True, text=True, check=True)
    t, x = rows_of(done.stdout).T
    assert np.allclose(x, exported.simulate(t)["x"], atol=1e-4)


@pytest.mark.parametrize("language", ["julia", "matlab", "modelica", "r", "rxode2", "sbml"])
def test_programs_say_which_input_is_late(late, language):
    text = late.export(language)
    assert re.search(r"input_F_late is F\(t - 2\.3\d+ \+- 0\.\d+\)", text)
    assert not re.search(r"\bforce\b *\(?t?\)? *[*=]", text)  # nothing reads the input as it is now


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x' = -k*x + F(t + tau)", "F of a later time is not known yet"),
        ("x' = -k*x + F(t - 2*tau)", r"expected '\)' after F\(t - ..."),
        ("x' = -k*x'(t - 1) + F", "a state may be delayed, its derivatives not"),
        ("x' = -k*x + F(t - k*tau)", r"expected '\)' after F\(t - ..."),
    ],
)
def test_delays_that_make_no_sense_are_refused_with_a_caret(text, message):
    with pytest.raises(EquationError, match=message) as caught:
        gode.fit(text, T, {"x": WAVES}, force={"F": WAVES})
    assert "^" in str(caught.value)


def test_negative_delay_is_refused():
    with pytest.raises(ConfigError, match="tau is fixed at -1, outside of its bounds 0 to inf"):
        gode.fit("x' = -k*x + F(t - tau)", T, {"x": WAVES}, force={"F": WAVES}, fixed={"tau": -1})


def driven(law, switches, noise=0.03, seed=1):
    """A law driven by a random switch that is held, with noise."""
    rng = np.random.default_rng(seed)
    valve = np.repeat(rng.choice([-1.0, 1.0], 31), 10)[:301]
    t = 0.2 * np.arange(301)
    clean = solve(law, t, [0.0] * law.skeleton.order, inputs={"F": Samples(t, valve, Interpolation.HOLD)})[
        "x"
    ]
    return t, clean + noise * np.std(clean) * rng.standard_normal(301), valve


@pytest.fixture(scope="module")
def sought():
    t, x, valve = driven(LATE, 10)
    return gode.discover(t, x, force=valve, delay="auto", units={"t": "min"}, **FEW)


@pytest.mark.slow
def test_search_finds_a_late_input_where_the_residuals_suggest_it(sought):
    (tau,) = (c for c in sought.equation.constants if c.place == "tau")
    assert tau.value == pytest.approx(2.3, rel=0.02)
    assert 0 < tau.error < 0.05
    assert tau.unit == "min"
    assert re.fullmatch(r"u' = -0\.[45]\d+\*u \+ \S+\*F\(t - 2\.\d+\)", str(sought.equation))
    assert any("late input explains the data better" in each for each in sought.remarks)


@pytest.mark.slow
def test_a_late_input_that_was_found_is_printed_without_the_place_of_a_frame(sought, capsys):
    print_constants(sought)
    assert "\n\n\n" not in capsys.readouterr().out


@pytest.mark.slow
def test_search_for_a_late_input_is_repeated_and_recorded(sought, tmp_path):
    assert "delay='input'" in python_call(sought)
    assert "--delay input" in command(sought)
    sought.save(tmp_path / "record.json")
    assert str(gode.load(tmp_path / "record.json").equation) == str(sought.equation)


@pytest.mark.slow
@pytest.mark.parametrize("delay", ["auto", "input"])
def test_no_delay_is_told_of_an_input_that_acts_at_once(delay):
    t, x, valve = driven(NOW, 10)
    found = gode.discover(t, x, force=valve, delay=delay, **FEW)
    assert "F(t -" not in str(found.equation)


def test_a_delay_without_an_input_is_refused_with_a_caret():
    with pytest.raises(ConfigError, match=r"no input was given that could be late[\s\S]*\^"):
        gode.discover(T, WAVES, delay="input")


@pytest.mark.parametrize("delay", ["auto", "input"])
def test_a_delay_among_states_without_an_input_is_refused_with_the_flags_that_name_one(delay):
    with pytest.raises(ConfigError, match=r"--u co2 --force gas on the command[\s\S]*\^"):
        gode.discover(T, {"co2": WAVES, "gas": 1 + WAVES}, delay=delay)


def test_an_unknown_kind_of_delay_is_refused():
    with pytest.raises(ConfigError, match="delay must be one of input, state, auto, got 3"):
        gode.discover(T, WAVES, force=WAVES, delay=3)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("x' = -k*x + F(t - 50)", {"force": {"F": WAVES}}, "F is late by 50, longer than the record of 40"),
        ("x' = -k*x + F(t - tau)", {"force": {"F": WAVES}, "fixed": {"tau": 41}}, "late by 41, longer than"),
        ("x' = -k*x + F(t - tau)", {}, "F is delayed, but no such input was given"),
        ("x' = -k*x(t - 50)", {}, "x is late by 50, longer than the record of 40"),
    ],
)
def test_delays_that_the_record_cannot_hold_are_refused_with_a_caret(text, options, message):
    with pytest.raises(DataError, match=message) as caught:
        gode.fit(text, T, {"x": WAVES}, **options)
    assert "^" in str(caught.value)


@pytest.fixture(scope="module")
def late_growth():
    law = parse_system_values(["n' = 0.8*n*(1 - n(t - 1.5)/3)"])
    t = np.linspace(0.0, 40.0, 201)
    clean = solve(law, t, [0.5], config=FINE)["n"]
    noisy = clean + 0.03 * np.std(clean) * np.random.default_rng(0).standard_normal(201)
    return t, gode.fit("n' = r*n*(1 - n(t - tau)/K)", t, {"n": noisy}, units={"t": "d"})


def test_a_delayed_state_is_fitted_with_its_error(late_growth):
    _, found = late_growth
    constants = {c.place: c for c in found.equation.constants}
    for name, value in {"r": 0.8, "K": 3.0, "tau": 1.5}.items():
        assert abs(constants[name].value - value) < 4 * constants[name].error
    assert constants["tau"].unit == "d"


def test_a_law_with_a_delayed_state_is_recorded_and_reported(late_growth, tmp_path):
    t, found = late_growth
    found.save(tmp_path / "record.json")
    again = gode.load(tmp_path / "record.json")
    assert np.allclose(again.simulate(t)["n"], found.simulate(t)["n"])
    found.report(tmp_path / "report.html")
    assert "not told of laws in which states act late" in (tmp_path / "report.html").read_text()
    with pytest.raises(EquationError, match="no linear model of finite order"):
        found.linearise()


@pytest.mark.slow
def test_search_finds_a_state_that_acts_late(late_growth):
    t, fitted = late_growth
    (run,) = fitted.prepared.dataset.runs
    found = gode.discover(t, run.observed[0], delay="state", **FEW)
    (tau,) = (c for c in found.equation.constants if c.place == "tau")
    assert tau.value == pytest.approx(1.5, rel=0.02)
    assert re.fullmatch(r"u' = 0\.\d+\*u - 0\.2\d+\*u\(t - 1\.\d+\)\*u", str(found.equation))
    assert "delay='state'" in python_call(found)


def test_a_late_state_is_sought_where_there_is_nothing_else():
    with pytest.raises(ConfigError, match=r"one state and no input[\s\S]*\^"):
        gode.discover(T, WAVES, force=WAVES, delay="state")


@pytest.mark.slow
def test_a_delay_is_fitted_where_small_changes_grow():
    law = parse_system_values(["u' = 0.2*u(t - 21.4)/(1 + u(t - 21.4)^10) - 0.1*u"])
    t = np.linspace(0.0, 300.0, 301)
    clean = solve(law, t, [0.9], config=FINE)["u"]
    noisy = clean + 0.03 * np.std(clean) * np.random.default_rng(1).standard_normal(301)
    found = gode.fit("u' = b*u(t - tau)/(1 + u(t - tau)^10) - g*u", t, noisy)
    (tau,) = (c for c in found.equation.constants if c.place == "tau")
    assert tau.value == pytest.approx(21.4, rel=0.05)
