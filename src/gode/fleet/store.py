"""What is in the folder of a fleet, and how it is read."""

import hashlib
import json
import zlib
from pathlib import Path
from urllib.parse import quote

from gode.errors import FileError
from gode.files import read_bytes
from gode.fleet.lines import read_lines
from gode.fleet.result import Fit, Row, fit_from, row_of

TABLE, LAWS, RECORDS, PICTURES = "table.jsonl", "laws.jsonl", "records", "pictures"
MAX_RECORD = 500_000_000  # bytes
LONGEST = 100  # characters of the name of a file


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


def _laws_of(text: str) -> tuple[str, tuple[Fit, ...]]:
    values = json.loads(text)
    if not isinstance(values, dict) or not {"id", "tried", "fits"} <= set(values):
        raise FileError("a line has an id and fits")
    known = tuple(fit_from(each) for each in values["fits"])
    missing = [law for law in values["tried"] if law not in {fit.law for fit in known}]
    return str(values["id"]), (*known, *(Fit.without_solution(law) for law in missing))


def packed_record(out: Path, name: str) -> bytes:
    """Return the compressed record of a name."""
    return zlib.compress(read_bytes(out / RECORDS / f"{file_name(name)}.json", MAX_RECORD))


def file_name(name: str) -> str:
    """Return a name for the files of a record: readable, and safe for any file system."""
    safe = quote(name, safe=" ()+,=@-_").lstrip(".") or "_"
    if len(safe) <= LONGEST:
        return safe
    return f"{safe[:LONGEST]}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
