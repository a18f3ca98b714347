"""Unknown initial values that the data cannot tell from zero: holding them there saves a free number."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gode.arrays import Bool
from gode.fitting.covariance import CHANCE
from gode.fitting.prepare import Prepared
from gode.fitting.target import Target, state_places
from gode.selection import Candidate


def may_be_zero(prepared: Prepared, orders: Sequence[int]) -> Bool:
    """Tell which unknown initial values (runs, sum of orders) are zero within the errors of smoothing."""
    channels = [3 * s + k for s, order in enumerate(orders) for k in range(order)]
    first = np.array([smooth.values[channels, 0] for smooth in prepared.smooths])
    error = np.array([smooth.deviations[channels, 0] for smooth in prepared.smooths])
    unknown = np.array([np.isnan(run.initial[state_places(orders)]) for run in prepared.dataset.runs])
    return np.asarray(unknown & (np.abs(first) <= CHANCE * error))


def is_positive(prepared: Prepared, orders: Sequence[int]) -> Bool:
    """Tell of which initial values (runs, sum of orders) the state is above zero in all of its readings."""
    lowest = [[run.observed[3 * s] for s in range(len(orders))] for run in prepared.dataset.runs]
    above = [[bool(np.nanmin(row, initial=np.inf) > 0) for row in rows] for rows in lowest]
    return np.repeat(np.array(above), orders, axis=1)


def is_hidden(prepared: Prepared, orders: Sequence[int]) -> Bool:
    """Tell which initial values (sum of orders,) are those of states that no column measures."""
    return np.repeat([s in prepared.dataset.hidden for s in range(len(orders))], orders)


def fitted_target(candidate: Candidate, prepared: Prepared) -> Target:
    """Return what the candidate was fitted to."""
    zero = np.zeros(candidate.initial.shape, bool)
    zero[tuple(np.array(candidate.held, np.int64).reshape(-1, 2).T)] = True
    orders = candidate.equation.skeleton.orders
    return with_zeros(prepared.whole if candidate.whole else prepared.target, orders, zero)


def with_zeros(target: Target, orders: Sequence[int], zero: Bool) -> Target:
    """Return the target with these initial values (runs, sum of orders) known to be zero."""
    runs, places = [], np.array(state_places(orders))
    for run, here in zip(target.dataset.runs, zero, strict=True):
        initial = run.initial.copy()
        initial[places[here]] = 0.0
        runs.append(replace(run, initial=initial))
    return replace(target, dataset=replace(target.dataset, runs=tuple(runs)))
