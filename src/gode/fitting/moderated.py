"""The variance of the noise of each of many short runs, from its own residuals and from those of all.

Empirical Bayes as in Smyth (2004): the scatter of the variances beyond that of their estimates tells how much
the runs differ in their noise, and so how far one run is to be trusted against all of them.
"""

import numpy as np
from scipy.special import polygamma

from gode.arrays import Float

ALIKE = 1e9  # degrees of freedom that stand for a noise that is the same in all runs
FEWEST = 3  # runs whose scatter says something


def moderated(squares: Float, freedom: Float) -> tuple[Float, float]:
    """Return the variance of each run and its degrees of freedom, from sums of squares with `freedom`."""
    pooled = max(float(squares.sum() / freedom.sum()), 1e-300)
    prior = _prior_freedom(np.maximum(squares / freedom, 1e-12 * pooled), freedom)
    return (squares + prior * pooled) / (freedom + prior), float(np.median(freedom) + prior)


def _prior_freedom(variances: Float, freedom: Float) -> float:
    """Return how many degrees of freedom the variance of all runs counts for in that of one."""
    known = freedom >= 1
    if known.sum() < FEWEST:
        return ALIKE
    half = freedom[known] / 2
    logs = np.log(variances[known]) - polygamma(0, half) + np.log(half)
    extra = float(np.var(logs, ddof=1) - np.mean(polygamma(1, half)))
    return ALIKE if extra <= 0 else min(2 * _inverse_trigamma(extra), ALIKE)


def _inverse_trigamma(value: float) -> float:
    """Return x with trigamma(x) = value, by Newton's method."""
    x = 0.5 + 1 / value
    for _ in range(50):
        there = float(polygamma(1, x))
        step = there * (1 - there / value) / float(polygamma(2, x))
        x += step
        if abs(step) < 1e-8 * x:
            break
    return x
