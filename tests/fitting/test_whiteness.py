import numpy as np
import pytest
from scipy.signal import lfilter

from gode.fitting.whiteness import worth


def test_white_residuals_are_worth_their_number_and_slow_ones_less(rng):
    white = rng.standard_normal(400)
    slow = np.convolve(rng.standard_normal(440), np.ones(40), mode="valid")[:400]
    ringing = np.sin(np.arange(400) * 0.9)
    assert worth(white) > 330
    assert worth(slow) < 60
    assert worth(ringing) < 60
    assert worth(np.zeros(400)) == 400


@pytest.mark.parametrize("phi", [0.5, 0.8])
def test_an_autoregressive_series_is_worth_what_theory_says(phi, rng):
    e = rng.standard_normal(8000)
    expected = 8000 * (1 - phi) / (1 + phi)
    assert worth(lfilter([1.0], [1.0, -phi], e)) == pytest.approx(expected, rel=0.3)


def test_a_series_is_worth_eight_values_at_least_or_its_number(rng):
    assert worth(np.ones(400)) == 8
    assert worth(np.ones(12)) == 8
    assert worth(np.arange(7.0)) == 7
