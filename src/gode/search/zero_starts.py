"""Records that may begin at zero: an equation that can do so, too, has fewer numbers to fit."""

from dataclasses import replace

import numpy as np

from gode.arrays import Bool
from gode.fitting.prepare import Prepared
from gode.fitting.target import Target
from gode.selection import Candidate

DOUBT = 2.5  # standard deviations of the smoothed start within which it may be zero


def may_be_zero(prepared: Prepared, order: int) -> Bool:
    """Tell which initial values (runs, order) are unknown and near zero: the smoothed data cannot tell."""
    first = np.array([smooth.values[:order, 0] for smooth in prepared.smooths])
    error = np.array([smooth.deviations[:order, 0] for smooth in prepared.smooths])
    return np.asarray(_unknown(prepared, order) & (np.abs(first) <= DOUBT * error))


def fitted_target(candidate: Candidate, prepared: Prepared) -> Target:
    """Return what the candidate was fitted to: with the initial values known that it takes for zero."""
    unknown = _unknown(prepared, candidate.equation.order)
    n_part = sum(int(np.isfinite(run.observed).sum()) for run in prepared.target.dataset.runs)
    target = prepared.target if candidate.n_values == n_part else prepared.whole
    return with_zeros(target, unknown & (candidate.initial == 0))


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
