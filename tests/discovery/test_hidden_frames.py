"""Frames with unknown functions, some of whose states no column measures."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gode
from gode.report.repeat import command

HOURS = np.linspace(0.0, 24.0, 50)
TABLET = ["c' = f(d) - ke*c", "d' = -ka*d"]


def solved(right, start, t, **options):
    return solve_ivp(right, (0.0, t[-1]), start, t_eval=t, rtol=1e-8, atol=1e-10, **options).y


def noisy(clean, rng, share=0.03):
    return clean + share * np.std(clean) * rng.standard_normal(len(clean))


@pytest.fixture(scope="module")
def tablet():
    """A tablet of which the share in the stomach is not measured: 9 d enters, ka = 1, ke = 0.12."""
    clean = solved(lambda t, y: [9 * y[1] - 0.12 * y[0], -y[1]], [0.0, 1.0], HOURS)[0]
    blood = noisy(clean, np.random.default_rng(3))
    return gode.discover(HOURS, {"c": blood}, frame=TABLET, initial={"d": 1}, effort="quick")


def test_unknown_function_of_a_hidden_state_is_found(tablet):
    assert tablet.quality.verdict == "good"
    assert [*tablet.equation.functions] == ["f"]
    constants = {each.place: each for each in tablet.equation.constants}
    assert tablet.equation.functions["f"].endswith("*d")
    for name, true in {"ka": 1.0, "ke": 0.12}.items():
        assert abs(constants[name].value - true) < 4 * constants[name].error


def test_result_is_kept_and_repeated(tablet, tmp_path):
    tablet.save(tmp_path / "record.json")
    again = gode.load(tmp_path / "record.json")
    assert again.equation.functions == tablet.equation.functions
    assert "d'" in tablet.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "--frame" in command(tablet)


def test_start_of_a_hidden_state_that_has_a_name_is_not_held_at_zero():
    t = np.linspace(0.0, 20.0, 50)
    clean = solved(lambda t, y: [(0.002 * y[1] - 0.5) * y[0], -0.002 * y[0] * y[1]], [3.0, 760.0], t)[0]
    infected = noisy(clean, np.random.default_rng(5))
    frame = ["I' = f(S, I) - g*I", "S' = -f(S, I)"]
    found = gode.discover(t, {"I": infected}, frame=frame, effort="quick")
    assert found.equation.functions["f"].endswith("I*S")
    assert found.candidates[0].initial[0, 1] == pytest.approx(760.0, rel=0.1)


@pytest.mark.slow
def test_runs_with_inputs_share_the_unknown_function():
    rng, t = np.random.default_rng(7), np.linspace(0.0, 24.0, 50)
    levels, pumps = [], []
    for run in range(3):
        pump = np.repeat(rng.uniform(0.0, 3.0, 5), 10)

        def right(time, y, pump=pump):
            flow = pump[min(int(np.searchsorted(t, time + 1e-12, side="right")) - 1, len(t) - 1)]
            return [0.5 * y[1] - 0.3 * y[0], flow - 0.4 * y[1] - 0.1 * y[1] ** 2]

        levels.append(noisy(solved(right, [1.0 + run, 1.0], t, max_step=0.2)[0], rng))
        pumps.append(pump)
    frame = ["c' = k*d - ke*c", "d' = F - f(d)"]
    found = gode.discover([t] * 3, {"c": levels}, frame=frame, force=pumps, hold=True)
    assert found.quality.verdict == "good"
    assert set(found.candidates[0].equation.skeleton.functions[0].arguments) == {"u"}
    assert "d^2" in found.equation.functions["f"]


@pytest.mark.slow
def test_hysteresis_is_found_from_the_motion_alone():
    t, rng = np.linspace(0.0, 60.0, 400), np.random.default_rng(4)
    push = np.repeat(rng.uniform(-2.0, 2.0, 20), 20)

    def right(time, y):
        force = push[min(int(np.searchsorted(t, time + 1e-12, side="right")) - 1, len(t) - 1)]
        drag = 1.5 * y[1] - abs(y[1]) * y[2] - 0.6 * y[1] * abs(y[2])
        return [y[1], force - 0.3 * y[1] - y[0] - y[2], drag]

    place = noisy(solved(right, [0.0, 0.0, 0.0], t, max_step=0.15)[0], rng)
    frame = ["x'' = F - c*x' - k*x - z", "z' = f(x', z)"]
    found = gode.discover(t, {"x": place}, frame=frame, force=push, hold=True, initial={"z": 0})
    assert found.quality.verdict == "good"
    assert "abs" in found.equation.functions["f"]
