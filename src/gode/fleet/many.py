"""discover_many(): a discovery for each of many records, from a list, a folder of files, or a long table."""

from __future__ import annotations  # help() then shows types by their names

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gode.discovery import discover
from gode.errors import ConfigError, DataError
from gode.fleet.engine import Engine, engine_of, work_through
from gode.fleet.result import (
    Arguments,
    Result,
    Task,
    Unusable,
    begin,
    option_names,
    options_of,
    packed_file,
    result_of,
    work,
)
from gode.model import open_space
from gode.tables.dataset import DataOptions, dataset_of
from gode.tables.read import read_table, read_whole
from gode.tables.table import Table, as_frame, frame_table, is_frame

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".xlsx", ".mat", ".h5", ".hdf5", ".parquet")
NO_RECORD = "each= has options for"
# The options that say which column of a file holds what.
COLUMN_OPTIONS = {f.name for f in fields(DataOptions)} - {"called", "single", "units"}


def discover_many(
    records: object,
    *,
    id: str | None = None,
    each: Mapping[str, Mapping[str, object]] | None = None,
    executor: Executor | None = None,
    n_jobs: int | None = None,
    picture: bool = False,
    on_note: Callable[[str], None] | None = None,
    **options: object,
) -> Iterator[Result]:
    """Find the equation behind each of many records; yield the results as they end, in any order.

    Each result is the same as if its record had been given to `discover` alone, whatever the executor, the
    number of its workers and the order. A record that cannot be used yields a result whose `failure` is a
    sentence. Few records are in flight at a time, so the memory of this process does not grow with them.

    Args:
        records: a list or any iterable of mappings of arguments of `discover`, as {"t": t, "u": u}, or of
            pairs (t, u); a mapping of names to such records; a folder of files, one record each; or a long
            table, a DataFrame or a file, with a column of names `id`.
        id: the column of a long table that tells records apart. A record in a list may have a key "id";
            otherwise its place is its name, "0", "1", ...
        each: options of single records, by their names.
        executor: any `concurrent.futures.Executor`, such as that of a Dask client (client.get_executor()),
            of loky or of mpi4py; by default processes of this machine. It is not shut down. If one of its
            workers dies, what it had is done again.
        n_jobs: number of our own processes; by default one for each core.
        picture: whether results have a picture, an SVG of data and solution.
        on_note: called with a sentence where a worker died or the executor broke.
        **options: those of `discover` that all records share, such as order=2 or effort="quick"; for files
            and tables also the columns, as time="t", u="angle" or states="prey,predator".

    Raises:
        DataError, ConfigError: with a sentence that says what to do, before the work begins.

    Example:
        >>> for found in discover_many("wells", effort="quick"):  # doctest: +SKIP
        ...     print(found.id, found.failure or found.equation)
    """
    tasks = tasks_of(records, id=id, each=each, picture=picture, options=options)
    return _results(tasks, engine_of(executor, n_jobs, begin), on_note)


def _results(
    tasks: Iterator[Task], engine: Engine, on_note: Callable[[str], None] | None
) -> Iterator[Result]:
    try:
        for done in work_through(tasks, work, engine, on_note=on_note):
            yield result_of(done)
    finally:
        engine.close()


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
    options_of_record = dict(each or {})
    records = as_frame(records)
    if isinstance(records, str | os.PathLike) or is_frame(records):
        columns, common = parted_options(options)
        names, found = _in_files(records, id, columns)
        options_of_record = _named(options_of_record, names)
    else:
        found, common = _in_list(records), dict(options)
        _check_names(common, set(signature(discover).parameters), "discover")
    _check_values(common)
    return _unique(found, common, options_of_record, picture)


def _in_list(records: object) -> Iterator[Task]:
    if isinstance(records, Mapping):
        return (_listed(str(name), record) for name, record in records.items())
    if isinstance(records, Iterable):
        return (_listed(str(i), record) for i, record in enumerate(records))
    raise ConfigError(
        f"records must be a list, a mapping, a folder or a table, got {type(records).__name__}; "
        "see help(gode.discover_many)"
    )


def _in_files(
    source: str | os.PathLike[str] | pd.DataFrame, id: str | None, columns: DataOptions
) -> tuple[list[str], Iterator[Task]]:
    """Return the names of the records in a folder or in a long table, and their tasks."""
    if not isinstance(source, str | os.PathLike):
        if id is None:
            raise ConfigError("a long table needs id=, the name of the column that tells records apart")
        return _in_table(frame_table(source), id, columns)
    if id is not None:
        return _in_table(read_table(Path(source), columns.reading), id, columns)
    folder = Path(source)
    paths = files_in(folder)
    if not paths:
        raise DataError(
            f"{folder} holds no files of measurements ({' '.join(SUFFIXES)}); name another folder"
        )
    return [path.name for path in paths], (file_task(path, columns) for path in paths)


