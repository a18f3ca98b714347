"""What a command would read, without running it: for pages that show it beforehand."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gode.cli.discover import discover_command
from gode.errors import ConfigError
from gode.measured.read import DataOptions, check_initial, read_dataset

if TYPE_CHECKING:
    from gode.data import Dataset
    from gode.tables.runs import Readings


def asked_options(words: Sequence[str]) -> tuple[DataOptions, str | None]:
    """Return the options about the data among the words of `gode discover`, and the order if it is given.

    Raises:
        ConfigError: if the command would refuse the words.
    """
    try:
        given = discover_command.make_context("discover", list(words)).params
    except click.UsageError as error:
        raise ConfigError(error.format_message()) from None
    known = {name: given[name] for name in DataOptions.__dataclass_fields__ if name in given}
    return DataOptions(**known), given["order"]


def asked_data(files: Sequence[str], words: Sequence[str]) -> "tuple[Dataset, Readings, list[str]]":
    """Return the data that `gode discover` would search, how they were read, and what it would say.

    Raises:
        GodeError: if the command would refuse them.
    """
    options, order = asked_options([*files, *words])
    dataset, readings = read_dataset(files, options)
    accelerated = any(name.endswith("''") for name in dataset.channels)
    return dataset, readings, check_initial(dataset, order or ("2" if accelerated else "1"))
