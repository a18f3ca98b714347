"""Parsing the cells of a table: missing values, numbers, limits, times of day and dates."""

import csv
import io
import re
from collections.abc import Sequence

from gode.errors import DataError, shortened

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "nat", "null", "none", "missing", "-", "--", "?", "."})
LIMIT = re.compile(r"(?P<side>[<>≤≥]) ?=? ?[+-]?\d+(?:[.,]\d+)?")  # <0.05: below what can be measured
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
