"""Checks of single options: each returns the value as it is kept, or says what it must be."""

import math
from collections.abc import Iterable
from numbers import Real
from operator import index
from typing import Final, TypeVar

from gode.choices import Preset
from gode.errors import ConfigError

T = TypeVar("T")
AUTO: Final = "auto"  # the order that explains the data better
ORDERS = (1, 2)


def checked_order(value: object) -> object:
    """Return the order."""
    order = plain(value)
    if order != AUTO and whole(order) not in ORDERS:
        raise ConfigError(f"order must be 1, 2 or '{AUTO}', got {order!r}")
    return order


def checked_preset(value: object) -> object:
    """Return the name of the method."""
    if not isinstance(value, str) or value not in list(Preset):
        raise ConfigError(f"preset must be one of {', '.join(Preset)}, got {value!r}")
    return value


def checked_seconds(value: object) -> object:
    """Return a limit of time; None is no limit."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 < value < math.inf):  # type: ignore[operator]
        raise ConfigError(f"max_seconds must be a positive number of seconds, got {value!r}")
    return value


def checked_seed(value: object) -> object:
    """Return the seed."""
    seed = plain(value)
    if whole(seed) < 0:
        raise ConfigError(f"seed must be a whole number from 0 on, got {seed!r}")
    return seed


def checked_words(value: object) -> tuple[str, ...]:
    """Return one symbol or several as a tuple."""
    given = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [value]
    if not all(isinstance(word, str) for word in given):
        raise ConfigError(f"without must be symbols as text, such as ['log', 't'], got {value!r}")
    return tuple(given)


def whole(value: object) -> int:
    """Return a whole number as it is, and -1, which no option may be, for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def plain(value: T) -> T:
    """Return a whole number of NumPy as one of Python, which a record can hold; anything else as it is."""
    try:
        return value if isinstance(value, bool) else index(value)  # type: ignore[arg-type, return-value]
    except TypeError:  # refused where the option is checked
        return value
