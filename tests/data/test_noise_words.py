"""The weights of the samples follow their noise."""

import numpy as np
import pytest

import gode
from gode.data.from_arrays import make_dataset
from gode.data.noise import noise_words
from gode.fitting.prepare import prepare

T = np.linspace(0.0, 10.0, 120)
LOGISTIC = 5.0 / (1.0 + 9.0 * np.exp(-0.8 * T))


def test_a_sample_with_twice_the_noise_has_half_the_weight(rng):
    noise = 0.05 * rng.standard_normal((2, len(T)))
    several = [LOGISTIC * (1 + noise[0]), 20 * LOGISTIC * (1 + noise[1])]
    prepared = prepare(make_dataset([T, T], several), 1, 1e-4)
    for scale, smooth, (_, weights) in zip((1, 20), prepared.smooths, prepared.whole.samples, strict=True):
        np.testing.assert_allclose(weights[:, 0] * smooth.sigma[0], 1.0, rtol=1e-6)
        assert weights[-1, 0] == pytest.approx(1 / (0.05 * 5 * scale), rel=0.25)


def test_constant_noise_has_one_weight(rng):
    prepared = prepare(make_dataset(T, LOGISTIC + 0.1 * rng.standard_normal(len(T))), 1, 1e-4)
    assert prepared.whole.profiles == ()


def test_the_part_of_a_long_record_that_is_screened_keeps_its_weights(rng):
    t = np.linspace(0.0, 100.0, 2000)
    u = (3.0 + np.sin(3.0 * t)) ** 2
    prepared = prepare(make_dataset(t, u * (1 + 0.1 * rng.standard_normal(len(t)))), 2, 1e-4)
    assert prepared.target is not prepared.whole
    weights, smooth = prepared.target.samples[0][1][:, 0], prepared.target.guides[0][0]
    high = smooth > np.median(smooth)
    seen = weights > 0
    assert np.median(weights[high & seen]) < 0.7 * np.median(weights[~high & seen])


def test_an_equation_is_found_and_supported_where_noise_is_a_share_of_the_signal():
    rng = np.random.default_rng(0)
    decay = 3.0 * np.exp(-0.5 * T) * (1 + 0.05 * rng.standard_normal(len(T)))
    found = gode.discover(T, decay, effort="quick")
    assert str(found.candidates[0].equation.skeleton) == "u' = C*u"
    assert found.supported
    assert found.quality.misfit == pytest.approx(1.0, abs=0.15)


def test_the_kind_of_noise_is_told(rng):
    decay = 3.0 * np.exp(-0.5 * T)
    shares = gode.fit("u' = C*u", T, decay * (1 + 0.05 * rng.standard_normal(len(T))))
    assert shares.noise_kinds == {"u": "multiplicative"}
    (sentence,) = noise_words(shares.prepared.whole.dataset, shares.prepared.smooths)
    assert sentence == "The noise of u grows with it."  # its size is told once, from the residuals
    constant = gode.fit("u' = C*u", T, decay + 0.05 * rng.standard_normal(len(T)))
    assert constant.noise_kinds == {"u": "additive"}
    assert noise_words(constant.prepared.whole.dataset, constant.prepared.smooths) == []
