"""An entry of the table of options."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Takes(StrEnum):
    """What follows an option on the command line."""

    TEXT = "text"
    TEXTS = "a text each time it is given"
    WHOLE = "a whole number"
    NUMBER = "a number"
    WORD = "one of some words"
    FILE = "a file or a name"
    NOTHING = "nothing: it is on or off"


class Group(StrEnum):
    """Where an option stands on the page."""

    LAW = "About the law"
    FRAME = "A part of the equation is known"
    DATA = "About the data"
    SEARCH = "The search"
    WRITTEN = "How the file is written"


class Input(StrEnum):
    """How the page takes a value."""

    TEXT = "text"
    LINES = "lines"  # one value a line
    WORDS = "words"  # apart by commas or spaces
    CHOICE = "choice"
    CHECKS = "checks"
    FLAG = "flag"


@dataclass(frozen=True)
class Place:
    """The input of an option on the page."""

    group: Group
    label: str
    help: str = ""
    input: Input = Input.TEXT
    choices: tuple[tuple[str, str], ...] = ()  # value and label, the first is the default; or suggestions


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option: its default, what it means, its check, and its places on the command line and the page."""

    help: str = ""  # in Python; arguments that follow each other with the same help are told together
    default: object = None
    check: Callable[[Any], object] | None = None  # returns the value as it is kept, or raises ConfigError

    flag: str = ""  # such as --order, or --hold/--no-hold; empty where the command line has no such option
    said: str = ""  # by --help
    takes: Takes = Takes.TEXT
    metavar: str = ""
    words: tuple[str, ...] = ()  # that it takes
    least: float | None = None  # of a number; NUMBER must be larger
    usual: object = None  # the default of the command line, where it is not None
    shows_default: bool = False
    of_each_record: bool = False  # whether commands for many records have it, too
    read: Callable[[Any], object] | None = None  # from what the command line gives to the value in Python
    text: Callable[[Any], list[str]] | None = None  # and back

    place: Place | None = None


def options_of(*tables: type) -> dict[str, Option]:
    """Return the entries of some classes of the table, by their names."""
    return {name: hint.__metadata__[0] for each in tables for name, hint in each.__annotations__.items()}


def flags_of(*tables: type) -> dict[str, Option]:
    """Return the entries of some classes of the table that are on the command line, by their names."""
    return {name: each for table in tables for name, each in options_of(table).items() if each.flag}


def type_of(table: type, name: str) -> str:
    """Return the type of an option, as it is written in the table."""
    return str(table.__annotations__[name].__origin__.__forward_arg__)
