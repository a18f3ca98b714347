"""How the samples of an input are joined: chosen, guessed from the data, and said."""

import numpy as np
import pytest

from gode.data import Interpolation, Samples
from gode.data.from_arrays import make_dataset
from gode.discovery import fit
from gode.discovery.inputs import input_words, with_held_input
from gode.equation import parse_equation
from gode.fitting.prepare import prepare
from gode.search.settings import Settings
from gode.solve import solve

MOTOR = parse_equation("u' = 4*F - 2*u")  # u' = (K F - u)/tau with K = 2, tau = 0.5
TANK = parse_equation("u' = 0.5*F - 0.4*u^0.5")
SETTINGS = Settings(order=1, grammar="")


def record(plant, how, rng, *, n=100, step=0.1, smooth=False, noise=0.02):
    t = step * np.arange(n)
    samples = 1.0 + rng.uniform(-0.8, 0.8, n)
    if smooth:
        samples = 1.0 + 0.5 * np.sin(0.6 * t) + 0.3 * np.sin(1.7 * t + 1)
    u = solve(plant, t, [1.0], inputs={"F": Samples(t, samples, Interpolation(how))}).u
    return t, u + noise * np.std(u) * rng.standard_normal(n), samples


def guessed(t, u, force, settings=SETTINGS):
    found = with_held_input(prepare(make_dataset(t, u, None, None, force, None), 1, 1e-3), settings)
    return found.dataset.runs[0].interpolation, input_words(found.dataset, settings)


@pytest.mark.parametrize(("plant", "step"), [(MOTOR, 0.1), (TANK, 0.7)])
def test_an_input_held_at_every_sample_is_seen_in_the_data(plant, step, rng):
    how, words = guessed(*record(plant, "hold", rng, step=step))
    assert how is Interpolation.HOLD
    assert words == [
        "The input is held between its samples, since that explains the data much better than a spline."
    ]


@pytest.mark.parametrize("how", ["cubic", "linear"])
def test_a_rough_input_that_is_not_held_stays_splined(how, rng):
    found, (words,) = guessed(*record(MOTOR, how, rng))
    assert found is Interpolation.AUTO
    assert "is joined by a cubic spline" in words
    assert "held, it explains the data no better" in words


def test_a_lag_that_is_left_out_does_not_pass_for_half_a_step(rng):
    t = 0.1 * np.arange(120)
    samples = rng.uniform(0.2, 1.8, 120)
    for how, wanted in (("cubic", "auto"), ("hold", "hold")):
        inputs = {"F": Samples(t, samples, Interpolation(how))}
        u = solve(parse_equation("u'' = 8*F - 6*u' - 8*u"), t, [1.0, 0.0], inputs=inputs).u
        assert guessed(t, u + 0.02 * np.std(u) * rng.standard_normal(120), samples)[0] == wanted


def test_a_smooth_input_is_splined_without_being_asked(rng):
    found, words = guessed(*record(MOTOR, "cubic", rng, smooth=True))
    assert found is Interpolation.AUTO
    assert words == ["The input is joined by a cubic spline between its samples."]


def test_a_fit_finds_the_constants_behind_a_held_input(rng):
    t, u, force = record(MOTOR, "hold", rng)
    held = fit("u' = C*F + C*u", t, u, force=force)
    assert held.prepared.dataset.runs[0].interpolation is Interpolation.HOLD
    values = sorted(c.value for c in held.equation.constants)
    assert values == pytest.approx([0.25, 0.5], rel=0.02)
    splined = fit("u' = C*F + C*u", t, u, force=force, hold=False)
    assert splined.candidates[0].rms > 5 * held.candidates[0].rms


def test_a_held_function_is_read_at_the_times_of_the_data(rng):
    t, u, samples = record(MOTOR, "hold", rng)
    force = lambda s: float(samples[np.searchsorted(t, s, side="right") - 1])  # noqa: E731
    found = fit("u' = C*F + C*u", t, u, force=force, hold=True)
    assert str(found.equation) == str(fit("u' = C*F + C*u", t, u, force=samples, hold=True).equation)
    assert input_words(found.prepared.dataset, found.settings) == [
        "The input is held between its samples, as you chose."
    ]


def test_simulations_join_new_samples_as_the_fit_did(rng):
    t, u, force = record(MOTOR, "hold", rng)
    found = fit("u' = C*F + C*u", t, u, force=force, hold=True)
    fine = np.linspace(t[0], t[-1], 1001)
    again = found.simulate(fine, force=(t, force)).u
    np.testing.assert_allclose(again, found.simulate(fine).u, atol=1e-7)


def test_a_switch_is_held_and_said_so():
    t = np.linspace(0, 8, 81)
    switch = np.where(np.sin(1.5 * t) > 0, 1.0, 0.0)
    words = input_words(make_dataset(t, t, None, None, switch, None), SETTINGS)
    assert words == ["The input is held between its samples, since it changes by single jumps."]
    assert input_words(make_dataset(t, t, None, None, "sin(t)", None), SETTINGS) == []
    assert input_words(make_dataset(t, t, None, None, None, None), SETTINGS) == []
    both = make_dataset([t, t], [t, t], None, None, [switch, np.sin(t)], None)
    assert "in the runs in which it changes by single jumps" in input_words(both, SETTINGS)[0]
