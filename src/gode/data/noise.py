"""How large the noise of a sample is: the same everywhere, a share of the value, or a mixture of both.

The standard deviation is sqrt(a^2 + (b x)^2) at the value x. The data decide, by how probable they are under
a Gaussian process with noise of either kind: the process knows how far its own curve can be trusted, whereas
residuals about a curve that follows the noise show neither kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import rel_entr

from gode.arrays import Float
from gode.data.dataset import Run, Smooth

# The least noise, as a fraction of that at the root mean square of the signal: at a zero crossing a fraction
# of the value is nothing, but a weight must be finite. Constants of a decay, a damped sine and a logistic
# curve with 5 % of noise have errors of .31, .28 and .86 of those without weights (.30, .15, .87 with a floor
# of .01); with 1 % of constant noise besides, .61, .86 and 1.04 (.94, 1.00, 1.06).
FLOOR = 0.05
# In a mixture the constant part is this fraction of the other at the root mean square. Set by hand.
MIXED = 0.3
# The noise is not constant if twice the log of the ratio of probabilities exceeds this, which Kass and
# Raftery call very strong evidence.
SURE = 10.0
# Noise below this fraction of the spread is not told from what a process cannot follow. Set by hand.
NOISELESS = 1e-3
# A cubic is drawn through so many neighbours of a reading.
NEIGHBOURS = 4
# So many differences from such cubics tell as much as one that is independent of the others: the sum of the
# squares of their correlations.
CORRELATED = 2.63
# Noise in proportion is refuted by what would happen to one record in twenty by chance: 1.64 standard
# deviations, squared.
UNLIKELY = 2.7
# Half of the squares of normal deviates are no larger than this.
MEDIAN = 0.455


class NoiseKind(StrEnum):
    """What the noise of a sample depends on."""

    ADDITIVE = "additive"
    MULTIPLICATIVE = "multiplicative"
    MIXED = "mixed"


@dataclass(frozen=True)
class NoiseModel:
    """The noise of one channel: a constant standard deviation, and one that is a share of the value."""

    constant: float
    share: float

    @property
    def kind(self) -> NoiseKind:
        """Which of the two there is."""
        if self.share == 0:
            return NoiseKind.ADDITIVE
        return NoiseKind.MIXED if self.constant > 0 else NoiseKind.MULTIPLICATIVE

    def sigma(self, curve: Float) -> Float:
        """Return the standard deviation (n,) at these values, with a floor where they cross zero."""
        least = FLOOR * self.share * np.sqrt(np.mean(curve**2)) if self.constant == 0 else self.constant
        return np.asarray(np.sqrt(least**2 + (self.share * curve) ** 2))

    def __str__(self) -> str:
        share = f"{100 * self.share:.2g} % of the value"
        words = {
            NoiseKind.ADDITIVE: f"{self.constant:.2g}",
            NoiseKind.MULTIPLICATIVE: share,
            NoiseKind.MIXED: f"{self.constant:.2g} and {share}",
        }
        return words[self.kind]


def noise_model(smooths: Sequence[Smooth], channel: int) -> NoiseModel:
    """Return the noise of a channel over all runs."""
    noise = np.array([s.noise[channel] for s in smooths])
    shares = smooths[0].shares
    if shares is None or shares[channel, 1] == 0:
        return NoiseModel(float(np.sqrt(np.nanmean(noise**2))), 0.0)
    return NoiseModel(*map(float, shares[channel]))


def curve_sizes(smooths: Sequence[Smooth]) -> Float:
    """Return the root mean square (3,) of each channel over all runs."""
    return np.asarray(np.sqrt(np.mean(np.hstack([s.values for s in smooths]) ** 2, axis=1)))


def noise_profile(curve: Float, sizes: Float, ratio: float) -> Float:
    """Return the noise (3, n) about a curve, relative to its root mean square.

    Args:
        sizes: (3,) of the signals, of all runs together.
        ratio: of the constant part to the other one, at these sizes.
    """
    noise = np.sqrt(curve**2 + (ratio * sizes[:, None]) ** 2)
    return np.asarray(noise / np.sqrt(np.mean(noise**2, axis=1, keepdims=True)))


def is_noisy(smooths: Sequence[Smooth]) -> bool:
    """Tell whether there is noise enough to ask of which kind it is."""
    return all(np.exp(s.hyperparameters[2]) > NOISELESS for s in smooths)


def is_refuted(runs: Sequence[Run], even: Sequence[Smooth], others: Sequence[Smooth]) -> bool:
    """Tell whether readings scatter too little about their neighbours for noise that is not constant.

    A process that cannot follow the peaks of a signal takes them for noise in proportion to the value, and
    is then the more probable. But what a reading differs from the cubic through the two readings on either
    side is noise or more, whatever the signal does. So where noise is said to be larger than if it were
    constant, half of these differences must be above those of a noise in the middle between the two.

    Args:
        even: the runs smoothed with constant noise.
        others: the first of them, or all, smoothed with noise that is not.
    """
    parts = []
    for run, constant, other in zip(runs, even, others, strict=False):
        for i, row in enumerate(run.observed):
            seen = np.isfinite(row)
            if seen.sum() <= NEIGHBOURS:
                continue
            weights, values = _cubic(run.t[seen]), sliding_window_view(row[seen], NEIGHBOURS + 1)
            noise = sliding_window_view(other.sigma[i, seen], NEIGHBOURS + 1)
            claimed = np.sum((weights * noise) ** 2, axis=1)
            same = constant.noise[i] ** 2 * np.sum(weights**2, axis=1)
            squares = np.sum(weights * values, axis=1) ** 2
            parts.append((squares < MEDIAN * np.sqrt(claimed * same))[claimed > same])
    below = np.concatenate([[], *parts])
    share = float(np.mean(below)) if len(below) else 0.0
    if share <= 0.5:
        return False
    surprise = float(rel_entr(share, 0.5) + rel_entr(1 - share, 0.5))
    return 2 * len(below) / CORRELATED * surprise > UNLIKELY


def _cubic(t: Float) -> Float:
    """Return the weights (m, 5) of readings in the difference from the cubic through four neighbours."""
    x, middle = sliding_window_view(t, NEIGHBOURS + 1), NEIGHBOURS // 2
    weights = np.ones(x.shape)
    others = [j for j in range(NEIGHBOURS + 1) if j != middle]
    for j in others:
        weights[:, j] = -1.0
        for k in others:
            if k != j:
                weights[:, j] *= (x[:, middle] - x[:, k]) / (x[:, j] - x[:, k])
    return weights


def with_noise(smooths: Sequence[Smooth], sizes: Float, ratio: float) -> list[Smooth]:
    """Return one state of all runs with noise that is the same share of the value in each of them."""
    profiles = [noise_profile(s.values, sizes, ratio) for s in smooths]
    means = [np.sqrt(np.mean(s.values**2, axis=1) + (ratio * sizes) ** 2) for s in smooths]
    share = np.sqrt(np.mean([(s.noise / mean) ** 2 for s, mean in zip(smooths, means, strict=True)], axis=0))
    constant = ratio * share * sizes if ratio > FLOOR else np.zeros(3)
    shares = np.column_stack([constant, share])
    return [
        replace(s, noise=share * mean, profile=profile, shares=shares)
        for s, mean, profile in zip(smooths, means, profiles, strict=True)
    ]
