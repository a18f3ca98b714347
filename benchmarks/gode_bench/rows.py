"""Rows of JSON in a file, one for each finished measurement, so that a study goes on where it stopped."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]
MISSED = 3  # exit code of a study that was finished and missed its goal


def finished(path: Path | None, settings: Iterable[Row], make: Callable[..., Row | None]) -> Iterator[Row]:
    """Yield a row for each setting: that of the file, or what `make(**setting)` returns, which is appended.

    A row holds its setting. None is a setting without a result; it is left out.
    """
    known = read_rows(path) if path else []
    for setting in settings:
        row = next((row for row in known if all(row.get(k) == setting[k] for k in setting)), None)
        if row is None:
            made = make(**setting)
            if made is None:
                continue
            row = {**setting, **made}
            if path:
                append_row(path, row)
        yield row


def read_rows(path: Path) -> list[Row]:
    """Return the rows of an earlier call; a last line that was cut short is left out."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def append_row(path: Path, row: Row) -> None:
    """Write one more row; the folder is made if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
