"""The decimal sign of a table, and whether the other separates thousands: 1,067 is 1.067 or 1067."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from gode.errors import DataError
from gode.tables.cells import GROUPED, number, split

THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+")  # thousands, if points are not decimal
BELOW_THOUSAND = re.compile(r"[+-]?\d{1,3}")
POINTED_DAY = re.compile(r"\b\d{1,2}\.\d{1,2}\.(?:19|20)?\d{2}\b")  # as where commas are decimal


class Signs(NamedTuple):
    """The decimal sign of a table."""

    decimal: str
    grouped: bool  # whether the other sign separates thousands somewhere
    asks: str = ""  # what to say where it is not sure


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
