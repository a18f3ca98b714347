"""The options of commands, written from the table of options; see `gode.options.table`."""

from collections.abc import Mapping
from typing import Any

import click

from gode.cli.app import Decorator, add_options
from gode.options.entry import Option, Takes, flags_of
from gode.options.files import FromFiles
from gode.options.table import Measurements, Searching, Seed

FIT = flags_of(FromFiles, Measurements)
DISCOVER = flags_of(FromFiles, Measurements, Searching, Seed)
# Commands for many records have the options that mean the same for each of them.
RECORDS = flags_of(FromFiles) | {name: each for name, each in DISCOVER.items() if each.of_each_record}


def table_options(table: Mapping[str, Option]) -> Decorator:
    """Return a decorator that gives a command some entries of the table, in their order."""
    return add_options(*(_option(name, each) for name, each in table.items()))


def in_python(given: Mapping[str, object]) -> dict[str, Any]:
    """Return the values that the options of a command have in Python, by their names.

    Raises:
        ConfigError: if a word cannot be read.
    """
    read = {name: DISCOVER[name].read for name in given}
    return {name: value if (f := read[name]) is None else f(value) for name, value in given.items()}


def given_of(given: Mapping[str, object]) -> dict[str, Any]:
    """Return the values in Python of the options that were given."""
    return in_python({name: value for name, value in given.items() if value is not None and value != ()})


def _option(name: str, option: Option) -> Decorator:
    switch = "/--no-" in option.flag
    kinds: dict[Takes, Any] = {
        Takes.WHOLE: click.IntRange(None if option.least is None else int(option.least)),
        Takes.NUMBER: click.FloatRange(option.least, min_open=True),
        Takes.WORD: click.Choice(option.words),
        Takes.FILE: click.Path(),
    }
    return click.option(
        *([option.flag] if switch else option.flag.split("/")),
        name,
        type=kinds.get(option.takes),
        default=option.usual,
        multiple=option.takes is Takes.TEXTS,
        is_flag=True if option.takes is Takes.NOTHING and not switch else None,
        show_default=option.shows_default,
        metavar=option.metavar or None,
        help=option.said,
    )
