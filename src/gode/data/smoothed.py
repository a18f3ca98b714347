"""A smoothed run."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gode.arrays import Float

N_TUNED = 4  # The hyperparameters of the smoothing of one state are so many numbers.


@dataclass(frozen=True)
class Smooth:
    """A smoothed run: u, u', u'' of d states (3 d, n) at its times, their standard deviations, and the noise.

    `noise` (3 d,) is the standard deviation of each observed channel, NaN where nothing was observed. Where
    that of the samples differs, it is their root mean square, `profile` (3 d, n) is that of a sample relative
    to it, and `shares` (3 d, 2) holds the constant part and the share of the value in each channel.
    """

    t: Float
    values: Float
    deviations: Float
    noise: Float
    hyperparameters: Float
    profile: Float | None = None
    shares: Float | None = None
    evidence: float = np.nan  # log probability of the data and hyperparameters, of one state

    @classmethod
    def unknown(cls, t: Float) -> "Smooth":
        """Return the place of a state that was never measured: zero, with deviations that are not known."""
        shape = (3, len(t))
        return cls(t, np.zeros(shape), np.full(shape, np.nan), np.full(3, np.nan), np.zeros(N_TUNED))

    @property
    def sigma(self) -> Float:
        """The standard deviation of the noise of each sample (3 d, n)."""
        return np.broadcast_to(self.noise[:, None], self.values.shape) * self._profile

    @property
    def _profile(self) -> Float:
        return np.ones(self.values.shape) if self.profile is None else self.profile

    @property
    def _shares(self) -> Float:
        return np.column_stack([self.noise, 0 * self.noise]) if self.shares is None else self.shares

    def state(self, s: int) -> "Smooth":
        """Return one state alone."""
        own, n = slice(3 * s, 3 * s + 3), 3 * len(self.hyperparameters) // len(self.values)
        return Smooth(
            self.t,
            self.values[own],
            self.deviations[own],
            self.noise[own],
            self.hyperparameters[n * s : n * (s + 1)],
            None if self.profile is None else self.profile[own],
            None if self.shares is None else self.shares[own],
        )

    @classmethod
    def of_states(cls, parts: "Sequence[Smooth]") -> "Smooth":
        """Return the states that were smoothed one by one as one run."""
        if len(parts) == 1:
            return parts[0]
        constant = all(p.profile is None for p in parts)
        return cls(
            parts[0].t,
            np.vstack([p.values for p in parts]),
            np.vstack([p.deviations for p in parts]),
            np.concatenate([p.noise for p in parts]),
            np.concatenate([p.hyperparameters for p in parts]),
            None if constant else np.vstack([p._profile for p in parts]),
            None if constant else np.vstack([p._shares for p in parts]),
        )
