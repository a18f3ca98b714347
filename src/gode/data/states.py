"""What users pass, to arrays: numbers, dates, and states as an array, a DataFrame or a mapping."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Protocol, SupportsFloat, runtime_checkable

import numpy as np

from gode.arrays import Float
from gode.equation.operators import FUNCTIONS
from gode.errors import DataError

Dates = np.ndarray[tuple[int, ...], np.dtype[Any]]


def as_numbers(values: object, name: str) -> Float:
    """Return `values` as an array of floats; masked values become NaN.

    Raises:
        DataError: if they are text, dates, complex or too large for a float.
    """
    try:
        if np.ma.isMaskedArray(values):
            values = np.ma.filled(np.ma.asarray(values, np.float64), np.nan)
        found = np.asarray(values)
        if found.dtype.kind in "cmM":  # NumPy would convert these with a loss
            raise TypeError
        return found.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{name} must be numbers, got {_kind(values)}; convert it first") from None


def _kind(values: object) -> str:
    if isinstance(values, Sequence) and not isinstance(values, str):
        return "a list with " + next((repr(v)[:40] for v in values if not isinstance(v, int | float)), "gaps")
    if isinstance(values, np.ndarray):
        return f"an array of {values.dtype}"
    return type(values).__name__


def values_at(function: Callable[[float], float], t: Float, name: str) -> Float:
    """Return the values at some times of a function that a user passed as the input `name`.

    Raises:
        DataError: if it returns anything but one number.
    """
    values = [function(float(time)) for time in t]
    for value in values:
        if not isinstance(value, SupportsFloat) or np.asarray(value).ndim > 0:
            raise DataError(f"the input {name} must be one number at each time, got {type(value).__name__}")
    return np.array([float(value) for value in values])


def as_seconds(values: object, origin: object = None) -> tuple[Float, object] | None:
    """Return dates or durations in seconds from `origin`, and the origin; None if `values` are neither.

    The default origin is the earliest value. Missing values (NaT) become NaN.

    Args:
        values: datetime64 or timedelta64 of any unit, or objects of datetime or pandas.

    Raises:
        DataError: if dates with and without a time zone are mixed.
    """
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths, refused by `as_numbers`
        return None
    if array.dtype.kind in "mM":
        missing = np.ma.getmask(values) if isinstance(values, np.ma.MaskedArray) else False
        return _of_array(np.where(missing, np.array("NaT", array.dtype), array), origin)
    if array.dtype != object or not any(isinstance(v, date | timedelta) for v in array.flat):
        return None
    return _of_objects(array, origin)


def _of_array(array: Dates, origin: object) -> tuple[Float, object]:
    if np.datetime_data(array.dtype)[0] in ("Y", "M"):  # units without a fixed length
        if array.dtype.kind == "m":
            raise DataError("t holds durations in months or years, which differ in length; convert to days")
        array = array.astype("datetime64[D]")
    seen = ~np.isnat(array)
    first = (array[seen].min() if seen.any() else None) if origin is None else origin
    if first is None:
        return np.full(array.shape, np.nan), None
    return np.asarray((array - first) / np.timedelta64(1, "s"), np.float64), first


def _of_objects(array: Dates, origin: object) -> tuple[Float, object]:
    """Return the seconds of objects; None, NaN and NaT, which differ from themselves, are missing."""
    missing = np.array([v is None or v != v for v in array.flat])
    dates = [_with_time(v) for v, gone in zip(array.flat, missing, strict=True) if not gone]
    out = np.full(array.size, np.nan)
    try:
        first = min(dates, default=None) if origin is None else origin
        out[~missing] = [(value - first).total_seconds() for value in dates]
    except (TypeError, AttributeError):
        raise DataError(
            "t holds dates of different kinds, with and without a time zone perhaps; convert them to one kind"
        ) from None
    return out.reshape(array.shape), first


def _with_time(value: Any) -> Any:
    """Return a date without a time as midnight of that day."""
    is_day = isinstance(value, date) and not isinstance(value, datetime)
    return datetime(value.year, value.month, value.day) if is_day else value


NAME = re.compile(r"[A-Za-z_]\w*")
TAKEN = {
    "t": "time",
    "C": "a free constant",
    "F": "a known input",
    "pi": "a number",
    **dict.fromkeys([*FUNCTIONS, "sqrt", "diff"], "a function"),
}


@runtime_checkable
class Frame(Protocol):
    """What a DataFrame of any library offers; an Arrow table has its names as `column_names`."""

    @property
    def columns(self) -> Iterable[object]:
        """The names of its columns."""

    def __getitem__(self, name: object) -> object:
        """Return a column."""


def by_name(values: object, what: str) -> dict[str, object] | None:
    """Return the columns of a mapping or a DataFrame by their names; None for an array.

    Raises:
        DataError: if two columns have the same name.
    """
    if isinstance(values, Mapping):
        return {str(name): column for name, column in values.items()}
    if not isinstance(values, Frame):
        return None
    columns = list(getattr(values, "column_names", values.columns))
    names = [str(name) for name in columns]
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{what} has {names.count(name)} columns called {name!r}; rename or drop them")
    return {str(name): values[name] for name in columns}


def state_names(channels: Sequence[object], names: object) -> tuple[str, ...]:
    """Return the names of the states: as given, as the columns are called, or x1, x2, ...; u for one signal.

    Args:
        channels: the values, velocities and accelerations of a run; the first that is given counts.

    Raises:
        DataError: if `names` does not suit the columns, or a name cannot be used in an equation.
    """
    first = next((values for values in channels if values is not None), None)
    columns = by_name(first, "the data")
    if columns is not None:
        found = tuple(columns)
    else:
        d = _width(first)
        found = ("u",) if d == 1 else tuple(f"x{i + 1}" for i in range(d))
    if names is not None:
        chosen = _checked(names)
        partly = columns is not None and set(columns) <= set(chosen)  # the other states may have slopes
        if len(chosen) != len(found) and not partly:
            check_names(chosen, "state")  # of a state that is named twice a number says little
            states = "the state is" if len(chosen) == 1 else f"the {len(chosen)} states are"
            columns_found = "1 column" if len(found) == 1 else f"{len(found)} columns"
            raise DataError(
                f"{states} {', '.join(chosen)}, but the data have {columns_found}; give one for each, a row "
                "for each time (of several runs t is a list, too), or a mapping of names to columns"
            )
        found = chosen
    if not found:
        raise DataError("the data have no columns; give one for each state")
    if len(found) > 1:
        check_names(found, "state")
    return found


def check_names(names: Sequence[str], kind: str, others: Sequence[str] = ()) -> None:
    """Raise DataError unless an equation can hold these names of states or inputs, beside the `others`."""
    advice = "rename or drop the column, or pass names=" if kind == "state" else "rename it"
    for i, name in enumerate(names):
        if not NAME.fullmatch(name):
            raise DataError(
                f"{name!r} cannot name a {kind}: a name has letters, digits and _, and begins with a letter; "
                f"{advice}"
            )
        if name in TAKEN and not (kind == "known input" and name == "F"):
            raise DataError(f"{name!r} cannot name a {kind}: in an equation it means {TAKEN[name]}; {advice}")
        if name in names[:i] or name in others:
            clash = "two states" if kind == "state" else "a state and an input"
            raise DataError(f"{name!r} names {clash}; {advice}")


def table_of(values: object, states: Sequence[str], what: str, n: int, *, renamed: bool) -> Float | None:
    """Return what was measured as an array (n, d), NaN for states that it lacks; one signal may be (n,).

    Args:
        what: the run and the argument, for messages.
        renamed: whether the states have been given names that may replace those of the columns.

    Raises:
        DataError: if it has other columns, or columns of another length.
    """
    columns = by_name(values, what)
    if columns is None:
        return None if values is None else _array(values, states, what, n)
    if renamed and not set(columns) & set(states) and len(columns) == len(states):
        columns = dict(zip(states, columns.values(), strict=True))
    known_only(columns, states, what)
    out = np.full((n, len(states)), np.nan)
    for i, name in enumerate(states):
        if columns.get(name) is not None:
            out[:, i] = _column(columns[name], f"{what} of {name}", n)
    return out


def limits_of(values: object, u: Float | None, states: Sequence[str], what: str) -> Float | None:
    """Return limits of readings `u` (n, d) in the same form, NaN where there is none.

    Args:
        values: numbers, which hold for all readings, but not for missing ones; or arrays.

    Raises:
        DataError: if there are no readings, or limits of another form.
    """
    if values is None:
        return None
    if u is None:
        raise DataError(f"{what} is given, but u is not; limits are those of readings of u")
    return table_of(filled(values, states, u, what), states, what, len(u), renamed=False)


def filled(values: object, states: Sequence[str], u: Float, what: str) -> object:
    """Return what is known of readings `u` (n, d), with a number for each reading in place of one for all."""
    if values is None:
        return None
    if not isinstance(values, Mapping) and np.ndim(values) == 0:  # type: ignore[arg-type]
        values = dict.fromkeys(states, values)
    if not isinstance(values, Mapping):
        return values
    whole = dict(values)
    for s, name in enumerate(states):
        if whole.get(name) is not None and np.ndim(whole[name]) == 0:
            number = float(as_numbers(whole[name], what))
            whole[name] = np.where(np.isfinite(u[:, s]), number, np.nan)
    return whole


def known_only(given: Iterable[str], states: Sequence[str], what: str) -> None:
    """Raise DataError if `given` names anything but a state."""
    unknown = [name for name in given if name not in states]
    if unknown:
        raise DataError(
            f"{what} is given for {unknown[0]!r}, which is no state; the states are {', '.join(states)}; "
            "name all of them by names="
        )


def initial_of(values: object, states: Sequence[str], where: str) -> object:
    """Return initial values by the order of the states; a mapping may have a value, or a value and a slope.

    Raises:
        DataError: if it is given for what is no state, or has more than two numbers for one.
    """
    if not isinstance(values, Mapping):
        return values
    known_only(map(str, values), states, f"{where}initial")
    out = np.full((len(states), 2), np.nan)
    for i, name in enumerate(states):
        row = np.atleast_1d(as_numbers(values.get(name, np.nan), f"{where}initial of {name}"))
        if row.ndim > 1 or len(row) > 2:
            raise DataError(f"{where}initial of {name} must be a value, or a value and a slope, got {row}")
        out[i, : len(row)] = row
    return out


def _checked(names: object) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise DataError(f"names must be a list of texts such as ['prey', 'predator'], got {names!r}")
    found = tuple(names)
    for name in found:
        if not isinstance(name, str):
            raise DataError(f"names must be a list of texts such as ['prey', 'predator'], got {name!r} in it")
    return found


def _width(values: object) -> int:
    shape = shape_of(values)
    return shape[1] if len(shape) == 2 and shape[1] > 0 else 1


def shape_of(values: object) -> tuple[int, ...]:
    """Return the shape of an array or of nested lists; () for unequal lists, which are refused later."""
    try:
        return tuple(np.shape(values))  # type: ignore[call-overload]
    except ValueError:
        return ()


def _array(values: object, states: Sequence[str], what: str, n: int) -> Float:
    d = len(states)
    table = column_alone(as_numbers(values, what), d)
    if table.ndim == 2 and table.shape[1] == n != len(table):
        raise DataError(f"{what} has the shape {table.shape}, but a row is one of {n} times; transpose it")
    if table.ndim != 2 or table.shape[1] != d:
        raise DataError(
            f"{what} must have the shape ({n}, {d}) for the states {', '.join(states)}, "
            f"got {table.shape}; give one column per state, or a mapping of names to columns"
        )
    if len(table) != n:
        raise DataError(f"{what} has {len(table)} values, but t has {n}; give one per time")
    return table


def column_alone(table: Float, d: int) -> Float:
    """Return the values (n,) of one signal as a column; anything else as it is."""
    return table.reshape(-1, 1) if table.ndim == d == 1 else table


def _column(values: object, what: str, n: int) -> Float:
    row = as_numbers(values, what)
    if row.ndim != 1:
        raise DataError(f"{what} must have one dimension, got shape {row.shape}; give one column per state")
    if len(row) != n:
        raise DataError(f"{what} has {len(row)} values, but t has {n}; give one per time")
    return row
