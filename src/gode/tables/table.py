"""A table of named columns, whose error messages name line and column."""

import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from gode.arrays import Float, Int
from gode.data.states import as_seconds, by_name
from gode.errors import DataError, shortened
from gode.tables.cells import MISSING, is_time, limits, meaning, number
from gode.tables.times import Times, read_times

if TYPE_CHECKING:
    import pandas as pd

# Numbers, dates, durations, or objects: text, None where empty.
Column = np.ndarray[tuple[int, ...], np.dtype[Any]]
NUMBERS = "biuf"  # kinds of columns of numbers
# A number of a column has at most this many digits, so that no text of digits takes long to read. Set by
# hand.
DIGITS = 12
# Of a name that is unknown this many characters are compared with others, which takes the square of its
# length.
LONGEST = 200
TEXT = "text"  # asks for any cell that holds no number to be left out


@dataclass(frozen=True)
class Table:
    """Columns of numbers, times or text as read."""

    source: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    columns: tuple[Column, ...]
    lines: Int  # the line of each row in the file, from 1; of a DataFrame the row, from 0
    decimal: str = "."
    grouped: bool = False  # whether the other sign separates thousands
    notes: tuple[str, ...] = ()  # on how the file was read
    # The factor and the unit of columns of times.
    spans: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    asks: tuple[str, ...] = ()  # what is not sure about how it was read, with the option that says otherwise
    missing: frozenset[str] = frozenset()  # words, in lower case, for cells without a reading; or "text"
    changed_limits: Mapping[str, Float] = field(default_factory=dict)  # of columns that were changed
    errors: "Table | None" = None  # the columns of standard errors, which have no other role

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.lines)

    def find(self, name: str) -> str:
        """Return the column that `name` means: its name, with or without unit or case, or its number.

        Raises:
            DataError: if there is none.
        """
        full = [f"{n} [{u}]" for n, u in zip(self.names, self.units, strict=True)]
        round_ = [f"{n} ({u})" for n, u in zip(self.names, self.units, strict=True)]
        bare = [f"{n} {u}" for n, u in zip(self.names, self.units, strict=True)]
        for known in (self.names, full, round_, bare):
            if name in known:
                return self.names[known.index(name)]
        lower = [n.lower() for n in self.names]
        if lower.count(name.lower()) == 1:
            return self.names[lower.index(name.lower())]
        if name.isdecimal() and len(name) <= DIGITS and 1 <= int(name) <= len(self.names):
            return self.names[int(name) - 1]
        name = shortened(name, LONGEST)
        near = get_close_matches(name.lower(), lower, n=1)
        hint = f"; did you mean {self.names[lower.index(near[0])]!r}?" if near else ""
        raise DataError(f"{self.source} has no column {name!r}; its columns are {listed(self.names)}{hint}")

    def place(self, row: int, name: str) -> str:
        """Return line and column of a cell, for a message."""
        return f"{self.source}, line {self.lines[row]}, column {name!r}"

    def unit(self, name: str) -> str:
        """Return the unit of a column; times of day and dates become seconds, if no other is asked for."""
        return self.span(name)[1] if self.is_timed(name) else self.units[self.names.index(name)]

    def span(self, name: str) -> tuple[float, str]:
        """Return by what the seconds of a column of times are multiplied, and the unit of the result."""
        return self.spans.get(name, (1.0, "s"))

    def label(self, name: str) -> str:
        """Return name and unit, for display."""
        unit = self.unit(name)
        return f"{name} [{unit}]" if unit else name

    def is_numeric(self, name: str) -> bool:
        """Tell whether most cells of a column are numbers and some are given."""
        column = self.column(name)
        if column.dtype.kind in NUMBERS:
            return bool((column == column).any())
        words = [word for word in self._sample(column) if not self.is_left_out(word)]
        return 2 * sum(self._number(word) is not None for word in words) > len(words)

    def text_fraction(self, name: str) -> float:
        """Return the fraction of cells with text among those that are not empty."""
        words = [word for word in self.words(name) if word.lower() not in MISSING]
        words = [word for word in words if not self.is_left_out(word)]
        return sum(self._number(word) is None for word in words) / max(len(words), 1)

    def is_left_out(self, word: str) -> bool:
        """Tell whether a word says that there is no reading: <0.05, n.d., OVRFLW, or as it was asked for."""
        return word.lower() in self.missing or bool(meaning(word))

    def limits(self, name: str) -> Float:
        """Return between which values (n, 2) the readings lie of cells such as <0.05; NaN for other cells."""
        if name in self.changed_limits:
            return self.changed_limits[name]
        column = self.column(name)
        out = np.full((self.n_rows, 2), np.nan)
        if column.dtype.kind not in NUMBERS and not self.is_timed(name):
            for row, word in enumerate(self.words(name)):
                out[row] = self._limits(word) or np.nan
        return out

    def is_limit(self, word: str) -> bool:
        """Tell whether a word such as <0.05 is a limit of a reading, and was not asked to be left out."""
        return self._limits(word) is not None

    def left_out(self, name: str) -> dict[str, int]:
        """Return the words in a column of numbers that are no reading, and how many cells hold each."""
        column = self.column(name)
        if column.dtype.kind in NUMBERS or self.is_timed(name):
            return {}
        words = Counter(word for word in self.words(name) if word.lower() not in MISSING)
        anything = TEXT in self.missing
        return {
            word: count
            for word, count in words.items()
            if self.is_left_out(word) or (anything and self._number(word) is None)
        }

    def is_timed(self, name: str) -> bool:
        """Tell whether a column holds times of day, durations or dates."""
        column = self.column(name)
        if column.dtype.kind in "mM":
            return True
        words = [] if column.dtype.kind in NUMBERS else self._sample(column)
        return 2 * sum(map(is_time, words)) > len(words)

    def numbers(self, name: str) -> Float:
        """Return a column of numbers, NaN where a cell is empty.

        Raises:
            DataError: for text or an infinite number, with its line.
        """
        column = self.column(name)
        known = column.dtype.kind in NUMBERS
        values = column.astype(np.float64) if known else self._converted(column, name)
        if np.isinf(values).any():
            row = int(np.argmax(np.isinf(values)))
            raise DataError(
                f"{self.place(row, name)}: expected a finite number, got {values[row]}; "
                "leave the cell empty if nothing was observed"
            )
        return values

    def times(self, name: str, *, unit: str = "") -> Times:
        """Return a column of times: numbers as they are, times of day and dates in seconds.

        Args:
            unit: of the first part of times such as 1:45, if the column has none.
        """
        if not self.is_timed(name):
            return Times(self.numbers(name), "")
        column = self.column(name)
        given = as_seconds(column, np.timedelta64(0, "ns") if column.dtype.kind == "m" else None)
        if column.dtype.kind in "mM" and given is not None:
            return Times(given[0], "durations" if column.dtype.kind == "m" else "dates")
        dates = _dates(column)
        if dates is not None:
            return Times(dates, "dates")
        unit = self.units[self.names.index(name)] or unit
        return read_times(self.words(name), unit, lambda row: self.place(row, name))

    def words(self, name: str) -> list[str]:
        """Return a column as text, such as the names of runs."""
        return _words(self.column(name))

    def with_columns(self, changed: Mapping[str, Column], limits: Mapping[str, Float]) -> "Table":
        """Return the table with other values in some columns, and other limits of their readings."""
        pairs = zip(self.names, self.columns, strict=True)
        columns = tuple(changed.get(name, column) for name, column in pairs)
        return replace(self, columns=columns, changed_limits={**self.changed_limits, **limits})

    def with_errors(self, words: Sequence[str]) -> "Table":
        """Return the table with some of its columns as standard errors, apart from the others.

        Raises:
            DataError: if one of them does not exist.
        """
        found = [self.find(word) for word in words]
        kept = [name for name in self.names if name not in found]
        return replace(self._only(kept), errors=self._only(found))

    def _only(self, names: Sequence[str]) -> "Table":
        places = [self.names.index(name) for name in names]
        return replace(
            self,
            names=tuple(names),
            units=tuple(self.units[i] for i in places),
            columns=tuple(self.columns[i] for i in places),
        )

    def column(self, name: str) -> Column:
        """Return a column as it was read."""
        return self.columns[self.names.index(name)]

    def _sample(self, column: Column) -> list[str]:
        return [word for word in _words(column[:: self.n_rows // 100 + 1]) if word.lower() not in MISSING]

    def _number(self, word: str) -> float | None:
        return number(word, self.decimal, grouped=self.grouped)

    def _limits(self, word: str) -> tuple[float, float] | None:
        return None if word.lower() in self.missing else limits(word, self.decimal, grouped=self.grouped)

    def _converted(self, column: Column, name: str) -> Float:
        out = np.empty(len(column))
        for row, cell in enumerate(column.tolist()):
            value = np.nan if cell is None or cell != cell else self._number(str(cell))
            if value is None and (TEXT in self.missing or self.is_left_out(str(cell).strip())):
                value = np.nan
            if value is None:
                word = str(cell).strip()[:40]
                raise DataError(
                    f"{self.place(row, name)}: expected a number, got {word!r}; correct it, or leave such "
                    f"cells out with --missing {shlex.quote(word)}"
                )
            out[row] = value
        return out


def frame_table(frame: "pd.DataFrame", source: str = "the DataFrame") -> Table:
    """Return a DataFrame as a table; a named index is a column too."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    if not len(frame) or not len(frame.columns):
        raise DataError(f"{source} is empty; pass one with columns t and u")
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise DataError(f"{source} has two columns of the same name; rename one")
    columns = columns_of(frame)
    return Table(source, tuple(names), ("",) * len(names), columns, np.arange(len(frame)))


def as_frame(value: object) -> object:
    """Return a table of Polars, Arrow or alike as a DataFrame of pandas, any other value as it is."""
    if is_frame(value) or not hasattr(value, "__arrow_c_stream__"):
        return value
    columns = by_name(value, "the table")
    if columns is None:  # one column
        return value
    import pandas as pd

    return pd.DataFrame({name: np.asarray(column) for name, column in columns.items()})


def is_frame(value: object) -> "TypeGuard[pd.DataFrame]":
    """Return whether a value is a DataFrame, which none is before pandas was imported."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def columns_of(frame: "pd.DataFrame") -> tuple[Column, ...]:
    """Return the columns of a DataFrame; numbers that may be missing become NaN there."""
    out: list[Column] = []
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        numeric = column.dtype.kind in NUMBERS and column.isna().any()
        out.append(column.to_numpy(np.float64, na_value=np.nan) if numeric else column.to_numpy())
    return tuple(out)


def _words(column: Column) -> list[str]:
    """Return cells as text, an empty one where something is missing."""
    if column.dtype.kind in "mM":
        column = column.astype(f"{column.dtype.kind}8[us]")  # which Python knows, unlike nanoseconds
    return ["" if v is None or v != v else str(v).strip() for v in column.tolist()]


def _dates(column: Column) -> Float | None:
    """Return dates as people write them down first the year, in seconds; None if some cells are none."""
    import pandas as pd  # slow to import, and few files hold dates

    cells = pd.Series(column)
    dates = pd.to_datetime(cells, errors="coerce", utc=True, format="ISO8601")
    if not dates.isna().equals(cells.isna()):
        return None
    return np.asarray((dates - dates.min()) / pd.Timedelta(seconds=1), np.float64)


def listed(names: Sequence[str]) -> str:
    """Return names for a message, shortened if there are many."""
    shown = ", ".join(repr(name[:40]) for name in names[:12])
    return shown + (f" and {len(names) - 12} more" if len(names) > 12 else "")
