"""Result: what was found in one record, in a few kilobytes; and what a worker does to find it."""

import json
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gode import __version__
from gode.arrays import Float
from gode.data import Dataset
from gode.discovery import Discovery, Finding, discover, fit
from gode.discovery.api import discover_in
from gode.discovery.given import fit_in, parse_law
from gode.discovery.options import Options
from gode.errors import DataError, FileError, GodeError, shortened
from gode.files import replacing
from gode.fleet.engine import Done
from gode.json_codec import Json
from gode.report.record import discovery_of, record_of
from gode.selection import Candidate, independent_values, weighed
from gode.solve.solution import compile_solvers
from gode.tables.dataset import DataOptions, dataset_of

MAX_FITS = 30  # At most so many laws are kept of a record, so that its row has a few kilobytes.
MAX_GAP = 30.0  # Laws are kept if their -2 log probability is so near the best: odds of 1 to 3 million.
DIGITS = 8  # Numbers in a table have so many digits, as single precision has; the record has all.
# A picture is 480 x 300 pixels, with room for numbers at the left, the title above and times below.
WIDTH, HEIGHT, LEFT, TOP = 480, 300, 60, 30
INNER = (WIDTH - LEFT - 12, HEIGHT - TOP - 34)  # width and height of the frame
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # safe for the colour-blind
MOST_POINTS = 400  # Of a longer signal every second, third, ... value is drawn: the frame is 408 pixels wide.


class Fit(NamedTuple):
    """A law on one record: the form, how much less probable it is than the best, and its constants."""

    law: str  # the form, with C for each constant
    gap: float  # -2 log of its probability, less that of the best
    prior: float  # the part of that which is the price of the form
    misfit: float  # root mean square residual in units of the noise
    constants: tuple[float, ...]
    errors: tuple[float | None, ...]
    places: tuple[str, ...]  # what each constant multiplies

    @staticmethod
    def without_solution(law: str) -> "Fit":
        """Return the fit of a law that has no solution along a record."""
        return Fit(law, np.inf, 0.0, np.inf, (), (), ())


def fit_from(values: Sequence[Any]) -> Fit:
    """Return the fit in a list.

    Raises:
        ValueError: if there is none.
    """
    try:
        return Fit(*map(_tupled, values))
    except TypeError as error:
        raise FileError(f"not a fit: {error}") from error


@dataclass(frozen=True, kw_only=True)
class Row:
    """One record in the table of a fleet."""

    id: str
    failure: str = ""  # why nothing was found, in a sentence
    law: str = ""
    equation: str = ""
    constants: tuple[float, ...] = ()
    errors: tuple[float | None, ...] = ()
    places: tuple[str, ...] = ()
    misfit: float | None = None  # in units of the noise; None without a solution along all of the data
    verdict: str = ""
    order: int = 0
    n_values: int = 0
    fits: tuple[Fit, ...] = ()  # the law and its near rivals
    seconds: float = 0.0
    deaths: int = 0  # of workers that had it before
    gode: str = ""

    def with_fits(self, more: Sequence[Fit]) -> "Row":
        """Return the row with further laws."""
        return replace(self, fits=(*self.fits, *more))

    def json(self) -> dict[str, Json]:
        """Return the row for a line of JSON."""
        return asdict(self)


def row_of(values: object) -> Row:
    """Return the row in a line of JSON.

    Raises:
        ValueError: if there is none.
    """
    known = {f.name for f in fields(Row)}
    if not isinstance(values, dict) or not {"id"} <= set(values) <= known:
        raise FileError("a row of a fleet has an id")
    try:
        fits = tuple(fit_from(each) for each in values["fits"])
        plain: dict[str, Any] = {name: _tupled(value) for name, value in values.items()}
        return Row(**{**plain, "fits": fits})
    except (KeyError, TypeError) as error:
        raise FileError(f"a field is missing or unknown: {error}") from error


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Result:
    """What was found in one record; `discovery` has all of it."""

    row: Row
    packed: bytes = b""  # the record as compressed JSON
    picture: bytes = b""  # data and solution, as SVG

    @property
    def id(self) -> str:
        """The name of the record."""
        return self.row.id

    @property
    def failure(self) -> str:
        """Why nothing was found, in a sentence; empty if an equation was."""
        return self.row.failure

    @property
    def law(self) -> str:
        """The form of the equation, with C for each constant."""
        return self.row.law

    @property
    def equation(self) -> str:
        """The equation as text."""
        return self.row.equation

    @cached_property
    def discovery(self) -> Discovery:
        """The discovery, with all its methods.

        Raises:
            DataError: if nothing was found.
        """
        if not self.packed:
            raise DataError(f"{self.id}: {self.failure}")
        return discovery_of(json.loads(zlib.decompress(self.packed)))

    def save(self, path: Path) -> None:
        """Write the record, which `gode.load` reads."""
        with replacing(path) as draft:
            draft.write_bytes(zlib.decompress(self.packed))

    def __repr__(self) -> str:
        return f"<Result {self.id}: {self.failure or self.equation}>"


