"""Measured records: which law is named, and how well does it forecast what was held back?

    python benchmarks/measured.py [--data DIR] [--out FILE.csv] [NAME ...]

Each record is searched whole for the law that is named, and on its first 60 % for the forecast of the rest,
beside the forms that textbooks give. DIR holds further records that are not part of this project.
"""

import argparse
import csv
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import gode
from gode.equation import parse_skeleton
from gode.tables.read import read_table

SHARE = 0.6
HERE = Path(__file__).parent / "records"
COLUMNS = (
    "record",
    "place",
    "ties",
    "forecast",
    "textbook",
    "inside",
    "width",
    "seconds",
    "named",
    "on 60 %",
)


@dataclass(frozen=True)
class Record:
    """A file, the order of its equation, and the forms that textbooks give."""

    name: str
    order: int
    forms: tuple[str, ...]
    rows: int | None = None


GROWTH = ("u' = C*u + C*u^2", "u' = C*u + C*u*log(u)")
DECAY = ("u' = C*u",)
COOLING = ("u' = C*u + C",)
FALL = ("u'' = C + C*u'", "u'' = C + C*u'^2", "u'' = C + C*abs(u')*u'", "u'' = C")
RECORDS = (
    Record("yeast_growth", 1, GROWTH),
    Record("falling_ball", 2, FALL),
    Record("lynx_hare", 1, ("u' = C*u + C*u*F",)),
    Record("influenza_1978", 2, ("u'' = u'^2/u + C*u*u' + C*u^2", "u*u'' = u'^2 + C*u^2*u' + C*u^3")),
    Record("pendulum_free", 2, ("u'' = C*sin(u) + C*u' + C*u'*abs(u')", "u'' = C*sin(u) + C*u'"), 1000),
    Record(
        "silverbox_train",
        2,
        ("C*u'' + C*u' + C*u + C*u^3 + C = F", "C*u'' + C*u' + C*u + C*u^2 + C*u^3 + C = F"),
        2500,
    ),
    Record("coffee_black", 1, COOLING),
    Record("coffee_cream", 1, COOLING),
    Record("styrofoam_ball", 2, FALL),
    Record("coffee_filter", 2, FALL),
    Record("sunflower", 1, GROWTH),
    Record("foam_erdinger", 1, DECAY),
    Record("foam_augustiner", 1, DECAY + COOLING),
    Record("foam_budweiser", 1, DECAY + COOLING),
    Record("uspop", 1, GROWTH),
    Record("chick", 1, (*GROWTH, *DECAY)),
    Record("indometh", 1, (*DECAY, *COOLING, "u' = C*u^2")),
    Record("orange", 1, (*GROWTH, *COOLING)),
    Record("bod", 1, COOLING),
    Record("loblolly", 1, COOLING),
    Record("theoph", 2, ("u'' = C*u' + C*u",)),
    Record("pasture", 1, GROWTH),
    Record("onions", 1, GROWTH),
    Record("bean_root", 1, GROWTH),
    Record("weeds", 1, GROWTH),
    Record("butyl_chloride", 1, DECAY),
    Record("n2o5", 1, DECAY),
    Record("butadiene", 1, ("u' = C*u^2",)),
    Record("peroxide", 1, DECAY),
)


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("names", nargs="*")
    options.add_argument("--data", type=Path, default=HERE)
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    rows = []
    for record in RECORDS:
        path = next((p for d in (given.data, HERE) if (p := d / f"{record.name}.csv").exists()), None)
        if path is None or (given.names and record.name not in given.names):
            continue
        rows.append(row(record, path))
        print(" | ".join(rows[-1]), flush=True)
        if given.out:
            with given.out.open("w", newline="") as file:
                csv.writer(file).writerows([COLUMNS, *rows])
    places = [int(r[1]) for r in rows if r[1] != "-"]
    print(f"a textbook form is named in {places.count(1)} of {len(rows)}, second in {places.count(2)}")
    ratios = [float(r[3]) / float(r[4]) for r in rows if r[3] != "-" and float(r[4]) > 0]
    print(f"forecast over the best textbook form's: median {np.median(ratios):.2f} of {len(ratios)}")
    inside = [float(r[5]) for r in rows if r[5] != "-"]
    widths = [float(r[6]) for r in rows if r[6] != "-"]
    print(f"inside the band: {np.mean(inside):.2f}; median half width / spread: {np.median(widths):.2f}")


def row(record: Record, path: Path) -> tuple[str, ...]:
    """Return the row of the table."""
    t, u, force = columns(path, record.rows)
    start = time.process_time()
    whole = discovered(t, u, force, record.order)
    spent = time.process_time() - start
    ties = whole.ties
    keys = [parse_skeleton(form).structure for form in record.forms]
    found = [i for i, c in enumerate(ties) if c.law.skeleton.structure in keys]
    place = str(found[0] + 1) if found else "-"
    n = int(SHARE * len(t))
    forecasts = ["-"] * 4
    part = ""
    if n >= 5:
        known = None if force is None else (t, force)
        d = discovered(t[:n], u[:n], None if force is None else force[:n], record.order)
        part = str(d.equation)
        spread = float(np.std(u))
        own = error(d, t, u, known, n) / spread
        best = min(textbook(f, t, u, force, n) for f in record.forms) / spread
        band = d.predict(t[n:], force=known)
        inside = np.mean((band.lower <= u[n:]) & (u[n:] <= band.upper))
        width = float(np.mean(band.upper - band.lower)) / 2 / spread
        forecasts = [f"{own:.3g}", f"{best:.3g}", f"{inside:.2f}", f"{width:.3g}"]
    return (record.name, place, str(len(ties)), *forecasts, f"{spent:.1f}", str(whole.equation), part)


def discovered(t: np.ndarray, u: np.ndarray, force: np.ndarray | None, order: int) -> gode.Discovery:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gode.discover(t, u, order=order, **({} if force is None else {"force": force}))


def columns(path: Path, rows: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    table = read_table(path)
    values = dict(zip(table.names, table.frame.to_numpy(float).T, strict=True))
    force = values.get("force")
    return values["t"][:rows], values["u"][:rows], None if force is None else force[:rows]


def textbook(text: str, t: np.ndarray, u: np.ndarray, force: np.ndarray | None, n: int) -> float:
    try:
        fitted = gode.fit(text, t[:n], u[:n], force=None if force is None else force[:n])
        return error(fitted, t, u, None if force is None else (t, force), n)
    except gode.GodeError:
        return np.inf


def error(found: gode.Discovery, t: np.ndarray, u: np.ndarray, force: object, n: int) -> float:
    """Return the root mean square error of the forecast."""
    path = found.simulate(t, force=force)
    return float(np.sqrt(np.mean((path.u[n:] - u[n:]) ** 2)))


if __name__ == "__main__":
    main()
