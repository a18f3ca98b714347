"""gode show, report, export, simulate, pack: a record printed, a page, a program, solved again, packed."""

import json
import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gode.cli.app import OutPath, main
from gode.errors import ConfigError, DataError, FileError, shortened
from gode.tables.column_options import is_equation, parts_of
from gode.tables.dataset import parse_values

if TYPE_CHECKING:
    from gode.arrays import Float
    from gode.discovery import Discovery
    from gode.solve import Solution

import platform
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

from gode import __version__
from gode.cli.app import FIT, PICTURE, REPORT, RUNS
from gode.errors import GodeError
from gode.files import RECORD, read_bytes, replacing

LINEAR, PETAB = "linear", "petab"
# Where a solution ends is sought by as many times as this up to its end, at most so often; set by hand.
CLOSE, CLOSER = 1001, 8
FORMATS = ("python", "c", "julia", "matlab", "modelica", "r", "rxode2", "sbml", PETAB, LINEAR)


@main.command("report")
@click.argument("record", type=click.Path())
@click.option("--out", type=OutPath(), help="HTML file; by default beside the record.")
def report_command(record: str, out: Path | None) -> None:
    """Write RECORD as one self-contained HTML page.

    RECORD is what gode discover --out has saved: a file, or the folder with it.

    \b
    Examples:
      gode report result/record.json
      gode report result --out page.html
    """
    found = load_record(record)
    place = Path(record)
    path = out or (place if os.path.isdir(place) else place.parent) / "report.html"
    found.report(path)
    click.echo(f"written: {path}")


@main.command("show")
@click.argument("record", type=click.Path())
@click.option("--candidates", is_flag=True, help="Print all laws that the record holds, as a table.")
def show_command(record: str, candidates: bool) -> None:
    """Print what RECORD holds, as after the search: the law, how good it is, and its rivals.

    \b
    Examples:
      gode show result
      gode show result --candidates
    """
    from gode.cli.results import print_candidates, print_discovery

    found = load_record(record)
    if candidates:
        print_candidates(found)
    else:
        print_discovery(found, seconds=None)


@main.command("export")
@click.argument("record", type=click.Path())
@click.option(
    "--to",
    "language",
    type=click.Choice(FORMATS),
    required=True,
    help="Language of the program; sbml for a model, petab for a folder with model and data, linear for the "
    "matrices near an equilibrium, as JSON.",
)
@click.option(
    "--run",
    metavar="NUMBER|NAME",
    help="Run of the record to start from, from 0; of runs with their own constants the mean without it.",
)
@click.option("--near", type=float, help="For linear: near which u the equilibrium lies.")
@click.option("--force", type=float, help="For linear: the constant input.  [default: 0]")
@click.option("--step", type=float, help="For linear: sample time of a discrete model, the input held.")
@click.option("--out", type=OutPath(), help="File; by default the terminal.")
def export_command(
    record: str, language: str, run: str | None, out: Path | None,
    near: float | None, force: float | None, step: float | None,
) -> None:  # fmt: skip
    """Write the equation of RECORD as a program that simulates it, or as a linear model.

    \b
    Examples:
      gode export result/record.json --to python
      gode export result --to c --out model.c
      gode export result --to petab --out problem
      gode export result --to linear --force 1.5 --step 0.01
    """
    if language == PETAB:
        _save_petab(record, run, out)
    else:
        _write(_exported(record, language, run, near, force, step), out)


def _save_petab(record: str, run: str | None, out: Path | None) -> None:
    if out is None:
        raise ConfigError("a PEtab problem is a folder with six files; name it with --out FOLDER")
    for path in load_record(record).save_petab(out, run=run):
        click.echo(f"written: {path}", err=True)


def _exported(
    record: str, language: str, run: str | None, near: float | None, force: float | None, step: float | None
) -> str:
    from gode.report.languages import code

    if language != LINEAR:
        given = [name for name, v in (("near", near), ("force", force), ("step", step)) if v is not None]
        if given:
            raise ConfigError(f"--{given[0]} belongs to --to linear; leave it out for --to {language}")
        return code(load_record(record), language, run=run)
    model = load_record(record).linearise(near, force=force or 0.0)
    return json.dumps((model if step is None else model.discrete(step)).as_dict(), indent=1) + "\n"


