"""Does gode invent equations? The share of series without any that it calls supported.

    python -m gode_bench.false_discoveries [--series 200] [--walks] [--effort quick] [--out out/false.jsonl]

A series is white noise about a level, or about a straight line, of 60 to 120 points; with --walks, in turn
AR(1) noise of .95 and a random walk. First and second order are asked for in turn. A false discovery is a
result with `supported` true. Series that the file already holds are not done again. `margin` is by how much
the equation beat the better of constant and straight line, in units of the criterion, before
`SelectionConfig.support` is taken off.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import gode
from gode.discovery import Discovery
from gode.errors import GodeError
from gode.fitting.evidence import fitted_polynomials
from gode.selection import Pool, rank
from gode_bench.rows import MISSED, Row, finished
from gode_bench.tables import TextTable, markdown

GOAL = 0.02
KINDS = {
    "level": "white noise about a level",
    "line": "white noise about a line",
    "AR(1)": "AR(1) noise of .95",
    "walk": "random walk",
}


def drawn(number: int, *, walks: bool) -> tuple[np.ndarray, np.ndarray, int, str]:
    """Return times, values, the order to ask for, and the kind of a series without an equation."""
    rng = np.random.default_rng([7, number])
    n = int(rng.integers(60, 121))
    t = np.linspace(0.0, float(rng.choice([1.0, 10.0, 50.0])), n)
    level, slope = rng.choice([0.0, 1.0, 20.0]), rng.choice([-1.0, 0.3, 3.0])
    if walks:
        phi = 1.0 if number % 4 >= 2 else 0.95
        steps = rng.standard_normal(n)
        for i in range(1, n):
            steps[i] += phi * steps[i - 1]
        return t, steps, 1 + number % 2, "walk" if phi == 1 else "AR(1)"
    line = number % 4 >= 2
    u = level + (slope * t / t[-1] if line else 0.0) + 0.3 * rng.standard_normal(n)
    return t, u, 1 + number % 2, "line" if line else "level"


def margin(found: Discovery) -> float:
    """Return the largest support that the best equation has over a constant and a straight line."""
    pool = Pool(found.candidates, found.prepared.floor, fitted_polynomials(found.prepared.whole))
    low, high = -1000.0, 1000.0
    while high - low > 0.01:
        middle = (low + high) / 2
        config = replace(found.settings.selection, support=middle)
        if rank(pool, config).supported:
            low = middle
        else:
            high = middle
    return low


def one_series(series: int, walks: bool, effort: str) -> Row:
    """Return what gode says of one series."""
    t, u, order, kind = drawn(series, walks=walks)
    row: Row = {"kind": kind, "order": order, "n": len(t)}
    begun = time.process_time()
    try:
        found = gode.discover(t, u, order=order, effort=effort)
        row |= {"supported": found.supported, "margin": round(margin(found), 2), "best": str(found.equation)}
    except GodeError as error:
        row |= {"supported": False, "margin": None, "best": str(error)}
    return {**row, "seconds": round(time.process_time() - begun, 2)}


def tables(rows: Sequence[Row]) -> list[TextTable]:
    """Return how many series are said to follow an equation, by kind and order."""
    lines = []
    for kind, order in sorted({(str(r["kind"]), int(r["order"])) for r in rows}):
        here = [r for r in rows if (r["kind"], r["order"]) == (kind, order)]
        lines.append((KINDS[kind], str(order), str(len(here)), str(sum(bool(r["supported"]) for r in here))))
    wrong = sum(bool(r["supported"]) for r in rows)
    columns = ("series", "order asked for", "series tried", "called supported")
    note = f"In all, {wrong} of {len(rows)} series of noise were said to follow an equation."
    return [TextTable("", columns, tuple(lines), note)]


def main() -> None:
    """Measure what is missing, then print the table; exit code 3 if too many are false."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("--walks", action="store_true", help="noise of long memory instead of white noise")
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--out", type=Path, default=Path("out/false.jsonl"))
    given = parser.parse_args()
    settings = (
        {"series": number, "walks": given.walks, "effort": given.effort} for number in range(given.series)
    )
    rows = list(finished(given.out, settings, one_series))
    print("\n".join(markdown(tables(rows))))
    wrong = sum(bool(row["supported"]) for row in rows)
    raise SystemExit(0 if wrong <= GOAL * len(rows) else MISSED)


if __name__ == "__main__":
    main()
