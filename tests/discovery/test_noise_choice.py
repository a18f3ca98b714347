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
