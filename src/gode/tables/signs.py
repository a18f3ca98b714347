"""The decimal sign of a table, and whether the other separates thousands: 1,067 is 1.067 or 1067."""

import re
from collections.abc import Callable, Iterator, Sequence

from gode.errors import DataError
from gode.tables.cells import GROUPED, number, split

THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
BELOW_THOUSAND = re.compile(r"[+-]?\d{1,3}")


def settle_signs(
    rows: Sequence[str], delimiter: str, decimal: str, place: Callable[[int], str]
) -> tuple[str, bool]:
    """Return the decimal sign, and whether the other one separates thousands somewhere.

    Args:
        rows: all lines of the table, its header apart.
        delimiter: between the cells of a row.
        decimal: the sign under which most cells are numbers.
        place: names a line in messages.

    Raises:
        DataError: if every comma can be read either way.
    """
    if decimal == ".":
        return ".", any(GROUPED["."][1].fullmatch(cell) for _, cell in _cells(rows, delimiter, ","))
    if any(_shows_decimals(cell) for _, cell in _cells(rows, delimiter, ",")):
        return ",", any(GROUPED[","][0].fullmatch(cell) for _, cell in _cells(rows, delimiter, "."))
    grouped = [(row, cell) for row, cell in _cells(rows, delimiter, ",") if THOUSANDS.fullmatch(cell)]
    if grouped and not _mean_thousands(rows, delimiter):
        row, cell = grouped[0]
        raise DataError(
            f"{place(row)}: {cell!r} may be {cell.replace(',', '.')} or {cell.replace(',', '')}, "
            "and no other number tells; write it with a point, or without the comma"
        )
    return (".", True) if grouped else (",", False)


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
