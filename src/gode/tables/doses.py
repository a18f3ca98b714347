"""Doses in a table: a column of amounts, or the columns ID, TIME, AMT, DV, EVID, CMT, RATE, II, ADDL.

Tables for NONMEM have a row for each dose and each reading. A dose row has an amount and no reading; RATE
makes it an infusion, ADDL and II repeat it. Among rows of the same time their order tells what came first.
A column that repeats one amount in all rows of a run, beside readings, tells of one dose, at the first row.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gode.arrays import Bool, Int
from gode.errors import ConfigError, DataError
from gode.tables.cells import word_set, words_of
from gode.tables.column_options import find_column
from gode.tables.name_clues import run_rows
from gode.tables.table import Table

READING, DOSE, OTHER_EVENT = range(3)  # the values of EVID
MOST_REPEATS = 100_000  # of one dose, so that a slip of the pen does not take all memory
NAMES = word_set("dose dosis dosage dosierung doses amt")  # of columns of amounts
# What is dosed is absorbed first if in most runs the highest reading is not among so many that follow the
# dose. Set by hand: after an injection it is the first of them, and the second by noise.
AT_ONCE = 2
CLEARED = 0.5  # It is cleared if the last reading is below this fraction of the highest. Set by hand, too.


# State or number of it, time, amount, duration, and whether it comes before a reading of the same time.
Row = tuple[str | int, float, float, float, bool]


class DoseColumns(NamedTuple):
    """The columns that tell of doses; None where there is none."""

    amounts: tuple[tuple[str, str], ...]  # columns, and the state into which each goes, empty where CMT says
    listed: bool  # whether a dose has a row of its own, as in tables for NONMEM
    time: str | None = None
    reading: str | None = None
    run: str | None = None
    evid: str | None = None
    mdv: str | None = None
    cmt: str | None = None
    rate: str | None = None
    ii: str | None = None
    addl: str | None = None
    ss: str | None = None

    @property
    def apart(self) -> set[str]:
        """The columns that hold no signal."""
        others = (self.evid, self.mdv, self.cmt, self.rate, self.ii, self.addl, self.ss)
        return {*(name for name, _ in self.amounts), *(name for name in others if name)}


def find_dose_columns(table: Table, asked: Sequence[str]) -> DoseColumns | None:
    """Return the columns of doses: as asked by texts such as amt:depot, or those of a table for NONMEM.

    Raises:
        DataError, ConfigError: if a column does not exist, or a text names no state.
    """
    known = {name.lower(): name for name in table.names}
    names = ("time", "dv", "id", "evid", "mdv", "cmt", "rate", "ii", "addl", "ss")
    time, reading, run, *others = (known.get(name) for name in names)
    listed = "amt" in known and time is not None and (reading is not None or others[0] is not None)
    amounts = []
    for text in asked:
        column, colon, state = text.rpartition(":")
        if not (colon and column.strip() and state.strip()):
            raise ConfigError(
                f"--dose {text!r} must be a column of amounts and the state that they are added to, "
                "such as --dose amt:depot"
            )
        amounts.append((find_column(table, column.strip()), state.strip()))
    if not amounts and not listed:
        return None
    if not listed:
        return DoseColumns(tuple(amounts), listed)
    return DoseColumns(tuple(amounts) or ((known["amt"], ""),), listed, time, reading, run, *others)


def without_doses(table: Table, columns: DoseColumns) -> Table:
    """Return the readings alone, without what tells of doses."""
    kept = ~_rows_without_reading(table, columns)
    places = [i for i, name in enumerate(table.names) if name not in columns.apart]
    errors = table.errors
    if errors is not None:
        columns_of_errors = tuple(column[kept] for column in errors.columns)
        errors = replace(errors, columns=columns_of_errors, lines=errors.lines[kept])
    return replace(
        table,
        errors=errors,
        names=tuple(table.names[i] for i in places),
        units=tuple(table.units[i] for i in places),
        columns=tuple(table.columns[i][kept] for i in places),
        lines=table.lines[kept],
        changed_limits={name: pairs[kept] for name, pairs in table.changed_limits.items()},
    )


def doses_by_run(table: Table, columns: DoseColumns, time: str, run: str | None) -> dict[str, list[Row]]:
    """Return the doses of each run, by its name.

    Raises:
        DataError: if an event is of a kind that is not known, or a number makes no sense.
    """
    if table.is_timed(time):
        raise DataError(f"{table.source}: doses need times in numbers, but {time!r} holds dates or clocks")
    t = table.numbers(time)
    _check_events(table, columns)
    silent = _rows_without_reading(table, columns)
    events = [_Event(table, columns, name, state) for name, state in columns.amounts]
    found = {}
    for name, rows in run_rows(table, run).items():
        for event in events:
            event.take_once(rows)
        seen = rows[~silent[rows]]
        last = float(np.nanmax(t[seen], initial=-np.inf))
        latest = dict(zip(t[seen].tolist(), seen.tolist(), strict=True))  # the last reading at each time
        given = [
            dose
            for i in rows.tolist()
            for event in events
            for dose in event.doses(i, float(t[i]), last, first=silent[i] and latest.get(t[i], -1) > i)
        ]
        found[name] = sorted(given, key=lambda row: row[1])
    return found


def observed_compartment(table: Table, columns: DoseColumns) -> int | None:
    """Return the number of the compartment that the readings are of, if CMT says it."""
    if columns.cmt is None:
        return None
    values = table.numbers(columns.cmt)[~_rows_without_reading(table, columns)]
    different = np.unique(values[np.isfinite(values)])
    if len(different) > 1:
        raise DataError(
            f"{table.source}: readings of {len(different)} compartments stand in one column; give each a "
            "column of its own, and name them by --states"
        )
    return int(different[0]) if len(different) and different[0] > 0 else None


class Course(NamedTuple):
    """What readings do after a dose, in most runs."""

    is_cleared: bool  # whether they end far below the highest one
    peak: float  # the longest time to the highest reading; zero where that comes at once


def repeats_a_dose(table: Table, name: str, run: str | None) -> bool:
    """Tell whether a column is called a dose and repeats one positive amount in all rows of each run."""
    if not {*words_of(name)} & NAMES or not table.is_numeric(name):
        return False
    values = table.numbers(name)
    parts = [values[rows] for rows in run_rows(table, run).values()]
    return all(len(part) > 1 and part[0] > 0 and bool(np.all(part == part[0])) for part in parts)


def course_of(table: Table, columns: DoseColumns, time: str, run: str | None, reading: str) -> Course:
    """Return what readings do after the dose, of those runs that have one dose only."""
    t, values, silent = table.numbers(time), table.numbers(reading), _rows_without_reading(table, columns)
    given = doses_by_run(table, columns, time, run)
    ends, peaks = [], []
    for name, rows in run_rows(table, run).items():
        begin = given[name][0][1] if len(given[name]) == 1 else np.inf
        after = rows[~silent[rows] & (t[rows] > begin) & np.isfinite(values[rows])]
        if len(after) > AT_ONCE:
            highest = int(np.argmax(values[after]))
            ends.append(values[after[-1]] < CLEARED * values[after[highest]])
            peaks.append(float(t[after[highest]] - begin) if highest >= AT_ONCE else 0.0)
    return Course(2 * sum(ends) > len(ends), max(peaks) if 2 * np.count_nonzero(peaks) > len(peaks) else 0.0)


class _Event:
    """What the rows of a table add to one state."""

    def __init__(self, table: Table, columns: DoseColumns, amount: str, state: str) -> None:
        self.table, self.columns, self.state = table, columns, state
        self.amount = np.nan_to_num(table.numbers(amount))
        self.rate, self.interval, self.more, self.cmt, self.evid = (
            np.zeros(table.n_rows) if name is None else np.nan_to_num(table.numbers(name))
            for name in (columns.rate, columns.ii, columns.addl, columns.cmt, columns.evid)
        )

    def take_once(self, rows: Int) -> None:
        """Take an amount that all rows of a run repeat beside their readings as that of its first row."""
        amounts = self.amount[rows]
        if not self.columns.listed and len(rows) > 1 and np.all(amounts == amounts[0]):
            self.amount[rows[1:]] = 0.0

    def doses(self, row: int, begin: float, last: float, *, first: bool) -> list[Row]:
        """Return the doses of one row, repeated as far as there are readings."""
        amount, rate, interval, more = (
            float(values[row]) for values in (self.amount, self.rate, self.interval, self.more)
        )
        told = self.columns.evid is not None
        if amount == 0 or not np.isfinite(begin) or (told and self.evid[row] != DOSE):
            return []
        if rate < 0:
            raise DataError(
                f"{self.table.place(row, str(self.columns.rate))}: a rate of {rate:g} stands for an infusion "
                "that is fitted, which is not supported; give the rate"
            )
        if not 0 <= more <= MOST_REPEATS or (more > 0 and not interval > 0):
            raise DataError(
                f"{self.table.place(row, str(self.columns.addl))}: {more:g} more doses every {interval:g} "
                "make no sense; ADDL and II must be positive"
            )
        into: str | int = self.state or max(int(self.cmt[row]), 1)
        duration = amount / rate if rate > 0 else 0.0
        later = [(into, begin + k * interval, amount, duration, False) for k in range(1, int(more) + 1)]
        return [dose for dose in [(into, begin, amount, duration, bool(first)), *later] if dose[1] <= last]


def _rows_without_reading(table: Table, columns: DoseColumns) -> Bool:
    """Return which rows hold a dose or another event, but no reading."""
    none = np.zeros(table.n_rows, bool)
    if not columns.listed:
        return none
    if columns.evid is not None:
        none |= np.nan_to_num(table.numbers(columns.evid)) != READING
    else:
        for name, _ in columns.amounts:
            none |= np.nan_to_num(table.numbers(name)) != 0
    if columns.mdv is not None:
        none |= np.nan_to_num(table.numbers(columns.mdv)) != 0
    return none


def _check_events(table: Table, columns: DoseColumns) -> None:
    if columns.evid is not None:
        events = np.nan_to_num(table.numbers(columns.evid))
        other = np.flatnonzero(~np.isin(events, (READING, DOSE, OTHER_EVENT)))
        if len(other):
            row = int(other[0])
            raise DataError(
                f"{table.place(row, columns.evid)}: {events[row]:g} is an event that is not supported; "
                "0 is a reading, 1 a dose and 2 another event; make what follows a reset a run of its own"
            )
    if columns.ss is not None and np.any(np.nan_to_num(table.numbers(columns.ss)) != 0):
        row = int(np.argmax(np.nan_to_num(table.numbers(columns.ss)) != 0))
        raise DataError(
            f"{table.place(row, columns.ss)}: doses at steady state are not supported; list the doses before "
            "it, by ADDL and II for example"
        )
