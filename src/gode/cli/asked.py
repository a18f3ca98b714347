"""What a command would read and search, without running it: for pages that show it beforehand."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from gode.cli.discover import discover_command
from gode.cli.request import asked_search, parted
from gode.errors import ConfigError
from gode.tables.dataset import dataset_of

if TYPE_CHECKING:
    from gode.data import Dataset
    from gode.discovery.options import Options
    from gode.tables.dataset import DataOptions
    from gode.tables.runs import Readings
    from gode.tables.table import Table

UNASKED = ("files", "n_jobs", "out", "as_json", "quiet", "progress")  # options that change no answer


def asked_options(words: Sequence[str]) -> "tuple[DataOptions, dict[str, object]]":
    """Return the options about the data among the words of `gode discover`, and the others.

    Raises:
        ConfigError: if the command would refuse the words.
    """
    try:
        given = discover_command.make_context("discover", ["FILE", *words]).params
    except click.UsageError as error:
        raise ConfigError(error.format_message()) from None
    return parted({name: value for name, value in given.items() if name not in UNASKED})


def asked_data(
    tables: "Sequence[Table]", words: Sequence[str]
) -> "tuple[Dataset, Readings, Options, list[str]]":
    """Return what `gode discover` would search in some tables, how they were read, and what it would say.

    Raises:
        GodeError: if the command would refuse the data, or the options of the search.
    """
    from gode.discovery.framing import check_names, frame_of
    from gode.search.settings import check_start

    data, choices = asked_options(words)
    read = partial(dataset_of, tables)
    dataset, readings, options, notes = asked_search(read, data, choices)
    frame = frame_of(options.known, dataset) if options.known.frame else None
    for settings in options.settings(dataset, frame):
        check_start(settings, dataset.inputs)
    check_names(options.individual, frame.parameters if frame else ())
    return dataset, readings, options, notes