def pack(discovery: Discovery) -> bytes:
    """Return the record of a discovery as compressed JSON."""
    return zlib.compress(json.dumps(record_of(discovery), allow_nan=False).encode(), 6)


def law_of(candidate: Candidate) -> str:
    """Return the form of an equation, of several states with a semicolon between two."""
    skeleton = candidate.equation.skeleton  # in u and F, as records may call their columns otherwise
    return "; ".join(part.form(skeleton.columns(i)) for i, part in enumerate(skeleton.parts))


def found_row(name: str, found: Discovery) -> Row:
    """Return the row of a discovery."""
    best, misfit = found.candidates[0], found.quality.misfit
    first = fit_of(best, found, 0.0)
    most = best.criterion + MAX_GAP * found.settings.selection.temperature
    near = [c for c in found.candidates[1:] if c.criterion <= most][: MAX_FITS - 1]
    return Row(
        id=name,
        law=first.law,
        equation="; ".join(found.equation.lines()),
        constants=first.constants,
        errors=first.errors,
        places=first.places,
        misfit=_rounded(misfit) if np.isfinite(misfit) else None,
        verdict=found.quality.verdict.value,
        order=best.equation.order,
        n_values=best.n_values,
        fits=(first, *(fit_of(c, found, c.criterion - best.criterion) for c in near)),
    )


def fit_of(candidate: Candidate, found: Discovery, gap: float) -> Fit:
    """Return a candidate of a discovery in short, given how far its criterion lies above the best."""
    constants = Finding(candidate).constants
    config = found.settings.selection
    return Fit(
        law_of(candidate),
        _rounded(gap / config.temperature),
        _rounded(candidate.unusual / config.temperature),
        _rounded(candidate.rms),
        _numbers([c.value for c in constants]),
        tuple(_rounded(c.error) if np.isfinite(c.error) else None for c in constants),
        tuple(c.place for c in constants),
    )


