"""Columns: complete, finite data on which an equation is evaluated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Float, Int
from gode.equation.system import columns_seen
from gode.errors import DataError

STATES = ("u",)  # the name of the state of a scalar equation
INPUT = "F"  # the name of a known input that has no other


def channel_names(states: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the states and their derivatives, three for each state."""
    return tuple(f"{name}{primes}" for name in states for primes in ("", "'", "''"))


@dataclass(frozen=True)
class Columns:
    """Time, the states, their derivatives and the known inputs of all runs, concatenated.

    `matrix` has the rows t, then u, u', u'' of each state, and then one per input; `starts` holds the index
    at which each run begins and, last, the total number of points.
    """

    matrix: Float
    starts: Int
    inputs: tuple[str, ...] = ()
    states: tuple[str, ...] = STATES

    @property
    def n_points(self) -> int:
        """The number of points of all runs together."""
        return int(self.matrix.shape[1])

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each row."""
        return ("t", *channel_names(self.states), *self.inputs)

    def seen(self, index: int) -> tuple[str, ...]:
        """Return what the equation of state number `index` calls the rows; those of u have these names."""
        if self.states == STATES:
            return self.names
        return columns_seen(index, len(self.states), len(self.inputs))

    def of_run(self, i: int) -> "Columns":
        """Return one run alone."""
        low, high = self.starts[i : i + 2]
        return replace(self, matrix=self.matrix[:, low:high], starts=np.array([0, high - low]))

    def row_of_input(self, name: str) -> int:
        """Return the index of the row of an input."""
        return 1 + 3 * len(self.states) + self.inputs.index(name)


def columns_of_run(
    t: ArrayLike,
    u: ArrayLike,
    du: ArrayLike,
    d2u: ArrayLike | None = None,
    *,
    inputs: Mapping[str, ArrayLike] | None = None,
) -> Columns:
    """Return the columns of one run of one state; u'' is zero where it is not given.

    Raises:
        DataError: if the lengths differ, a value is not finite, or time does not increase.
    """
    return columns_of_states(t, (u, du, np.zeros(np.shape(t)) if d2u is None else d2u), inputs=inputs)


def columns_of_states(
    t: ArrayLike,
    values: Sequence[ArrayLike] | Float,
    *,
    states: tuple[str, ...] = STATES,
    inputs: Mapping[str, ArrayLike] | None = None,
) -> Columns:
    """Return the columns of one run; `values` (3 d, n) holds the states and their derivatives.

    Raises:
        DataError: if the lengths differ, a value is not finite, or time does not increase.
    """
    time = _row(t, "t", None)
    if len(time) < 2:
        raise DataError(f"a run needs at least 2 points, got {len(time)}; measure more")
    check_increasing(time, "point")
    n = len(time)
    given = inputs or {}
    named = [*zip(channel_names(states), values, strict=True), *given.items()]
    rows = [time, *(_row(each, name, n) for name, each in named)]
    return Columns(np.vstack(rows), np.array([0, n]), tuple(given), states)


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
        DataError: if there is none, or their states or inputs differ.
    """
    if not runs:
        raise DataError("expected at least one run, got none; pass the columns of one measurement or more")
    for kind in ("states", "inputs"):
        check_alike([getattr(run, kind) for run in runs], kind)
    sizes = np.cumsum([0, *(run.n_points for run in runs)])
    starts = [run.starts[:-1] + size for run, size in zip(runs, sizes, strict=False)]
    matrix = np.hstack([r.matrix for r in runs])
    return replace(runs[0], matrix=matrix, starts=np.append(np.concatenate(starts), sizes[-1]))


def check_alike(names: Sequence[tuple[str, ...]], kind: str) -> None:
    """Raise DataError unless all runs have the same names of this kind: states or inputs."""
    for i, names_of_run in enumerate(names):
        if names_of_run != names[0]:
            raise DataError(
                f"run {i} has the {kind} {list(names_of_run)}, but run 0 has {list(names[0])}; "
                "give every run the same ones"
            )


def split_at_jumps(columns: Columns, held: Sequence[str]) -> Columns:
    """Return the columns with the times at which a held input jumps repeated: before and after the jump."""
    rows = [columns.row_of_input(name) for name in held]
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
    return replace(columns, matrix=matrix, starts=starts)


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
