"""A table of named columns, whose error messages name line and column."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

import numpy as np
import pandas as pd

from gode.arrays import Float, Int
from gode.errors import DataError
from gode.tables.cells import MISSING, is_time, meaning, number
from gode.tables.times import Times, read_times

TEXT = "text"  # asks for any cell that holds no number to be left out


@dataclass(frozen=True)
class Table:
    """Columns of numbers, times or text as read."""

    source: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    frame: pd.DataFrame  # columns numbered from 0
    lines: Int  # the line of each row in the file, from 1; of a DataFrame the row, from 0
    decimal: str = "."
    grouped: bool = False  # whether the other sign separates thousands
    notes: tuple[str, ...] = ()  # on how the file was read
    spans: Mapping[str, tuple[float, str]] = field(
        default_factory=dict
    )  # factor and unit of columns of times
    asks: tuple[str, ...] = ()  # what is not sure about how it was read, with the option that says otherwise
    missing: frozenset[str] = frozenset()  # words, in lower case, for cells without a reading; or "text"

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
        column = self._column(name)
        if pd.api.types.is_numeric_dtype(column):
            return bool(column.notna().any())
        words = [word for word in self._sample(column) if not self.is_left_out(word)]
        return 2 * sum(self._number(word) is not None for word in words) > len(words)

    def text_share(self, name: str) -> float:
        """Return the share of cells with text among those that are not empty."""
        words = [word for word in self.words(name) if word.lower() not in MISSING]
        words = [word for word in words if not self.is_left_out(word)]
        return sum(self._number(word) is None for word in words) / max(len(words), 1)

    def is_left_out(self, word: str) -> bool:
        """Tell whether a word says that there is no reading: <0.05, n.d., OVRFLW, or as it was asked for."""
        return word.lower() in self.missing or bool(meaning(word))

    def left_out(self, name: str) -> dict[str, int]:
        """Return the words in a column of numbers that are no reading, and how many cells hold each."""
        column = self._column(name)
        if pd.api.types.is_numeric_dtype(column) or self.is_timed(name):
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
        column = self._column(name)
        if column.dtype.kind in "mM":
            return True
        words = [] if pd.api.types.is_numeric_dtype(column) else self._sample(column)
        return 2 * sum(map(is_time, words)) > len(words)

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

    def times(self, name: str, *, unit: str = "") -> Times:
        """Return a column of times: numbers as they are, times of day and dates in seconds.

        Args:
            unit: of the first part of times such as 1:45, if the column has none.
        """
        if not self.is_timed(name):
            return Times(self.numbers(name), "")
        column = self._column(name)
        if column.dtype.kind == "m":
            spans = pd.TimedeltaIndex(column)
            return Times(np.asarray(spans.total_seconds(), np.float64), "durations")
        dates = pd.to_datetime(column, errors="coerce", utc=True, format="ISO8601")
        if dates.isna().equals(column.isna()):
            return Times(np.asarray((dates - dates.min()) / pd.Timedelta(seconds=1), np.float64), "dates")
        unit = self.units[self.names.index(name)] or unit
        return read_times(self.words(name), unit, lambda row: self.place(row, name))

    def words(self, name: str) -> list[str]:
        """Return a column as text, such as the names of runs."""
        return ["" if v is None or v != v else str(v).strip() for v in self._column(name).tolist()]

    def _column(self, name: str) -> "pd.Series[float]":
        return self.frame[self.names.index(name)]

    def _sample(self, column: "pd.Series[float]") -> list[str]:
        words = [str(v).strip() for v in column[:: self.n_rows // 100 + 1].dropna()]
        return [word for word in words if word.lower() not in MISSING]

    def _number(self, word: str) -> float | None:
        return number(word, self.decimal, grouped=self.grouped)

    def _converted(self, column: "pd.Series[float]", name: str) -> Float:
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
    return Table(source, tuple(names), ("",) * len(names), plain, np.arange(len(plain)))


def listed(names: Sequence[str]) -> str:
    """Return names for a message, shortened if there are many."""
    shown = ", ".join(repr(name[:40]) for name in names[:12])
    return shown + (f" and {len(names) - 12} more" if len(names) > 12 else "")
