"""The X and y of an estimator as times, an input and signals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from gode.arrays import Float
from gode.data.dates import as_seconds
from gode.errors import DataError
from gode.tables.roles import GUESSES
from gode.tables.table import frame_table, listed


@dataclass(frozen=True)
class Rows:
    """The rows of X: times, the samples of the input if any, and the column names if given."""

    t: Float
    force: Float | None
    names: tuple[str, ...] | None
    origin: object = None  # the date or time from which seconds are counted

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return 1 if self.force is None else 2


def rows_of(X: "ArrayLike | pd.DataFrame", origin: object = None) -> Rows:
    """Return the rows of X; dates count from `origin`, or from the first of them.

    Raises:
        DataError: if X does not hold times, and an input perhaps.
    """
    if isinstance(X, pd.DataFrame):
        return _rows_of_frame(X, origin)
    seconds, origin = as_seconds(X, origin) or (X, None)
    table = _numbers(seconds, "X")
    if table.ndim == 1:
        return Rows(table, None, None, origin)
    if table.ndim != 2 or table.shape[1] not in (1, 2):
        raise DataError(
            f"X must hold times, and an input perhaps, so (n,), (n, 1) or (n, 2), got {table.shape}"
        )
    return Rows(table[:, 0], table[:, 1] if table.shape[1] == 2 else None, None, origin)


def _rows_of_frame(frame: pd.DataFrame, origin: object) -> Rows:
    """Return the columns of time and input: by their names, else the first and the second."""
    table = frame_table(frame, "X")
    names = list(table.names)
    time = _named(names, GUESSES["time"]) or names[0]
    left = [name for name in names if name != time]
    force = _named(left, GUESSES["force"]) or (left[0] if len(left) == 1 else None)
    if len(left) > 1:
        raise DataError(f"X must have columns t and perhaps force, but has {listed(names)}; drop the others")
    values = None if force is None else table.numbers(force)
    dated = as_seconds(table.frame[names.index(time)], origin)
    t, origin = (table.numbers(time), None) if dated is None else dated
    return Rows(t, values, (time,) if force is None else (time, force), origin)


def _named(names: Sequence[str], words: str) -> str | None:
    return next((name for word in words.split() for name in names if name.lower() == word), None)


def target_of(y: "ArrayLike | pd.DataFrame") -> Float:
    """Return y as one signal (n,), or as the states of a system (n, d).

    Raises:
        DataError: if it is neither.
    """
    values = _numbers(y, "y")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 and (values.ndim != 2 or values.shape[1] < 1):
        raise DataError(
            f"y must hold a signal, (n,) or (n, 1), or several states, (n, d), got shape {values.shape}"
        )
    return values


def target_names(y: object) -> list[str] | None:
    """Return the names of the states: the columns of a DataFrame; None for an array."""
    return [str(name) for name in y.columns] if isinstance(y, pd.DataFrame) else None


def _numbers(values: ArrayLike, name: str) -> Float:
    try:
        if np.iscomplexobj(values):
            raise TypeError
        return np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{name} must be numbers, got {type(values).__name__}; convert it first") from None
