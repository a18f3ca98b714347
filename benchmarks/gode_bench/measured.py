"""Measured records: which law is named, and how well does it forecast what was held back?

    python -m gode_bench.measured [--data DIR] [--out FILE.jsonl] [NAME ...]
    python -m gode_bench.measured --answers FILE.md --data DIR [--seconds 60] [NAME ...]

Each record is searched whole for the law that is named, and on its first 60 % for the forecast of the rest,
beside the forms that textbooks give. DIR holds further records that are not part of this project.

With --answers, every record of DIR, systems and several runs among them, goes through a quick `gode.discover`
and through `gode.fit` of its textbook law, and FILE.md tells what came: an answer or a sentence.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import gode
from gode.arrays import Float
from gode.equation import parse_skeleton
from gode.tables.read import read_table
from gode_bench.rows import Row, finished
from gode_bench.tables import TextTable, markdown

SHARE = 0.6
HERE = Path(__file__).parent / "records"


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


@dataclass(frozen=True)
class Measured:
    """A file of the folder, which columns are what, and the law that a textbook gives."""

    name: str
    order: int
    law: str | tuple[str, ...]
    states: tuple[str, ...] = ("u",)
    force: str | None = None
    time: str = "t"
    subjects: str | None = None  # the column that tells the runs apart
    apart: bool = False  # whether the columns are runs of one state
    rows: int | None = None

    @property
    def laws(self) -> list[str]:
        """The law, an equation for each state."""
        return [self.law] if isinstance(self.law, str) else list(self.law)


DRIVEN = "u'' = C*u' + C*u + C*F + C"
SLIDE = "u'' = C*F + C*u' + C*sign(u') + C"
SERUM = tuple(f"s{i}" for i in range(1, 7))
MEASURED = (
    Measured("yeast_growth", 1, "u' = C*u + C*u^2"),
    Measured("falling_ball", 2, "u'' = C + C*u'^2"),
    Measured("influenza_1978", 2, "u*u'' = u'^2 + C*u^2*u' + C*u^3"),
    Measured("lynx_hare", 1, "u' = C*u + C*u*F", force="force"),
    Measured("lynx_hare", 1, ("u' = C*u + C*u*force", "force' = C*force + C*u*force"), ("u", "force")),
    Measured("pendulum_free", 2, "u'' = C*sin(u) + C*u' + C*u'*abs(u')", rows=1000),
    Measured("silverbox_train", 2, "u'' = C*u' + C*u + C*u^3 + C*F + C", force="force", rows=1501),
    Measured(
        "coupled_oscillators",
        2,
        ("x1'' = C*x1 + C*x2 + C*x1' + C", "x2'' = C*x1 + C*x2 + C*x2' + C"),
        ("x1", "x2"),
    ),
    Measured("cascaded_tanks_est", 2, DRIVEN, force="force"),
    Measured("cascaded_tanks_val", 2, DRIVEN, force="force"),
    Measured("emps_train", 2, SLIDE, force="force", rows=1500),
    Measured("emps_pulses", 2, SLIDE, force="force", rows=1500),
    Measured("coupled_drives_1", 2, DRIVEN, ("speed",), force="voltage"),
    Measured("gas_furnace", 1, "u' = C*u + C*F + C", ("co2",), force="gas"),
    Measured("theophylline", 1, "u' = C*u + C*exp(C*t)", ("conc",), time="Time", subjects="Subject"),
    Measured("cefamandole", 2, "u'' = C*u' + C*u", SERUM, apart=True),
    Measured("eyam_plague", 1, ("S' = C*S*I", "I' = C*S*I + C*I"), ("S", "I")),
    Measured(
        "gause_paramecium_mix",
        1,
        (
            "aurelia' = C*aurelia + C*aurelia^2 + C*aurelia*caudatum",
            "caudatum' = C*caudatum + C*caudatum^2 + C*aurelia*caudatum",
        ),
        ("aurelia", "caudatum"),
    ),
    Measured(
        "herbicide_commerce",
        1,
        ("T245' = C*T245", "phenol' = C*T245 + C*phenol", "anisole' = C*phenol + C*anisole"),
        ("T245", "phenol", "anisole"),
    ),
    Measured(
        "veilleux_didinium",
        1,
        (
            "paramecium' = r*paramecium*(1 - paramecium/K) - a*paramecium*didinium/(h + paramecium)",
            "didinium' = b*paramecium*didinium/(h + paramecium) - m*didinium",
        ),
        ("paramecium", "didinium"),
    ),
)


def main() -> None:
    """Print the table of the records, or write their answers."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("names", nargs="*")
    options.add_argument("--data", type=Path, default=HERE)
    options.add_argument("--out", type=Path)
    options.add_argument("--answers", type=Path)
    options.add_argument("--seconds", type=float, default=60.0)
    given = options.parse_args()
    if given.answers:
        write_answers(given.answers, given.data, given.seconds, given.names)
        return
    names = given.names or [record.name for record in RECORDS]
    there = [name for name in names if path_of(name, given.data)]
    rows = finished(given.out, ({"record": name} for name in there), partial(row_of, folder=given.data))
    print("\n".join(markdown(tables(list(rows)))))


