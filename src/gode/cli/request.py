"""What a command asks for: the options of the table as words, and the data and the search that they give."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gode.cli.app import Decorator, add_options
from gode.errors import EquationError
from gode.options.entry import Option, Takes, flags_of
from gode.options.files import FromFiles
from gode.options.table import Measurements, Searching, Seed, Starting
from gode.tables.column_options import parts_of
from gode.tables.dataset import DataOptions, check_initial

if TYPE_CHECKING:
    from gode.data import Dataset
    from gode.discovery.options import Options
    from gode.tables.runs import Readings

FIT = flags_of(FromFiles, Measurements, Starting)
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
    read = {name: (DISCOVER | FIT)[name].read for name in given}
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


def asked_search(
    read: "Callable[[DataOptions], tuple[Dataset, Readings]]",
    data: DataOptions,
    choices: Mapping[str, Any],
) -> "tuple[Dataset, Readings, Options, list[str]]":
    """Return the data and the options of a search as the command gives them, and what to say about them.

    Raises:
        ConfigError, DataError, EquationError: if they do not go together.
    """
    frame = choices["frame"]
    if frame is not None:
        texts = [text.strip() for text in frame.split(";") if text.strip()]
        texts += [f"{name} = {formula}" for name, formula in choices["observe"].items()]
        choices = {**choices, "frame": "; ".join(texts), "observe": {}}
        data = named_by_equations(data, texts)
    elif isinstance(choices["hidden"], list):  # initial values and doses may name them
        data, choices = replace(data, unmeasured=tuple(choices["hidden"])), {**choices, "hidden": 0}
    dataset, readings = read(data)
    from gode.discovery.framing import (
        frame_of,  # after the files were read: they are slow to import
        individuals_asked,
        with_dose_named,
        with_formulas,
    )
    from gode.discovery.options import chosen_options
    from gode.equation.frame import order_of

    with_formulas(choices["frame"], choices["observe"])  # formulas without equations are refused
    order = choices["order"] or (2 if any(name.endswith("''") for name in dataset.channels) else 1)
    options = chosen_options({**choices, "order": order, "units": data.column_units})
    if frame is not None:
        dataset = with_dose_named(dataset, list(options.known.frame))
        order = max(order_of(tree) for tree in frame_of(options.known, dataset).trees)
    own = individuals_asked(choices["individual"], dataset)
    options = replace(options, order=order, individual=own)
    return dataset, readings, options, check_initial(dataset, str(order))


def parted(given: Mapping[str, object]) -> tuple[DataOptions, dict[str, Any]]:
    """Return the options of a command that are about data, and the others, as they are in Python.

    Raises:
        ConfigError: if a word cannot be read.
    """
    values = in_python(given)
    data = {name: values.pop(name) for name in DataOptions.__dataclass_fields__ if name in values}
    return DataOptions(**data, column_units=values.pop("units")), values


def _named_by_equation(options: DataOptions, text: str) -> DataOptions:
    """Return the options; an equation of a state that is not called u names its column, if no option does."""
    from gode.equation.system import written_states

    if any(name is not None for name in (options.u, options.states, options.velocity, options.acceleration)):
        return options
    with suppress(EquationError):  # it is read again where its place can be told
        (state,) = written_states([text])
        return options if state == "u" else replace(options, states=state)
    return options


def named_by_equations(options: DataOptions, texts: Sequence[str]) -> DataOptions:
    """Return the options with the states called as in some equations, and a single input F if it is there."""
    from gode.equation.system import written_states

    if len(texts) == 1:
        return _named_by_equation(replace(options, single=True), texts[0])
    called = written_states(texts)
    force = options.force
    alone = force is not None and [part.name for part in parts_of(force)] == [""]
    if alone and any(re.search(r"\bF\b", text) for text in texts):
        force = f"F={force}"
    return replace(options, called=called, force=force)
