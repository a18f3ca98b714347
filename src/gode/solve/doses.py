"""Doses as solvers take them: at some times a state jumps, or its highest derivative does.

A bolus adds its amount to an entry of the state vector. An infusion adds its rate to the highest derivative
of a state from its beginning to its end. Solvers end a step at each of these times and go on from the new
values. With A the amount, T the time of a dose and f the right-hand side, the sensitivities S in a number p
that stands in A or T jump there by

    dA/dp + (f before - f after) dT/dp.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gode.arrays import Float, Int
from gode.data.doses import Dose
from gode.errors import DataError

# A dose that is given before a reading at the same time comes earlier by this fraction of the span.
EARLIER = 1e-10


class Jumps(NamedTuple):
    """What jumps, and when; a tuple, because compiled code takes those."""

    t: Float  # (n,) in increasing order
    equation: Int  # (n,) the state that is dosed
    entry: Int  # (n,) the entry of the state vector that a bolus is added to
    amount: Float  # (n,) what is added to that entry
    rate: Float  # (n,) what is added to the highest derivative of the state from then on
    share: Int  # (n,) the number by which amount and rate are multiplied; -1 for none
    lag: Int  # (n,) the number that is added to the time; -1 for none


NO_JUMPS = Jumps(
    np.empty(0),
    np.empty(0, np.int64),
    np.empty(0, np.int64),
    np.empty(0),
    np.empty(0),
    np.empty(0, np.int64),
    np.empty(0, np.int64),
)


def jumps_of(doses: Sequence[Dose], states: Sequence[str], orders: Sequence[int], t: Float) -> Jumps:
    """Return what doses do to states of these orders; what was given before the first of `t` is over.

    An infusion that began before goes on.

    Raises:
        DataError: if a dose goes into a derivative that is no entry of the state vector.
    """
    places = np.cumsum([0, *orders])
    begin, span = t[0], t[-1] - t[0]
    rows: list[tuple[float, int, int, float, float]] = []
    for dose in doses:
        state, slope = divmod(dose.channel, 3)
        if slope >= orders[state]:
            name = states[state] + "'" * slope
            raise DataError(
                f"a dose goes into {name}, but the equation of {states[state]} is of order {orders[state]}; "
                f"add it to {states[state]}"
            )
        entry, equation = int(places[state]) + slope, sum(order > 0 for order in orders[:state])
        time = dose.t - EARLIER * span if dose.first else dose.t
        if dose.duration > 0:
            rate = dose.amount / dose.duration
            if dose.t + dose.duration > begin:
                rows.append((time, equation, entry, 0.0, rate))
                rows.append((dose.t + dose.duration, equation, entry, 0.0, -rate))
        elif dose.t >= begin:
            rows.append((time, equation, entry, dose.amount, 0.0))
    if not rows:
        return NO_JUMPS
    table = np.array(sorted(rows), np.float64)
    of_state, of_entry = table[:, 1:3].T.astype(np.int64)
    none = np.full(len(rows), -1, np.int64)
    time, amounts, rates = (table[:, i].copy() for i in (0, 3, 4))
    return Jumps(time, of_state, of_entry, amounts, rates, none, none.copy())


def with_events(jumps: Jumps, times: Float, number: int, equation: int) -> Jumps:
    """Return jumps with times at which the slope of one equation jumps, and which are late by a number."""
    n, whole = len(times), np.int64
    nothing = np.zeros(n)
    places, late = np.full(n, equation, whole), np.full(n, number, whole)
    more = Jumps(times, places, np.zeros(n, whole), nothing, nothing, np.full(n, -1, whole), late)
    return Jumps(*(np.concatenate(pair) for pair in zip(jumps, more, strict=True)))


def later(jumps: Jumps, numbers: Float) -> Jumps:
    """Return jumps at the times to which numbers delay them, the last of which is zero."""
    t = jumps.t + numbers[jumps.lag]
    order = np.argsort(t, kind="stable")
    _, *others = (column[order] for column in jumps)
    return Jumps(t[order], *others)  # type: ignore[arg-type]
