"""Long records: averages of dense ones for the final fits, and shorter forms for screening.

How far a record is shortened depends on its cycles and on its variance, not only on its samples.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.data import Dataset, Run
from gode.data.dataset import most_cycles
from gode.data.smoothing import averaged, stride_averaged
from gode.equation.tree import derivative_order, is_other
from gode.fitting.target import Target

DENSE = 1000  # least number of averages of a dense record in the final fits
FINE = 64  # the same per cycle
SCREENED = 400  # points, of all runs together, for screening
SHORTEST = 60  # least number of points of one run for screening
PER_CYCLE = 20  # least number of averages per cycle for screening
FEWEST = 8  # observed values of each state in the shortest part of a run that is followed
VARIED = 0.5  # least standard deviation of the first part, as a share of that of the whole record


def condensed(dataset: Dataset) -> Dataset:
    """Return the runs for the final fits: dense ones averaged."""
    return replace(dataset, runs=tuple(averaged(run, DENSE, FINE) for run in dataset.runs))


def screened(dataset: Dataset) -> Dataset:
    """Return the runs for screening: long ones averaged as far as their cycles allow."""
    most = _most(dataset)
    if all(run.n_points <= 1.5 * most for run in dataset.runs):
        return dataset
    return replace(dataset, runs=tuple(_coarser(run, most) for run in dataset.runs))


def _most(dataset: Dataset) -> int:
    """Return the points of one run for screening: fewer where there are more states, here or as inputs."""
    others = sum(is_other(name) and not derivative_order(name) for name in dataset.inputs)
    return max(SCREENED // (len(dataset.runs) * (len(dataset.states) + others)), SHORTEST)


def _coarser(run: Run, most: int) -> Run:
    wanted = max(most, PER_CYCLE * most_cycles(run))
    return stride_averaged(run, int(np.ceil(run.n_points / wanted))) if run.n_points > 1.5 * wanted else run


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
    cut = tuple(_cut(run, n) for run, n in zip(target.dataset.runs, sizes, strict=True))
    guides = tuple(guide[:, :n] for guide, n in zip(target.guides, sizes, strict=True))
    profiles = tuple(profile[:, :n] for profile, n in zip(target.profiles, sizes, strict=False))
    return replace(target, dataset=replace(target.dataset, runs=cut), guides=guides, profiles=profiles)


def _varied_length(signal: Float, most: int) -> int:
    """Return the number of points of the first part: doubled until it varies about as much as the whole."""
    n, last = most, len(signal)
    while n < last and np.std(signal[:n]) < VARIED * np.std(signal):
        n *= 2
    return min(n, last)


def _cut(run: Run, n: int) -> Run:
    inputs = {k: v[:n] if isinstance(v, np.ndarray) else v for k, v in run.inputs.items()}
    counts = None if run.counts is None else run.counts[:n]
    limits = run.limits_at(slice(n))
    return replace(
        run, t=run.t[:n], observed=run.observed[:, :n], inputs=inputs, counts=counts, limits=limits
    )
