"""Readings of which only limits are known, as residuals of a fit.

A reading that lies below `high` and above `low`, one of which may be infinite, has, with the solution x and
the noise s, the probability P(x) = Phi((high - x) / s) - Phi((low - x) / s). Its residual

    r = sqrt(2 log(P(m) / P(x))),     dr/dx = -P'(x) / (P(x) r),

where P is largest at m, makes the sum of squared residuals minus twice the logarithm of the likelihood of all
readings, but for a constant. It is zero where the limits are surely kept, and tends to (x - high) / s where x
is far above.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from gode.arrays import Bool, Float, Int
from gode.data import Run
from gode.data.dataset import Limits, Samples

CLOSE = 1e-4  # Nearer to the middle than this fraction of the noise, dr/dx is taken at the middle.


@dataclass(frozen=True)
class LimitedReadings:
    """The limited readings of a run: where they stand among the times of its solution."""

    t: Float  # (N,) the times of all readings
    read: Int  # (n,) which of them are those of the run
    at: Int  # (m,) at which of them the limited readings were taken
    limits: Limits
    weights: Float  # (m,) one over the noise
    scale: float  # of the noise: residuals are in units of the noise before it was scaled

    def spread(self, table: Float) -> Float:
        """Return a table (n, channels) of the times of the run as one of all times, zero at the others."""
        wide = np.zeros((len(self.t), table.shape[1]))
        wide[self.read] = table
        return wide

    def along(self, values: Float, sensitivities: Float) -> "LimitedPath":
        """Return the residuals of a solution at all times, given its derivatives in some numbers."""
        channel, each = self.limits.channel, self.weights / self.scale
        x, low, high = values[channel, self.at], self.limits.low, self.limits.high
        r, slope = limited(x, low, high, each)
        steps = np.where(slope == 0.0, 0.0, sensitivities[:, channel, self.at])
        with np.errstate(over="ignore"):  # of a solution that hangs on its constants without bounds
            slopes = -self.scale * slope * steps
        return LimitedPath(
            self.scale * r, slopes, -self.scale * r * slope / each, _growth(x, low, high, each)
        )


class LimitedPath(NamedTuple):
    """The limited readings of a run along a solution."""

    residuals: Float  # (m,)
    slopes: Float  # (numbers, m) minus their derivatives
    scores: Float  # (m,) where the readings are likely to be, from the solution; in units of the noise
    freedom: float  # by how much the sum of log P falls where the logarithm of the noise grows

    @property
    def squares(self) -> float:
        """The sum of squared residuals."""
        return float(self.residuals @ self.residuals)

    @classmethod
    def nothing(cls, n_numbers: int) -> "LimitedPath":
        """Return that of a run without limited readings."""
        return cls(np.empty(0), np.empty((n_numbers, 0)), np.empty(0), 0.0)


def likely_noise(squares: float, freedom: float, limited: float) -> float:
    """Return the noise of largest likelihood, from residuals in units of an assumed one.

    In log s the derivative of the log-likelihood, -n + squares / s^2 - Q, is then zero.

    Args:
        squares: the sum of squares of ordinary residuals, with `freedom` degrees of freedom.
        limited: Q, the sum of `LimitedPath.freedom`.
    """
    return float(np.sqrt(squares / max(freedom + limited, 0.5 * freedom)))


def limited_readings(run: Run, weights: Float, profile: Float | None, scale: float) -> LimitedReadings | None:
    """Return the limited readings of a run that a solution along it can reach; None where there are none.

    Args:
        weights: (channels,) one over the noise of each channel.
        profile: (channels, n) noise of a sample over that of its channel.
    """
    if run.limits is None:
        return None
    inside = (run.limits.t >= run.t[0]) & (run.limits.t <= _last(run)) & (weights[run.limits.channel] > 0)
    if not inside.any():
        return None
    limits = run.limits.at(inside)
    own = weights[limits.channel]
    if profile is not None:
        rows = [np.interp(t, run.t, profile[c]) for t, c in zip(limits.t, limits.channel, strict=True)]
        own = own / np.array(rows)
    t = np.union1d(run.t, limits.t)
    return LimitedReadings(t, np.searchsorted(t, run.t), np.searchsorted(t, limits.t), limits, own, scale)


def _last(run: Run) -> float:
    """Return the last time to which all inputs are known."""
    ends = [signal.t[-1] for signal in run.signals.values() if isinstance(signal, Samples)]
    return float(min(ends, default=np.inf))


def limited(x: Float, low: Float, high: Float, weight: Float) -> tuple[Float, Float]:
    """Return the residuals of limited readings and their derivatives in x; see the module's docstring."""
    below, above = (low - x) * weight, (high - x) * weight
    half = (high - low) * weight / 2
    log_p = _log_probability(below, above)
    with np.errstate(all="ignore"):
        r = np.sqrt(np.maximum(2 * (_log_probability(-half, half) - log_p), 0.0))
        density = np.exp(-(above**2) / 2 - log_p) - np.exp(-(below**2) / 2 - log_p)
        slope = weight * density / np.sqrt(2 * np.pi) / r
        middle = half * np.exp(-(half**2) / 2) * np.sqrt(2 / np.pi) / np.exp(_log_probability(-half, half))
        near = np.isfinite(half) & (np.abs(above + below) / 2 < CLOSE)
        slope = np.where(near, weight * np.sqrt(middle) * _sign(-below - above), slope)
    return r, np.where((r > 0) & np.isfinite(slope), slope, 0.0)


def _growth(x: Float, low: Float, high: Float, weight: Float) -> float:
    """Return by how much the sum of log P falls where the logarithm of the noise grows."""
    below, above = (low - x) * weight, (high - x) * weight
    log_p = _log_probability(below, above)
    ends = [np.where(np.isfinite(z), z, 0.0) * np.exp(-(z**2) / 2 - log_p) for z in (above, below)]
    return float(np.sum(ends[0] - ends[1]) / np.sqrt(2 * np.pi))


def _sign(x: Float) -> Float:
    return np.where(x < 0, -1.0, 1.0)


def _log_probability(low: Float, high: Float) -> Float:
    """Return log(Phi(high) - Phi(low)) without cancellation."""
    turned: Bool = low > -high  # most of it lies above zero: the same below it
    one, other = np.where(turned, -high, low), np.where(turned, -low, high)
    upper, lower = log_ndtr(other), log_ndtr(one)
    with np.errstate(all="ignore"):
        return np.asarray(np.where(np.isneginf(lower), upper, upper + np.log1p(-np.exp(lower - upper))))
