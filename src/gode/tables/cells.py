"""The cells of a table: numbers, their decimal sign, times, limits, and words for no reading."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import NamedTuple

from gode.errors import DataError, shortened

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "nat", "null", "none", "missing", "-", "--", "?", "."})
LIMIT = re.compile(  # <0.05: below what can be measured
    r"(?P<side>[<>≤≥]) ?=? ?(?P<value>[+-]?(?:\d[\d.,]*|[.,]\d+)(?:[eE][+-]?\d+)?)"
)
UNREAD = {  # words, in lower case, that instruments and people write instead of a number, and what they mean
    **dict.fromkeys(("n.d.", "nd", "n.d", "n. d.", "n.b.", "k.a.", "n.a.", "n.q.", "n.m."), "not determined"),
    **dict.fromkeys(
        ("blq", "bql", "bloq", "blod", "bdl", "lod", "loq", "<lod", "<loq", "low", "under"), "below"
    ),
    **dict.fromkeys(("ovrflw", "overflow", "over", "overrange", "overload", "ofl", "o.l.", "ol"), "above"),
    **dict.fromkeys(("sat", "saturated", "alq", "aloq", ">loq", "+over", "+inf", "inf.", "*****"), "above"),
    **dict.fromkeys(("#value!", "#div/0!", "#num!", "#ref!", "#name?", "#wert!", "#bezug!"), "an error"),
    **dict.fromkeys(("err", "error", "fail", "failed", "open", "burnout", "bad", "invalid"), "an error"),
}
SPACES = " "  # as a delimiter: any run of white space
CLOCK = re.compile(  # 1:45, 13:45:10.5, 1:45 PM, 100:00:00, 1 days 02:00:00
    r"(?:(?P<days>\d{1,6}) days?,? +)?(?P<first>\d{1,9}):(?P<second>\d{1,2})(?::(?P<third>\d{1,2}))?"
    r"(?:(?:[.,]|:(?=\d{3}(?!\d)))(?P<fraction>\d+))?(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
DAY = (  # 2024-12-31, 31.12.2024, 12/31/24, 31-Dec-2024, Dec 31, 2024
    r"\d{1,4}(?P<sign>[-./])\d{1,2}(?P=sign)\d{1,4}\.?"
    r"|\d{1,2}[-. ]+[A-Za-z]{3,9}[-., ]+\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}"
)
DATE = re.compile(rf"(?P<day>{DAY})(?:(?:,? +|T)(?P<clock>\d+:\S+(?: ?[AaPp]\.?[Mm]\.?)?))?")
ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:?\d{2}.*)?")
APART = re.compile(r"(?<=\d)['’\u00a0\u2009\u202f](?=\d{3}(?!\d))")  # 1'067 and 1 067 with a narrow space
GROUPED = {  # by the decimal sign: thousands for certain, and thousands where the table is known to have them
    sign: (
        re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:(?:{other}\d{{3}})+{own}\d*|(?:{other}\d{{3}}){{2,}})"),
        re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:{other}\d{{3}})+(?:{own}\d*)?"),
    )
    for sign, own, other in ((".", r"\.", ","), (",", ",", r"\."))
}
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+")  # thousands, if points are not decimal
BELOW_THOUSAND = re.compile(r"[+-]?\d{1,3}")
POINTED_DAY = re.compile(r"\b\d{1,2}\.\d{1,2}\.(?:19|20)?\d{2}\b")  # as where commas are decimal


class Signs(NamedTuple):
    """The decimal sign of a table."""

    decimal: str
    grouped: bool  # whether the other sign separates thousands somewhere
    asks: str = ""  # what to say where it is not sure


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def split(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line, without quotes and outer spaces."""
    if '"' in line:
        try:
            parts = next(csv.reader([line.strip()], delimiter=delimiter, skipinitialspace=True))
        except csv.Error:
            return [line]
        return [part.strip() for part in parts if part or delimiter != SPACES]
    parts = line.split() if delimiter == SPACES else line.split(delimiter)
    return [part.strip() for part in parts]


def number(cell: str, decimal: str, *, grouped: bool = False) -> float | None:
    """Return the number in a cell, NaN for a missing one, None for text.

    The other sign separates thousands where the cell proves it (1,234.5 or 1,234,567), or everywhere in a
    table that is known to have them (`grouped`).
    """
    cell = APART.sub("", cell.strip().strip('"').strip())
    if cell.lower() in MISSING or LIMIT.fullmatch(cell):
        return float("nan")
    other = "," if decimal == "." else "."
    if other in cell:
        if not GROUPED[decimal][grouped].fullmatch(cell):
            return None
        cell = cell.replace(other, "")
    if "_" in cell:
        return None
    try:
        return float(cell.replace(decimal, "."))
    except ValueError:
        return None


def limits(cell: str, decimal: str, *, grouped: bool = False) -> tuple[float, float] | None:
    """Return between which values the reading lies of a cell such as <0.05; None for any other cell."""
    found = LIMIT.fullmatch(cell.strip().strip('"').strip())
    value = number(found["value"], decimal, grouped=grouped) if found else None
    if found is None or value is None:
        return None
    return (-inf, value) if found["side"] in "<≤" else (value, inf)


def is_time(cell: str) -> bool:
    """Tell whether a cell is a time of day, a duration or a date."""
    cell = cell.strip().strip('"').strip()
    return bool(CLOCK.fullmatch(cell) or DATE.fullmatch(cell) or ISO.fullmatch(cell))


