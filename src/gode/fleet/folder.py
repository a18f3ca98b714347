"""The folder of a fleet: an append-only file of JSON lines, a record and a picture of each result.

What is in the table is done. A record is written before its row, so a process that is killed at any time
leaves a folder from which the same call goes on, and no record is lost or double.
"""

import csv
import hashlib
import json
import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedRandom
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import pandas as pd

from gode.errors import ConfigError, FileError
from gode.files import lock, make_folder, opened, read_bytes, read_json, replacing, write_text
from gode.fleet.engine import Engine, seconds_left, work_through
from gode.fleet.result import Fit, Refit, Result, Row, Task, fit_from, refit, result_of, row_of, work

T = TypeVar("T")
MAX_LINE = 100_000_000  # bytes


class Lines:
    """A file of lines, open for appending by this process alone."""

    def __init__(self, file: BufferedRandom) -> None:
        self._file = file

    def append(self, line: str) -> None:
        """Write a line, and wait until it is on the disk."""
        self._file.write(line.encode())
        self._file.flush()
        os.fsync(self._file.fileno())


def read_lines(path: Path, parse: Callable[[str], T], what: str) -> Iterator[T]:
    """Yield what `parse` makes of each complete line.

    Raises:
        FileError: if it raises ValueError, with the number of the line.
    """
    with opened(path) as file:
        for i, line in enumerate(iter(lambda: file.readline(MAX_LINE), b"")):
            if len(line) == MAX_LINE:
                raise FileError(f"{path}, line {i + 1}: longer than {MAX_LINE} bytes, so not {what}")
            if not line.endswith(b"\n"):
                return  # writing was interrupted
            try:
                yield parse(line.decode())
            except ValueError as error:
                raise FileError(
                    f"{path}, line {i + 1}: not {what} ({error}); delete that line and start again"
                ) from error


