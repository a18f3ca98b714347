"""Conversion of user input to arrays of floats."""

from collections.abc import Sequence

import numpy as np

from gode.arrays import Float
from gode.errors import DataError


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
