"""Text files to tables of named columns, whatever their delimiter, decimal sign, encoding and header."""

import csv
import io

import pandas as pd

from gode.errors import DataError
from gode.tables.cells import MISSING, SPACES, split
from gode.tables.layout import CHOICES, GUESSED, Choices, Layout, Reading, decode_text, find_layout
from gode.tables.table import Table

NA = sorted({v for word in MISSING for v in (word, word.upper(), word.capitalize(), "NaN", "NaT", "N/A")})
MAX_COLUMNS = 10_000


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
    frame = _parsed(layout)
    used = [i for i in range(layout.width) if frame[i].notna().any() or layout.names[i] != f"column {i + 1}"]
    names, units = (tuple(part[i] for i in used) for part in (layout.names, layout.units))
    frame = frame[used].set_axis(range(len(used)), axis=1)
    decimal, grouped, asks = layout.signs
    return Table(
        source, names, units, frame, layout.lines, decimal, grouped, _notes(layout),
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


def _parsed(layout: Layout) -> pd.DataFrame:
    if any('"' in row for row in layout.rows):  # rare, and the quotes of pandas and csv differ
        return _split_by_hand(layout)
    options = {} if pd.__version__ >= "3.1" else {"float_precision": "round_trip"}  # newer ones are exact
    spaced = layout.delimiter == SPACES
    rows = [" ".join(row.split()) for row in layout.rows] if spaced else layout.rows
    frame: pd.DataFrame = pd.read_csv(  # type: ignore[call-overload]
        io.BytesIO("\n".join([*rows, ""]).encode()),
        sep=layout.delimiter,
        decimal=layout.signs.decimal,
        header=None,
        names=list(range(layout.width)),
        index_col=False,
        skipinitialspace=True,
        skip_blank_lines=False,
        keep_default_na=False,
        na_values=NA,
        quoting=csv.QUOTE_NONE,
        low_memory=False,
        **options,
    )
    return frame


def _split_by_hand(layout: Layout) -> pd.DataFrame:
    rows = [split(row, layout.delimiter) for row in layout.rows]
    cells = [[*row, *[""] * (layout.width - len(row))] for row in rows]
    return pd.DataFrame([[None if c.lower() in MISSING else c for c in row] for row in cells], dtype=object)


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
