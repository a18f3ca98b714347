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

from gode.arrays import Bool, Float, Int
from gode.data.doses import DOSE, Dose
from gode.equation import LawSkeleton
from gode.equation.skeleton import shown_name
from gode.equation.terms import Term
from gode.equation.tree import DELAY, index, number, variables
from gode.errors import DataError, EquationError
from gode.numba_cache import inner_njit

# A dose that comes before a reading at the same time is earlier by this fraction of the span. One with a lag
# is later by it: at the start of a solution it would have no slope in its lag.
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

    def of(self, chosen: Bool | Int) -> "Jumps":
        """Return some of them."""
        return Jumps(*(column[chosen] for column in self))  # type: ignore[arg-type]


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


def as_written(jumps: Jumps, skeleton: LawSkeleton, span: float) -> Jumps:
    """Return jumps multiplied and delayed as terms such as F*dose(t - tlag) in the equations say.

    Args:
        span: of the solution.

    Raises:
        EquationError: if such a term is another.
    """
    named = [name for name in skeleton.inputs if shown_name(name, skeleton.called) == DOSE]
    if not named or not len(jumps.t):
        return jumps
    first, parts = 0, []
    for equation, own in enumerate(s for s, order in enumerate(skeleton.orders) if order):
        part = skeleton.parts[own]
        first = sum(each.n_constants for each in skeleton.parts[:own])
        column = skeleton.seen(own)[1 + 3 * len(skeleton.parts) + skeleton.inputs.index(named[0])]
        here = jumps.of(jumps.equation == equation)
        terms = [term for term in part.rhs_terms or () if column in variables(term.body)]
        parts += [_given_by(term, column, here, first, span) for term in terms] or [here]
    joined = Jumps(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    return joined.of(np.argsort(joined.t, kind="stable"))


def _given_by(term: Term, column: str, jumps: Jumps, first: int, span: float) -> Jumps:
    """Return jumps as a term in the equation of their state gives them.

    Args:
        first: the number of the first constant of this equation.
    """
    by = term.body.args[1] if term.body.op == DELAY else None
    late = by is None or by.op in ("const", "num")
    if term.body.op not in ("var", DELAY) or not late:
        raise EquationError(
            f"{DOSE} may stand with one constant before it and be late by one, such as F*{DOSE}(t - tlag)"
        )
    n, by_number = len(jumps.t), EARLIER * span if by is not None else 0.0
    if by is not None and by.op == "num":
        by_number = number(by)
    return jumps._replace(
        t=jumps.t + by_number,
        amount=term.multiplier * jumps.amount,
        rate=term.multiplier * jumps.rate,
        share=np.full(n, -1 if term.constant is None else first + term.constant, np.int64),
        lag=np.full(n, first + index(by) if by is not None and by.op == "const" else -1, np.int64),
    )


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


@inner_njit
def next_jump(jumps: Jumps, done: int, end: float) -> float:
    """Return the time of dose number `done`, or `end` if that is earlier."""
    return min(jumps.t[done], end) if done < len(jumps.t) else end


@inner_njit
def give(jumps: Jumps, i: int, c: Float, param: Int, y: Float, rate: Float, rate_slope: Float) -> None:
    """Add dose number `i` to the state and its sensitivities in `y` (n, 1 + params) and to the rates (d,)."""
    share, equation, entry = jumps.share[i], jumps.equation[i], jumps.entry[i]
    factor = c[share] if share >= 0 else 1.0
    y[entry, 0] += factor * jumps.amount[i]
    rate[equation] += factor * jumps.rate[i]
    for p in range(len(param)):
        if share >= 0 and param[p] == share:
            y[entry, p + 1] += jumps.amount[i]
            rate_slope[equation, p] += jumps.rate[i]
