"""Pools of candidates in files, and rules of selection replayed on them without another search.

    gode bench b1 --seeds 30 31 --methods gode --pools --out out/bench
    python -m gode_bench.pools out/bench/pools

Each candidate has the numbers that selection looks at, and how good it is: its errors against the clean truth
and whether it has the true structure. For each rule are printed the mean errors of u and u' of the equation
that it names, how often this has the true structure, how often the near ties hold it, and how many near ties
there are. A rule that does not pay here is left out.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gode.discovery import Discovery
from gode.errors import FileError
from gode.files import make_folder, read_json
from gode.json_codec import decode, encode
from gode.selection import Candidate, Pool, SelectionConfig, rank
from gode_bench.jobs import Job
from gode_bench.judge import score_job

MAX_BYTES = 500_000_000  # A larger pool is refused: those of a thorough search have some ten megabytes.
CONFIG = SelectionConfig()
Rule = Callable[[Candidate], Candidate]


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
    candidates = [decode(Candidate, row["candidate"], str(path)) for row in rows]
    errors = [tuple(row["errors"]) for row in rows]
    return SavedPool(
        path.stem, Pool(candidates, tuple(data["floor"])), errors, [row["right"] for row in rows]
    )


def all_independent(c: Candidate) -> Candidate:
    """Return it as if its residuals were independent."""
    return replace(c, independent=float(c.n_values))


def white(c: Candidate) -> Candidate:
    """Return it as if neighbouring residuals had no products: white noise alone is considered."""
    return replace(c, by_state=tuple(tuple(state.white) for state in c.states))


def believed(weight: float) -> Rule:
    """Return the rule in which the prior counts so many times."""
    return lambda c: replace(c, unusual=weight * c.unusual)


RULES: dict[str, Rule] = {
    "as it is": lambda c: c,
    "all residuals independent": all_independent,
    "white noise": white,
    "white noise, all residuals independent": lambda c: white(all_independent(c)),
    "no prior": believed(0.0),
    "half the prior": believed(0.5),
    "twice the prior": believed(2.0),
}


def replayed(saved: SavedPool, rule: Rule) -> tuple[tuple[float, ...], bool, bool, int]:
    """Return the errors of the equation named, whether it is right, whether a near tie is, how many."""
    pool = Pool([rule(c) for c in saved.pool.candidates], saved.pool.floor, saved.pool.polynomials)
    ranking = rank(pool, CONFIG)
    texts = [str(c.equation) for c in saved.pool.candidates]
    places = [texts.index(str(c.equation)) for c in ranking.candidates[: ranking.n_ties]]
    first = places[0]
    return saved.errors[first], saved.right[first], any(saved.right[i] for i in places), len(places)


def main(folders: list[str]) -> None:
    """Print a row for each rule."""
    pools = [saved for folder in folders for saved in read_pools(Path(folder))]
    here = sum(any(saved.right) for saved in pools)
    print(f"{len(pools)} discoveries; {here} of them fitted the true structure\n")
    print("| rule | u | u' | named right | right among the near ties | near ties |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, rule in RULES.items():
        rows = [replayed(saved, rule) for saved in pools]
        u, du = (np.mean([errors[i] for errors, *_ in rows]) for i in (0, 1))
        named = sum(right for _, right, _, _ in rows)
        among = sum(near for _, _, near, _ in rows)
        size = np.mean([n for *_, n in rows])
        print(f"| {name} | {u:.4f} | {du:.4f} | {named} | {among} | {size:.1f} |")


if __name__ == "__main__":
    main(sys.argv[1:])
