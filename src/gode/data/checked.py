"""Measurements as a user gives them -> a checked run."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from gode.arrays import Float
from gode.data.columns import STATES, channel_names, check_increasing
from gode.data.dates import as_seconds
from gode.data.joining import Interpolation
from gode.data.numbers import as_numbers
from gode.data.runs import MIN_POINTS, Input, Run
from gode.errors import DataError

MAX_SIZE = 1e100  # largest magnitude of a value: its square must be finite
MIN_SIZE = 1e-100  # least magnitude of the largest value: its square must not vanish


def make_run(
    t: ArrayLike,
    *,
    u: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    inputs: Mapping[str, object] | None = None,
    initial: ArrayLike | None = None,
    interpolation: Interpolation = Interpolation.AUTO,
    label: str = "",
    states: tuple[str, ...] = STATES,
    hidden: bool = False,
) -> Run:
    """Return a checked run; rows without a time or without any observation are dropped.

    Dates and durations of any unit become seconds from the first.

    Args:
        u, velocity, acceleration: (n,) of one state, (n, d) of several.
        hidden: whether there may be states that were never measured.
        initial: of each state its value (d,) or its value and slope (d, 2), also as (2 d,).

    Raises:
        DataError: with a sentence that says what to do.
    """
    where = f"{label}: " if label else ""
    dated = as_seconds(t)
    time = _numbers(t if dated is None else dated[0], "t", where, None)
    observed = np.full((3 * len(states), len(time)), np.nan)
    for k, measured in enumerate((u, velocity, acceleration)):
        if measured is not None:
            observed[k::3] = _channels(measured, channel_names(states)[k::3], where, len(time))
    given = {name: _input(value, name, where, len(time)) for name, value in (inputs or {}).items()}
    keep = np.isfinite(time) & np.isfinite(observed).any(axis=0)
    for values in given.values():
        if isinstance(values, np.ndarray):
            keep &= np.isfinite(values)
    if not keep.any():
        raise DataError(
            f"{where}nothing is observed: every value is missing; pass u, velocity or acceleration"
        )
    time, observed = time[keep], observed[:, keep]
    given = {k: v[keep] if isinstance(v, np.ndarray) else v for k, v in given.items()}
    _check_times(time, where)
    _check_units(time, observed, where)
    _check_states(observed, states, where, hidden=hidden)
    return Run(time, observed, _initial(initial, states, where), given, interpolation)


def _check_states(observed: Float, states: tuple[str, ...], where: str, *, hidden: bool) -> None:
    """Raise DataError if a state was observed at too few times, or never though it may not be hidden."""
    for name, own in zip(states, np.split(observed, len(states)), strict=True):
        n = int(np.isfinite(own).any(axis=0).sum())
        if n == 0 and hidden:
            continue
        if n == 0:
            raise DataError(f"{where}{name} is never observed; leave it out, or measure it")
        if n < MIN_POINTS:
            raise DataError(
                f"{where}{name} is observed at {n} times only; at least {MIN_POINTS} are needed, "
                "so leave it out or measure more"
            )


def _check_times(t: Float, where: str) -> None:
    if len(t) < MIN_POINTS:
        raise DataError(f"{where}{len(t)} usable points are too few; at least {MIN_POINTS} are needed")
    check_increasing(_not_tiny(t, "t", where), f"{where}row")
    step = np.diff(t)
    if np.min(step) < 1e-9 * (t[-1] - t[0]):
        i = int(np.argmin(step)) + 1
        raise DataError(
            f"{where}row {i}: the times {t[i - 1]:.17g} and {t[i]:.17g} nearly coincide; drop one of the rows"
        )


def _check_units(t: Float, observed: Float, where: str) -> None:
    """Raise DataError if u'' would overflow when squared in these units of time."""
    sizes = np.max(np.abs(observed), axis=1, where=np.isfinite(observed), initial=0.0)
    with np.errstate(over="ignore"):
        rate = float(np.max(sizes.reshape(-1, 3) / (t[-1] - t[0]) ** np.array([2.0, 1.0, 0.0])))
    if rate > MAX_SIZE:
        raise DataError(
            f"{where}t spans {t[-1] - t[0]:g}, so that u'' is about {rate:g}, too large to square; "
            "use other units of time"
        )


def _numbers(values: ArrayLike, name: str, where: str, length: int | None) -> Float:
    row = as_numbers(values, f"{where}{name}")
    if row.ndim != 1:
        raise DataError(f"{where}{name} must have one dimension, got shape {row.shape}; pass one signal")
    if length is not None and len(row) != length:
        raise DataError(f"{where}{name} has {len(row)} values, but t has {length}; give one per time")
    if np.any(np.isinf(row)):
        i = int(np.argmax(np.isinf(row)))
        raise DataError(f"{where}{name} is infinite at row {i}; drop that row or write NaN for not observed")
    if np.any(np.abs(row) > MAX_SIZE):
        i = int(np.argmax(np.abs(row) > MAX_SIZE))
        raise DataError(f"{where}{name} is {row[i]:g} at row {i}, too large to square; use other units")
    return row


def _not_tiny(row: Float, name: str, where: str) -> Float:
    """Return `row`, unless its squares underflow; all zeros are accepted."""
    largest = float(np.max(np.abs(row), where=np.isfinite(row), initial=0.0))
    if 0 < largest < MIN_SIZE:
        raise DataError(f"{where}{name} is {largest:g} at most, too small to square; use other units")
    return row


def _channels(values: ArrayLike, names: tuple[str, ...], where: str, n: int) -> list[Float]:
    """Return one derivative of each state, checked."""
    columns = [values]
    if len(names) > 1:
        table = as_numbers(values, f"{where}{names[0]}, ...")
        if table.ndim != 2 or table.shape[1] != len(names):
            raise DataError(
                f"{where}{', '.join(names)} must have the shape (n, {len(names)}), got {table.shape}; "
                "give one column per state"
            )
        columns = list(table.T)
    pairs = zip(columns, names, strict=True)
    return [_not_tiny(_numbers(column, name, where, n), name, where) for column, name in pairs]


def _input(value: object, name: str, where: str, n: int) -> Input:
    if isinstance(value, str) or callable(value):
        return value
    return _numbers(value, name, where, n)  # type: ignore[arg-type]


def _initial(values: ArrayLike | None, states: tuple[str, ...], where: str) -> Float:
    known, d = np.full((len(states), 2), np.nan), len(states)
    if values is None:
        return known.ravel()
    table = np.atleast_1d(np.asarray(values, object))
    if d > 1 and table.shape == (d, 2):
        table = table.ravel()
    given = np.atleast_1d(_numbers(table.tolist(), "initial", where, None))
    if len(given) not in ((d, 2 * d) if d > 1 else (0, 1, 2)):
        single = [f"{name}(t0)" for name in states]
        pairs = [f"{name}{prime}(t0)" for name in states for prime in ("", "'")]
        forms = f"[{', '.join(single)}] or [{', '.join(pairs)}]"
        raise DataError(f"{where}initial must be {forms}, got {len(given)} values")
    slopes = len(given) // d
    known[:, :slopes] = given.reshape(d, slopes)
    return known.ravel()
