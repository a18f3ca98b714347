"""Doses: at a known time a known amount is added to a state, at once or as an infusion."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

import numpy as np

from gode.arrays import Float
from gode.data.states import as_numbers, by_name
from gode.errors import DataError

Given = Mapping[str, object] | Sequence[object]  # rows (state, time, amount, duration), or a table of them
EXPECTED = (
    "a dose is (state, time, amount), with a duration behind for an infusion, such as ('depot', 0.0, 320.0)"
)

# In the text of an equation it stands for what is given to its state, as in F*dose(t - tlag); it is the known
# input of this name, which is "0" between doses.
DOSE = "dose"


@dataclass(frozen=True, kw_only=True)
class Dose:
    """An amount that is added to a state, or to its derivative, at a time."""

    channel: int  # 3 s + k for derivative k of state s
    t: float
    amount: float
    duration: float = 0.0  # of an infusion; 0 for what is added at once
    first: bool = False  # whether it was given before a reading at the same time


def of_state(doses: tuple[Dose, ...], state: int) -> tuple[Dose, ...]:
    """Return the doses into one state, as those of a run of that state alone."""
    return tuple(replace(d, channel=d.channel % 3) for d in doses if d.channel // 3 == state)


def added(doses: Sequence[Dose], t: Float) -> Float:
    """Return what doses into a single state alone make of u and u' (2, n) at some times.

    A reading is taken before a dose at the same time. What was added to u' moves u at that speed.
    """
    out = np.zeros((2, len(t)))
    for dose in doses:
        since = np.maximum(t - dose.t, 0.0)
        if dose.duration > 0:
            rate = dose.amount / dose.duration
            out[dose.channel] += rate * np.minimum(since, dose.duration)
            out[dose.channel + 1 : 2] += rate * ((since > 0) & (since <= dose.duration))
        else:
            step = dose.amount * (t >= dose.t if dose.first else t > dose.t)
            out[dose.channel] += step
            out[: dose.channel] += dose.amount * since
    return out


def doses_of_runs(given: object, n: int) -> list[object]:
    """Return the doses of each of `n` runs: the same for all, or a list with one entry for each."""
    if given is None or not isinstance(given, list | tuple) or not len(given) or _is_row(given[0]):
        return [given] * n
    if n == 1 and len(given) != 1:
        raise DataError(f"{EXPECTED}; got {given[0]!r}")
    if len(given) != n:
        raise DataError(f"t holds {n} runs, so doses must be a list of {n} lists, one for each run")
    return list(given)


def make_doses(
    given: object, states: Sequence[str], where: str, also: Mapping[str, str] | None = None
) -> tuple[Dose, ...]:
    """Return the doses of one run, in the order of their times.

    Args:
        given: rows such as ("depot", 0.0, 320.0), or a table with the columns state, time, amount and, of
            infusions, duration. Instead of its name a state may have its number, from 1. A fifth entry tells
            whether the dose comes before a reading of the same time.
        also: the states by other names that they have.

    Raises:
        DataError: if one cannot be used.
    """
    if given is None:
        return ()
    rows = _rows_of(given, states, where)
    named = [((also or {}).get(str(row[0]), row[0]), *row[1:]) for row in rows]
    return tuple(sorted((_dose(row, states, where) for row in named), key=lambda dose: dose.t))


def check_times(doses: Sequence[Dose], last: float, where: str) -> None:
    """Raise DataError if a dose comes after the last reading."""
    late = next((dose for dose in doses if dose.t > last), None)
    if late is not None:
        raise DataError(
            f"{where}the dose at {late.t:g} lies after the last reading, at {last:g}; leave it out, or "
            "correct its time"
        )


def _is_row(row: object) -> bool:
    return isinstance(row, list | tuple) and len(row) > 0 and isinstance(row[0], str | int)


def _rows_of(given: object, states: Sequence[str], where: str) -> Iterable[Sequence[object]]:
    columns = by_name(given, "doses")
    if columns is not None:
        return _rows_of_table(columns, states, where)
    if not isinstance(given, list | tuple) or not all(map(_is_row, given)):
        raise DataError(f"{where}{EXPECTED}; got {str(given)[:80]}")
    return given


def _rows_of_table(
    columns: Mapping[str, object], states: Sequence[str], where: str
) -> Iterable[Sequence[object]]:
    known = {"state", "time", "t", "amount", "duration"}
    unknown = [name for name in columns if name not in known]
    times = columns.get("time", columns.get("t"))
    needed = {"amount"} if len(states) == 1 else {"state", "amount"}
    if unknown or times is None or not needed <= {*columns}:
        raise DataError(
            f"{where}a table of doses has the columns state, time, amount and perhaps duration, "
            f"got {', '.join(columns)}"
        )
    named = columns.get("state", repeat(states[0]))
    durations = columns.get("duration", repeat(0.0))
    return list(zip(named, times, columns["amount"], durations, strict=False))  # type: ignore[call-overload]


def _dose(row: Sequence[object], states: Sequence[str], where: str) -> Dose:
    if len(row) not in (3, 4, 5):
        raise DataError(f"{where}{EXPECTED}; got {row!r}")
    number = row[0]
    name = str(number)
    if isinstance(number, int) and 1 <= number <= len(states):
        name = states[number - 1]
    state = name.rstrip("'")
    slope = len(name) - len(state)
    if state not in states or slope > 1:
        raise DataError(
            f"{where}a dose goes into {name!r}, which is no state; the states are {', '.join(states)}; "
            "one that was not measured is named by hidden= or by its own equation"
        )
    numbers = as_numbers(list(row[1:4]), f"{where}a dose into {name}")
    if not np.isfinite(numbers).all():
        raise DataError(f"{where}a dose into {name} must have finite numbers, got {row!r}")
    duration = float(numbers[2]) if len(numbers) > 2 else 0.0
    if duration < 0:
        raise DataError(f"{where}the duration of a dose into {name} must not be negative, got {duration:g}")
    channel = 3 * list(states).index(state) + slope
    first = len(row) > 4 and bool(row[4])
    t, amount = float(numbers[0]), float(numbers[1])
    return Dose(channel=channel, t=t, amount=amount, duration=duration, first=first)
