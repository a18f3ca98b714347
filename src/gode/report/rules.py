"""What the values of a record may be, field by field, so that one that was edited is refused by its name.

A type alone says too little: a noise of 1e300 is a number, but its square is none. Where an object has no
rule for a field, that of the object itself holds (the empty name); what is not listed has no rules.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gode.arrays import Float
from gode.errors import FileError

LARGE = 1e120  # its square is a number, with room for sums


@dataclass(frozen=True)
class Rule:
    """The least and the largest value, whether it may be unknown (NaN), and whether tiny ones may not be."""

    low: float
    high: float
    unknown: bool = False
    least: float = 0.0  # what is not zero must not be smaller

    def broken_by(self, values: Float) -> Float:
        """Return those of the values that may not be."""
        size = np.abs(values)
        fits = (values >= self.low) & (values <= self.high) & ((size == 0) | (size >= self.least))
        return np.asarray(values[~(fits | (np.isnan(values) & self.unknown))])

    def __str__(self) -> str:
        tiny = f", and not below {self.least:g} in size unless it is zero" if self.least else ""
        if math.isinf(self.high):
            return ("a number" if math.isinf(self.low) else f"at least {self.low:g}") + tiny
        return f"between {self.low:g} and {self.high:g}" + tiny


SETTING = Rule(0, 1e6)  # prices, shares, numbers of steps
FINITE = Rule(-LARGE, LARGE)
POSITIVE = Rule(0, LARGE)
COUNT = Rule(0, 1e9)
ERROR = Rule(0, math.inf, unknown=True)  # of a constant that the data leave open
COVARIANCE = Rule(-1e300, 1e300)

RULES: Mapping[str, Mapping[str, Rule]] = {
    "Settings": {"": SETTING, "seed": Rule(0, math.inf)},
    "LatentConfig": {"": SETTING},
    "ConstantsConfig": {"": SETTING},
    "ShootConfig": {"": SETTING},
    "SelectionConfig": {"": SETTING},
    "Equation": {"constants": Rule(-1e300, 1e300, least=1e-300), "scale": Rule(-1e300, 1e300, least=1e-300)},
    "Candidate": {
        "": FINITE,
        "errors": ERROR,
        "covariance": COVARIANCE,
        "rms": POSITIVE,
        "complexity": SETTING,
        "n_values": COUNT,
        "n_free": COUNT,
        "independent": COUNT,
        "floor": POSITIVE,
        "forecast": ERROR,
    },
    "Run": {"": FINITE, "initial": Rule(-LARGE, LARGE, unknown=True)},
    "Smooth": {"": FINITE, "deviations": POSITIVE, "noise": Rule(0, LARGE, unknown=True)},
    "record": {"": COUNT},
}


def check_value(owner: str, name: str, value: object, where: str) -> None:
    """See to it that a field of an object holds what it may.

    Raises:
        FileError: if it does not, with the place.
    """
    texts = value if isinstance(value, tuple) else (value,)
    for text in texts:
        if isinstance(text, str) and text.encode("utf-8", "replace").decode("utf-8") != text:
            raise FileError(f"{where} must be text that can be written, got {text[:40]!a}")
    rules = RULES.get(owner, {})
    rule = rules.get(name, rules.get(""))
    numbers = _numbers(value)
    wrong = np.zeros(0) if rule is None or numbers is None else rule.broken_by(numbers)
    if len(wrong):
        raise FileError(f"{where} must be {rule}, got {'null' if np.isnan(wrong[0]) else f'{wrong[0]:g}'}")


def _numbers(value: object) -> Float | None:
    """Return a number, or all of several, as floats; None for what is no number."""
    if isinstance(value, np.ndarray):
        return value.ravel()
    several = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in several):
        return None
    return np.array([_float(v) for v in several])


def _float(value: int | float) -> float:
    """Return a whole number of any length as a float; one that is too long is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
