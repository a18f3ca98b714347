"""What users pass for numbers and times -> arrays of floats, and seconds of dates and durations."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import Any, SupportsFloat

import numpy as np

from gode.arrays import Float
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
