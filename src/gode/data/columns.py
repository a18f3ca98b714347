"""Columns: complete, finite data on which an equation is evaluated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Float, Int
from gode.errors import DataError


@dataclass(frozen=True)
class Columns:
    """Time, the state, its derivatives and the known inputs of all runs, concatenated.

    `matrix` has the rows t, u, u', u'' and then one per input; `starts` holds the index at which each run
    begins and, last, the total number of points.
    """

    matrix: Float
    starts: Int
    inputs: tuple[str, ...] = ()

    @property
    def n_points(self) -> int:
        """The number of points of all runs together."""
        return int(self.matrix.shape[1])

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each row."""
        return ("t", "u", "u'", "u''", *self.inputs)


def columns_of_run(
    t: ArrayLike,
    u: ArrayLike,
    du: ArrayLike,
    d2u: ArrayLike | None = None,
    *,
    inputs: Mapping[str, ArrayLike] | None = None,
) -> Columns:
    """Return the columns of one run; u'' is zero where it is not given.

    Raises:
        DataError: if the lengths differ, a value is not finite, or time does not increase.
    """
    time = _row(t, "t", None)
    if len(time) < 2:
        raise DataError(f"a run needs at least 2 points, got {len(time)}; measure more")
    check_increasing(time, "point")
    n = len(time)
    rows = [time, _row(u, "u", n), _row(du, "u'", n)]
    rows.append(np.zeros(n) if d2u is None else _row(d2u, "u''", n))
    given = inputs or {}
    rows += [_row(values, name, n) for name, values in given.items()]
    return Columns(np.vstack(rows), np.array([0, n]), tuple(given))


def check_increasing(t: Float, place: str) -> None:
    """Raise DataError unless `t` increases; `place` says what is numbered in the message, such as rows."""
    late = np.diff(t) <= 0
    if late.any():
        i = int(np.argmax(late)) + 1
        raise DataError(
            f"{place} {i}: time must increase, but {t[i]:g} follows {t[i - 1]:g}; "
            "sort the rows or drop repeats"
        )


def join_runs(runs: Sequence[Columns]) -> Columns:
    """Return the columns of several runs as one.

    Raises:
        DataError: if there is none, or their inputs differ.
    """
    if not runs:
        raise DataError("expected at least one run, got none; pass the columns of one measurement or more")
    for i, run in enumerate(runs):
        if run.inputs != runs[0].inputs:
            raise DataError(
                f"run {i} has the inputs {list(run.inputs)}, but run 0 has {list(runs[0].inputs)}; "
                "give every run the same ones"
            )
    sizes = np.cumsum([0, *(run.n_points for run in runs)])
    starts = [run.starts[:-1] + size for run, size in zip(runs, sizes, strict=False)]
    return Columns(
        np.hstack([r.matrix for r in runs]), np.append(np.concatenate(starts), sizes[-1]), runs[0].inputs
    )


def split_at_jumps(columns: Columns, held: Sequence[str]) -> Columns:
    """Return the columns with the times at which a held input jumps repeated: before and after the jump."""
    rows = [4 + columns.inputs.index(name) for name in held]
    if not rows:
        return columns
    moved = np.any(np.diff(columns.matrix[rows], axis=1) != 0, axis=0)
    moved[columns.starts[1:-1] - 1] = False  # the boundary between two runs is no jump
    late = np.flatnonzero(moved) + 1
    matrix = np.insert(columns.matrix, late, columns.matrix[:, late], axis=1)
    before = late + np.arange(len(late))  # indices of the copies
    for row in rows:
        matrix[row, before] = columns.matrix[row, late - 1]
    starts = columns.starts + np.searchsorted(late, columns.starts)
    return Columns(matrix, starts, columns.inputs)


def _row(values: ArrayLike, name: str, length: int | None) -> Float:
    try:
        row = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be numbers, got {type(values).__name__}; convert it first") from None
    if row.ndim != 1:
        raise DataError(f"{name} must have one dimension, got shape {row.shape}; pass one signal at a time")
    if length is not None and len(row) != length:
        raise DataError(f"{name} has {len(row)} values, but t has {length}; give one value per time")
    if not np.all(np.isfinite(row)):
        i = int(np.argmax(~np.isfinite(row)))
        raise DataError(f"{name} is {row[i]} at point {i}; drop that point or fill it in")
    return row