def _numbers(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(_rounded(v) for v in values)


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def drawn(found: Discovery) -> bytes:
    """Return a small SVG, drawn in a millisecond, as a fleet has many of them.

    It shows the lowest observed channel of each state in the first run, with the solution.
    """
    run = found.prepared.whole.dataset.runs[0]
    solution = found.simulate(run=0)
    shown: list[tuple[Float, Float]] = []
    for s in range(run.n_states):
        own = run.observed[3 * s : 3 * s + 3]
        channel = 3 * s + int(np.flatnonzero(np.isfinite(own).any(axis=1))[0])
        path = solution.values[channel] if len(solution.t) == len(run.t) else np.full(len(run.t), np.nan)
        shown.append((run.observed[channel], path))
    values = np.concatenate([v[np.isfinite(v)] for pair in shown for v in pair])
    low, high = float(values.min()), float(values.max())
    across = _scaled(run.t, float(run.t[0]), float(run.t[-1]), LEFT, INNER[0])
    marks = []
    for colour, (data, path) in zip(COLOURS * (1 + run.n_states // 6), shown, strict=False):
        up, line = (_scaled(v, low, high, TOP + INNER[1], -INNER[1]) for v in (data, path))
        marks += [_dots(across, up, colour), _line(across, line, colour)]
    title = escape("; ".join(found.equation.lines())[:80])
    ticks = [
        _text(LEFT - 5, TOP + INNER[1], f"{low:.4g}", "end"),
        _text(LEFT - 5, TOP + 10, f"{high:.4g}", "end"),
        _text(LEFT, HEIGHT - 18, f"{run.t[0]:.4g}", "start"),
        _text(WIDTH - 12, HEIGHT - 18, f"t = {run.t[-1]:.4g}", "end"),
        _text(LEFT, 18, title, "start"),
    ]
    frame = f'<rect x="{LEFT}" y="{TOP}" width="{INNER[0]}" height="{INNER[1]}" fill="none" stroke="#888"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}">'
    back = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    style = 'font-family="sans-serif" font-size="11" fill="#1c1e21"'
    return "\n".join([head, back, frame, *marks, f"<g {style}>", *ticks, "</g>", "</svg>\n"]).encode()


def _scaled(values: Float, low: float, high: float, start: float, length: float) -> Float:
    return start + length * (values - low) / ((high - low) or 1.0)


def _dots(x: Float, y: Float, colour: str) -> str:
    step = 1 + len(x) // MOST_POINTS
    pairs = [(a, b) for a, b in zip(x[::step], y[::step], strict=True) if np.isfinite(b)]
    dots = "".join(f"M{a:.1f},{b:.1f}h0" for a, b in pairs)
    return (
        f'<path d="{dots}" stroke="{colour}" stroke-opacity="0.5" stroke-width="3" stroke-linecap="round"/>'
    )


def _line(x: Float, y: Float, colour: str) -> str:
    step = 1 + len(x) // MOST_POINTS
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x[::step], y[::step], strict=True) if np.isfinite(b))
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{words}</text>'


@dataclass(frozen=True)
class Arguments:
    """Measurements as arguments of `discover`."""

    values: Mapping[str, object]


@dataclass(frozen=True)
class Unusable:
    """What cannot be a record, and why."""

    failure: str


@dataclass(frozen=True)
class File:
    """The bytes of a file, compressed: the worker reads them, whether or not it sees the same disk."""

    name: str
    packed: bytes
    columns: DataOptions

    def dataset(self) -> Dataset:
        """Return the measurements in the file."""
        from gode.tables.read import parse_file

        table = parse_file(zlib.decompress(self.packed), self.name, reading=self.columns.reading)
        return dataset_of([table], self.columns)[0]


def packed_file(name: str, content: bytes, columns: DataOptions) -> File:
    """Return a file to send."""
    return File(name, zlib.compress(content, 6), columns)


@dataclass(frozen=True)
class Task:
    """A record: its name, its measurements, and the options of its discovery."""

    id: str
    data: Arguments | File | Dataset | Unusable
    options: Mapping[str, object] = field(default_factory=dict)
    picture: bool = False

    def __str__(self) -> str:
        return self.id


@dataclass(frozen=True)
class Refit:
    """A record that was discovered, as its packed record, and further laws to fit to it."""

    id: str
    record: bytes
    laws: tuple[str, ...]

    def __str__(self) -> str:
        return self.id


def begin() -> None:
    """Load and compile what a discovery needs, before the first one."""
    compile_solvers()
    t = np.linspace(0.0, 1.0, 12)
    fit("u' = C*u", t, np.exp(-t))


def work(task: Task) -> Result:
    """Return what is found in a record; what cannot be used is a row with a sentence."""
    start = time.perf_counter()
    try:
        found = _discovered(task)
        row, packed = found_row(task.id, found), pack(found)
        picture = drawn(found) if task.picture else b""
    except GodeError as error:
        row, packed, picture = Row(id=task.id, failure=str(error)), b"", b""
    except Exception as error:  # noqa: BLE001 - one record must not end the fleet
        said = shortened(f"{type(error).__name__}: {error}", 300)
        row, packed, picture = Row(id=task.id, failure=f"an unexpected error: {said}"), b"", b""
    seconds = round(time.perf_counter() - start, 4)
    return Result(replace(row, seconds=seconds, gode=__version__), packed, picture)


def _discovered(task: Task) -> Discovery:
    if isinstance(task.data, Unusable):
        raise DataError(task.data.failure)
    if isinstance(task.data, Arguments):
        # As a user would call it, so that every argument of discover can be given for one record.
        arguments: dict[str, Any] = {**task.options, **task.data.values}
        return discover(**arguments)
    dataset = task.data.dataset() if isinstance(task.data, File) else task.data
    return discover_in(dataset, options_of(task.options, dataset))


def options_of(given: Mapping[str, object], dataset: Dataset | None = None) -> Options:
    """Return options by their names; without an order it is 2 where accelerations were measured, else 1.

    Raises:
        ConfigError: if a value is none that the option can have.
    """
    values: dict[str, Any] = dict(given)
    if values.get("order") is None:
        second = dataset is not None and any(name.endswith("''") for name in dataset.channels)
        values["order"] = 2 if second else 1
    return Options(**values)


def option_names() -> set[str]:
    """Return the names of the options of a discovery."""
    return {f.name for f in fields(Options)}


def result_of(done: Done[Task, Result]) -> Result:
    """Return the result of a task, also if it has none."""
    if done.result is None:
        row = Row(id=done.task.id, failure=done.failure, seconds=round(done.seconds, 3), deaths=done.deaths)
        return Result(row)
    return replace(done.result, row=replace(done.result.row, deaths=done.deaths))


def refit(task: Refit) -> tuple[Fit, ...]:
    """Return further laws fitted to a record that was discovered, also those without a solution."""
    found = discovery_of(json.loads(zlib.decompress(task.record)))
    dataset, best = found.prepared.dataset, found.candidates[0]
    out = []
    for law in task.laws:
        try:
            texts = [text.strip() for text in law.split(";")]
            other = fit_in(dataset, parse_law(texts[0] if len(texts) == 1 else texts, dataset))
        except GodeError:  # it has no solution along these data
            out.append(Fit.without_solution(law))
            continue
        candidate = other.candidates[0]
        m = independent_values([*found.candidates, candidate])
        ours, theirs = (
            weighed(c, found.prepared.floor, found.settings.selection, m) for c in (candidate, best)
        )
        out.append(fit_of(ours, found, ours.criterion - theirs.criterion)._replace(law=law))
    return tuple(out)
