"""Task: one record with its options, small enough to be sent to a worker."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from gode.data import Dataset
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