@main.command("simulate")
@click.argument("source", type=click.Path(), metavar="RECORD|EQUATION")
@click.option("--from", "start", type=float, help="First time; by default that of the data, or 0.")
@click.option("--to", "stop", type=float, help="Last time; by default that of the data.")
@click.option(
    "--points",
    type=click.IntRange(2, 10_000_000),
    default=201,
    show_default="201",
    help="Number of times, evenly spaced.",
)
@click.option(
    "--initial", metavar="VALUES", help="u, or u,u' at the first time, of each state; by default those found."
)
@click.option(
    "--force",
    metavar="FORMULA[,...]",
    help="The known input as a formula in t; several as heat=1,rain=sin(t).",
)
@click.option("--run", metavar="NUMBER|NAME", default="0", help="Run of the record, from 0, or its name.")
@click.option("--out", type=OutPath(), help="CSV file; by default the terminal.")
def simulate_command(
    source: str, start: float | None, stop: float | None, points: int,
    initial: str | None, force: str | None, run: str, out: Path | None,
) -> None:  # fmt: skip
    """Solve the equation of a RECORD, or an EQUATION, as CSV.

    The columns are t, u and its derivatives, or those of several states by their names. An EQUATION has
    numbers in place of constants; several are separated by semicolons.

    \b
    Examples:
      gode simulate result/record.json
      gode simulate result/record.json --to 30 --points 300 --out longer.csv
      gode simulate "u'' = -9.8*sin(u) - 0.1*u'" --to 10 --initial 1,0
      gode simulate "x' = x - x*y; y' = x*y - y" --to 10 --initial 2,1
    """
    values = None if initial is None else parse_values(initial, "--initial")
    if is_equation(source):
        equation = partial(_solve_equation, source, start, initial=values, force=force)
        solved, solve_to = equation(stop, points), equation
    else:
        record = partial(_solve_record, load_record(source), start, initial=values, force=force, run=run)
        solved, solve_to = record(stop, points), record
    if solved.failure is not None:
        raise DataError(f"{_ending(solved, solve_to)}; ask for a shorter time or other values")
    _write(_as_csv(solved), out)


def load_record(source: str) -> "Discovery":
    """Return the discovery saved at `source`, a file or a folder.

    Raises:
        FileError: if there is none.
    """
    if not os.path.exists(source):
        raise FileError(
            f"there is no record {shortened(source, 200)!r}; name a record.json, or the folder that "
            "gode discover --out made"
        )
    from gode.report import load

    return load(source)


def _solve_record(
    found: "Discovery",
    start: float | None,
    stop: float | None,
    points: int,
    initial: list[float] | None,
    force: str | None,
    run: str,
) -> "Solution":
    from gode.discovery.framing import display_name

    number = found.prepared.dataset.number_of(run)
    t: Float = found.prepared.dataset.runs[number].t
    if start is not None and start != t[0] and initial is None:
        raise ConfigError(f"the initial values are known at t = {t[0]:g}; give --initial for another start")
    times = _times(t[0] if start is None else start, t[-1] if stop is None else stop, points)
    names = [display_name(found.prepared.dataset, name) for name in found.prepared.dataset.inputs]
    forces = None if force is None else _forces(force, names)
    return found.simulate(times, initial, forces, run=number)


def _solve_equation(
    text: str,
    start: float | None,
    stop: float | None,
    points: int,
    initial: list[float] | None,
    force: str | None,
) -> "Solution":
    from gode.equation import parse_equation
    from gode.equation.system import parse_system_values
    from gode.solve import solve

    inputs = {} if force is None else _forces(force, ())
    texts = [part for part in text.split(";") if part.strip()]
    alone = len(texts) == 1 and inputs.keys() <= {"F"} and re.search(r"\bu\b", text)
    law = parse_equation(text) if alone else parse_system_values(texts, inputs=tuple(inputs))
    if stop is None or initial is None:
        raise ConfigError("an equation needs --to and --initial, such as --to 10 --initial 1,0")
    times = _times(0.0 if start is None else start, stop, points)
    return solve(law, times, initial, inputs=inputs)


def _ending(solved: "Solution", solve_to: Callable[[float, int], "Solution"]) -> str:
    """Return where a solution ends, in words, from times that lie closer and closer before its end.

    Args:
        solve_to: solves the same problem to some time, at so many times.
    """
    whole = solved.t[-1]
    for _ in range(CLOSER):
        known = _times_known(solved)
        end = solved.t[min(len(known), len(solved.t) - 1)]
        if len(known) and end - known[-1] <= 2 * (end - solved.t[0]) / CLOSE:
            break
        finer = solve_to(float(end), CLOSE)
        if finer.failure is None:
            return f"the solution is known to t = {end:.4g}, but cannot be followed to t = {whole:.4g}"
        solved = finer
    known = _times_known(solved)
    where = f" after t = {known[-1]:.4g}" if len(known) else ""
    return f"there is no solution{where}: {solved.failure}"


