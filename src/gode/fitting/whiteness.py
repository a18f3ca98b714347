"""Effective number of independent residuals, from their autocorrelations."""

import numpy as np

from gode.arrays import Float


def worth(residuals: Float) -> float:
    """Return the effective number of independent values of a series: n over its correlation time.

    The correlation time is 1 + 2 times the sum of the autocorrelations up to the first that is not positive
    (drift), or times the sum of all squares (oscillation) if that is larger. Autocorrelations within the
    scatter of white noise count as zero.
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
