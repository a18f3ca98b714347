"""Excel workbooks (.xlsx): the first sheet with numbers, or the one that is named."""

import io
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING
from zipfile import ZipFile

from gode.errors import DataError
from gode.tables.layout import GUESSED, Reading
from gode.tables.packed import check_unpacked, unpacking
from gode.tables.table import Table, listed
from gode.tables.text import text_table

if TYPE_CHECKING:
    from openpyxl import Workbook

WORKBOOK = "xl/workbook.xml"
ENOUGH = 6  # cells of numbers or times that make a table: three rows of two
CHOICES = (("\t", "."), ("\t", ","))  # numbers that were typed as text may have decimal commas
ZERO = datetime(1899, 12, 31)  # origin of durations beyond a day that are formatted as times
FIRST_DATE = datetime(1900, 3, 1)

Rows = list[list[object]]


def read_excel(data: bytes, source: str, sheet: str, reading: Reading = GUESSED) -> Table:
    """Return the table in a sheet; without a name the first one that holds numbers.

    Raises:
        DataError: if there is none, or the file is no workbook.
    """
    with unpacking(source, "Excel", "openpyxl"), ZipFile(io.BytesIO(data)) as archive:
        if WORKBOOK not in archive.namelist():
            raise DataError(f"{source} is a ZIP archive and no Excel workbook; unpack it first")
        check_unpacked(sum(info.file_size for info in archive.infolist()), 0, source, packed=len(data))
        sheets = _sheets(data, source, sheet)
        name, rows = next(((n, r) for n, r in sheets if sheet or _n_values(r) >= ENOUGH), ("", []))
    if not name:
        raise DataError(f"{source} has no sheet with numbers; save the columns of time and signal in one")
    table = text_table(_text(rows), source, CHOICES, reading)
    return replace(table, notes=(f"sheet {name!r}", *table.notes[1:]))  # without the note on the delimiter


def sheet_names(data: bytes) -> list[str]:
    """Return the names of the sheets of a workbook."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about features of Excel without data
        return [sheet.title for sheet in _book(data).worksheets]


def _sheets(data: bytes, source: str, wanted: str) -> Iterable[tuple[str, Rows]]:
    """Yield names and cells of the sheets, or of the one that is wanted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = _book(data)
        names = [sheet.title for sheet in book.worksheets]
        if wanted and wanted not in names:
            raise DataError(f"{source} has no sheet {wanted!r}; its sheets are {listed(names)}")
        for sheet in book.worksheets:
            if wanted in ("", sheet.title):
                sheet.reset_dimensions()  # those in the file may be wrong
                yield sheet.title, _rows(sheet.iter_rows(values_only=True), source)


def _book(data: bytes) -> "Workbook":
    import openpyxl

    return openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)


def _rows(rows: Iterable[Iterable[object]], source: str) -> Rows:
    out: Rows = []
    n_values = 0
    for row in rows:
        cells = list(row)
        while cells and cells[-1] in (None, ""):
            cells.pop()
        out.append(cells)
        n_values += len(cells) + 1
        check_unpacked(0, n_values, source)
    return out


def _n_values(rows: Rows) -> int:
    return sum(isinstance(cell, int | float | date | time | timedelta) for row in rows for cell in row)


def _text(rows: Rows) -> str:
    """Return the sheet as text with tabs; from its header on, all rows have the same number of cells."""
    usual = Counter(len(row) for row in rows if len(row) > 1).most_common(1)
    width = usual[0][0] if usual else 1
    filled = [sum(cell not in (None, "") for cell in row) for row in rows]
    start = next((i for i, n in enumerate(filled) if 2 * n > width), 0)
    width = max((len(row) for row in rows[start:]), default=1)
    lines = ["\t".join(map(_word, row)) for row in rows[:start]]
    lines += ["\t".join([*map(_word, row), *[""] * (width - len(row))]) for row in rows[start:]]
    return "\n".join(lines)


def _word(cell: object) -> str:
    """Return a cell as text that reads back as the same number or time."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(int(cell))
    if isinstance(cell, datetime) and cell < FIRST_DATE:
        return _duration(cell - ZERO)
    if isinstance(cell, timedelta):
        return _duration(cell)
    return " ".join(str(cell).replace('"', " ").split())


def _duration(span: timedelta) -> str:
    seconds, rest = divmod(span, timedelta(seconds=1))
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest.microseconds:06}"
