import numpy as np

from gode.fitting.whiteness import worth


def test_white_residuals_are_worth_their_number_and_slow_ones_less(rng):
    white = rng.standard_normal(400)
    slow = np.convolve(rng.standard_normal(440), np.ones(40), mode="valid")[:400]
    ringing = np.sin(np.arange(400) * 0.9)
    assert worth(white) > 330
    assert worth(slow) < 60
    assert worth(ringing) < 60
    assert worth(np.zeros(400)) == 400
