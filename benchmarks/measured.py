"""Measured records: discover on the first 60 %, simulate on over the rest, beside the form physics predicts.

    python benchmarks/measured.py DIR [NAME ...]

DIR holds CSV files with the columns t, u and, where it is known, force. Long records are cut.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import gode
from gode.tables.read import read_table

SHARE = 0.6


@dataclass(frozen=True)
class Record:
    """A file, the order of its equation, and the form that physics predicts."""

    name: str
    order: int
    physics: str
    rows: int | None = None


RECORDS = (
    Record("yeast_growth", 1, "u' = C*u + C*u^2"),
    Record("falling_ball", 2, "u'' = C + C*u'"),
    Record("lynx_hare", 1, "u' = C*u + C*u*F"),
    Record("influenza_1978", 2, "u'' = u'^2/u + C*u*u' + C*u^2"),
    Record("pendulum_free", 2, "u'' = C*sin(u) + C*u' + C*u'*abs(u')", 1000),
    Record("silverbox_train", 2, "C*u'' + C*u' + C*u + C*u^3 + C = F", 2500),
)


def main(folder: Path, names: list[str]) -> None:
    print("| record | equation found | error of forecast | of the physics form | spread | s |")
    print("| --- | --- | --- | --- | --- | --- |")
    for record in RECORDS:
        if names and record.name not in names:
            continue
        t, u, force = columns(folder / f"{record.name}.csv", record.rows)
        n = int(SHARE * len(t))
        known = {} if force is None else {"force": force[:n]}
        start = time.perf_counter()
        found = gode.discover(t[:n], u[:n], order=record.order, **known)
        spent = time.perf_counter() - start
        errors = [forecast(found, t, u, force, n), physics_error(record.physics, t, u, force, n)]
        print(
            f"| {record.name} | `{found.equation}` | {errors[0]:.4g} | {errors[1]:.4g} "
            f"| {np.std(u[n:]):.4g} | {spent:.0f} |",
            flush=True,
        )


def columns(path: Path, rows: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    table = read_table(path)
    values = dict(zip(table.names, table.frame.to_numpy(float).T, strict=True))
    force = values.get("force")
    return values["t"][:rows], values["u"][:rows], None if force is None else force[:rows]


def physics_error(text: str, t: np.ndarray, u: np.ndarray, force: np.ndarray | None, n: int) -> float:
    try:
        fitted = gode.fit(text, t[:n], u[:n], force=None if force is None else force[:n])
    except gode.GodeError:
        return np.nan
    return forecast(fitted, t, u, force, n)


def forecast(found: gode.Discovery, t: np.ndarray, u: np.ndarray, force: np.ndarray | None, n: int) -> float:
    path = found.simulate(t, force=None if force is None else (t, force))
    return float(np.sqrt(np.mean((path.u[n:] - u[n:]) ** 2)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
