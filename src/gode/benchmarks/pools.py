"""Pools of candidates in files, so that rules of selection can be replayed without another search.

Each candidate has the numbers that selection looks at, and how good it is: its errors against the clean truth
and whether it has the true structure.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gode.benchmarks.jobs import Job
from gode.benchmarks.judge import score_job
from gode.codec import decode, encode
from gode.discovery import Discovery
from gode.errors import FileError
from gode.files import make_folder, read_json
from gode.selection import Candidate, Pool

MAX_BYTES = 500_000_000  # of a pool


@dataclass(frozen=True)
class SavedPool:
    """A pool, the errors of each candidate, and whether each has the true structure."""

    name: str
    pool: Pool
    errors: list[tuple[float, ...]]
    right: list[bool]


def write_pool(found: Discovery, job: Job, folder: Path) -> None:
    """Save the candidates of a discovery with their scores."""
    rows = []
    for c in found.candidates:
        result = score_job(job, c.equation.text(None))
        rows.append({"candidate": encode(c), "errors": result.errors, "right": result.structure})
    make_folder(folder)
    dropped = f"_{job.dropped:g}" if job.dropped else ""
    name = f"{job.study}_{job.problem}_{job.seed}_{job.noise:g}{dropped}_{job.effort}.json"
    (folder / name).write_text(json.dumps({"floor": list(found.prepared.floor), "candidates": rows}))


def read_pools(folder: Path) -> list[SavedPool]:
    """Return the pools that were saved in `folder`.

    Raises:
        FileError: if there are none.
    """
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise FileError(f"{folder} holds no pools; save some by gode bench b1 --pools --out {folder.parent}")
    return [_read(path) for path in paths]


def _read(path: Path) -> SavedPool:
    data: Any = read_json(path, MAX_BYTES)
    rows = data["candidates"]
    candidates = [decode(Candidate, row["candidate"], str(path), inputs=("F",)) for row in rows]
    errors = [tuple(row["errors"]) for row in rows]
    return SavedPool(
        path.stem, Pool(candidates, tuple(data["floor"])), errors, [row["right"] for row in rows]
    )