def _times_known(solved: "Solution") -> "Float":
    import numpy as np

    return np.asarray(solved.t[np.isfinite(solved.values[::3]).all(axis=0)])


def _forces(text: str, known: Sequence[str]) -> dict[str, str]:
    """Return the formula of each input; those without a name are for the `known` ones in turn, else for F."""
    parts = parts_of(text)
    unnamed = sum(not part.name for part in parts)
    free = [name for name in known or ("F",) if name not in {part.name for part in parts}]
    if unnamed > len(free):
        expected = f"the inputs are {', '.join(known)}" if known else "name each, as in heat=1,rain=sin(t)"
        raise ConfigError(f"--force {text!r} has {len(parts)} formulas; {expected}")
    names = iter(free)
    return {part.name or next(names): part.word for part in parts}


def _times(start: float, stop: float, points: int) -> "Float":
    import numpy as np

    if not (np.isfinite([start, stop]).all() and stop > start):
        raise ConfigError(f"the last time must lie after the first, got --from {start:g} --to {stop:g}")
    return np.linspace(start, stop, points)


def _as_csv(solved: "Solution") -> str:
    import numpy as np

    columns = {"t": solved.t, "u": solved.u, "velocity": solved.du}
    if np.isfinite(solved.d2u).all():
        columns["acceleration"] = solved.d2u
    if solved.states != ("u",):
        named = {name + primes: solved[name + primes] for primes in ("", "'", "''") for name in solved.states}
        columns = {"t": solved.t, **{key: row for key, row in named.items() if np.isfinite(row).all()}}
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(repr, row)) for row in rows)]) + "\n"


def _write(text: str, out: Path | None) -> None:
    """Write to a file, or to the terminal if none is given."""
    from gode.files import write_text

    if out is None:
        click.echo(text, nl=False)
        return
    write_text(out, text)
    click.echo(f"written: {out}", err=True)


SAVED = (RECORD, REPORT, PICTURE, FIT, RUNS)  # what gode discover --out writes into its folder
MAX_FILE = 1_000_000_000  # bytes
ABOUT = "about.txt"


@main.command("pack")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--out", type=OutPath(), default=Path("gode-pack.zip"), show_default=True, help="The archive.")
@click.option(
    "--said", metavar="TEXT", default="", help="The command or the lines of Python, as you typed them."
)
def pack_command(paths: tuple[Path, ...], out: Path, said: str) -> None:
    """Pack data, result, command and versions into one archive, to show others what happened.

    PATHS are the folder that gode discover --out wrote, or a record, and the files of the measurements. A
    record holds the measurements, too. Look into the archive before you send it: it holds your data.

    \b
    Examples:
      gode pack result data.csv --out report.zip
      gode pack data.csv --said "gode discover data.csv --order 2"
    """
    files = dict(_files(paths))
    with replacing(out) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(ABOUT, _about(files, said))
        for name, path in files.items():
            archive.writestr(name, read_bytes(path, MAX_FILE))
    click.echo(f"written: {out} ({', '.join([ABOUT, *files])})")


def _files(paths: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Yield each file with its name in the archive.

    Raises:
        FileError: if a path is no file, nor a folder with a record; or if two files have the same name.
    """
    seen: set[str] = set()
    for path in paths:
        found = [path / name for name in SAVED if (path / name).exists()] if path.is_dir() else [path]
        if not found:
            raise FileError(
                f"{shortened(str(path), 200)} holds no {RECORD}; name a folder of gode discover --out"
            )
        for file in found:
            if file.name in seen:
                raise FileError(f"two files are called {file.name}; rename one, or pack them one by one")
            seen.add(file.name)
            yield file.name, file


def _about(files: dict[str, Path], said: str) -> str:
    """Return the command and the versions."""
    lines = [f"command as typed: {said}"] if said else []
    if RECORD in files:
        lines += [f"command of the record: {_command(files[RECORD])}"]
    lines += [
        f"gode {__version__}",
        f"Python {sys.version}",
        f"system: {platform.platform()}, {platform.machine()}",
        *(f"{name} {found}" for name, found in _versions()),
    ]
    return "\n".join(lines) + "\n"


def _command(record: Path) -> str:
    """Return the command that repeats a record, or why it cannot be told."""
    from gode.report import load
    from gode.report.repeat import command

    try:
        return command(load(record))
    except GodeError as problem:
        return f"not known ({problem})"


def _versions() -> Iterator[tuple[str, str]]:
    """Yield what gode is built on, with the version that is installed."""
    needed = [line.partition(";") for line in requires("gode-engine") or ()]
    for name in sorted(
        {text.split(">")[0].split("[")[0].strip() for text, _, condition in needed if not condition}
    ):
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, "is not installed"
