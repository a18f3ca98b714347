"""When a search stops: nothing that is left to try can change which law is named.

After the first look, which scores all sums of few terms and fits the best of them and all laws a step away
from the leader, a search ends where three things hold of the leader.

1. Its residuals are noise: uncorrelated, and no larger than those of a curve that knows of no law. No other
   law can then follow the data more closely but by chance.
2. It holds more than 99 % of the probability, as the criterion states it. Among the rivals are the laws
   with a term less, a term more and another term. What chance adds to the best of all terms is in their
   criterion, and a law with two more terms gains twice that and pays twice the price.
3. It cannot follow the data by coincidence, with another law behind them. The smoothed curves have nu degrees
   of freedom, and each that the k numbers of the law do not fit agrees with the data by chance with a
   probability of exp(-price/2), where the price of a number is log(m S^2/v) as in `gode.fitting.evidence`.
   Of M laws that were tried, one does so with a probability of at most M exp(-(nu - k) price/2).
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.data import Smooth
from gode.fitting.covariance import CERTAIN, DOUBT
from gode.fitting.prepare import Prepared
from gode.search.archive import Archive
from gode.search.refine import WHITE
from gode.selection import Candidate, probabilities


def is_decided(archive: Archive, n_tried: int) -> bool:
    """Tell whether nothing that is left to try can change the law that is named.

    Args:
        n_tried: how many equations and laws were scored or fitted.
    """
    order, prepared, config = archive.settled(), archive.prepared, archive.settings.selection
    if not is_at_noise(archive) or order[0].own is not None:
        return False
    sure = probabilities(order, replace(config, temperature=1.0), prepared.floor)[0] > 1 - DOUBT
    price = price_of_a_number(order[0], prepared.floor, config.floor)
    agreement = (float(degrees_of_freedom(prepared).sum()) - order[0].n_free) * price
    return bool(sure and agreement > 2 * math.log(max(n_tried, 1) / DOUBT))


def is_at_noise(archive: Archive) -> bool:
    """Tell whether the best law leaves nothing but noise of whole records."""
    order = archive.settled()
    if not order or archive.target is not archive.prepared.whole:
        return False
    return _leaves_noise(order[0], archive.prepared, degrees_of_freedom(archive.prepared))


def degrees_of_freedom(prepared: Prepared) -> Float:
    """Return how many degrees of freedom the smoothed curves of each state have: the traces of smoothing.

    The trace is the sum of the variances of the curve over those of the noise.
    """
    return np.asarray(np.sum([_of_run(smooth) for smooth in prepared.smooths], axis=0))


def _of_run(smooth: Smooth) -> Float:
    with np.errstate(all="ignore"):
        shares = np.nansum((smooth.deviations / smooth.sigma) ** 2, axis=1)
    return np.asarray(np.where(np.isfinite(shares), shares, 0.0).reshape(-1, 3).max(axis=1))


def _leaves_noise(c: Candidate, prepared: Prepared, freedom: Sequence[float] | Float) -> bool:
    """Tell whether nothing but noise is left of each state; what is left of rounding counts as noise."""
    if all(state.square <= least**2 for state, least in zip(c.states, prepared.floor, strict=True)):
        return True  # errors of rounding and of the solver follow each other
    if c.independent < WHITE * c.n_values:
        return False
    for state, least, nu in zip(c.states, prepared.floor, freedom, strict=True):
        n = state.share * c.n_values
        if state.square <= least**2:
            continue
        scatter = 2 / n + 2 / max(n - nu, 1.0)  # of the ratio of two estimates of the variance of the noise
        larger = state.square > 1 + CERTAIN * math.sqrt(scatter)
        if larger or abs(state.product) > CERTAIN / math.sqrt(n) * state.square:
            return False
    return True


def price_of_a_number(c: Candidate, floor: Sequence[float], relative: float) -> float:
    """Return the price of a fitted number, the mean over the values of all states.

    Args:
        floor: weighted residual of each state that is rounding.
        relative: the same as a share of the signal.
    """
    total = 0.0
    for state, least in zip(c.states, floor, strict=True):
        signal = (least / relative) ** 2 / max(state.square, least**2, 1e-300)
        total += state.share * math.log(max(c.independent, 2.0) * max(signal, 1.0))
    return total
