"""Ranges of the values in a record, field by field: an edited record is refused with the name of the field.

A type check is not enough: a noise of 1e300 is a number, but its square overflows. A field without a range
of its own has that of its object (the empty name); other objects are not checked.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gode.arrays import Float
from gode.errors import FileError

LARGE = 1e120  # sums of squares do not overflow


@dataclass(frozen=True)
class Range:
    """The smallest and largest value, whether NaN is allowed, and the smallest size other than zero."""

    low: float
    high: float
    unknown: bool = False
    least: float = 0.0  # size below which only zero is allowed

    def outside(self, values: Float) -> Float:
        """Return the values that are not in the range."""
        size = np.abs(values)
        fits = (values >= self.low) & (values <= self.high) & ((size == 0) | (size >= self.least))
        return np.asarray(values[~(fits | (np.isnan(values) & self.unknown))])

    def __str__(self) -> str:
        tiny = f", and not below {self.least:g} in size unless it is zero" if self.least else ""
        if math.isinf(self.high):
            return ("a number" if math.isinf(self.low) else f"at least {self.low:g}") + tiny
        return f"between {self.low:g} and {self.high:g}" + tiny


SETTING = Range(0, 1e6)  # weights, shares, numbers of steps
FINITE = Range(-LARGE, LARGE)
POSITIVE = Range(0, LARGE)
CONSTANT = Range(-1e300, 1e300, least=1e-300)
COUNT = Range(0, 1e9)
COVARIANCE = Range(-1e300, 1e300)

RANGES: Mapping[str, Mapping[str, Range]] = {
    "Settings": {"": SETTING, "seed": Range(0, math.inf)},
    "SearchConfig": {"": SETTING},
    "LatentConfig": {"": SETTING},
    "ConstantsConfig": {"": SETTING},
    "ShootConfig": {"": SETTING},
    "SelectionConfig": {"": SETTING},
    "Equation": {"constants": CONSTANT, "scale": CONSTANT},
    "Candidate": {
        "": FINITE,
        "covariance": COVARIANCE,
        "rms": POSITIVE,
        "n_values": COUNT,
        "n_free": COUNT,
        "independent": COUNT,
    },
    "Individuals": {"values": CONSTANT, "covariances": COVARIANCE},
    "Run": {"": FINITE, "initial": Range(-LARGE, LARGE, unknown=True)},
    "Dose": {"": FINITE, "duration": POSITIVE},
    "Smooth": {
        "": FINITE,
        "deviations": POSITIVE,
        "noise": Range(0, LARGE, unknown=True),
        "profile": Range(1e-9, 1e9),
        "shares": Range(0, LARGE, unknown=True),
        "evidence": Range(-LARGE, LARGE, unknown=True),
    },
    "record": {"": COUNT},
}


def check_value(owner: str, name: str, value: object, where: str) -> None:
    """Check that the value of a field is in its range.

    Raises:
        FileError: if it is not, naming the field.
    """
    texts = value if isinstance(value, tuple) else (value,)
    for text in texts:
        if isinstance(text, str) and text.encode("utf-8", "replace").decode("utf-8") != text:
            raise FileError(f"{where} must be text that can be written, got {text[:40]!a}")
    ranges = RANGES.get(owner, {})
    allowed = ranges.get(name, ranges.get(""))
    numbers = _numbers(value)
    wrong = np.zeros(0) if allowed is None or numbers is None else allowed.outside(numbers)
    if len(wrong):
        raise FileError(f"{where} must be {allowed}, got {'null' if np.isnan(wrong[0]) else f'{wrong[0]:g}'}")


def _numbers(value: object) -> Float | None:
    """Return numbers as an array; None for anything else."""
    if isinstance(value, np.ndarray):
        return value.ravel()
    several = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in several):
        return None
    return np.array([_float(v) for v in several])


def _float(value: int | float) -> float:
    """Return an integer of any size as a float; infinite if it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
