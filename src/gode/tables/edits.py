"""Edits of what was read: points dropped, columns corrected, runs cropped.

An edit is one line of text, so that a list of them can be kept, undone, recorded and repeated:

    drop od lines 14,17-19            cells of a column, or of all columns, become missing
    subtract blank from A1,A2         a column or a number
    multiply acc by 9.80665 as m/s2   a number, with the new unit; times of day and dates are counted in
                                      seconds first, unless the number leads from another unit of time
    crop 0.5 to 30                    the times that are kept; either may be left out
    shift valve by 6                  a column acts so much later; before, it is as it was first
    hold back 20 %                    the last part of each run, as a test of the equation
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from gode.arrays import Bool, Float, Int
from gode.errors import DataError, shortened
from gode.tables.cells import split_list
from gode.tables.runs import LINE, Readings
from gode.tables.table import Column, Table

FORMS = (
    "drop COLUMN lines 14,17-19; subtract COLUMN from COLUMNS; multiply COLUMNS by NUMBER as UNIT; "
    "crop FIRST to LAST; shift COLUMNS by TIME; hold back 20 %"
)
DROP = re.compile(r"drop (?:(?P<columns>.+) )?lines (?P<lines>[\d,\s-]+)")
SUBTRACT = re.compile(r"subtract (?P<what>.+) from (?P<columns>.+)")
MULTIPLY = re.compile(r"multiply (?P<columns>.+) by (?P<factor>\S+)(?: as (?P<unit>.+))?")
CROP = re.compile(r"crop (?P<first>\S*?) ?to ?(?P<last>\S*)")
SHIFT = re.compile(r"shift (?P<columns>.+) by (?P<time>\S+)")
HOLD_BACK = re.compile(r"hold back (?P<share>\S+?) ?%")
# A record may have this many edits. Set by hand, against lists that are no edits of a person.
MAX_EDITS = 1000
SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
# An edit has at most this many characters. Set by hand: it may name thousands of lines.
LONGEST = 100_000
# The number of a line has at most this many digits, so that no text of digits takes long to read. Set by
# hand.
DIGITS = 12


def check_edits(edits: Sequence[str]) -> None:
    """Refuse what is no edit.

    Raises:
        DataError: naming the forms that an edit may have.
    """
    if len(edits) > MAX_EDITS:
        raise DataError(f"there are {len(edits)} edits, but at most {MAX_EDITS} are allowed; edit the file")
    for edit in edits:
        if len(edit) > LONGEST or not any(
            form.fullmatch(edit) for form in (DROP, SUBTRACT, MULTIPLY, CROP, SHIFT, HOLD_BACK)
        ):
            raise DataError(f"the edit {edit[:60]!r} is not understood; it must be one of: {FORMS}")


def edit_table(table: Table, edits: Sequence[str]) -> Table:
    """Return the table after the edits of its cells, one after the other.

    Raises:
        DataError: if one cannot be applied, with what is wrong.
    """
    check_edits(edits)
    for edit in edits:
        for form, change in CHANGES:
            found = form.fullmatch(edit)
            if found is not None:
                table = change(table, found)
                break
    return table


def edit_runs(readings: Readings, edits: Sequence[str]) -> Readings:
    """Return the runs after the edits of their times.

    Raises:
        DataError: if one cannot be applied, or leaves too little.
    """
    for edit in edits:
        crop, held, shift = CROP.fullmatch(edit), HOLD_BACK.fullmatch(edit), SHIFT.fullmatch(edit)
        if shift is not None:
            readings = _shifted(readings, shift)
        if crop is not None:
            first = _number(crop["first"], edit) if crop["first"] else -math.inf
            last = _number(crop["last"], edit) if crop["last"] else math.inf
            if not first < last:
                raise DataError(f"the edit {edit!r} keeps no time; the first must lie before the last")
            readings = _kept(readings, edit, partial(_between, first=first, last=last))
        if held is not None:
            readings = _kept(readings, edit, partial(_earlier, share=_share(edit)))
    return readings


def held_shares(edits: Sequence[str]) -> list[float]:
    """Return which share of the end of each run is held back: none, or one.

    Raises:
        DataError: if there are two such edits, or one cannot be.
    """
    found = [edit for edit in edits if HOLD_BACK.fullmatch(edit)]
    if len(found) > 1:
        raise DataError(f"the edits {found[0]!r} and {found[1]!r} both hold back the end; give one of them")
    return [_share(edit) for edit in found]


def without_test(edits: Sequence[str]) -> list[str]:
    """Return the edits less those that hold a part of the runs back."""
    return [edit for edit in edits if not HOLD_BACK.fullmatch(edit)]


def _drop(table: Table, found: re.Match[str]) -> Table:
    lines = _lines(found["lines"])
    rows = np.flatnonzero(np.isin(table.lines, lines))
    if len(rows) < len(lines):
        missing = sorted({*lines} - {*table.lines[rows].tolist()})[0]
        raise DataError(f"{table.source} has no row of numbers in line {missing}; {found[0][:60]!r} drops it")
    columns = table.names if found["columns"] is None else _columns(table, found["columns"])
    limits = {name: _emptied(table.limits(name), rows) for name in columns}
    return table.with_columns({name: _emptied(table.column(name), rows) for name in columns}, limits)


def _emptied(column: Column, rows: Int) -> Column:
    """Return a column with some cells empty."""
    kind = column.dtype.kind
    made = column.copy() if kind in "mMfO" else column.astype(np.float64 if kind in "iu" else object)
    made[rows] = None if kind in "Ob" else np.array("NaT", column.dtype) if kind in "mM" else np.nan
    return made


def _subtract(table: Table, found: re.Match[str]) -> Table:
    columns = _columns(table, found["columns"])
    what = _subtrahend(table, found["what"], found[0])
    return _changed(table, columns, lambda values: values - what)


def _subtrahend(table: Table, text: str, edit: str) -> Float | float:
    """Return a column by its name, or a number; here a number does not mean a column by its place."""
    if text not in table.names and _is_number(text):
        return _number(text, edit)
    try:
        return table.numbers(table.find(text))
    except DataError as error:
        raise DataError(f"{text[:40]!r} is neither a number nor a column: {error}") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _multiply(table: Table, found: re.Match[str]) -> Table:
    factor = _number(found["factor"], found[0])
    if factor == 0:
        raise DataError(f"the edit {found[0]!r} leaves nothing; multiply by another number")
    columns = _columns(table, found["columns"])
    unit = found["unit"] or ""
    timed = [name for name in columns if table.is_timed(name)]  # counted in seconds when they are read
    spans = {name: (_scale(table.span(name)[0], factor, unit), unit) for name in timed}
    table = replace(table, spans={**table.spans, **spans})
    columns = [name for name in columns if name not in spans]
    made = _changed(table, columns, lambda values: values * factor)
    units = [unit if name in columns else old for name, old in zip(made.names, made.units, strict=True)]
    return replace(made, units=tuple(units))


def _scale(before: float, factor: float, unit: str) -> float:
    """Return by what seconds are multiplied; from whatever unit of time a factor leads to a known one."""
    size = SECONDS.get(unit)
    if size is not None and any(math.isclose(factor * size, each, rel_tol=1e-3) for each in SECONDS.values()):
        return 1 / size
    return before * factor


CHANGES: tuple[tuple[re.Pattern[str], Callable[[Table, re.Match[str]], Table]], ...] = (
    (DROP, _drop),
    (SUBTRACT, _subtract),
    (MULTIPLY, _multiply),
)


def _changed(table: Table, columns: Sequence[str], change: Callable[[Float], Float]) -> Table:
    with np.errstate(over="ignore", invalid="ignore"):
        limits = {
            name: np.sort([change(side) for side in table.limits(name).T], axis=0).T for name in columns
        }
        return table.with_columns({name: change(table.numbers(name)) for name in columns}, limits)


def _columns(table: Table, text: str) -> list[str]:
    if text in table.names:  # a name may hold a comma
        return [text]
    return [table.find(word) for word in split_list(text)]


def _lines(text: str) -> list[int]:
    """Return the numbers in a text such as 14,17-19."""
    out: list[int] = []
    for part in text.replace(" ", "").split(","):
        ends = [int(word) for word in part.split("-") if word.isdecimal() and len(word) <= DIGITS]
        if not ends or len(ends) > 2 or ends[0] > ends[-1] or ends[-1] - ends[0] > LONGEST * 10:
            raise DataError(f"the lines {shortened(part, 200)!r} are not understood; write them as 14,17-19")
        out += range(ends[0], ends[-1] + 1)
    return sorted({*out})


def _number(text: str, edit: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{text[:40]!r} is neither a number nor a column that the edit {edit[:60]!r} can use")
    return value


def _share(edit: str) -> float:
    found = HOLD_BACK.fullmatch(edit)
    share = _number(found["share"], edit) if found else math.nan
    if not 0 < share < 100:
        raise DataError(f"the edit {edit!r} must hold back more than 0 and less than 100 %")
    return share / 100


def _between(t: Float, *, first: float, last: float) -> Bool:
    return np.asarray((t >= first) & (t <= last))


def _earlier(t: Float, *, share: float) -> Bool:
    seen = t[np.isfinite(t)]
    return np.asarray(t <= seen[0] + (1 - share) * (seen[-1] - seen[0])) if len(seen) else np.isfinite(t)


def _shifted(readings: Readings, found: re.Match[str]) -> Readings:
    """Return the readings with some columns later."""
    delay = _number(found["time"], found[0])
    names = {label.rsplit(" [", 1)[0]: key for key, label in readings.labels.items()}
    names |= {key: key for key in readings.runs[0]}
    runs = [dict(run) for run in readings.runs]
    for name in split_list(found["columns"]):
        key = names.get(name)
        if key in (None, "t", LINE) or key not in runs[0]:
            known = ", ".join(readings.inputs) or "there is none"
            raise DataError(f"{name!r} in the edit {found[0][:60]!r} must be an input or a state ({known})")
        for run in runs:
            run[key] = _later(run["t"], run[key], delay)
    return replace(readings, runs=tuple(runs))


def _later(t: Float, values: Float, delay: float) -> Float:
    """Return values that come later by some time; beyond their ends they stay as they are there.

    What moves in steps is later by whole samples, since a value between two levels was never there.
    """
    seen = np.isfinite(values) & np.isfinite(t)
    if not seen.any():
        return values
    at, known = t[seen], values[seen]
    asked = t - delay
    if 2 * np.count_nonzero(np.diff(known)) > len(known):
        return np.interp(asked, at, known)
    after = np.clip(np.searchsorted(at, asked), 0, len(at) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(asked - at[before] < at[after] - asked, before, after)  # steps stay steps
    return np.asarray(known[nearest])


def _kept(readings: Readings, edit: str, keep: Callable[[Float], Bool]) -> Readings:
    """Return the readings at the times that are kept."""
    masks = [keep(run["t"]) for run in readings.runs]
    empty = [i for i, mask in enumerate(masks) if not mask.any()]
    if empty:
        name = f" of {readings.names[empty[0]]}" if readings.names else ""
        raise DataError(f"the edit {edit!r} keeps no time{name}; keep a longer part")
    runs = tuple(
        {key: values[mask] for key, values in run.items()}
        for run, mask in zip(readings.runs, masks, strict=True)
    )
    others = {
        key: [values[mask] for values, mask in zip(columns, masks, strict=True)]
        for key, columns in readings.others.items()
    }
    return replace(readings, runs=runs, others=others)
