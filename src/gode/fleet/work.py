"""A task is one record with its options; what a worker does with it ends in a result, whatever happens."""

import json
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from gode import __version__
from gode.data import Dataset
from gode.discovery import Discovery, discover, fit
from gode.discovery.api import discover_in
from gode.discovery.given import fit_in, parse_law
from gode.discovery.options import Options
from gode.errors import DataError, GodeError, shortened
from gode.fleet.engine import Done
from gode.fleet.result import Fit, Result, Row, drawn, fit_of, found_row, pack
from gode.report.record import discovery_of
from gode.selection import independent_values, weighed
from gode.solve.solution import compile_solvers
from gode.tables.dataset import DataOptions, dataset_of


@dataclass(frozen=True)
class Arguments:
    """Measurements as arguments of `discover`."""

    values: Mapping[str, object]


@dataclass(frozen=True)
class Unusable:
    """What cannot be a record, and why."""

    failure: str


@dataclass(frozen=True)
class File:
    """The bytes of a file, compressed: the worker reads them, whether or not it sees the same disk."""

    name: str
    packed: bytes
    columns: DataOptions

    def dataset(self) -> Dataset:
        """Return the measurements in the file."""
        from gode.tables.read import parse_file

        table = parse_file(zlib.decompress(self.packed), self.name, reading=self.columns.reading)
        return dataset_of([table], self.columns)[0]


def packed_file(name: str, content: bytes, columns: DataOptions) -> File:
    """Return a file to send."""
    return File(name, zlib.compress(content, 6), columns)


@dataclass(frozen=True)
class Task:
    """A record: its name, its measurements, and the options of its discovery."""

    id: str
    data: Arguments | File | Dataset | Unusable
    options: Mapping[str, object] = field(default_factory=dict)
    picture: bool = False

    def __str__(self) -> str:
        return self.id


@dataclass(frozen=True)
class Refit:
    """A record that was discovered, as its packed record, and further laws to fit to it."""

    id: str
    record: bytes
    laws: tuple[str, ...]

    def __str__(self) -> str:
        return self.id


def begin() -> None:
    """Load and compile what a discovery needs, before the first one."""
    compile_solvers()
    t = np.linspace(0.0, 1.0, 12)
    fit("u' = C*u", t, np.exp(-t))


def work(task: Task) -> Result:
    """Return what is found in a record; what cannot be used is a row with a sentence."""
    start = time.perf_counter()
    try:
        found = _discovered(task)
        row, packed = found_row(task.id, found), pack(found)
        picture = drawn(found) if task.picture else b""
    except GodeError as error:
        row, packed, picture = Row(id=task.id, failure=str(error)), b"", b""
    except Exception as error:  # noqa: BLE001 - one record must not end the fleet
        said = shortened(f"{type(error).__name__}: {error}", 300)
        row, packed, picture = Row(id=task.id, failure=f"an unexpected error: {said}"), b"", b""
    seconds = round(time.perf_counter() - start, 4)
    return Result(replace(row, seconds=seconds, gode=__version__), packed, picture)


def _discovered(task: Task) -> Discovery:
    if isinstance(task.data, Unusable):
        raise DataError(task.data.failure)
    if isinstance(task.data, Arguments):
        # As a user would call it, so that every argument of discover can be given for one record.
        arguments: dict[str, Any] = {**task.options, **task.data.values}
        return discover(**arguments)
    dataset = task.data.dataset() if isinstance(task.data, File) else task.data
    return discover_in(dataset, options_of(task.options, dataset))


def options_of(given: Mapping[str, object], dataset: Dataset | None = None) -> Options:
    """Return options by their names; without an order it is 2 where accelerations were measured, else 1.

    Raises:
        ConfigError: if a value is none that the option can have.
    """
    values: dict[str, Any] = dict(given)
    if values.get("order") is None:
        second = dataset is not None and any(name.endswith("''") for name in dataset.channels)
        values["order"] = 2 if second else 1
    return Options(**values)


def option_names() -> set[str]:
    """Return the names of the options of a discovery."""
    return {f.name for f in fields(Options)}


def result_of(done: Done[Task, Result]) -> Result:
    """Return the result of a task, also if it has none."""
    if done.result is None:
        row = Row(id=done.task.id, failure=done.failure, seconds=round(done.seconds, 3), deaths=done.deaths)
        return Result(row)
    return replace(done.result, row=replace(done.result.row, deaths=done.deaths))


def refit(task: Refit) -> tuple[Fit, ...]:
    """Return further laws fitted to a record that was discovered, also those without a solution."""
    found = discovery_of(json.loads(zlib.decompress(task.record)))
    dataset, best = found.prepared.dataset, found.candidates[0]
    out = []
    for law in task.laws:
        try:
            texts = [text.strip() for text in law.split(";")]
            other = fit_in(dataset, parse_law(texts[0] if len(texts) == 1 else texts, dataset))
        except GodeError:  # it has no solution along these data
            out.append(Fit.without_solution(law))
            continue
        candidate = other.candidates[0]
        m = independent_values([*found.candidates, candidate])
        ours, theirs = (
            weighed(c, found.prepared.floor, found.settings.selection, m) for c in (candidate, best)
        )
        out.append(fit_of(ours, found, ours.criterion - theirs.criterion)._replace(law=law))
    return tuple(out)
