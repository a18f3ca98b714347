"""What a trajectory is compared with: the record, or averages of it where it is long.

How far a record is shortened depends on its cycles and on its variance, not only on its samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from gode.arrays import Float, Int
from gode.data import Dataset, Run, Smooth
from gode.data.dataset import most_cycles
from gode.data.noise import is_noisy
from gode.data.smoothing import PER_CYCLE, averaged, stride_averaged
from gode.equation.tree import derivative_order, is_other
from gode.fitting.limits import LimitedReadings, limited_readings


@dataclass(frozen=True)
class Target:
    """What a trajectory is compared with: the runs, the weight of each channel, the guides of branches."""

    dataset: Dataset
    weights: Float  # (channels,) one over the noise of a sample of each channel
    guides: tuple[Float, ...]  # (channels, n) of each run: smoothed u, u', u'' of each state
    scales: tuple[float, ...]  # size of each state
    profiles: tuple[Float, ...] = ()  # (channels, n) of each run: noise of a sample over that of its channel
    noise_of_limited: float = 1.0  # noise of readings of which only limits are known, over that of the others

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

    def limited(self, i: int) -> LimitedReadings | None:
        """Return the readings of run `i` of which only limits are known."""
        profile = self.profiles[i] if self.profiles else None
        return limited_readings(self.dataset.runs[i], self.weights, profile, self.noise_of_limited)

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


DENSE = 1000  # In the final fits a dense record has at least so many averages.
SCREENED = 400  # Screening sees so many points of all runs together.
SHORTEST = 60  # Screening sees at least so many points of one run.
COARSE = 20  # Screening sees at least so many averages of each cycle.
FEWEST = 8  # Fewer values of a state tell nothing: no shorter part of a run is followed, or seen as a series.
VARIED = 0.5  # The first part varies at least by this share of the standard deviation of the whole record.


def condensed(dataset: Dataset) -> Dataset:
    """Return the runs for the final fits: dense ones averaged."""
    return replace(dataset, runs=tuple(averaged(run, DENSE, PER_CYCLE) for run in dataset.runs))


def screened(dataset: Dataset, curves: Sequence[Smooth]) -> Dataset:
    """Return the runs for screening: long ones thinned as far as their cycles allow.

    Noisy samples are averaged about the smoothed curve. Averages of samples without noise would have the
    errors of the curve, which terms are then found to follow, so that some of these samples are taken.
    """
    most = _most(dataset)
    if all(run.n_points <= 1.5 * most for run in dataset.runs):
        return dataset
    pairs = zip(dataset.runs, curves, strict=True)
    return replace(dataset, runs=tuple(_coarser(run, most, curve) for run, curve in pairs))


def _most(dataset: Dataset) -> int:
    """Return the points of one run for screening: fewer where there are more states, here or as inputs."""
    others = sum(is_other(name) and not derivative_order(name) for name in dataset.inputs)
    return max(SCREENED // (len(dataset.runs) * (len(dataset.states) + others)), SHORTEST)


def _coarser(run: Run, most: int, curve: Smooth) -> Run:
    wanted = max(most, COARSE * most_cycles(run))
    if run.n_points <= 1.5 * wanted:
        return run
    stride = int(np.ceil(run.n_points / wanted))
    noisy = any(is_noisy([curve.state(s)]) for s in range(run.n_states))
    return stride_averaged(run, stride, curve) if noisy else run.at(slice(None, None, stride))


def first_part(whole: Target) -> Target:
    """Return the target for screening: the first parts of records with many cycles."""
    most = _most(whole.dataset)
    if all(run.n_points <= 1.5 * most for run in whole.dataset.runs):
        return whole
    seen = whole.weights.reshape(-1, 3) > 0
    lowest = [3 * s + int(np.flatnonzero(row)[0]) for s, row in enumerate(seen) if row.any()]
    sizes = [max(_varied_length(guide[c], most) for c in lowest) for guide in whole.guides]
    return _first_points(whole, sizes)


def shorter(target: Target) -> Target | None:
    """Return the first half of every run, as far as enough was observed there; None if that is all of it."""
    runs = target.dataset.runs
    sizes = [min(max(run.n_points // 2, _enough(run)), run.n_points) for run in runs]
    if all(n == run.n_points for run, n in zip(runs, sizes, strict=True)):
        return None
    return _first_points(target, sizes)


def _enough(run: Run) -> int:
    """Return how many points hold the fewest values of each state that was observed in a run."""
    states = np.isfinite(run.observed).reshape(-1, 3, run.n_points)
    counts = [np.cumsum(np.any(state, axis=0)) for state in states]
    return max(int(np.searchsorted(row, FEWEST)) + 1 for row in counts if row[-1])


def _first_points(target: Target, sizes: Sequence[int]) -> Target:
    """Return the target with the first points of each run."""
    cut = tuple(run.cut(n)[0] for run, n in zip(target.dataset.runs, sizes, strict=True))
    guides = tuple(guide[:, :n] for guide, n in zip(target.guides, sizes, strict=True))
    profiles = tuple(profile[:, :n] for profile, n in zip(target.profiles, sizes, strict=False))
    return replace(target, dataset=replace(target.dataset, runs=cut), guides=guides, profiles=profiles)


def _varied_length(signal: Float, most: int) -> int:
    """Return the number of points of the first part: doubled until it varies about as much as the whole."""
    n, last = most, len(signal)
    while n < last and np.std(signal[:n]) < VARIED * np.std(signal):
        n *= 2
    return min(n, last)
