"""Times of day, durations and dates to seconds; the whole column resolves what a cell leaves ambiguous."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from gode.arrays import Float
from gode.errors import DataError
from gode.tables.cells import CLOCK, DATE, MISSING

DAY = 86400.0  # seconds
HOUR = 3600.0  # seconds
SIGNS = re.compile(r"[-./, ]+")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
HOURS = {"h", "hr", "hour", "hours", "h:mm", "hh:mm", "hh:mm:ss", "h:mm:ss"}  # units of a column of 1:45
MINUTES = {"min", "mins", "minutes", "m:ss", "mm:ss", "mm:ss.f", "mm:ss.fff"}

Place = Callable[[int], str]  # names a row in messages


@dataclass(frozen=True)
class Times:
    """Times in seconds, NaN where one is missing, and how they were read."""

    seconds: Float
    form: str  # for display
    period: float = np.inf  # of a clock that wraps around


def read_times(words: Sequence[str], unit: str, place: Place) -> Times:
    """Return the times in the cells of a column, all clocks or all dates.

    Raises:
        DataError: for a cell that is no time, or where the column can be read in two ways.
    """
    given = [i for i, word in enumerate(words) if word.lower() not in MISSING]
    out = np.full(len(words), np.nan)
    if CLOCK.fullmatch(words[given[0]]):
        values, form, period = _clocks([words[i] for i in given], unit, lambda k: place(given[k]))
    else:
        values, form = _dates([words[i] for i in given], lambda k: place(given[k]))
        period = np.inf
    out[given] = values
    return Times(out, form, period)


def joined(days: Times, clock: Times) -> Times | None:
    """Return the times of a column of dates and one of times of day; None if they are not that."""
    if not days.form.startswith("dates") or clock.period != DAY:
        return None
    if np.any(days.seconds % DAY > 0) or np.any(clock.seconds >= DAY):
        return None
    return Times(days.seconds + clock.seconds, f"{days.form}, and {clock.form}")


def unrolled(seconds: Float, period: float) -> tuple[Float, int]:
    """Return the times of one run with a period added at each wrap of its clock, and the number of wraps."""
    seen = np.flatnonzero(np.isfinite(seconds))
    if not np.isfinite(period) or not len(seen) or np.max(seconds[seen]) >= period:
        return seconds, 0
    turns = np.concatenate([[0], np.cumsum(np.diff(seconds[seen]) <= -period / 2)])
    out = seconds.copy()
    out[seen] += period * turns
    return out, int(turns[-1])


def _clocks(words: Sequence[str], unit: str, place: Place) -> tuple[Float, str, float]:
    rows = (_fields(word, place, i) for i, word in enumerate(words))
    first, second, third, rest = np.fromiter(rows, np.dtype((np.float64, 4)), len(words)).T
    hours = HOUR * first + 60 * second + np.nan_to_num(third) + rest
    short = np.isnan(third)
    if not short.any():
        return hours, "h:mm:ss", DAY
    minutes = np.where(short, 60 * first + second + rest, hours)
    at = place(int(np.argmax(short)))
    if _in_hours(first[short], rest[short], unit, rising=(_rises(hours), _rises(minutes)), where=at):
        return hours, "h:mm", DAY
    return minutes, "mm:ss", HOUR if short.all() else np.inf


def _rises(values: Float) -> bool:
    return bool(np.all(np.diff(values) > 0))


def _fields(word: str, place: Place, row: int) -> tuple[float, float, float, float]:
    """Return the numbers between the colons, NaN for a third that is not there, and the rest in seconds."""
    found = CLOCK.fullmatch(word)
    if found is None or int(found["second"]) > 59 or int(found["third"] or 0) > 59:
        raise DataError(f"{place(row)}: expected a time such as 13:45:10, got {word[:40]!r}; correct it")
    first = int(found["first"])
    if found["half"]:
        if not 1 <= first <= 12:
            raise DataError(f"{place(row)}: {word[:40]!r} is no time of a clock of 12 hours; correct it")
        first = first % 12 + 12 * (found["half"] in "pP")
    rest = DAY * int(found["days"] or 0) + float(f"0.{found['fraction'] or 0}")
    third = np.nan if found["third"] is None and not found["half"] else float(found["third"] or 0)
    return float(first), float(found["second"]), third, rest


def _in_hours(first: Float, rest: Float, unit: str, *, rising: tuple[bool, bool], where: str) -> bool:
    """Tell whether times of two numbers are hours and minutes, rather than minutes and seconds."""
    if unit.lower() in HOURS or unit.lower() in MINUTES:
        return unit.lower() in HOURS
    if np.any(rest % 1) or first[0] > 23:  # only seconds have fractions, and no day begins at 24:00
        return False
    if rising[0] != rising[1]:  # 59:30 before 1:00:00
        return rising[0]
    if first[0] > 0 and np.max(first) <= 23:  # a time of day
        return True
    raise DataError(
        f"{where}: the times may be hours and minutes or minutes and seconds; "
        "write 0:30:00 in full, or name the column 'time [h:mm]' or 'time [mm:ss]'"
    )


def _dates(words: Sequence[str], place: Place) -> tuple[Float, str]:
    parts = [_parts(word, place, i) for i, word in enumerate(words)]
    rows = {day: i for i, (day, _) in reversed(list(enumerate(parts)))}
    clock = np.array([seconds for _, seconds in parts])
    read = {form: {day: _ordinal(day, day_first=form) for day in rows} for form in (True, False)}
    for day, row in rows.items():
        if read[True][day] is read[False][day] is None:
            raise DataError(f"{place(row)}: there is no date {day!r}; write it as 2024-12-31 13:45:00")
    found = {}
    for form, ordinals in read.items():
        if None not in ordinals.values():
            days = np.array([ordinals[day] for day, _ in parts], np.float64)
            found[form] = (days - days.min()) * DAY + clock
    if not found:
        raise DataError(
            f"{place(0)}: some dates have the day first and some the month; write all as 2024-12-31"
        )
    if len(found) == 2 and np.array_equal(found[True], found[False]):
        return found[True], "dates"
    first = _day_first(found, parts[0][0], place)
    return found[first], f"dates, the {'day' if first else 'month'} first"


def _parts(word: str, place: Place, row: int) -> tuple[str, float]:
    """Return the day in a cell, as text, and the seconds since midnight."""
    found = DATE.fullmatch(word)
    if found is None:
        raise DataError(
            f"{place(row)}: expected a date such as 2024-05-31 12:00:00, got {word[:40]!r}; "
            "write all in that form"
        )
    if found["clock"] is None:
        return found["day"], 0.0
    first, second, third, rest = _fields(found["clock"], place, row)
    return found["day"], HOUR * first + 60 * second + (0.0 if np.isnan(third) else third) + rest


def _ordinal(day: str, *, day_first: bool) -> int | None:
    """Return the number of a day, None if there is no such day."""
    first, second, third = (word for word in SIGNS.split(day) if word)
    if first.isdecimal() and len(first) == 4:
        year, month, number = first, second, third
    elif first.isalpha() or second.isalpha():
        year, month, number = third, *((first, second) if first.isalpha() else (second, first))
    else:
        year, month, number = third, *((second, first) if day_first else (first, second))
    try:
        return date(_year(year), _month(month), int(number)).toordinal()
    except ValueError:
        return None


def _year(text: str) -> int:
    if len(text) not in (2, 4):
        raise ValueError
    return int(text) + (0 if len(text) == 4 else 2000 if int(text) < 70 else 1900)


def _month(text: str) -> int:
    return int(text) if text.isdecimal() else MONTHS.index(text[:3].lower()) + 1


def _day_first(found: dict[bool, Float], day: str, place: Place) -> bool:
    """Return whether the day comes before the month: the reading in which time increases."""
    forms = list(found)
    if len(forms) == 1 or "." in day:  # with dots the day is always first
        return forms[0]
    rising = [form for form in forms if _rises(found[form])]
    if len(rising) == 1:
        return rising[0]
    raise DataError(
        f"{place(0)}: in {day!r} and all other dates the day may be first or the month; "
        "write them as 2024-12-31"
    )
