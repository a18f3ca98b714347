"""Unknown initial values that the data cannot tell from zero: holding them there saves a free number."""

from dataclasses import replace

import numpy as np

from gode.arrays import Bool
from gode.fitting.prepare import Prepared
from gode.fitting.target import Target
from gode.selection import Candidate


def may_be_zero(prepared: Prepared, order: int, within: float) -> Bool:
    """Tell which unknown initial values (runs, order) lie `within` so many standard deviations of zero."""
    first = np.array([smooth.values[:order, 0] for smooth in prepared.smooths])
    error = np.array([smooth.deviations[:order, 0] for smooth in prepared.smooths])
    return np.asarray(_unknown(prepared, order) & (np.abs(first) <= within * error))


def fitted_target(candidate: Candidate, prepared: Prepared) -> Target:
    """Return what the candidate was fitted to."""
    zero = np.zeros(candidate.initial.shape, bool)
    zero[tuple(np.array(candidate.held, np.int64).reshape(-1, 2).T)] = True
    return with_zeros(prepared.whole if candidate.whole else prepared.target, zero)


def _unknown(prepared: Prepared, order: int) -> Bool:
    return np.array([np.isnan(run.initial[:order]) for run in prepared.dataset.runs])


def with_zeros(target: Target, zero: Bool) -> Target:
    """Return the target with these initial values (runs, order) known to be zero."""
    runs = []
    for run, here in zip(target.dataset.runs, zero, strict=True):
        initial = run.initial.copy()
        initial[: len(here)][here] = 0.0
        runs.append(replace(run, initial=initial))
    return replace(target, dataset=replace(target.dataset, runs=tuple(runs)))
