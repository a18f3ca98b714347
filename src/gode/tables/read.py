"""CSV files and DataFrames to tables of named columns; every complaint names the line and the column."""

import csv
import io
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from gode.arrays import Float, Int
from gode.errors import DataError
from gode.tables.layout import MISSING, SPACES, Layout, decode_text, find_layout, number, split

NA = sorted({v for word in MISSING for v in (word, word.upper(), word.capitalize(), "NaN", "N/A")})
MAX_COLUMNS = 10_000


@dataclass(frozen=True)
class Table:
    """Columns of numbers or words as they were read."""

    source: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    frame: pd.DataFrame  # columns numbered from 0
    lines: Int  # the line of each row in the file, from 1; of a DataFrame the row, from 0
    decimal: str
    notes: tuple[str, ...]  # what was found out about the file

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.frame)

    def find(self, name: str) -> str:
        """Return the column that `name` means: its name, with or without unit or case, or its number.

        Raises:
            DataError: if there is none.
        """
        full = [f"{n} [{u}]" for n, u in zip(self.names, self.units, strict=True)]
        round_ = [f"{n} ({u})" for n, u in zip(self.names, self.units, strict=True)]
        for known in (self.names, full, round_):
            if name in known:
                return self.names[known.index(name)]
        lower = [n.lower() for n in self.names]
        if lower.count(name.lower()) == 1:
            return self.names[lower.index(name.lower())]
        if name.isdecimal() and 1 <= int(name) <= len(self.names):
            return self.names[int(name) - 1]
        raise DataError(f"{self.source} has no column {name!r}; its columns are {listed(self.names)}")

    def place(self, row: int, name: str) -> str:
        """Return where a cell stands, for a message."""
        return f"{self.source}, line {self.lines[row]}, column {name!r}"

    def label(self, name: str) -> str:
        """Return name and unit, for people."""
        unit = self.units[self.names.index(name)]
        return f"{name} [{unit}]" if unit else name

    def is_numeric(self, name: str) -> bool:
        """Tell whether most cells of a column are numbers and some are given."""
        column = self._column(name)
        if pd.api.types.is_numeric_dtype(column):
            return bool(column.notna().any())
        words = [str(v) for v in column[:: self.n_rows // 100 + 1].dropna()]
        return 2 * sum(number(word, self.decimal) is not None for word in words) > len(words)

    def numbers(self, name: str) -> Float:
        """Return a column of numbers, NaN where a cell is empty.

        Raises:
            DataError: for text or an infinite number, with its line.
        """
        column = self._column(name)
        if pd.api.types.is_numeric_dtype(column):
            values = np.asarray(column.to_numpy(np.float64, na_value=np.nan), np.float64)
        else:
            values = self._converted(column, name)
        if np.isinf(values).any():
            row = int(np.argmax(np.isinf(values)))
            raise DataError(
                f"{self.place(row, name)}: expected a finite number, got {values[row]}; "
                "leave the cell empty if nothing was observed"
            )
        return values

    def is_dated(self, name: str) -> bool:
        """Tell whether a column holds dates."""
        column = self._column(name)
        words = column.dropna()
        written = not pd.api.types.is_numeric_dtype(column) and len(words) > 0
        return written and _is_date(words.iloc[0], self.decimal)

    def times(self, name: str) -> Float:
        """Return a column of times: numbers, or dates as seconds from the first one."""
        column = self._column(name)
        if self.is_dated(name):
            dates = pd.to_datetime(column, errors="coerce", utc=True, format="ISO8601")
            bad = np.flatnonzero(dates.isna() & column.notna())
            if len(bad):
                raise DataError(
                    f"{self.place(int(bad[0]), name)}: expected a date such as 2024-05-31 12:00:00, "
                    f"got {str(column.iloc[bad[0]])[:40]!r}; write all in that form"
                )
            return np.asarray((dates - dates.min()) / pd.Timedelta(seconds=1), np.float64)
        return self.numbers(name)

    def words(self, name: str) -> list[str]:
        """Return a column as text, such as the names of runs."""
        return ["" if v is None or v != v else str(v).strip() for v in self._column(name).tolist()]

    def _column(self, name: str) -> "pd.Series[float]":
        return self.frame[self.names.index(name)]

    def _converted(self, column: "pd.Series[float]", name: str) -> Float:
        out = np.empty(len(column))
        for row, cell in enumerate(column.tolist()):
            value = np.nan if cell is None or cell != cell else number(str(cell), self.decimal)
            if value is None:
                raise DataError(
                    f"{self.place(row, name)}: expected a number, got {str(cell)[:40]!r}; "
                    "correct it, or leave the cell empty if nothing was observed"
                )
            out[row] = value
        return out


def read_table(path: str | Path) -> Table:
    """Return the table in a text file, whatever its delimiter, decimal sign, encoding and header.

    Raises:
        DataError: with the sentence that says what is wrong with the file.
    """
    return parse_table(_read_bytes(Path(path)), str(path))


def parse_table(data: bytes, source: str) -> Table:
    """Return the table in the bytes of a text file; `source` names it in messages."""
    layout = find_layout(decode_text(data, source), source)
    if not layout.rows:
        raise DataError(f"{source} holds a header but no rows; add the measurements below it")
    if layout.width > MAX_COLUMNS:
        raise DataError(f"{source} has {layout.width} columns; the limit is {MAX_COLUMNS}")
    _check_widths(layout, source)
    frame = _parsed(layout)
    used = [i for i in range(layout.width) if frame[i].notna().any() or layout.names[i] != f"column {i + 1}"]
    names, units = ([part[i] for i in used] for part in (layout.names, layout.units))
    frame = frame[used].set_axis(range(len(used)), axis=1)
    lines = np.array(layout.lines, np.int64)
    return Table(source, tuple(names), tuple(units), frame, lines, layout.decimal, _notes(layout))


def frame_table(frame: pd.DataFrame, source: str = "the DataFrame") -> Table:
    """Return a DataFrame as a table; a named index is a column too."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    if not len(frame) or not len(frame.columns):
        raise DataError(f"{source} is empty; pass one with columns t and u")
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise DataError(f"{source} has two columns of the same name; rename one")
    plain = frame.set_axis(range(len(names)), axis=1).reset_index(drop=True)
    return Table(source, tuple(names), ("",) * len(names), plain, np.arange(len(plain)), ".", ())


def listed(names: Sequence[str]) -> str:
    """Return names for a message, not too many of them."""
    shown = ", ".join(repr(name[:40]) for name in names[:12])
    return shown + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def _read_bytes(path: Path) -> bytes:
    """Return what the file holds, if it holds still."""
    try:
        with path.open("rb") as file:
            before = os.fstat(file.fileno())
            data = file.read()
    except IsADirectoryError:
        raise DataError(f"{path} is a directory; name a file in it") from None
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DataError(f"{path} cannot be read ({reason}); check the name and the permissions") from None
    if stat.S_ISREG(before.st_mode) and len(data) != before.st_size:
        raise DataError(
            f"{path} had {before.st_size} bytes when it was opened, but {len(data)} could be read: "
            "it is being written; wait until that is done"
        )
    return data


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
        io.StringIO("\n".join(rows) + "\n"),
        sep=layout.delimiter,
        decimal=layout.decimal,
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
    if layout.decimal == ",":
        notes.append("with decimal commas")
    if layout.n_skipped:
        notes.append(f"below {layout.n_skipped} lines of text")
    return tuple(notes)


def _is_date(cell: object, decimal: str) -> bool:
    if number(str(cell), decimal) is not None:
        return False
    return not pd.isna(pd.to_datetime(str(cell), errors="coerce", utc=True, format="ISO8601"))
