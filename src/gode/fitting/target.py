"""What a trajectory is compared with."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gode.arrays import Float
from gode.data import Dataset


@dataclass(frozen=True)
class Target:
    """What a trajectory is compared with: the runs, the weight of each channel, the guides of branches."""

    dataset: Dataset
    weights: Float  # (3,) one over the noise of a sample of each channel
    guides: tuple[Float, ...]  # (3, n) of each run: smoothed u, u', u''
    scale: float  # size of u

    def starts(self, order: int) -> list[Float]:
        """Return guesses (runs, order) of the initial values: smoothed, and with finite-difference slopes.

        The smoothed slope is least certain at the edge of a record.
        """
        first = np.array([g[:2, 0] for g in self.guides])
        out = [first]
        for gap in (1, 3):
            slopes = [
                (g[0, min(gap, r.n_points - 1)] - g[0, 0]) / (r.t[min(gap, r.n_points - 1)] - r.t[0])
                for g, r in zip(self.guides, self.dataset.runs, strict=True)
            ]
            out.append(np.column_stack([first[:, 0], slopes]))
        return [start[:, :order] for start in (out if order > 1 else out[:1])]

    @cached_property
    def samples(self) -> list[tuple[Float, Float]]:
        """What was observed (n, 3) in each run and its weights (n, 3), both 0 where nothing was."""
        out = []
        for run in self.dataset.runs:
            seen = np.isfinite(run.observed)
            weights = np.where(seen, np.outer(self.weights, run.roots), 0.0)
            out.append((np.where(seen, run.observed, 0.0).T.copy(), weights.T.copy()))
        return out

    @cached_property
    def noise_share(self) -> float:
        """The noise as a share of the spread, of the channel in which it is the smallest."""
        spreads = np.max([np.std(guide, axis=1) for guide in self.guides], axis=0)
        seen = self.weights > 0
        fewer = max(float(np.median(run.roots)) for run in self.dataset.runs)
        return float(np.min(1.0 / (fewer * self.weights[seen] * np.maximum(spreads[seen], 1e-300))))
