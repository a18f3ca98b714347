"""Tables about the records of a fleet: options of each, and metadata."""

import pandas as pd

from gode.errors import ConfigError
from gode.fleet.sources import record_name
from gode.fleet.work import option_names
from gode.tables.read import read_table


def read_metadata(path: str) -> pd.DataFrame:
    """Return a table about the records, by their names, which its first column holds."""
    table = read_table(path)
    first, *others = table.names
    columns = {n: table.numbers(n) if table.is_numeric(n) else table.words(n) for n in others}
    return pd.DataFrame(columns, index=pd.Index(map(record_name, table.words(first)), name="id"))


def options_table(path: str) -> dict[str, dict[str, object]]:
    """Return the options in a table, by the names of the records in its first column; empty cells are none.

    Raises:
        ConfigError: if a column is no option.
    """
    table = read_table(path)
    names = table.names[1:]
    for name in names:
        if name not in option_names():
            raise ConfigError(
                f"{path}: {name!r} is no option; choose from {', '.join(sorted(option_names()))}"
            )
    columns = [[_value(word) for word in table.words(name)] for name in names]
    rows = zip(map(record_name, table.words(table.names[0])), *columns, strict=True)
    return {key: {n: v for n, v in zip(names, values, strict=True) if v != ""} for key, *values in rows}


def _value(word: str) -> object:
    """Return a cell as a whole number, a number or a word."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
