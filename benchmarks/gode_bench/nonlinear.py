"""Records of nonlinearbenchmark.org: the law found on the training record, and its error on the test record.

    gode bench nonlinear --data DIR [--rows FILE.jsonl] [--out FILE.md] [NAME ...]

A law is found, and the form of a textbook fitted, on the training record alone. On a test record its
constants stay; only the initial values are fitted, to the first samples, which are not scored, and the rest
is simulated without looking at the measurements. The score is the root mean square error, as in the
published tables.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

import gode
from gode.arrays import Float
from gode.errors import ConfigError, FileError, GodeError
from gode.tables.read import read_table
from gode_bench.rows import Row, finished
from gode_bench.tables import TextTable

SITE = "https://www.nonlinearbenchmark.org"


@dataclass(frozen=True)
class Part:
    """Some rows of a file, with the columns t, signal and input."""

    name: str
    file: str
    rows: tuple[int, int | None] = (0, None)


@dataclass(frozen=True)
class Benchmark:
    """Training and test records of one system, what is told to the search, and what others have reached."""

    name: str
    title: str
    unit: str
    scale: float  # of a unit of the file in that of the table
    signal: str
    force: str
    train: Part
    tests: tuple[Part, ...]
    first: int  # so many samples show the initial values
    textbook: tuple[str, ...]
    search: Mapping[str, object] = field(default_factory=dict)  # options of gode.discover
    published: tuple[tuple[str, str], ...] = ()
    observe: Mapping[str, str] | None = None  # what the signal is in the states of the form of a textbook


BENCHMARKS = (
    Benchmark(
        "silverbox",
        "Silverbox, an electronic Duffing oscillator",
        "mV",
        1e3,
        "u",
        "force",
        Part("first 1,501 samples of the training record", "silverbox_train.csv", (0, 1501)),
        (
            Part("rest of the start of the training record", "silverbox_train.csv", (1501, None)),
            Part("multisine", "silverbox_test.csv"),
            Part("arrow", "silverbox_arrow.csv"),
        ),
        50,
        ("u'' = C*u' + C*u + C*u^3 + C*F + C",),
        {"order": 2},
        (
            ("linear state space", "6.96 / 14.4"),
            ("polynomial NARX", ".640 / 2.25"),
            ("SUBNET", ".36 / 1.4"),
            ("best of all", ".36 / .26"),
        ),
    ),
    Benchmark(
        "emps",
        "EMPS, an electro-mechanical positioning system",
        "mm",
        1e3,
        "u",
        "force",
        Part("training record", "emps_train.csv"),
        (Part("pulses", "emps_pulses.csv"),),
        20,
        ("u'' = C*F + C*u' + C*sign(u') + C",),
        {"order": 2},
        (
            ("linear state space", "5.53"),
            ("polynomial NARX", "5.17"),
            ("SUBNET, continuous", "4.61"),
            ("best of all (dynoNet)", "2.64"),
        ),
    ),
    Benchmark(
        "tanks",
        "Cascaded tanks, whose upper level is not measured",
        "V",
        1.0,
        "u",
        "force",
        Part("estimation record", "cascaded_tanks_est.csv"),
        (Part("test record", "cascaded_tanks_val.csv"),),
        50,
        (
            # Both tanks overflow at 10 V, the upper one in part into the lower.
            "u' = C*sqrt(x) + C*sqrt(u) + C*u + C*max(0, x - 10) - 2*max(0, u - 10)",
            "x' = C*sqrt(x) + C*force + C*max(0, x - 10)",
        ),
        {"hidden": 1},
        (
            ("linear state space", ".588"),
            ("polynomial NARX", ".413"),
            ("SUBNET, continuous", ".306"),
            ("best of all (grey box)", ".191"),
        ),
    ),
    Benchmark(
        "drives",
        "Coupled electric drives, first record",
        "ticks/s",
        1.0,
        "speed",
        "voltage",
        Part("first 300 samples", "coupled_drives_1.csv", (0, 300)),
        (Part("last 200 samples", "coupled_drives_1.csv", (300, None)),),
        20,
        ("w' = a + C*voltage", "a' = b + C*voltage", "b' = C*w + C*a + C*b + C*voltage + C"),
        {"order": 2},
        (
            ("linear state space", ".224"),
            ("polynomial NARX", ".10"),
            ("SUBNET, continuous", ".115"),
            ("best of all", ".115"),
        ),
        {"speed": "abs(w)"},  # the sensor counts pulses, so the sign is lost
    ),
)

KNOWN = {benchmark.name: benchmark for benchmark in BENCHMARKS}


def measure(folder: Path, names: Sequence[str], effort: str, rows: Path | None = None) -> list[Row]:
    """Return a row for each system and way to its law; those of an earlier call are read from a file.

    Raises:
        ConfigError: if there is no system of a name.
        FileError: if a training record is not in the folder.
    """
    unknown = [name for name in names if name not in KNOWN]
    if unknown:
        raise ConfigError(f"there is no record {unknown[0]!r}; choose from {', '.join(KNOWN)}")
    for benchmark in (KNOWN[name] for name in names or KNOWN):
        if not (folder / benchmark.train.file).exists():
            raise FileError(
                f"{folder} holds no {benchmark.train.file}; take the record from {SITE}, save it there with "
                f"the columns t, {benchmark.signal}, {benchmark.force}, and ask again"
            )
    settings = (
        {"system": name, "method": method, "effort": effort} for name in names or KNOWN for method in METHODS
    )
    return list(finished(rows, settings, partial(_scored, folder=folder)))


def tables(rows: Sequence[Row]) -> list[TextTable]:
    """Return a table for each system: our rows, and below them the published ones."""
    return [
        _table(benchmark, own)
        for benchmark in BENCHMARKS
        if (own := [row for row in rows if row["system"] == benchmark.name])
    ]


def _table(benchmark: Benchmark, rows: Sequence[Row]) -> TextTable:
    tests = [part.name for part in benchmark.tests]
    lines = [
        (f"gode: {row['method']}", *(_cell(row["errors"].get(name)) for name in tests), row["law"])
        for row in rows
    ]
    for name, errors in benchmark.published:
        shown = [f"0{error}" if error[0] == "." else error for error in errors.split(" / ")]
        lines.append((f"published: {name}", *("",) * (len(tests) - len(shown)), *shown, ""))
    seconds = ", ".join(f"{row['seconds']:.0f} s" for row in rows)
    absent = [part.name for part in benchmark.tests if part.name not in rows[0]["errors"]]
    note = (
        f"Root mean square errors of the simulated test records in {benchmark.unit}; trained on: "
        f"{benchmark.train.name}. The first {benchmark.first} samples of a test record show the initial "
        f"values and are not scored. Processor time of gode: {seconds}."
    )
    if absent:
        note += f" Not at hand when this was run: {', '.join(absent)}."
    return TextTable(benchmark.title, ("", *tests, "law"), tuple(lines), note)


def _cell(error: float | None) -> str:
    return "–" if error is None else f"{error:.3g}"


def _scored(system: str, method: str, effort: str, *, folder: Path) -> Row:
    """Return the errors of a law on the tests at hand; a sentence in place of the law if there is none."""
    benchmark = KNOWN[system]
    tests = [part for part in benchmark.tests if (folder / part.file).exists()]
    begin = time.process_time()
    try:
        found = METHODS[method](benchmark, *_columns(benchmark, folder, benchmark.train), effort=effort)
    except GodeError as problem:
        none = {part.name: None for part in tests}
        return {"errors": none, "seconds": time.process_time() - begin, "law": str(problem)}
    seconds = time.process_time() - begin
    errors = {part.name: error_on(benchmark, found, *_columns(benchmark, folder, part)) for part in tests}
    law = "; ".join(f"`{line}`" for line in str(found.equation).splitlines())
    return {"errors": errors, "seconds": seconds, "law": law}


def _found(benchmark: Benchmark, t: Float, u: Float, force: Float, *, effort: str) -> gode.Discovery:
    given = {**benchmark.search, "effort": effort}
    return gode.discover(t, {benchmark.signal: u}, force={benchmark.force: force}, **given)  # type: ignore[arg-type]


def _fitted(benchmark: Benchmark, t: Float, u: Float, force: Float, *, effort: str) -> gode.Discovery:
    return gode.fit(
        list(benchmark.textbook),
        t,
        {benchmark.signal: u},
        force={benchmark.force: force},
        observe=benchmark.observe,
    )


METHODS: dict[str, Callable[..., gode.Discovery]] = {
    "law found": _found,
    "textbook law, fitted": _fitted,
}


def error_on(benchmark: Benchmark, found: gode.Discovery, t: Float, u: Float, force: Float) -> float | None:
    """Return the error of a law on a test record, simulated from initial values of its first samples."""
    n, names = benchmark.first, {benchmark.signal: u, benchmark.force: force}
    law = found.equation.law.lines(None)
    try:
        begun = gode.fit(
            law, t[:n], {benchmark.signal: u[:n]}, force={benchmark.force: force[:n]}, keep_outliers=True
        )
        solved = begun.simulate(t, force={benchmark.force: names[benchmark.force]})
    except GodeError:
        return None
    misses = solved[benchmark.signal][n:] - u[n:]
    return float(benchmark.scale * np.sqrt(np.mean(misses**2)))


def _columns(benchmark: Benchmark, folder: Path, part: Part) -> tuple[Float, Float, Float]:
    table = read_table(folder / part.file)
    rows = slice(*part.rows)
    t, u, force = (table.numbers(name)[rows] for name in ("t", benchmark.signal, benchmark.force))
    return t, u, force
