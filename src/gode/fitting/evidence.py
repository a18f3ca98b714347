"""How probable the residuals of a law are, whether the noise is white or correlated.

Minus twice the log of the evidence of m independent residuals with k fitted numbers, by Laplace's
approximation, if the noise is an AR(1) process of correlation phi with innovations of mean square e²:

    m log v  -  log(1 - phi²)  +  k log(m S² (1 - phi)²/v),     v = max(e² m/(m - k), r²)

Errors of the solver and of rounding are below r. They are the same whatever the law and follow each other
smoothly, so that less than r is no evidence, however many values there are.

The prior of a number is as wide as the signal, whose variance is S²: the more accurate the data, the more a
useless number costs. What constants change is slow, and the power of slow noise is v/(1 - phi)². The evidence
is the mean over phi: white noise has half of the prior probability, positive correlations share the rest.
Each state of a system has a variance of its own and its share of the values.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gode.arrays import Float
from gode.data.dataset import lowest_channel
from gode.fitting.target import Target

# The correlations of neighbouring errors over which evidence is averaged: an even grid, set by hand. White
# noise has half of the prior, the others share the rest.
CORRELATIONS = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
PRIOR = np.where(CORRELATIONS == 0, 0.5, 0.5 / (len(CORRELATIONS) - 1))


class Residuals(NamedTuple):
    """What is left of one state, in units of the noise, over the number of its values."""

    square: float
    share: float  # of the values of all states
    product: float = 0.0  # of neighbours
    ends: float = 0.0  # squares of the first and the last of each series
    series: float = 0.0

    def innovations(self, phi: Float) -> Float:
        """Return the mean square of the innovations for each correlation."""
        return np.maximum(self.square + phi**2 * (self.square - self.ends) - 2 * phi * self.product, 0.0)

    @property
    def white(self) -> "Residuals":
        """The same, as if neighbours had nothing to do with each other."""
        return Residuals(self.square, self.share)

    def scaled(self, factor: float) -> "Residuals":
        """Return the same with squares that are larger by a factor."""
        larger = {name: factor * getattr(self, name) for name in ("square", "product", "ends")}
        return self._replace(**larger)


def residuals_of(series: Sequence[Float], n_values: int, limited: float = 0.0) -> Residuals:
    """Return the sums over the residuals of one state, which lie in several series, of so many values.

    Args:
        limited: the sum of squares of its readings of which only limits are known.
    """
    parts = [part for part in series if len(part)]
    n_own = sum(map(len, parts))
    n = max(n_own, 1)  # of a hidden state there are none
    square = sum(float(part @ part) for part in parts) + limited
    product = sum(float(part[1:] @ part[:-1]) for part in parts)
    ends = sum(float(part[0] ** 2 + part[-1] ** 2) for part in parts)
    return Residuals(square / n, n_own / n_values, product / n, ends / n, len(parts) / n)


def deviance(
    states: Sequence[Residuals],
    m: float,
    k: int,
    floor: Sequence[float],
    signals: Sequence[float] | None,
    priced: int | None = None,
) -> float:
    """Return -2 log of the evidence of `m` independent values of all states with `k` fitted numbers.

    Args:
        floor: residual of each state that is rounding.
        signals: variance of each state; None if the prior of a number holds as much as one value does.
        priced: how many of the numbers have this prior, by default all.
    """
    priced = k if priced is None else priced
    phi = CORRELATIONS if all(state.series for state in states if state.share) else CORRELATIONS[:1]
    total = np.zeros(len(phi))
    for i, (state, least) in enumerate(zip(states, floor, strict=True)):
        variance = np.maximum(state.innovations(phi) * m / max(m - k, 0.5), least**2)
        total += state.share * m * (np.log(variance) - state.series * np.log1p(-(phi**2)))
        wide = 1.0 if signals is None else np.maximum(signals[i] * (1 - phi) ** 2 / variance, 1.0)
        total += state.share * priced * np.log(max(m, 2.0) * wide)
    weights = PRIOR[: len(phi)] / PRIOR[: len(phi)].sum()
    return float(-2 * np.logaddexp.reduce(np.log(weights) - 0.5 * total))


def fitted_polynomials(target: Target) -> list[tuple[tuple[float, ...], int]]:
    """Return the mean squares and the free numbers of polynomials in t, one for each state of each run.

    They have just the degree that makes the lowest observed channel a constant, and one more.
    """
    found = []
    for extra in (0, 1):
        squares = [_polynomial(target, s, extra) for s in range(len(target.scales))]
        measured = len(squares) - len(target.dataset.hidden)
        found.append((tuple(squares), measured * len(target.dataset.runs) * (extra + 1)))
    return found


def _polynomial(target: Target, state: int, extra: int) -> float:
    """Return the mean square that polynomials of one state leave; 0 for a state that was never measured."""
    if state in target.dataset.hidden:
        return 0.0
    sse, n = 0.0, 0
    own = slice(3 * state, 3 * state + 3)
    for i, run in enumerate(target.dataset.runs):
        weights = target.samples[i][1].T[own]
        lowest = lowest_channel(run.state(state))
        x = (run.t - run.t[0]) / (run.t[-1] - run.t[0])
        rows, values = [], []
        for k in range(3):
            here = weights[k] > 0
            degrees = range(lowest, lowest + extra + 1)
            slopes = [np.polynomial.Polynomial.basis(j).deriv(k)(x[here]) for j in degrees]
            unit = (run.t[-1] - run.t[0]) ** (lowest - k)
            rows.append((np.array(slopes) * unit * weights[k, here]).T)
            values.append(run.observed[own][k, here] * weights[k, here])
        design, wanted = np.vstack(rows), np.concatenate(values)
        fitted = design @ np.linalg.lstsq(design, wanted, rcond=None)[0]
        sse += float(np.sum((wanted - fitted) ** 2))
        n += len(wanted)
    return sse / n
