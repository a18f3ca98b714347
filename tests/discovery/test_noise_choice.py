"""The noise of readings as it is chosen."""

import numpy as np
import pytest

import gode
from gode.errors import ConfigError

T = np.linspace(0.0, 12.0, 40)
CLEAN = 100.0 * np.exp(-0.5 * T)


def fitted(noise, seed=0):
    """A decay over three decades with noise of a tenth of each value."""
    readings = CLEAN * np.exp(0.1 * np.random.default_rng(seed).standard_normal(len(T)))
    return gode.fit("u' = -k*u", T, readings, noise=noise)


def weights(found):
    (_, of_samples), *_ = found.prepared.whole.samples
    return of_samples[:, 0]


@pytest.mark.parametrize("noise", ["proportional", "log"])
def test_noise_in_proportion_weighs_small_readings_more(noise):
    found = weights(fitted(noise))
    assert found[-1] / found[0] > 50.0
    assert np.ptp(weights(fitted("constant"))) == 0.0


def test_combined_noise_has_a_floor():
    found = weights(fitted("combined"))
    assert 1.5 < found[-1] / found[0] < 20.0


def test_rate_is_found_better_with_the_noise_that_it_has():
    errors = {
        noise: [abs(fitted(noise, seed).equation.constants[0].value - 0.5) for seed in range(4)]
        for noise in ("constant", "proportional")
    }
    assert np.mean(errors["proportional"]) < 0.5 * np.mean(errors["constant"])


def test_choice_is_kept_in_the_record(tmp_path):
    found = fitted("proportional")
    found.save(tmp_path / "record.json")
    again = gode.load(tmp_path / "record.json")
    assert again.prepared.dataset.noise == "proportional"
    assert np.allclose(weights(again), weights(found))


def test_noise_that_is_not_known_is_refused():
    with pytest.raises(ConfigError, match="noise must be one of auto, constant, proportional, combined, log"):
        fitted("poisson")


@pytest.mark.parametrize("seed", range(4))
def test_proportional_noise_of_coarse_samples_is_of_its_size(seed):
    t = np.arange(0.0, 20.0, 0.9)
    noise = 0.2 * np.random.default_rng(seed).standard_normal(len(t))
    found = gode.fit("u' = C*u*cos(t)", t, 30.0 * np.exp(1.5 * np.sin(t) + noise), noise="proportional")
    (share,) = [channel.model.share for channel in found.quality.channels]
    assert 0.05 < share < 0.4  # where only the weights change, they make it up to 5


def growth(rng, share, level):
    clean = 5.0 / (1 + 40 * np.exp(-0.55 * np.linspace(0, 24, 25)))
    noise = share * clean * rng.standard_normal(25) + level * rng.standard_normal(25)
    return gode.fit("u' = C*u - C*u^2", np.linspace(0, 24, 25), clean + noise)


def about_noise(found):
    return [remark for remark in found.remarks if "noise" in remark]


def test_residuals_that_speak_for_noise_of_another_kind_are_told():
    """Of few readings a curve alone does not show the kind; the law that is fitted does."""
    founds = [growth(np.random.default_rng(seed), 0.04, 0.0) for seed in range(12)]
    constant = [found for found in founds if set(found.noise_kinds.values()) == {"additive"}]
    told = [words for found in constant for words in about_noise(found)]
    assert len(told) >= 0.5 * len(constant) > 0
    assert all("--noise proportional" in words or "--noise combined" in words for words in told)


def test_residuals_of_constant_noise_are_not_told_to_be_of_another_kind():
    assert [about_noise(growth(np.random.default_rng(seed), 0.0, 0.1)) for seed in range(6)] == [[]] * 6


def test_noise_that_was_chosen_is_not_called_into_question():
    assert about_noise(fitted("constant")) == []
