"""Which noise was found, in words, on pages and in records."""

import json

import numpy as np
import pytest

from gode.discovery import fit
from gode.errors import GodeError
from gode.report.page import discovery_page
from gode.report.record import discovery_of, record_of

T = np.linspace(0.0, 5.0, 120)


@pytest.fixture(scope="module")
def found():
    """A state with 5 % of its value as noise, and one with the same noise everywhere."""
    rng = np.random.default_rng(0)
    x = 3 * np.exp(-0.7 * T) * (1 + 0.05 * rng.standard_normal(120))
    y = 2 * np.exp(-0.3 * T) + 0.02 * rng.standard_normal(120)
    return fit(["x' = C*x", "y' = C*y"], T, np.column_stack([x, y]))


def test_noise_in_proportion_to_a_state_is_said(found):
    first, second = (channel.noise_words for channel in found.quality.channels)
    assert first == "4.8 % of x"
    assert second.startswith("0.0")
    assert second.endswith(" in y")


def test_residuals_are_weighed_by_the_noise_of_each_sample(found):
    first = found.quality.channels[0]
    (series,) = first.series
    assert np.ptp(series.roots) > 1
    halves = [np.std(part) for part in np.array_split(series.weighted, 2)]
    assert 0.6 < halves[0] / halves[1] < 1.6
    assert "of averages" not in first.words[0]


def test_the_page_says_which_noise_was_found(found):
    page = discovery_page(found, title="Noise")
    assert "The noise of x is about 4.8 % of x" in page
    assert "% of its spread" in page


def test_a_record_keeps_the_noise_of_each_sample(found):
    data = json.loads(json.dumps(record_of(found)))
    again = discovery_of(data)
    assert [c.noise_words for c in again.quality.channels] == [c.noise_words for c in found.quality.channels]
    assert again.quality.misfit == found.quality.misfit
    data["smooths"][0]["shares"] = None
    with pytest.raises(GodeError, match="belong together"):
        discovery_of(data)
