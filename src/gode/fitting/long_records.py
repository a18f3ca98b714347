"""Long records: dense ones averaged for the fits that decide, shorter forms to screen what is tried.

Whatever is cut short is chosen by cycles and by how much the signal moves, not by samples alone.
"""

from dataclasses import replace

import numpy as np

from gode.arrays import Float
from gode.data import Dataset, Run
from gode.data.averaging import averaged, stride_averaged
from gode.data.runs import most_cycles
from gode.fitting.target import Target

DENSE = 1000  # points that averaging leaves of a dense record for the fits that decide,
FINE = 64  # and at least for each cycle
SCREENED = 400  # points on which skeletons are scored and trajectories screened
SHORTEST = 60  # points of a run that are kept for it
PER_CYCLE = 20  # points for each cycle, at least, where a record is averaged to be screened
LIVELY = 0.5  # share of the spread of a record that its first part must have to stand for it


def condensed(dataset: Dataset) -> Dataset:
    """Return the runs as they are fitted: dense ones averaged."""
    return replace(dataset, runs=tuple(averaged(run, DENSE, FINE) for run in dataset.runs))


def screened(dataset: Dataset) -> Dataset:
    """Return the runs as they are screened: long ones averaged as far as their cycles allow."""
    most = _most(dataset)
    if all(run.n_points <= 1.5 * most for run in dataset.runs):
        return dataset
    return replace(dataset, runs=tuple(_coarser(run, most) for run in dataset.runs))


def _most(dataset: Dataset) -> int:
    return max(SCREENED // len(dataset.runs), SHORTEST)


def _coarser(run: Run, most: int) -> Run:
    wanted = max(most, PER_CYCLE * most_cycles(run))
    return stride_averaged(run, int(np.ceil(run.n_points / wanted))) if run.n_points > 1.5 * wanted else run


def first_part(whole: Target) -> Target:
    """Return the target with records of many cycles cut short: it screens what the whole then decides."""
    most = _most(whole.dataset)
    if all(run.n_points <= 1.5 * most for run in whole.dataset.runs):
        return whole
    observed = int(np.flatnonzero(whole.weights > 0)[0])
    sizes = [_lively(guide[observed], most) for guide in whole.guides]
    cut = tuple(_cut(run, n) for run, n in zip(whole.dataset.runs, sizes, strict=True))
    guides = tuple(guide[:, :n] for guide, n in zip(whole.guides, sizes, strict=True))
    return replace(whole, dataset=replace(whole.dataset, runs=cut), guides=guides)


def _lively(signal: Float, most: int) -> int:
    """Return how many points from the start make a part that moves about as much as the whole."""
    n, last = most, len(signal)
    while n < last and np.std(signal[:n]) < LIVELY * np.std(signal):
        n *= 2
    return min(n, last)


def _cut(run: Run, n: int) -> Run:
    inputs = {k: v[:n] if isinstance(v, np.ndarray) else v for k, v in run.inputs.items()}
    counts = None if run.counts is None else run.counts[:n]
    return replace(run, t=run.t[:n], observed=run.observed[:, :n], inputs=inputs, counts=counts)
