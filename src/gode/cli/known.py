"""Options that say what is known of a law: a frame, values and bounds of its constants."""

import math

import click

from gode.cli.app import add_options
from gode.errors import ConfigError, pointed

value_options = add_options(
    click.option(
        "--fix", metavar="K=500", multiple=True, help="The value of a named constant; may be repeated."
    ),
    click.option(
        "--bounds", metavar="r=0:1", multiple=True, help="Its least and largest value, either may be missing."
    ),
    click.option(
        "--units", metavar="t=h", multiple=True, help="Of time, a state or an input; may be repeated."
    ),
)


assume_option = click.option(
    "--assume",
    metavar="NAME",
    multiple=True,
    help="What the law keeps: odd, energy, autonomous, rest-at-zero, rest-at=2.5, nonnegative, "
    "no-spontaneous (what is zero stays zero); repeatable.",
)


def fixed_values(texts: tuple[str, ...]) -> dict[str, float]:
    """Return the values of constants, each given as ``K=500``.

    Raises:
        ConfigError: with a caret under the place.
    """
    return {name: _number(value, text) for text in texts for name, value in [_named(text, "--fix K=500")]}


def units_of(texts: tuple[str, ...]) -> dict[str, str]:
    """Return the units of columns, each given as ``t=h``."""
    return dict(_named(text, "--units t=h") for text in texts)


def bounds_of(texts: tuple[str, ...]) -> dict[str, tuple[float | None, float | None]]:
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