def join_list(names: Sequence[str]) -> str:
    """Return entries as a list with commas between; those with commas or quotes stand in quotes."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(names)
    return out.getvalue()


def split_list(text: str) -> list[str]:
    """Return the entries of a list with commas between; one with a comma in it stands in quotes.

    Raises:
        DataError: if the text has several lines, or more than a table can.
    """
    try:
        words = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        raise DataError(
            f"{shortened(text)!r} is no list of columns ({error}); write them in one line, with commas"
        ) from None
    return [word.strip() for word in words if word.strip()]


def is_value(cell: str, decimal: str) -> bool:
    """Tell whether a cell is a number or a time, or missing; beside decimal commas 1.234 is a number."""
    return number(cell, decimal, grouped=decimal == ",") is not None or is_time(cell)


def is_filled(cell: str, decimal: str) -> bool:
    """Tell whether a cell holds a number or a time: no text, and not missing."""
    value = number(cell, decimal, grouped=decimal == ",")
    return is_time(cell) if value is None else value == value


def meaning(cell: str) -> str:
    """Return what a cell that holds no number says of the reading; empty for other text."""
    cell = cell.strip().strip('"').strip()
    found = LIMIT.fullmatch(cell)
    if found:
        return "below" if found["side"] in "<≤" else "above"
    return UNREAD.get(cell.lower(), "")


def settle_signs(
    rows: Sequence[str], delimiter: str, decimal: str, place: Callable[[int], str], given: str = ""
) -> Signs:
    """Return the decimal sign, and whether the other one separates thousands somewhere.

    Args:
        rows: all lines of the table, its header apart.
        delimiter: between the cells of a row.
        decimal: the sign under which most cells are numbers.
        place: names a line in messages.
        given: the decimal sign, where it is said.

    Raises:
        DataError: if every comma can be read either way.
    """
    if given:
        other = "," if given == "." else "."
        cells = (cell for _, cell in _cells(rows, delimiter, other))
        return Signs(given, any(GROUPED[given][1].fullmatch(cell) for cell in cells))
    if decimal == ".":
        return _pointed(rows, delimiter)
    return _with_commas(rows, delimiter, place)


def _pointed(rows: Sequence[str], delimiter: str) -> Signs:
    """Return the signs of a table with points, which may separate thousands: 1.234 and 12.345."""
    if any(GROUPED["."][1].fullmatch(cell) for _, cell in _cells(rows, delimiter, ",")):
        return Signs(".", True)
    shown = ""
    for _, cell in _cells(rows, delimiter, "."):
        if POINTED_DAY.match(cell):
            continue
        if not POINTS.fullmatch(cell) and number(cell, ".") is not None:
            return Signs(".", False)
        shown = shown or (cell if POINTS.fullmatch(cell) else "")
    if not shown:
        return Signs(".", False)
    thousand, decimals = shown.replace(".", ""), shown
    if any(POINTED_DAY.search(row) for row in rows[:100]):
        words = f"{shown!r} is read as {thousand}, as is usual beside such dates"
        return Signs(",", True, f"{words} (--decimal . if it is {decimals})")
    if delimiter == ";":
        return Signs(".", False, f"{shown!r} is read as {decimals} (--decimal , if it is {thousand})")
    return Signs(".", False)


def _with_commas(rows: Sequence[str], delimiter: str, place: Callable[[int], str]) -> Signs:
    if any(_shows_decimals(cell) for _, cell in _cells(rows, delimiter, ",")):
        return Signs(",", any(GROUPED[","][1].fullmatch(cell) for _, cell in _cells(rows, delimiter, ".")))
    grouped = [(row, cell) for row, cell in _cells(rows, delimiter, ",") if THOUSANDS.fullmatch(cell)]
    if grouped and not _mean_thousands(rows, delimiter):
        row, cell = grouped[0]
        raise DataError(
            f"{place(row)}: {cell!r} may be {cell.replace(',', '.')} or {cell.replace(',', '')}, "
            "and no other number tells; say --decimal , or --decimal ."
        )
    return Signs(".", True) if grouped else Signs(",", False)


def _cells(rows: Sequence[str], delimiter: str, sign: str) -> Iterator[tuple[int, str]]:
    """Yield the cells with this sign in them, and their lines."""
    for i, row in enumerate(rows):
        if sign in row and (sign != delimiter or '"' in row):
            yield from ((i, cell) for cell in split(row, delimiter) if sign in cell)


def _shows_decimals(cell: str) -> bool:
    """Tell whether the comma in a cell can only be a decimal one, as in 0,125 and 1,5."""
    return not THOUSANDS.fullmatch(cell) and number(cell, ",") is not None


def _mean_thousands(rows: Sequence[str], delimiter: str) -> bool:
    """Tell whether there are two commas in a number, or numbers below 1000 in a column with commas.

    Decimals have three digits everywhere only if their number is fixed, and then every number has them.
    """
    columns: dict[int, set[str]] = {}
    for row in rows:
        for i, cell in enumerate(split(row, delimiter)):
            if cell.count(",") > 1 and THOUSANDS.fullmatch(cell):
                return True
            kind = "," if "," in cell else "small" if BELOW_THOUSAND.fullmatch(cell) else "other"
            if number(cell, ",") == number(cell, ","):  # not a missing one
                columns.setdefault(i, set()).add(kind)
    return any(kinds == {",", "small"} for kinds in columns.values())
