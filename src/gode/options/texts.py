"""Values of options as the words of a command: read from them, and written again."""

import math
from collections.abc import Iterable, Mapping, Sequence

from gode.errors import ConfigError, pointed

ALL = "all"  # of --individual, which is True in Python


def fixed_values(texts: Sequence[str]) -> dict[str, float]:
    """Return the values of constants, each given as ``K=500``.

    Raises:
        ConfigError: with a caret under the place.
    """
    return {name: _number(value, text) for text in texts for name, value in [_named(text, "--fix K=500")]}


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