def path_of(name: str, folder: Path) -> Path | None:
    """Return the file of a record, in the folder given or in that of this project."""
    return next((path for d in (folder, HERE) if (path := d / f"{name}.csv").exists()), None)


def tables(rows: Sequence[Row]) -> list[TextTable]:
    """Return which laws are named, and how well they forecast."""
    lines = []
    for row in rows:
        place = f"{row['place']} of {row['ties']}" if row["place"] else f"none of {row['ties']}"
        figures = [_cell(row.get(name)) for name in ("forecast", "textbook", "inside", "width")]
        lines.append((row["record"], f"`{row['named']}`", place, *figures, f"{row['seconds']:.1f}"))
    columns = (
        "record", "law named", "place of a textbook law among the near ties", "forecast error",
        "that of the textbook law", "inside the band", "half width of the band", "s",
    )  # fmt: skip
    note = (
        f"{summary(rows)} Forecasts are of the last 40 % from the first 60 %; errors and widths are in "
        "standard deviations of the record. Of several textbook laws the one with the best forecast counts."
    )
    return [TextTable("", columns, tuple(lines), note)]


def summary(rows: Sequence[Row]) -> str:
    """Return in a sentence how often a law of a textbook is named, and how well is forecast."""
    first = sum(row["place"] == 1 for row in rows)
    ratios = [row["forecast"] / row["textbook"] for row in rows if row.get("textbook")]
    return (
        f"A textbook law is named in {first} of {len(rows)} measured records; the error of a forecast is "
        f"{np.median(ratios):.2f} times that of the textbook law (median of {len(ratios)})."
    )


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def write_answers(out: Path, folder: Path, seconds: float, names: list[str]) -> None:
    """Write what comes of every record of a folder as a table in Markdown, row by row."""
    lines = [
        "# Measured records",
        "",
        "Records that others measured go through a quick search and through a fit of the law of a textbook.",
        f"Written by `python -m gode_bench.measured --answers`, each search with `max_seconds={seconds:g}`.",
        "Times are those of the processor.",
        "",
        "| record | values | law named | verdict | s | verdict of the textbook law | s |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for record in MEASURED:
        path = folder / f"{record.name}.csv"
        if not path.exists() or (names and record.name not in names):
            continue
        t, data, force = channels(record, path)
        values = sum(len(each) for each in t) * len(data if isinstance(data, dict) else [1])
        found, spent = answered(
            gode.discover, t, data, force, order=record.order, effort="quick", max_seconds=seconds
        )
        fitted, own = answered(partial(gode.fit, textbook_of(record)), t, data, force)
        cells = [record.name, str(values), *found, f"{spent:.1f}", fitted[1], f"{own:.1f}"]
        lines.append(_line(cells))
        print(lines[-1], flush=True)
        out.write_text("\n".join([*lines, ""]))


def answered(
    call: Callable[..., gode.Discovery],
    t: Sequence[Float],
    data: Any,
    force: Sequence[Float] | None,
    **options: object,
) -> tuple[list[str], float]:
    """Return the law and the verdict of a call, or the sentence that came instead, and the processor time."""
    start = time.process_time()
    several = len(t) > 1
    if force is not None:
        options["force"] = force if several else force[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = call(t if several else t[0], data, **options)
            cells = ["; ".join(f"`{line}`" for line in found.equation.lines()), found.quality.verdict.value]
        except gode.GodeError as error:
            cells = ["–", str(error).partition(";")[0]]
    return cells, time.process_time() - start


def textbook_of(record: Measured) -> str | list[str]:
    """Return the law of a textbook as `gode.fit` takes it."""
    return record.laws if len(record.laws) > 1 else record.laws[0]


def channels(record: Measured, path: Path) -> tuple[list[Float], Any, list[Float] | None]:
    """Return the times and inputs of each run, and what was measured as `discover` takes it."""
    read = read_table(path)
    table = pd.DataFrame({name: read.column(name) for name in read.names}).iloc[: record.rows]
    parts = (
        [table] if record.subjects is None else [own for _, own in table.groupby(record.subjects, sort=False)]
    )
    if record.apart:
        parts = [table[[record.time, state]].rename(columns={state: "u"}).dropna() for state in record.states]
    times = [part[record.time].to_numpy(float) for part in parts]
    force = None if record.force is None else [part[record.force].to_numpy(float) for part in parts]
    if len(record.states) > 1 and not record.apart:
        return times, {state: parts[0][state].to_numpy(float) for state in record.states}, force
    state = "u" if record.apart else record.states[0]
    signals = [part[state].to_numpy(float) for part in parts]
    return times, signals if len(signals) > 1 else signals[0], force


def row_of(record: str, *, folder: Path) -> Row:
    """Return the law named in a record, and what it and the laws of textbooks forecast."""
    about, path = next(each for each in RECORDS if each.name == record), path_of(record, folder)
    assert path is not None, "records without a file are left out"
    t, u, force = columns(path, about.rows)
    start = time.process_time()
    whole = discovered(t, u, force, about.order)
    spent = time.process_time() - start
    keys = [parse_skeleton(form).structure for form in about.forms]
    found = [i for i, c in enumerate(whole.ties, 1) if c.law.skeleton.structure in keys]
    return {
        "place": found[0] if found else None,
        "ties": len(whole.ties),
        "named": str(whole.equation),
        "seconds": round(spent, 1),
        **forecast(about, t, u, force),
    }


def forecast(about: Record, t: Float, u: Float, force: Float | None) -> Row:
    """Return the errors of forecasts of the rest from the first 60 %; nothing where that is too short."""
    n = int(SHARE * len(t))
    if n < 5:
        return {}
    known = None if force is None else (t, force)
    part = discovered(t[:n], u[:n], None if force is None else force[:n], about.order)
    spread = float(np.std(u))
    band = part.predict(t[n:], force=known)
    best = min(textbook(form, t, u, force, n) for form in about.forms) / spread
    return {
        "part": str(part.equation),
        "forecast": error(part, t, u, known, n) / spread,
        "textbook": best if np.isfinite(best) else None,
        "inside": float(np.mean((band.lower <= u[n:]) & (u[n:] <= band.upper))),
        "width": float(np.mean(band.upper - band.lower)) / 2 / spread,
    }


def discovered(t: Float, u: Float, force: Float | None, order: int) -> gode.Discovery:
    """Return what is found in a record, warnings left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gode.discover(t, u, order=order, force=force)


def columns(path: Path, rows: int | None) -> tuple[Float, Float, Float | None]:
    """Return time, state and input of a file."""
    table = read_table(path)
    values = {name: table.numbers(name) for name in table.names}
    force = values.get("force")
    return values["t"][:rows], values["u"][:rows], None if force is None else force[:rows]


def textbook(text: str, t: Float, u: Float, force: Float | None, n: int) -> float:
    """Return the error of the forecast by a law of a textbook; infinite if it cannot be fitted."""
    try:
        fitted = gode.fit(text, t[:n], u[:n], force=None if force is None else force[:n])
        return error(fitted, t, u, None if force is None else (t, force), n)
    except gode.GodeError:
        return np.inf


def error(found: gode.Discovery, t: Float, u: Float, force: tuple[Float, Float] | None, n: int) -> float:
    """Return the root mean square error of the forecast."""
    path = found.simulate(t, force=force)
    return float(np.sqrt(np.mean((path.u[n:] - u[n:]) ** 2)))


if __name__ == "__main__":
    main()
