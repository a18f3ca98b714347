"""Hard dynamics: stiff, exploding, chaotic, discontinuous, nothing at all. A sound result or one sentence."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import gode
from gode import Discovery
from robust_cases import PLAIN, flaw, outcome


def solved(rhs, initial, end, n):
    t = np.linspace(0.0, end, n)
    return t, solve_ivp(rhs, (0.0, end), initial, t_eval=t, method="LSODA", rtol=1e-8, atol=1e-10).y[0]


def stiff():
    """A relaxation oscillator: slow for long, then a jump."""
    return solved(lambda t, y: [y[1], 40 * (1 - y[0] ** 2) * y[1] - y[0]], (2.0, 0.0), 100.0, 80)


def fast_layer():
    """All that happens is over after two of eighty points."""
    t = np.linspace(0.0, 10.0, 80)
    return t, np.exp(-20 * t)


def exploding():
    """u' = u^2 up to just before it has no value."""
    t = np.linspace(0.0, 0.999, 60)
    return t, 1 / (1 - t)


def growing_by_forty_decades():
    t = np.linspace(0.0, 1.0, 60)
    return t, np.exp(92 * t)


def chaotic():
    """The first coordinate of the Lorenz equations, which has no equation of its own."""

    def rhs(t, y):
        return [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]]

    return solved(rhs, (1.0, 1.0, 1.0), 12.0, 120)


def square_wave():
    t = np.linspace(0.0, 10.0, 80)
    return t, np.sign(np.sin(1.5 * t + 0.1))


def step():
    t = np.linspace(0.0, 10.0, 60)
    return t, np.where(t > 4, 1.0, 0.0)


def saw():
    t = np.linspace(0.0, 10.0, 60)
    return t, t % 2.3


def one_outlier():
    t = np.linspace(0.0, 10.0, 60)
    return t, np.where(np.arange(60) == 30, 1e6, np.exp(-t))


def five_points():
    return np.arange(5.0), np.array([1.0, 2.0, 4.0, 8.0, 16.0])


def one_gap():
    """Two bursts of points, far apart."""
    t = np.concatenate([np.linspace(0.0, 1.0, 15), np.linspace(1e5, 1e5 + 1, 15)])
    return t, np.cos(t)


HARD = (  # the first five stand for all in the fast tests
    stiff,
    exploding,
    square_wave,
    one_outlier,
    one_gap,
    fast_layer,
    growing_by_forty_decades,
    chaotic,
    step,
    saw,
    five_points,
)


def asked(series, order, *, plain):
    t, u = series
    small = (
        {"grammar": {1: "first-order", 2: "second-order"}[order], "without": PLAIN[order]} if plain else {}
    )
    return outcome({"t": t, "u": u, "order": order, "effort": "quick", **small})


@pytest.mark.parametrize("make", HARD[:5], ids=lambda make: make.__name__)
def test_hard_dynamics_give_a_sound_result_or_one_sentence(make):
    assert flaw(asked(make(), 1, plain=True)) is None


@pytest.mark.slow
@pytest.mark.parametrize("make", HARD[5:], ids=lambda make: make.__name__)
def test_other_hard_dynamics_give_a_sound_result_or_one_sentence(make):
    assert flaw(asked(make(), 1, plain=True)) is None


@pytest.mark.slow
@pytest.mark.parametrize("make", HARD, ids=lambda make: make.__name__)
def test_hard_dynamics_of_second_order_in_the_whole_grammar(make):
    assert flaw(asked(make(), 2, plain=False)) is None


def test_what_explodes_is_found_all_the_same():
    found = asked(exploding(), 1, plain=True)
    assert isinstance(found, Discovery)
    assert np.allclose(found.simulate().u, exploding()[1], rtol=0.05)


def level(rng):
    return np.full(60, 4.2)


def nothing(rng):
    return np.zeros(60)


def line(rng):
    return 3.0 - 0.5 * np.linspace(0.0, 10.0, 60)


def noisy_level(rng):
    return 4.2 + 0.3 * rng.standard_normal(60)


def noisy_line(rng):
    return line(rng) + 0.3 * rng.standard_normal(60)


@pytest.mark.parametrize("order", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "make", [level, nothing, line, noisy_level, noisy_line], ids=lambda make: make.__name__
)
def test_a_constant_supports_no_equation_and_a_straight_line_a_constant_rate(make, order, rng):
    found = asked((np.linspace(0.0, 10.0, 60), make(rng)), order, plain=True)
    assert flaw(found) is None
    if order == 1 and make in (line, noisy_line):
        assert str(found.equation.law.skeleton) == "u' = C"
        assert found.supported
    else:
        assert str(found).startswith("no equation is supported by these data")


def test_the_law_of_a_motor_is_fitted_to_the_first_part_of_its_record():
    a, b = np.array([[-2000.0, -100.0], [500.0, -1.0]]), np.array([2000.0, 0.0])
    t = 1e-3 * np.arange(400)
    volts = np.where(np.arange(400) // 100 % 2, 6.0, 12.0)
    step = expm(1e-3 * np.block([[a, b[:, None]], [np.zeros((1, 3))]]))[:2]
    x = np.zeros((400, 2))
    for i in range(1, 400):
        x[i] = step @ [*x[i - 1], volts[i - 1]]
    x += 0.02 * x.std(axis=0) * np.random.default_rng(0).standard_normal(x.shape)
    law = ["i' = a*i + b*w + c*V", "w' = d*i + e*w"]
    found = gode.fit(law, t, {"i": x[:, 0], "w": x[:, 1]}, force={"V": volts}, hold=True)
    constants = {each.name: each.value for each in found.equation.constants}
    assert constants["d"] == pytest.approx(500.0, rel=0.1)
    assert constants["a"] == pytest.approx(-2000.0, rel=0.1)
