"""Text files to tables of named columns, whatever their delimiter, decimal sign, encoding and header."""

from collections.abc import Sequence

import numpy as np

from gode.errors import DataError
from gode.tables.cells import MISSING, SPACES, split
from gode.tables.layout import CHOICES, GUESSED, Choices, Layout, Reading, decode_text, find_layout
from gode.tables.table import Column, Table

TRUTH = {"true": True, "false": False}
MAX_COLUMNS = 10_000
EXACT = 2.0**53  # below, a number holds every integer


def parse_table(data: bytes, source: str, reading: Reading = GUESSED) -> Table:
    """Return the table in the bytes of a text file; `source` names it in messages."""
    return text_table(decode_text(data, source), source, CHOICES, reading)


def text_table(text: str, source: str, choices: Choices = CHOICES, reading: Reading = GUESSED) -> Table:
    """Return the table in a text; `choices` are the delimiters and decimal signs that it may have."""
    layout = find_layout(text, source, choices, reading)
    if not layout.rows:
        raise DataError(f"{source} holds a header but no rows; add the measurements below it")
    if layout.width > MAX_COLUMNS:
        raise DataError(f"{source} has {layout.width} columns; the limit is {MAX_COLUMNS}")
    _check_widths(layout, source)
    parsed = _parsed(layout)
    used = [i for i, name in enumerate(layout.names) if name != f"column {i + 1}" or _holds(parsed[i])]
    names, units = (tuple(part[i] for i in used) for part in (layout.names, layout.units))
    columns = tuple(parsed[i] for i in used)
    decimal, grouped, asks = layout.signs
    return Table(
        source, names, units, columns, layout.lines, decimal, grouped, _notes(layout),
        asks=(asks,) if asks else (), missing=frozenset(word.lower() for word in reading.missing),
    )  # fmt: skip


def _check_widths(layout: Layout, source: str) -> None:
    for line, row in zip(layout.lines, layout.rows, strict=True):
        if row.count('"') % 2:
            raise DataError(f"{source}, line {line}: a quotation mark is never closed; remove it or close it")
        if '"' in row or layout.delimiter == SPACES:
            width = len(split(row, layout.delimiter))
        else:
            width = row.count(layout.delimiter) + 1
        if width > layout.width:
            raise DataError(
                f"{source}, line {line}: {width} cells, but the other lines have {layout.width}; "
                "remove what is too much"
            )


def _parsed(layout: Layout) -> tuple[Column, ...]:
    quoted = any('"' in row for row in layout.rows)  # rare; what is in quotes is kept as it is
    rows = [split(row, layout.delimiter) for row in layout.rows]
    whole = [[*row, *[""] * (layout.width - len(row))] for row in rows]
    return tuple(_column(cells, "" if quoted else layout.signs.decimal) for cells in zip(*whole, strict=True))


def _holds(column: Column) -> bool:
    """Tell whether some cell is given."""
    return any(v is not None and v == v for v in column.tolist())


def _column(cells: Sequence[str], decimal: str) -> Column:
    """Return the cells of a column: numbers, if all are that, else objects; None where one is empty."""
    given = [None if cell.lower() in MISSING else cell for cell in cells]
    filled = [cell for cell in given if cell is not None]
    if not decimal or any("_" in cell or (decimal == "," and "." in cell) for cell in filled):
        return np.array(given, object)
    try:
        values = np.array([np.nan if cell is None else float(cell.replace(decimal, ".")) for cell in given])
    except ValueError:
        truths = [TRUTH.get(cell.lower()) for cell in cells]
        return np.array(given, object) if None in truths else np.array(truths, np.bool_)
    whole = len(filled) == len(given) and all(cell.lstrip("+-").isdecimal() for cell in filled)
    return values.astype(np.int64) if whole and np.all(np.abs(values) < EXACT) else values


def _notes(layout: Layout) -> tuple[str, ...]:
    names = {"\t": "tabs", ";": "semicolons", "|": "bars", SPACES: "spaces"}
    notes = [f"separated by {names[layout.delimiter]}"] if layout.delimiter in names else []
    decimal, grouped, _ = layout.signs
    if decimal == "," and not layout.signs.asks:
        notes.append("with decimal commas")
    if grouped:
        notes.append(f"{'commas' if decimal == '.' else 'points'} taken as thousands separators")
    if layout.turned:
        notes.append("a column of the table for each row of the file")
    if layout.n_skipped:
        notes.append(f"below {_lines(layout.n_skipped)} of text")
    if layout.n_below:
        notes.append(f"without {_lines(layout.n_below)} of text at the end")
    return tuple(notes)


def _lines(n: int) -> str:
    return "1 line" if n == 1 else f"{n} lines"
