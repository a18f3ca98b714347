"""Records to tasks: from a list, a folder of files, or a long table with a column of ids."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gode.errors import ConfigError, DataError
from gode.fleet.task import Arguments, Task, Unusable, packed_file
from gode.fleet.work import option_names, options_of
from gode.measured.read import DataOptions, dataset_of
from gode.tables.read import read_table
from gode.tables.table import Table, frame_table

SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".xlsx", ".mat", ".h5", ".hdf5", ".parquet")
PLAIN = {f.name for f in fields(DataOptions)} - {"called"}  # that say which column holds what


def tasks_of(
    records: object,
    *,
    id: str | None = None,
    each: Mapping[str, Mapping[str, object]] | None = None,
    picture: bool = False,
    options: Mapping[str, object],
) -> Iterator[Task]:
    """Yield a task for each record; see `discover_many`.

    Raises:
        ConfigError, DataError: if the records are none of the known kinds, or a common option is wrong.
    """
    found, common = _parts(records, id, options)
    if "order" in common or "effort" in common:
        options_of({k: v for k, v in common.items() if k in option_names()})
    return _unique(found, common, dict(each or {}), picture)


def _parts(
    records: object, id: str | None, options: Mapping[str, object]
) -> tuple[Iterator[Task], dict[str, object]]:
    """Return tasks without options, and the options that are not about columns."""
    if isinstance(records, str | os.PathLike):
        columns, rest = parted_options(options)
        path = Path(records)
        if id is None and path.is_dir():
            return _in_folder(path, columns), rest
        if id is None:
            raise DataError(
                f"{path} is no folder; name a folder of files, or of one long table the column id="
            )
        return _in_table(read_table(path), id, columns), rest
    if isinstance(records, pd.DataFrame):
        if id is None:
            raise ConfigError("a long table needs id=, the name of the column that tells records apart")
        columns, rest = parted_options(options)
        return _in_table(frame_table(records), id, columns), rest
    if isinstance(records, Mapping):
        return (_listed(str(name), record) for name, record in records.items()), dict(options)
    if isinstance(records, Iterable):
        return (_listed(str(i), record) for i, record in enumerate(records)), dict(options)
    raise ConfigError(
        f"records must be a list, a mapping, a folder or a table, got {type(records).__name__}; "
        "see help(gode.discover_many)"
    )


def parted_options(options: Mapping[str, object]) -> tuple[DataOptions, dict[str, object]]:
    """Return the options about columns, and the others."""
    known = PLAIN | option_names()
    for name in options:
        if name not in known:
            raise ConfigError(
                f"files and tables have no option {name!r}; choose from {', '.join(sorted(known))}"
            )
    columns: dict[str, Any] = {name: value for name, value in options.items() if name in PLAIN}
    columns["initial"] = _initial(columns.get("initial", ()))
    return DataOptions(**columns), {k: v for k, v in options.items() if k not in PLAIN}


def _initial(given: object) -> tuple[str, ...]:
    """Return initial values as the texts that DataOptions has."""
    if isinstance(given, str):
        return (given,)
    values = list(given) if isinstance(given, Iterable) else [given]
    if not values or all(isinstance(v, str) for v in values):
        return tuple(map(str, values))
    return (",".join(str(v) for v in values),)


def files_in(folder: Path) -> list[Path]:
    """Return the files of measurements in a folder, by name."""
    names = sorted(name for name in os.listdir(folder) if name.lower().endswith(SUFFIXES))
    return [folder / name for name in names if not name.startswith((".", "~"))]


def count_of(source: str, id: str | None) -> int:
    """Return the number of records in a folder, or in a long table."""
    if id is None:
        return len(files_in(Path(source)))
    table = read_table(source)
    return len({record_name(word) for word in table.words(table.find(id))})


def _in_folder(folder: Path, columns: DataOptions) -> Iterator[Task]:
    paths = files_in(folder)
    if not paths:
        raise DataError(
            f"{folder} holds no files of measurements ({' '.join(SUFFIXES)}); name another folder"
        )
    return (file_task(path, columns) for path in paths)


def file_task(path: Path, columns: DataOptions) -> Task:
    """Return the task of a file; one that cannot be read becomes a row that says so in the worker."""
    try:
        content = path.read_bytes()
    except OSError:
        content = b""
    return Task(path.name, packed_file(str(path), content, columns))


def _in_table(table: Table, id: str, columns: DataOptions) -> Iterator[Task]:
    """Yield the records of a long table, which are split by the column `id`."""
    column = table.names.index(table.find(id))
    kept = [i for i in range(len(table.names)) if i != column]
    names, units = (tuple(each[i] for i in kept) for each in (table.names, table.units))
    frame = table.frame[kept].set_axis(range(len(kept)), axis=1)
    words = np.array([record_name(word) for word in table.words(table.names[column])], dtype=object)
    for name, rows in pd.Series(words).groupby(words, sort=False).indices.items():
        part = frame.iloc[rows].reset_index(drop=True)
        source, signs = f"{table.source}, {id} {name}", (table.decimal, table.grouped)
        own = Table(source, names, units, part, table.lines[rows], *signs)
        try:
            data: Any = dataset_of([own], columns)[0]
        except DataError as error:
            data = Unusable(str(error))
        yield Task(str(name), data)


def record_name(word: str) -> str:
    """Return the name of a record in a column of names; whole numbers have no decimals."""
    head, dot, zeros = word.partition(".")
    return head if dot and not zeros.strip("0") and head.lstrip("-").isdigit() else word


def _listed(name: str, record: object) -> Task:
    """Return the task of one entry of a list: arguments of `discover`, or a pair of times and signal."""
    if isinstance(record, Mapping):
        own = {str(key): value for key, value in record.items()}
        return Task(str(own.pop("id", name)), Arguments(own))
    if isinstance(record, tuple) and len(record) == 2:
        return Task(name, Arguments({"t": record[0], "u": record[1]}))
    return Task(
        name,
        Unusable(
            "a record must be a mapping of arguments of gode.discover, as {'t': t, 'u': u}, or a pair "
            f"(t, u), got {type(record).__name__}"
        ),
    )


def _unique(
    tasks: Iterable[Task],
    common: Mapping[str, object],
    each: Mapping[str, Mapping[str, object]],
    picture: bool,
) -> Iterator[Task]:
    """Yield the tasks with their options, whose names must differ."""
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise DataError(f"two records are called {task.id!r}; give each a name of its own")
        seen.add(task.id)
        yield Task(task.id, task.data, {**common, **each.get(task.id, {})}, picture)
    unknown = set(each) - seen
    if unknown:
        raise ConfigError(f"each= has options for {sorted(unknown)[0]!r}, but no record is called so")
