"""How much what a fit leaves over is worth: white noise counts in full, drifts and ringing do not."""

import numpy as np

from gode.arrays import Float


def worth(residuals: Float) -> float:
    """Return how many independent values a series is worth, from its autocorrelations.

    Slow drifts count by the sum of the first positive ones, ringing by the sum of all squares; what white
    noise would show by chance does not count.
    """
    n = len(residuals)
    power = float(residuals @ residuals)
    if n < 8 or power == 0:
        return float(n)
    spectrum = np.abs(np.fft.rfft(residuals, 2 * n)) ** 2
    shares = np.fft.irfft(spectrum)[1 : max(n // 4, 3)] / power
    shares[np.abs(shares) < 2.5 / np.sqrt(n)] = 0.0
    end = np.flatnonzero(shares <= 0)
    drift = shares[: end[0] if len(end) else len(shares)].sum()
    return float(max(n / (1 + 2 * max(drift, shares @ shares)), min(n, 8.0)))