def _named(each: Mapping[str, Mapping[str, object]], names: Iterable[str]) -> dict[str, Mapping[str, object]]:
    """Return options by the names of records, which may have been given without the ending of a file."""
    known = {Path(name).stem: name for name in names} | {name: name for name in names}
    for name in each:
        if name not in known:
            raise ConfigError(f"{NO_RECORD} {name!r}, but no record is called so")
    return {known[name]: options for name, options in each.items()}


def _check_values(common: Mapping[str, object]) -> None:
    """Check the options of all records, which would otherwise be wrong for each of them."""
    found = options_of({k: v for k, v in common.items() if k in option_names()})
    if found.grammar is not None:
        open_space(found.grammar)


def _check_names(options: Iterable[str], known: set[str], what: str) -> None:
    for name in options:
        if name not in known:
            raise ConfigError(f"{what} has no option {name!r}; choose from {', '.join(sorted(known))}")


def parted_options(options: Mapping[str, object]) -> tuple[DataOptions, dict[str, object]]:
    """Return the options about columns, and the others."""
    _check_names(options, COLUMN_OPTIONS | option_names(), "a fleet of files")
    columns: dict[str, Any] = {name: value for name, value in options.items() if name in COLUMN_OPTIONS}
    columns["initial"] = _initial(columns.get("initial", ()))
    return DataOptions(**columns), {k: v for k, v in options.items() if k not in COLUMN_OPTIONS}


def _initial(given: object) -> tuple[str, ...]:
    """Return initial values as the texts that DataOptions has."""
    if isinstance(given, str):
        return (given,)
    values = list(given) if isinstance(given, Iterable) else [given]
    if not values or all(isinstance(v, str) for v in values):
        return tuple(map(str, values))
    return (",".join(str(v) for v in values),)


def files_in(folder: Path) -> list[Path]:
    """Return the files of measurements in a folder, by name.

    Raises:
        DataError: if there is no such folder.
    """
    try:
        with os.scandir(folder) as entries:
            names = sorted(each.name for each in entries if not each.is_dir())
    except OSError as error:
        raise DataError(
            f"{folder} is no folder ({error.strerror}); name a folder of files, or one long table with the "
            "column that tells its records apart as id"
        ) from None
    ours = (name for name in names if name.lower().endswith(SUFFIXES))
    return [folder / name for name in ours if not name.startswith((".", "~"))]


def count_of(source: str, id: str | None) -> int:
    """Return the number of records in a folder, or in a long table."""
    return len(_in_files(source, id, DataOptions())[0])


def file_task(path: Path, columns: DataOptions) -> Task:
    """Return the task of a file."""
    try:
        return Task(path.name, packed_file(str(path), read_whole(str(path)), columns))
    except DataError as error:
        return Task(path.name, Unusable(str(error)))


def _in_table(table: Table, id: str, columns: DataOptions) -> tuple[list[str], Iterator[Task]]:
    """Return the names in the column `id` of a long table, and the tasks of its parts."""
    rows: dict[str, list[int]] = {}
    for row, word in enumerate(table.words(table.find(id))):
        rows.setdefault(record_name(word), []).append(row)
    places: dict[Hashable, Any] = {name: np.array(own) for name, own in rows.items()}
    return list(rows), _parts(table, id, places, columns)


def _parts(table: Table, id: str, places: Mapping[Hashable, Any], columns: DataOptions) -> Iterator[Task]:
    column = table.names.index(table.find(id))
    kept = [i for i in range(len(table.names)) if i != column]
    names, units = (tuple(each[i] for i in kept) for each in (table.names, table.units))
    for name, rows in places.items():
        part = tuple(table.columns[i][rows] for i in kept)
        source = f"{table.source}, {id} {name}"
        own = replace(table, source=source, names=names, units=units, columns=part, lines=table.lines[rows])
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
        raise ConfigError(f"{NO_RECORD} {sorted(unknown)[0]!r}, but no record is called so")


def read_metadata(path: str) -> pd.DataFrame:
    """Return a table about the records, by their names, which its first column holds."""
    import pandas as pd

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
