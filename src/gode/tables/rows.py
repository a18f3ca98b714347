"""The X and y of an estimator as times, an input and signals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Float, Int
from gode.data.states import as_numbers, as_seconds, by_name
from gode.errors import DataError
from gode.tables.name_clues import GUESSES
from gode.tables.table import as_frame, frame_table, is_frame, listed

if TYPE_CHECKING:
    import pandas as pd

Label = tuple[str, Int]  # the name of a run, and its rows


@dataclass(frozen=True)
class Rows:
    """The rows of X: times, the samples of the input if any, and the column names if given."""

    t: Float
    force: Float | None
    names: tuple[str, ...] | None
    origin: object = None  # the date or time from which seconds are counted

    def at(self, chosen: Int) -> "Rows":
        """Return some of the rows."""
        force = None if self.force is None else self.force[chosen]
        return replace(self, t=self.t[chosen], force=force)

    def parts(self, groups: "Sequence[Label]") -> "list[Label]":
        """Return the rows of each run in the order of time; without runs, all rows."""
        every = groups or [("", np.arange(len(self.t)))]
        return [(name, own[np.argsort(self.t[own], kind="stable")]) for name, own in every]

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return 1 if self.force is None else 2


def by_run(X: "ArrayLike | pd.DataFrame", column: object) -> "tuple[ArrayLike | pd.DataFrame, list[Label]]":
    """Return X without the column that names the runs, and the rows of each run; without one, all rows.

    Raises:
        DataError: if X has no such column.
    """
    if column is None:
        return as_frame(X), []  # type: ignore[return-value]
    X, values = _without(X, column, "runs")
    words = [str(word) for word in values]
    groups = [(word, np.flatnonzero([each == word for each in words])) for word in dict.fromkeys(words)]
    return X, groups


def errors_of(
    X: "ArrayLike | pd.DataFrame", column: object, *, needed: bool = True
) -> "tuple[ArrayLike | pd.DataFrame, Float | None]":
    """Return X without the column of standard errors, and these; None without one.

    Raises:
        DataError: if X has no such column, and it is needed.
    """
    if column is None or not (needed or (is_frame(X) and column in X.columns)):
        return X, None
    X, values = _without(X, column, "sd")
    return X, as_numbers(values, "sd")


def _without(X: "ArrayLike | pd.DataFrame", column: object, option: str) -> "tuple[pd.DataFrame, Any]":
    """Return a DataFrame without a column that an option names, and this column."""
    X = as_frame(X)  # type: ignore[assignment]
    if not is_frame(X) or column not in X.columns:
        has = f"it has {listed([str(name) for name in X.columns])}" if is_frame(X) else "it is an array"
        raise DataError(
            f"{option}= names the column {column!r} of a DataFrame X, but {has}; pass one with this column"
        )
    return X.drop(columns=[column]), X[column]


def rows_of(X: "ArrayLike | pd.DataFrame", origin: object = None) -> Rows:
    """Return the rows of X; dates count from `origin`, or from the first of them.

    Raises:
        DataError: if X does not hold times, and an input perhaps.
    """
    if is_frame(X):
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


def _rows_of_frame(frame: "pd.DataFrame", origin: object) -> Rows:
    """Return the columns of time and input: by their names, else the first and the second."""
    table = frame_table(frame, "X")
    names = list(table.names)
    time = _named(names, GUESSES["time"]) or names[0]
    left = [name for name in names if name != time]
    force = _named(left, GUESSES["force"]) or (left[0] if len(left) == 1 else None)
    if len(left) > 1:
        raise DataError(f"X must have columns t and perhaps force, but has {listed(names)}; drop the others")
    values = None if force is None else table.numbers(force)
    dated = as_seconds(table.column(time), origin)
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
    columns = by_name(y, "y")
    return None if columns is None else list(columns)


def _numbers(values: ArrayLike, name: str) -> Float:
    try:
        if np.iscomplexobj(values):
            raise TypeError
        return np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{name} must be numbers, got {type(values).__name__}; convert it first") from None


def explained(true: Float, guess: Float, weight: Float) -> float:
    """Return R² of one signal."""
    seen = np.isfinite(true)
    true, guess, weight = true[seen], guess[seen], weight[seen]
    if not len(true):
        raise DataError("y holds no number to compare with; pass what was observed")
    if not np.all(np.isfinite(guess)):
        return -np.inf
    missed = float(np.sum(weight * (true - guess) ** 2))
    total = float(np.sum(weight * (true - np.average(true, weights=weight)) ** 2))
    if total == 0:
        return 1.0 if missed == 0 else 0.0
    return 1.0 - missed / total
