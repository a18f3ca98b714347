"""The kind of noise is decided by the data, and smoothing and weights follow it."""

import numpy as np
import pytest

from gode.data import make_run
from gode.data.noise import FLOOR, NoiseKind, NoiseModel, noise_model
from gode.data.smoothing import resampled, smooth, smooth_runs

T = np.linspace(0.0, 10.0, 100)
SIGNALS = {"decay": 3 * np.exp(-0.5 * T), "oscillation": np.sin(2 * T) * np.exp(-0.05 * T)}
NONE = np.full(2, np.nan)


def noisy(signal, kind, rng, share=0.05):
    size = {
        "additive": np.std(signal),
        "multiplicative": signal,
        "mixed": np.hypot(0.3 * np.std(signal), signal),
    }
    return make_run(T, u=signal + share * size[kind] * rng.standard_normal(len(T)))


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("kind", ["additive", "multiplicative"])
def test_the_kind_of_noise_is_found(name, kind, rng):
    found = smooth_runs([noisy(SIGNALS[name], kind, rng)], [NONE])
    model = noise_model(found, 0)
    assert model.kind == kind
    size = model.share if kind == "multiplicative" else model.constant / np.std(SIGNALS[name])
    assert size == pytest.approx(0.05, rel=0.3)


def test_a_mixture_is_told_from_both(rng):
    model = noise_model(smooth_runs([noisy(SIGNALS["decay"], "mixed", rng)], [NONE]), 0)
    assert model.kind == NoiseKind.MIXED
    assert model.share == pytest.approx(0.05, rel=0.3)


def test_constant_noise_leaves_smoothing_as_it_is(rng):
    run = noisy(SIGNALS["decay"], "additive", rng)
    (found,), plain = smooth_runs([run], [NONE]), smooth(run)
    np.testing.assert_array_equal(found.values, plain.values)
    np.testing.assert_array_equal(found.noise, plain.noise)
    assert found.profile is None
    np.testing.assert_array_equal(found.sigma[0], plain.noise[0])


def test_without_noise_its_kind_is_not_asked():
    (found,) = smooth_runs([make_run(T, u=SIGNALS["decay"])], [NONE])
    assert found.profile is None


def test_sharp_peaks_are_not_taken_for_noise_in_proportion(rng):
    t = np.linspace(0.0, 12.0, 300)
    pulses = 5 * np.exp(28 * (np.cos(1.7 * t) - 1))
    noise = 0.01 * np.std(pulses)
    run = make_run(t, u=pulses + noise * rng.standard_normal(len(t)))
    (found,) = smooth_runs([run], [NONE])
    assert noise_model([found], 0).kind == NoiseKind.ADDITIVE
    assert np.sqrt(np.mean((found.values[0] - pulses) ** 2)) < noise


def test_a_decay_with_noise_in_proportion_is_smoothed_far_better_by_its_kind(rng):
    u, slope = SIGNALS["decay"], -0.5 * SIGNALS["decay"]
    errors = []
    for _ in range(3):
        run = noisy(u, "multiplicative", rng)
        pair = smooth(run), smooth_runs([run], [NONE])[0]
        errors.append([np.sqrt(np.mean((found.values[1] - slope) ** 2)) for found in pair])
    plain, weighted = np.median(errors, axis=0)
    assert weighted < 0.5 * plain


def test_a_fall_by_decades_shows_noise_in_proportion_though_little_of_it_is_large():
    t = np.linspace(0.0, 10.0, 150)
    fall = 7 * np.exp(-8 * (1 - np.exp(-0.4 * t)))
    run = make_run(t, u=fall * (1 + 0.05 * np.random.default_rng(3).standard_normal(len(t))))
    (found,) = smooth_runs([run], [NONE])
    assert noise_model([found], 0).kind == NoiseKind.MULTIPLICATIVE
    assert np.sqrt(np.mean((found.values[0] / fall - 1) ** 2)) < 0.03


def test_runs_share_their_kind_of_noise_and_its_share(rng):
    runs = [noisy(size * SIGNALS["decay"], "multiplicative", rng) for size in (1.0, 10.0)]
    found = smooth_runs(runs, [NONE, NONE])
    small, large = (f.sigma[0] / np.abs(f.values[0]) for f in found)
    assert small[0] == pytest.approx(large[0], rel=0.02)
    assert found[1].noise[0] > 5 * found[0].noise[0]


def test_each_state_has_its_own_kind_of_noise(rng):
    x = np.column_stack(
        [
            noisy(SIGNALS[n], k, rng).observed[0]
            for n, k in (("decay", "multiplicative"), ("oscillation", "additive"))
        ]
    )
    run = make_run(T, u=x, states=("x", "y"))
    found = smooth_runs([run], [np.full(4, np.nan)])
    assert [noise_model(found, c).kind for c in (0, 3)] == ["multiplicative", "additive"]
    assert found[0].sigma.shape == (6, 100)
    np.testing.assert_array_equal(found[0].profile[3], 1.0)
    np.testing.assert_array_equal(found[0].state(0).profile, found[0].profile[:3])
    half = resampled(found[0], T[::2])
    np.testing.assert_allclose(half.sigma[0], found[0].sigma[0, ::2])


def test_noise_in_proportion_has_a_floor_where_the_signal_crosses_zero():
    curve = np.sin(2 * T)
    sigma = NoiseModel(0.0, 0.1).sigma(curve)
    size = 0.1 * np.sqrt(np.mean(curve**2))
    assert sigma.min() == pytest.approx(FLOOR * size, rel=0.2)
    assert sigma.max() == pytest.approx(0.1, rel=0.01)
    assert [str(NoiseModel(*ab)) for ab in ((0.2, 0.0), (0.0, 0.05), (0.2, 0.05))] == [
        "0.2", "5 % of the value", "0.2 and 5 % of the value"
    ]  # fmt: skip
