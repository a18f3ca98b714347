"""Checks of single options: each returns the value as it is kept, or says what it must be."""

import math
from collections.abc import Iterable
from numbers import Real
from operator import index
from typing import Final, TypeVar

from gode.choices import NoiseChoice, Preset
from gode.errors import ConfigError

T = TypeVar("T")
AUTO: Final = "auto"  # the order that explains the data better
ORDERS = (1, 2)
LATE_INPUT, LATE_STATE = "input", "state"  # what may act late
DELAYS = (LATE_INPUT, LATE_STATE, AUTO)
MOST_HIDDEN = 2  # So many states that were not measured can be sought.


def checked_order(value: object) -> object:
    """Return the order."""
    order = plain(value)
    if order != AUTO and whole(order) not in ORDERS:
        raise ConfigError(f"order must be 1, 2 or '{AUTO}', got {order!r}")
    return order


def checked_noise(value: object) -> object:
    """Return the kind of noise."""
    if not isinstance(value, str) or value not in list(NoiseChoice):
        raise ConfigError(f"noise must be one of {', '.join(NoiseChoice)}, got {value!r}")
    return value


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


def checked_share(value: object) -> object:
    """Return the share of each record that is held back; None is nothing."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 < value < 1):  # type: ignore[operator]
        raise ConfigError(f"hold_out must be a share of each record such as 0.2, got {value!r}")
    return value


def checked_seed(value: object) -> object:
    """Return the seed."""
    seed = plain(value)
    if whole(seed) < 0:
        raise ConfigError(f"seed must be a whole number from 0 on, got {seed!r}")
    return seed


def checked_hidden(value: object) -> int | str | tuple[str, ...]:
    """Return how many states are sought that were not measured: a number, auto, or their names."""
    number = plain(value)
    if value is None or value is False or number == 0:
        return 0
    if value == AUTO or (isinstance(number, int) and whole(number) in range(1, MOST_HIDDEN + 1)):
        return number  # type: ignore[return-value]
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
    if not 0 < len(names) <= MOST_HIDDEN or not all(isinstance(name, str) for name in names):
        raise ConfigError(
            f"hidden must be a number of states from 0 to {MOST_HIDDEN}, '{AUTO}', or their names such as "
            f"['w'], got {value!r}"
        )
    return names


def checked_delay(value: object) -> str | None:
    """Return what may act late; None is nothing."""
    if value is None or value is False:
        return None
    if not isinstance(value, str) or value not in DELAYS:
        raise ConfigError(f"delay must be one of {', '.join(DELAYS)}, got {value!r}")
    return value


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
