import numpy as np
import pytest

import gode
from gode.discovery.residuals import Channel, Series


def channel(residual, *, scale=10.0, parts=1):
    t = np.linspace(0.0, 1.0, len(residual))
    fit = scale * np.sin(6 * t)
    split = [np.array_split(x, parts) for x in (t, fit + residual, fit)]
    return Channel("u", 1.0, 0.0, tuple(Series(*part) for part in zip(*split, strict=True)))


@pytest.mark.parametrize("parts", [1, 4])
def test_white_noise_passes_and_its_tests_are_fair(rng, parts):
    trials = [channel(rng.standard_normal(120), parts=parts) for _ in range(200)]
    for name in ("whiteness", "runs", "normality"):
        chances = np.array([getattr(trial, name) for trial in trials])
        assert np.mean(chances < 0.1) == pytest.approx(0.1, abs=0.07), name
    assert np.mean([trial.white for trial in trials]) > 0.93
    sentences = [s for trial in trials if trial.white for s in trial.words]
    assert "look like white noise" in sentences[1]


def test_slow_drift_is_seen(rng):
    noise = rng.standard_normal(200)
    slow = np.array([sum(noise[max(0, i - 8) : i + 1]) for i in range(200)]) / 3
    found = channel(slow)
    assert found.autocorrelation[0] > 0.7
    assert not found.white
    assert "are correlated" in found.words[1]


def test_outliers_are_seen(rng):
    values = rng.standard_normal(200)
    values[50] = 12.0
    assert "not normal" in channel(values).words[2]


def test_residuals_on_one_side_are_no_noise(rng):
    assert channel(np.abs(rng.standard_normal(50)) + 0.1).runs < 1e-3


def test_numerical_dust_is_not_diagnosed(rng):
    words = channel(1e-9 * rng.standard_normal(50)).words
    assert len(words) == 1
    assert "its pattern says nothing" in words[0]


@pytest.mark.slow
def test_constants_of_many_short_runs_do_not_make_noise_a_pattern():
    t = np.arange(0, 20.01, 0.5)
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        rates, ends = rng.uniform(0.45, 0.75, (8, 1)), rng.uniform(0.9, 1.6, (8, 1))
        noise = 0.006 * rng.standard_normal((8, len(t)))
        logistic = ends / (1 + (ends / 0.03 - 1) * np.exp(-rates * t))
        gompertz = ends * np.exp(np.log(0.03 / ends) * np.exp(-0.4 * rates * t))
        for curves, is_right in ((logistic, True), (gompertz, False)):
            found = gode.fit("u' = C*u + C*u^2", [t] * 8, list(curves + noise), individual=True)
            assert found.quality.channels[0].white == is_right
