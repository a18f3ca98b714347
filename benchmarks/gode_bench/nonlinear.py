"""Records of nonlinearbenchmark.org: the law found on the training record, and its error on the test record.

    gode bench nonlinear --data DIR [--out FILE.md] [NAME ...]

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

Maker = Callable[..., gode.Discovery]
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


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    method: str
    errors: tuple[float, ...]
    seconds: float
    law: str


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
        ("u' = C*sqrt(x) + C*sqrt(u)", "x' = C*sqrt(x) + C*force"),
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
        ("w' = a", "a' = b", "b' = C*w + C*a + C*b + C*voltage"),
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


def write_tables(folder: Path, names: Sequence[str], options: Mapping[str, object]) -> str:
    """Return the tables of the systems in Markdown; all, without names."""
    known = {benchmark.name: benchmark for benchmark in BENCHMARKS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigError(f"there is no record {unknown[0]!r}; choose from {', '.join(known)}")
    return "\n".join(table_of(known[name], folder, options) for name in names or known)


def table_of(benchmark: Benchmark, folder: Path, options: Mapping[str, object]) -> str:
    """Return the table of one system in Markdown.

    Raises:
        FileError: if the training record is not in the folder.
    """
    if not (folder / benchmark.train.file).exists():
        raise FileError(
            f"{folder} holds no {benchmark.train.file}; take the record from {SITE}, save it there with the "
            f"columns t, {benchmark.signal}, {benchmark.force}, and ask again"
        )
    tests = [part for part in benchmark.tests if (folder / part.file).exists()]
    absent = [f"{part.name} ({part.file})" for part in benchmark.tests if part not in tests]
    rows = [
        _scored("law found", partial(_found, options=options), benchmark, folder, tests),
        _scored("form of a textbook, fitted", _fitted, benchmark, folder, tests),
    ]
    return "\n".join(
        [
            f"## {benchmark.title}",
            "",
            f"Root mean square errors in {benchmark.unit}. Trained on: {benchmark.train.name}. The first "
            f"{benchmark.first} samples of a test record show the initial values and are not scored.",
            "",
            "| gode | " + " | ".join(part.name for part in tests) + " | seconds | law |",
            "| --- " * (len(tests) + 3) + "|",
            *(_line(row) for row in rows),
            *(["", f"Not in the folder: {', '.join(absent)}."] if absent else []),
            "",
            "Published on the official test records:",
            "",
            *(f"- {name}: {error}" for name, error in benchmark.published),
            "",
        ]
    )


def _line(row: Row) -> str:
    errors = [f"{error:.3g}" if np.isfinite(error) else "-" for error in row.errors]
    return f"| {' | '.join([row.method, *errors, f'{row.seconds:.1f}', row.law])} |"


def _scored(method: str, make: Maker, benchmark: Benchmark, folder: Path, tests: Sequence[Part]) -> Row:
    """Return the errors of a law on the tests; a sentence in its place if there is none."""
    begin = time.process_time()
    try:
        found = make(benchmark, *_columns(benchmark, folder, benchmark.train))
    except GodeError as problem:
        return Row(method, (np.nan,) * len(tests), time.process_time() - begin, str(problem))
    spent = time.process_time() - begin
    errors = tuple(error_on(benchmark, found, *_columns(benchmark, folder, part)) for part in tests)
    law = "; ".join(f"`{line}`" for line in str(found.equation).splitlines())
    return Row(method, errors, spent, law)


def _found(
    benchmark: Benchmark, t: Float, u: Float, force: Float, *, options: Mapping[str, object]
) -> gode.Discovery:
    given = {**benchmark.search, **options}
    return gode.discover(t, {benchmark.signal: u}, force={benchmark.force: force}, **given)  # type: ignore[arg-type]


def _fitted(benchmark: Benchmark, t: Float, u: Float, force: Float) -> gode.Discovery:
    return gode.fit(
        list(benchmark.textbook),
        t,
        {benchmark.signal: u},
        force={benchmark.force: force},
        observe=benchmark.observe,
    )


def error_on(benchmark: Benchmark, found: gode.Discovery, t: Float, u: Float, force: Float) -> float:
    """Return the error of a law on a test record, simulated from initial values of its first samples."""
    n, names = benchmark.first, {benchmark.signal: u, benchmark.force: force}
    law = found.equation.law.lines(None)
    try:
        begun = gode.fit(
            law, t[:n], {benchmark.signal: u[:n]}, force={benchmark.force: force[:n]}, keep_outliers=True
        )
        solved = begun.simulate(t, force={benchmark.force: names[benchmark.force]})
    except GodeError:
        return float("nan")
    misses = solved[benchmark.signal][n:] - u[n:]
    return float(benchmark.scale * np.sqrt(np.mean(misses**2)))


def _columns(benchmark: Benchmark, folder: Path, part: Part) -> tuple[Float, Float, Float]:
    table = read_table(folder / part.file)
    rows = slice(*part.rows)
    t, u, force = (table.numbers(name)[rows] for name in ("t", benchmark.signal, benchmark.force))
    return t, u, force
