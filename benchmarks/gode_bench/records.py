"""Finished runs as lines of JSON, appended one by one; an incomplete last line is ignored."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from gode.errors import ConfigError, FileError
from gode.fleet.folder import Lines, as_line, open_lines, read_lines
from gode_bench.jobs import Job, job_from
from gode_bench.score import Score

FILE = "runs.jsonl"


@dataclass(frozen=True, kw_only=True)
class Record:
    """The result of a job."""

    job: Job
    equation: str | None  # with all digits, so that it can be scored again
    score: Score
    seconds: float
    megabytes: float  # the largest memory of the process during the run
    date: str  # when it ended, UTC
    versions: dict[str, str] = field(default_factory=dict)

    def line(self) -> str:
        """Return the record as a line of JSON."""
        return as_line(asdict(self))


def record_from(line: str) -> Record:
    """Return the record in a line.

    Raises:
        ValueError: if there is none.
    """
    values = json.loads(line)
    if not isinstance(values, dict) or not {"job", "score"} <= set(values):
        raise ConfigError("a record has a job and a score")
    result = dict(values.pop("score"))
    try:
        score = Score(**{**result, **{k: tuple(v) for k, v in result.items() if isinstance(v, list)}})
        return Record(**{**values, "job": job_from(values["job"]), "score": score})
    except (KeyError, TypeError) as error:
        raise ConfigError(f"a field is missing or unknown: {error}") from error


def read_records(folder: Path) -> list[Record]:
    """Return the records of a folder sorted by job; of two for one job the later one.

    Raises:
        FileError: if there is no such file, or a line is not a record; an incomplete last line is ignored.
    """
    path = folder / FILE
    if not path.is_file():
        raise FileError(f"{folder} holds no {FILE}; run `gode bench b1 --out {folder}` first")
    return _read(path)


def _read(path: Path) -> list[Record]:
    found = {r.job.key: r for r in read_lines(path, record_from, "a finished run")}
    return sorted(found.values(), key=lambda r: r.job)


class Store:
    """The file of a study, open for appending by this process alone."""

    def __init__(self, lines: Lines, records: list[Record]) -> None:
        self._lines = lines
        self.records = {r.job.key: r for r in records}

    def append(self, record: Record) -> None:
        """Write a record, and wait until it is on the disk."""
        self._lines.append(record.line())
        self.records[record.job.key] = record


@contextmanager
def open_store(folder: Path) -> Iterator[Store]:
    """Open the records of `folder` for appending; an incomplete last line is cut off.

    Raises:
        FileError: if the folder cannot be written, or another process is writing there.
    """
    with open_lines(folder / FILE) as lines:
        yield Store(lines, _read(folder / FILE))
