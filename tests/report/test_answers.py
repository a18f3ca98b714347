import re
from dataclasses import replace

import numpy as np
import pytest

from gode.discovery import fit
from gode.report.naming import Value


def holds(value, truth):
    return abs(value.value - truth) < 4 * value.error


def test_pendulum_has_its_frequency_damping_and_saddles(pendulum):
    found = pendulum.answers()
    assert [round(e.values[0].value, 3) for e in found.equilibria] == [-3.142, 0.0, 3.142]
    low, rest, high = found.equilibria
    (swing,) = rest.modes
    assert holds(swing.frequency, 2.0)
    assert holds(swing.damping, 0.05)
    assert rest.stability == "stable (a spiral)"
    assert rest.observed
    assert low.stability == high.stability == "unstable (a saddle)"
    assert not high.observed
    assert holds(high.modes[0].time_constant, 1 / (-0.1 + np.sqrt(0.01 + 4)))
    assert found.gain > 3
    assert "times as large" in str(found)


def test_growth_has_two_equilibria_and_their_time_constants(growth):
    rest, full = growth.answers().equilibria
    assert (rest.stability, full.stability) == ("unstable", "stable")
    assert holds(full.values[0], 0.62 / 0.053913)
    (decay,) = full.modes
    assert holds(decay.time_constant, 1 / 0.62)
    assert decay.frequency is None


def test_error_bars_agree_with_drawing_the_constants(pendulum, rng):
    constants = pendulum.equation.constants
    drawn = rng.multivariate_normal([c.value for c in constants], pendulum.equation.covariance, 4000)
    frequencies = np.sqrt(-drawn[:, [c.place for c in constants].index("sin(u)")])
    rest = pendulum.answers().equilibria[1]
    assert rest.modes[0].frequency.error == pytest.approx(np.std(frequencies), rel=0.1)


def test_equations_that_change_with_time_have_none(rng):
    t = np.linspace(0.0, 6.0, 60)
    u = np.exp(-t) + np.sin(2 * t) + 0.01 * rng.standard_normal(60)
    found = fit("u' = C*u + C*sin(2*t) + C*cos(2*t)", t, u).answers()
    assert found.equilibria == ()
    assert found.notes == (
        "The equation changes with time, so it has no equilibria.",
        "The equation is linear itself.",
    )


def test_the_linear_model_may_use_the_force(duffing, driven):
    found = duffing.answers()
    assert "F" in found.linear
    assert found.gain > 5
    assert "Equilibria are those without the force." in found.notes
    assert driven.answers().gain is None


def test_implicit_equation_has_its_equilibrium(implicit):
    (only,) = implicit.answers().equilibria
    assert holds(only.values[0], 1.0)


def test_values_are_written_with_their_errors():
    assert str(Value(1.23456, 0.012)) == "1.235 ± 0.012"
    assert str(Value(2.0, 0.0)) == "2"
    assert str(Value(1e-17, 0.01)) == "0 ± 0.01"


def test_no_equation_that_was_tried_beats_the_best_linear_model_if_it_is_linear(growth):
    linear = next(c for c in growth.candidates if str(c.equation.skeleton) == "u' = C*u + C")
    better = replace(growth, candidates=[*growth.candidates, replace(linear, rms=0.5 * linear.rms)])
    assert better.answers().gain == pytest.approx(0.5 * linear.rms / growth.candidates[0].rms)
    assert growth.answers().gain <= linear.rms / growth.candidates[0].rms * (1 + 1e-9)


def test_frequencies_are_also_in_hertz_damping_in_per_cent_and_times_have_units(pendulum, growth):
    dataset = replace(pendulum.prepared.dataset, labels={"t": "time [s]", "u": "angle [rad]"})
    words = str(replace(pendulum, prepared=replace(pendulum.prepared, dataset=dataset)).answers())
    assert re.search(r"natural frequency 2\.?\d* ± \S+ rad/s \(0\.318\d* ± \S+ Hz, period 3\.1\d+ s\)", words)
    assert re.search(r"damping ratio [45]\.\d+ ± \S+ %", words)
    assert re.search(
        r"angle = 3\.142 rad: unstable \(a saddle\), .*time constant \S+ ± \S+ s;.* doubles in", words
    )
    rest = growth.answers().equilibria[0]
    assert "rad per unit of time" in str(pendulum.answers())
    assert "doubles in 1.0" in str(rest)


def test_time_stands_in_the_linear_model_only_if_it_does_in_the_law(growth):
    run = growth.prepared.dataset.runs[0]
    swung = fit("u' = C*u + C*cos(C*t)", run.t, run.observed[0])
    good = replace(swung.candidates[0], rms=0.5 * growth.candidates[0].rms)
    assert good.n_values == growth.candidates[0].n_values
    answers = replace(growth, candidates=[*growth.candidates, good]).answers()
    assert "t" not in answers.linear
    assert answers.gain == growth.answers().gain