@contextmanager
def open_lines(path: Path) -> Iterator[Lines]:
    """Open a file for appending; an incomplete last line is cut off.

    Raises:
        FileError: if it cannot be written, or another process is writing to it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a+b")  # noqa: SIM115 - closed below
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}; choose another --out") from error
    with file:
        try:
            lock(file.fileno())
        except BlockingIOError:
            raise FileError(
                f"another process is writing to {path}; wait for it or choose another --out"
            ) from None
        file.truncate(_complete(file))
        yield Lines(file)


def _complete(file: BufferedRandom) -> int:
    """Return the length of the file up to its last complete line."""
    size = file.seek(0, os.SEEK_END)
    end = size
    while end > 0:
        start = max(0, end - 65536)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def as_line(values: object) -> str:
    """Return values as a line of JSON."""
    return json.dumps(values, sort_keys=True, allow_nan=False) + "\n"


TABLE, LAWS, RECORDS, PICTURES = "table.jsonl", "laws.jsonl", "records", "pictures"
SETTINGS, CSV, PAGE = "fleet.json", "table.csv", "index.html"
MAX_SETTINGS = 50_000_000  # More bytes than settings can need: a larger file is refused.
MAX_RECORD = 500_000_000  # More bytes than a record can need: a larger file is refused.
LONGEST = 100  # Names of files have at most so many characters: some file systems allow 143 with the ending.
COLUMNS = (
    "id", "group", "equation", "constants", "errors", "places", "misfit", "verdict", "order", "n_values",
    "failure",
)  # fmt: skip


@dataclass(frozen=True)
class Progress:
    """The state of a fleet after a finished record."""

    row: Row
    done: int
    total: int
    left: float  # estimated seconds for the rest


def run_folder(
    tasks: Iterable[Task],
    total: int,
    out: Path,
    engine: Engine,
    *,
    settings: Mapping[str, object],
    on_note: Callable[[str], None] | None = None,
) -> Iterator[Progress]:
    """Discover the records that have no row in `out` yet, and yield the progress.

    Args:
        settings: what the results depend on besides the data; a folder with others is refused.

    Raises:
        FileError, ConfigError: if the folder cannot be used.
    """
    make_folder(out / RECORDS)
    make_folder(out / PICTURES)
    with open_lines(out / TABLE) as lines:
        _check_settings(out, settings)
        known = {row.id for row in read_rows(out, with_laws=False)}
        done, begin = len(known), time.monotonic()
        waiting = (task for task in tasks if task.id not in known)
        for n, each in enumerate(work_through(waiting, work, engine, on_note=on_note), 1):
            result = result_of(each)
            _write(result, out)
            lines.append(as_line(result.row.json()))
            left = seconds_left(n, total - done, begin)
            yield Progress(result.row, done + n, total, left)


def settle_folder(
    out: Path,
    wanted: Mapping[str, tuple[str, ...]],
    engine: Engine,
    on_note: Callable[[str], None] | None = None,
) -> Iterator[tuple[int, int]]:
    """Fit further laws to the records of a folder, by their names; yield how many of how many are done."""
    tasks = (Refit(name, packed_record(out, name), laws) for name, laws in wanted.items())
    with open_lines(out / LAWS) as lines:
        for n, each in enumerate(work_through(tasks, refit, engine, on_note=on_note), 1):
            fits = [list(fit) for fit in each.result or () if fit.constants]
            lines.append(as_line({"id": each.task.id, "tried": list(each.task.laws), "fits": fits}))
            yield n, len(wanted)


def write_table(table: pd.DataFrame, out: Path) -> Path:
    """Write the table of a fleet as CSV, in the order of the names."""
    with replacing(out / CSV) as draft, draft.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for name, row in table.iterrows():
            values = {"id": name, **row}
            writer.writerow([_cell(values[column]) for column in COLUMNS])
    return out / CSV


def read_rows(out: Path, *, with_laws: bool = True) -> list[Row]:
    """Return the rows of a folder, with the laws that were fitted later.

    Raises:
        FileError: if there are none, or a line is no row.
    """
    if not (out / TABLE).is_file():
        raise FileError(f"{out} holds no {TABLE}; run `gode discover-many FOLDER --out {out}` first")
    rows = {row.id: row for row in read_lines(out / TABLE, lambda text: row_of(json.loads(text)), "a row")}
    if with_laws and (out / LAWS).is_file():
        for name, fits in read_lines(out / LAWS, _laws_of, "the laws of a record"):
            if name in rows:
                rows[name] = rows[name].with_fits(fits)
    return [rows[name] for name in sorted(rows)]


def packed_record(out: Path, name: str) -> bytes:
    """Return the compressed record of a name."""
    return zlib.compress(read_bytes(out / RECORDS / f"{file_name(name)}.json", MAX_RECORD))


def file_name(name: str) -> str:
    """Return a name for the files of a record: readable, and safe for any file system."""
    safe = quote(name, safe=" ()+,=@-_").lstrip(".") or "_"
    if len(safe) <= LONGEST:
        return safe
    return f"{safe[:LONGEST]}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def _cell(value: object) -> str:
    if isinstance(value, tuple):
        return "; ".join(_cell(v) for v in value)
    if value is None or value != value:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _write(result: Result, out: Path) -> None:
    name = file_name(result.id)
    if result.packed:
        result.save(out / RECORDS / f"{name}.json")
    if result.picture:
        with replacing(out / PICTURES / f"{name}.svg") as draft:
            draft.write_bytes(result.picture)


def _check_settings(out: Path, settings: Mapping[str, object]) -> None:
    """Note the settings in a new folder; refuse a folder that has others."""
    path, now = out / SETTINGS, json.loads(json.dumps(dict(settings), default=str))
    if path.is_file() and (out / TABLE).stat().st_size:
        before = read_json(path, MAX_SETTINGS)
        if not isinstance(before, dict):
            raise FileError(f"{path} holds no settings of a fleet; name another --out")
        for name in sorted({*now, *before}):
            if now.get(name) != before.get(name):
                raise ConfigError(
                    f"{out} holds results with {name} {before.get(name)!r}, not {now.get(name)!r}; "
                    "give the same options, or another --out"
                )
    write_text(path, json.dumps(now, indent=1, sort_keys=True) + "\n")


def _laws_of(text: str) -> tuple[str, tuple[Fit, ...]]:
    values = json.loads(text)
    if not isinstance(values, dict) or not {"id", "tried", "fits"} <= set(values):
        raise FileError("a line has an id and fits")
    known = tuple(fit_from(each) for each in values["fits"])
    missing = [law for law in values["tried"] if law not in {fit.law for fit in known}]
    return str(values["id"]), (*known, *(Fit.without_solution(law) for law in missing))
