"""Values of options: checked, and read from the words of a command and written again.

A check returns the value as it is kept, or says what it must be.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from operator import index
from typing import Final, TypeVar

from gode.choices import NoiseChoice, Preset
from gode.errors import ConfigError, pointed

T = TypeVar("T")
AUTO: Final = "auto"  # the order that explains the data better
ORDERS = (1, 2)
LATE_INPUT, LATE_STATE = "input", "state"  # what may act late
DELAYS = (LATE_INPUT, LATE_STATE, AUTO)
MOST_HIDDEN = 2  # So many states that were not measured can be sought.


def checked_order(value: object) -> object:
    """Return the order."""
    order = without_numpy(value)
    if order != AUTO and whole_number(order) not in ORDERS:
        raise ConfigError(f"order must be 1, 2 or '{AUTO}', got {order!r}")
    return order


def checked_noise(value: object) -> str:
    """Return the kind of noise."""
    return _one_of(tuple(NoiseChoice), "noise", value)


def checked_preset(value: object) -> str:
    """Return the name of the method."""
    return _one_of(tuple(Preset), "preset", value)


def checked_seconds(value: object) -> object:
    """Return a limit of time; None is no limit."""
    return _positive("max_seconds must be a positive number of seconds", math.inf, value)


def checked_share(value: object) -> object:
    """Return the share of each record that is held back; None is nothing."""
    return _positive("hold_out= must be a share of each record such as 0.2", 1.0, value)


def checked_seed(value: object) -> object:
    """Return the seed."""
    seed = without_numpy(value)
    if whole_number(seed) < 0:
        raise ConfigError(f"seed must be a whole number from 0 on, got {seed!r}")
    return seed


def checked_hidden(value: object) -> int | str | tuple[str, ...]:
    """Return how many states are sought that were not measured: a number, auto, or their names."""
    number = without_numpy(value)
    if value is None or value is False or number == 0:
        return 0
    if value == AUTO or (isinstance(number, int) and whole_number(number) in range(1, MOST_HIDDEN + 1)):
        return number  # type: ignore[return-value]
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
    if not 0 < len(names) <= MOST_HIDDEN or not all(isinstance(name, str) for name in names):
        raise ConfigError(
            f"hidden= must be a number of states from 0 to {MOST_HIDDEN}, '{AUTO}', or their names such as "
            f"['w'], got {value!r}"
        )
    return names


def checked_delay(value: object) -> str | None:
    """Return what may act late; None is nothing."""
    return None if value is None or value is False else _one_of(DELAYS, "delay", value)


def checked_words(value: object) -> tuple[str, ...]:
    """Return one symbol or several as a tuple."""
    given = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [value]
    if not all(isinstance(word, str) for word in given):
        raise ConfigError(f"without must be symbols as text, such as ['log', 't'], got {value!r}")
    return tuple(given)


def _positive(expected: str, bound: float, value: object) -> object:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 < value < bound):  # type: ignore[operator]
        raise ConfigError(f"{expected}, got {value!r}")
    return value


def _one_of(words: Sequence[str], name: str, value: object) -> str:
    if not isinstance(value, str) or value not in words:
        raise ConfigError(f"{name} must be one of {', '.join(words)}, got {value!r}")
    return value


def whole_number(value: object) -> int:
    """Return a whole number as it is, and -1, which no option may be, for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def without_numpy(value: T) -> T:
    """Return a whole number of NumPy as one of Python, which a record can hold; anything else as it is."""
    try:
        return value if isinstance(value, bool) else index(value)  # type: ignore[arg-type, return-value]
    except TypeError:  # refused where the option is checked
        return value


ALL = "all"  # of --individual, which is True in Python


def fixed_values(texts: Sequence[str]) -> dict[str, float]:
    """Return the values of constants, each given as ``K=500``.

    Raises:
        ConfigError: with a caret under the place.
    """
    return {name: _number(value, text) for text in texts for name, value in [_named(text, "--fix K=500")]}


def guessed_values(texts: Sequence[str]) -> dict[str, float]:
    """Return the first values of constants, each given as ``ka=1``.

    Raises:
        ConfigError: with a caret under the place.
    """
    return {name: _number(value, text) for text in texts for name, value in [_named(text, "--guess ka=1")]}


def units_of(texts: Sequence[str]) -> dict[str, str]:
    """Return the units of columns, each given as ``t=h``."""
    return dict(_named(text, "--units t=h") for text in texts)


def formulas_of(texts: Sequence[str]) -> dict[str, str]:
    """Return what columns measure, each given as ``signal = s*(a + b)``."""
    pairs = (_named(text, '--observe "signal = s*(a + b)"') for text in texts)
    return {name: formula.strip() for name, formula in pairs}


def bounds_of(texts: Sequence[str]) -> dict[str, tuple[float | None, float | None]]:
    """Return the bounds of constants, each given as ``r=0:1``, ``r=0:`` or ``r=:1``.

    Raises:
        ConfigError: with a caret under the place.
    """
    found: dict[str, tuple[float | None, float | None]] = {}
    for text in texts:
        name, pair = _named(text, "--bounds r=0:1")
        low, colon, high = pair.partition(":")
        if not colon:
            raise ConfigError(
                pointed("bounds are two numbers with a colon, such as r=0:1 or r=0:", text, len(name) + 1)
            )
        found[name] = tuple(_number(part, text) if part.strip() else None for part in (low, high))  # type: ignore[assignment]
    return found


def order_of(text: str | None) -> int | str | None:
    """Return the order that --order names; None where it is left to the data."""
    return int(text) if text in ("1", "2") else text


def individual_of(text: str | None) -> bool | str | list[str]:
    """Return which constants --individual names, as an argument of Python."""
    if text is None:
        return False
    return True if text == ALL else text if text == "auto" else text.split(",")


def individual_text(value: object) -> list[str]:
    """Return which constants are individual as the word after --individual."""
    return [ALL] if value is True else [value if isinstance(value, str) else ",".join(_texts(value))]


def hidden_of(text: str | None) -> int | str | list[str]:
    """Return how many hidden states --hidden asks for, or their names, as an argument of Python."""
    word = (text or "0").strip()
    if word.lstrip("-").isdecimal():
        return int(word)
    return word if word == "auto" else [name.strip() for name in word.split(",")]


def hidden_text(value: object) -> list[str]:
    """Return the number or the names of hidden states as the word after --hidden."""
    return [str(value) if isinstance(value, int | str) else ",".join(_texts(value))]


def frame_text(value: object) -> list[str]:
    """Return a frame as the word after --frame."""
    return [value if isinstance(value, str) else "; ".join(_texts(value))]


def values_text(value: object) -> list[str]:
    """Return named numbers or words, each as ``K=500``."""
    assert isinstance(value, Mapping), "a mapping of names"
    return [f"{k}={x:.15g}" if isinstance(x, float) else f"{k}={x}" for k, x in value.items()]


def bounds_text(value: object) -> list[str]:
    """Return bounds, each as ``r=0:1``."""
    assert isinstance(value, Mapping), "a mapping of names"
    ends = {name: ["" if x is None else f"{x:.15g}" for x in pair] for name, pair in value.items()}
    return [f"{name}={low}:{high}" for name, (low, high) in ends.items()]


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, Iterable) else [str(value)]


def _named(text: str, usage: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip().isidentifier():
        raise ConfigError(pointed(f"expected a name and =, such as {usage}", text, 0))
    return name.strip(), value


def _number(word: str, text: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(pointed(f"expected a number, but found {word.strip()!r}", text, text.rindex(word)))
    return value
