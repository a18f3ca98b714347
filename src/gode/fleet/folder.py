"""The folder of a fleet: an append-only table, a record and a picture of each result.

What is in the table is done. A record is written before its row, so a process that is killed at any time
leaves a folder from which the same call goes on, and no record is lost or double.
"""

import csv
import hashlib
import json
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from gode.errors import ConfigError, FileError
from gode.files import make_folder, read_bytes, read_json, replacing
from gode.fleet.engine import Engine, seconds_left, work_through
from gode.fleet.lines import as_line, open_lines, read_lines
from gode.fleet.result import Fit, Result, Row, fit_from, row_of
from gode.fleet.work import Refit, Task, refit, result_of, work

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
    with replacing(path) as draft:
        draft.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _laws_of(text: str) -> tuple[str, tuple[Fit, ...]]:
    values = json.loads(text)
    if not isinstance(values, dict) or not {"id", "tried", "fits"} <= set(values):
        raise FileError("a line has an id and fits")
    known = tuple(fit_from(each) for each in values["fits"])
    missing = [law for law in values["tried"] if law not in {fit.law for fit in known}]
    return str(values["id"]), (*known, *(Fit.without_solution(law) for law in missing))
