"""What a trajectory is compared with."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from gode.arrays import Float, Int
from gode.data import Dataset


@dataclass(frozen=True)
class Target:
    """What a trajectory is compared with: the runs, the weight of each channel, the guides of branches."""

    dataset: Dataset
    weights: Float  # (channels,) one over the noise of a sample of each channel
    guides: tuple[Float, ...]  # (channels, n) of each run: smoothed u, u', u'' of each state
    scales: tuple[float, ...]  # size of each state
    profiles: tuple[Float, ...] = ()  # (channels, n) of each run: noise of a sample over that of its channel

    def starts(self, orders: Sequence[int]) -> list[Float]:
        """Return guesses (runs, sum of orders) of the initial values: smoothed, with other slopes.

        The smoothed slope is least certain at the edge of a record; finite differences are tried, too.
        """
        first = np.array([g[_both(len(orders)), 0] for g in self.guides])
        out = [first]
        for gap in (1, 3):
            other = first.copy()
            for i, (g, r) in enumerate(zip(self.guides, self.dataset.runs, strict=True)):
                last = min(gap, r.n_points - 1)
                other[i, 1::2] = (g[::3, last] - g[::3, 0]) / (r.t[last] - r.t[0])
            out.append(other)
        places = state_places(orders)
        return [start[:, places] for start in (out if max(orders) > 1 else out[:1])]

    def of_run(self, i: int) -> "Target":
        """Return one run alone, with the weights of all."""
        return self.of_runs([i])

    def of_runs(self, chosen: Sequence[int]) -> "Target":
        """Return some of the runs, with the weights of all."""
        return replace(
            self,
            dataset=self.dataset.of_runs(chosen),
            guides=tuple(self.guides[i] for i in chosen),
            profiles=tuple(self.profiles[i] for i in chosen) if self.profiles else (),
        )

    def in_segments(self, edges: Sequence[Int]) -> "Target":
        """Return the target with each run cut into segments, runs of their own with free initial values.

        Args:
            edges: of each run: the number of the first point of each segment, the first of them 0.
        """
        runs, guides, profiles = [], [], []
        for i, (run, first) in enumerate(zip(self.dataset.runs, edges, strict=True)):
            for low, high in pairwise([*first.tolist(), run.n_points]):
                runs.append(run.segment(low, high))
                guides.append(self.guides[i][:, low:high])
                profiles += [profile[:, low:high] for profile in self.profiles[i : i + 1]]
        dataset = replace(self.dataset, runs=tuple(runs), names=())
        return replace(self, dataset=dataset, guides=tuple(guides), profiles=tuple(profiles))

    @cached_property
    def samples(self) -> list[tuple[Float, Float]]:
        """What was observed (n, channels) in each run and its weights, both 0 where nothing was."""
        out = []
        for i, run in enumerate(self.dataset.runs):
            seen = np.isfinite(run.observed)
            weights = np.where(seen, np.outer(self.weights, run.roots), 0.0)
            if self.profiles:
                weights /= self.profiles[i]
            out.append((np.where(seen, run.observed, 0.0).T.copy(), weights.T.copy()))
        return out

    @cached_property
    def noise_share(self) -> float:
        """The noise as a share of the spread, of the channel in which it is the smallest."""
        spreads = np.max([np.std(guide, axis=1) for guide in self.guides], axis=0)
        seen = self.weights > 0
        fewer = max(float(np.median(run.roots)) for run in self.dataset.runs)
        return float(np.min(1.0 / (fewer * self.weights[seen] * np.maximum(spreads[seen], 1e-300))))


def _both(n_states: int) -> list[int]:
    """Return the channels of the value and the slope of each state."""
    return [3 * s + k for s in range(n_states) for k in range(2)]


def state_places(orders: Sequence[int]) -> list[int]:
    """Return where the state vector stands among the initial values x, x', y, y', ... of all states."""
    return [2 * s + k for s, order in enumerate(orders) for k in range(order)]
