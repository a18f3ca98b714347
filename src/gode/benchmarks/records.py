"""Finished runs as lines of JSON, appended one by one; an incomplete last line is ignored."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from io import BufferedRandom
from pathlib import Path

from gode.benchmarks.jobs import Job, job_from
from gode.benchmarks.score import Score
from gode.errors import ConfigError, FileError

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
        return json.dumps(asdict(self), sort_keys=True, allow_nan=False) + "\n"


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
    records, _ = _read(path)
    return records


def _read(path: Path) -> tuple[list[Record], int]:
    """Return the records, and the length of the file up to its last complete line."""
    content = path.read_bytes()
    lines = content.split(b"\n")
    torn = lines.pop()  # empty unless writing was interrupted
    found: dict[str, Record] = {}
    for i, line in enumerate(lines):
        try:
            record = record_from(line.decode())
        except ValueError as error:
            raise FileError(
                f"{path}, line {i + 1}: not a finished run ({error}); delete that line and start again"
            ) from error
        found[record.job.key] = record
    return sorted(found.values(), key=lambda r: r.job), len(content) - len(torn)


class Store:
    """The file of a study, open for appending by this process alone."""

    def __init__(self, file: BufferedRandom, records: list[Record]) -> None:
        self._file = file
        self.records = {r.job.key: r for r in records}

    def append(self, record: Record) -> None:
        """Write a record, and wait until it is on the disk."""
        self._file.write(record.line().encode())
        self._file.flush()
        os.fsync(self._file.fileno())
        self.records[record.job.key] = record


@contextmanager
def open_store(folder: Path) -> Iterator[Store]:
    """Open the records of `folder` for appending; an incomplete last line is cut off.

    Raises:
        FileError: if the folder cannot be written, or another process is writing there.
    """
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = open(path, "a+b")  # noqa: SIM115 - closed below
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}; choose another --out") from error
    with file:
        if not _locked(file):
            raise FileError(f"another process is writing to {path}; wait for it or choose another --out")
        records, length = _read(path)
        file.truncate(length)
        yield Store(file, records)


def _locked(file: BufferedRandom) -> bool:
    """Lock the file until this process ends, where the system has locks; tell whether that worked."""
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
