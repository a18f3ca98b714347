"""gode discover, fit, demo: from measurements to the equation, or to what a page shows beforehand."""

import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gode.cli.app import NOT_EXPLAINED, OutPath, add_options, exit_interrupted, main, say
from gode.cli.request import DISCOVER, FIT, asked_search, named_by_equations, parted, table_options
from gode.errors import ConfigError
from gode.tables.column_options import is_equation, is_problem
from gode.tables.dataset import check_initial, dataset_of, read_dataset

if TYPE_CHECKING:
    from gode.data import Dataset
    from gode.discovery import Discovery
    from gode.discovery.options import Options
    from gode.search.checkpoint import Checkpoint
    from gode.tables.dataset import DataOptions
    from gode.tables.runs import Readings
    from gode.tables.table import Table

CHECKPOINT = "checkpoint.jsonl"
NOT_DECISIVE = ("max_seconds",)  # options that may change without making the fits of a checkpoint wrong
result_options = add_options(
    click.option("--out", type=OutPath(), help="Folder for record, report and picture."),
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, and nothing else."),
    click.option("--quiet", is_flag=True, help="Print the equation, and nothing else."),
)


@main.command("discover")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@table_options(DISCOVER)
@click.option("--progress", type=OutPath(), metavar="FILE", help="Keep the progress in a file, as JSON.")
@result_options
def discover_command(
    files: tuple[str, ...], out: Path | None, as_json: bool, quiet: bool, progress: Path | None, **given: Any
) -> None:
    """Find the equation behind the measurements in FILE.

    The columns of time and signal are guessed from their names and printed; options name others, by name or
    number, or none. Several files, a column of runs, or several columns for --u, are several runs of one
    system; --states names several signals with one law. FILE is text, Excel (FILE.xlsx:Sheet), MATLAB,
    Parquet, or - for standard input. An empty cell is a missing value. With --out, a command that was killed
    continues where it stopped when it is given again; Ctrl-C and SIGTERM end with the best equation so far.

    \b
    Examples:
      gode discover data.csv
      gode discover pendulum.csv --order 2 --u angle --out result
      gode discover a.csv b.csv --force "sin(2*t)" --initial 1,0 --without log
      gode discover plate.xlsx --u A1,A2,A3
      gode discover fur.csv --states hare,lynx
      gode discover pendulum.csv --u angle --frame "u'' = -9.81*sin(u) - f(u')"
      gode discover carts.csv --states x1,x2 --order 2 --force motor
      gode discover shaker.csv --acceleration a --u none --order 2 --json
      gode discover plasma.csv --runs patient --individual all
    """
    n_jobs: int = given.pop("n_jobs")
    data, choices = parted(given)
    dataset, readings, options, notes = asked_search(partial(read_dataset, files), data, choices)
    _say_all([*readings.told, *notes, *jobs_note(n_jobs)], silent=as_json or quiet)
    checkpoint = None if out is None else _checkpoint(dataset, options, out)
    if checkpoint and checkpoint.n_recalled:
        recalled = f"{checkpoint.n_recalled} fits are known"
        _say_all([f"going on from {checkpoint.path}: {recalled}"], silent=as_json or quiet)
    seconds, found = _run_search(dataset, options, n_jobs, checkpoint, progress, quiet=quiet)
    _finish(found, readings, out, seconds=seconds, as_json=as_json, quiet=quiet)
    if checkpoint is not None and not (found.interrupted or found.timed_out):
        checkpoint.remove()
    _exit(found)


@main.command("fit")
@click.argument("equation", metavar="EQUATION...")
@click.argument("files", nargs=-1, type=click.Path(), metavar="FILE...")
@table_options(FIT)
@result_options
def fit_command(
    equation: str, files: tuple[str, ...], out: Path | None, as_json: bool, quiet: bool, **given: Any
) -> None:
    """Fit the constants of EQUATION to the measurements in FILE.

    Each C is a constant of its own, any other name one that is the same wherever it stands; numbers stay as
    they are. Several states have an equation each, separated
    by semicolons or given one after the other; their columns are called as the states are, or are named in
    this order by --states. See gode discover for the data. A PEtab problem (FILE.yaml) holds both.

    \b
    Examples:
      gode fit "u' = C*u - C*u^2" data.csv
      gode fit "u' = r*u*(1 - u/K)" data.csv --fix K=500 --bounds r=0:
      gode fit "C*u'' + C*u' + C*u = F" shaker.csv --force f --out result
      gode fit "x' = C*x - C*x*y; y' = C*x*y - C*y" fur.csv --states hare,lynx
      gode fit problem.yaml
    """
    if is_problem(equation):
        _fit_problem(equation, files, out, as_json=as_json, quiet=quiet)
        return
    texts, files = split_equations(equation, files)
    if not files:
        raise _without_files([equation, *texts])
    data, choices = parted(given)
    texts += [f"{name} = {formula}" for name, formula in choices["observe"].items()]
    dataset, readings = read_dataset(files, named_by_equations(data, texts))
    from gode.discovery.framing import individuals_asked, with_dose_named
    from gode.discovery.given import fit_in, law_known  # after the files were read: they are slow to import
    from gode.search.assumptions import make_known

    known = make_known(texts, choices["fixed"], choices["bounds"], data.column_units, guess=choices["guess"])
    dataset = with_dose_named(dataset, texts)
    law = law_known(dataset, known)
    _say_all([*readings.told, *check_initial(dataset, str(law.order))], silent=as_json or quiet)
    begin = time.perf_counter()
    found = fit_in(dataset, law, known, individual=individuals_asked(choices["individual"], dataset))
    _finish(found, readings, out, seconds=time.perf_counter() - begin, as_json=as_json, quiet=quiet)
    _exit(found)


def _fit_problem(path: str, files: tuple[str, ...], out: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Fit a PEtab problem, which names its data, constants and bounds itself."""
    if files:
        raise click.UsageError(f"{path} names its own data; leave out {files[0]}")
    from gode.discovery.given import fit_petab
    from gode.tables.runs import Readings

    begin = time.perf_counter()
    found = fit_petab(path)
    nothing = Readings((), (), {}, (), {})
    _finish(found, nothing, out, seconds=time.perf_counter() - begin, as_json=as_json, quiet=quiet)
    _exit(found)


def split_equations(first: str, others: tuple[str, ...]) -> tuple[list[str], tuple[str, ...]]:
    """Return the equations at the start of the arguments, and the files after them."""
    n = next((i for i, word in enumerate(others) if not is_equation(word)), len(others))
    texts = [part.strip() for text in (first, *others[:n]) for part in text.split(";")]
    return [text for text in texts if text] or [first], others[n:]


def _without_files(words: Sequence[str]) -> click.UsageError:
    """Return the error of a fit without a file: none was given, or it stands before the equation."""
    first = next((word for word in words if "=" not in word and os.path.exists(word)), None)
    if first is None:
        return click.UsageError("Missing argument 'FILE...'.")
    return click.UsageError(f"The equation comes first, then {first}, its data.")


def jobs_note(n_jobs: int) -> list[str]:
    """Return a sentence if more processes are asked for than there are cores."""
    from gode.search.workers import cores

    most = cores()
    return [f"--jobs {n_jobs}: {most} processes are used, one for each core"] if n_jobs > most else []


def _say_all(sentences: Sequence[str], *, silent: bool = False) -> None:
    for sentence in () if silent else sentences:
        say(sentence)


def _run_search(
    dataset: "Dataset",
    options: "Options",
    n_jobs: int,
    checkpoint: "Checkpoint | None",
    progress: Path | None,
    *,
    quiet: bool,
) -> "tuple[float, Discovery]":
    """Return what was found, after the seconds that it took."""
    from gode.cli.running import compiling_ahead, live_progress, told_by
    from gode.discovery.api import discover_in

    begin = time.perf_counter()
    with compiling_ahead(), live_progress(quiet=quiet) as show:
        known = 0 if checkpoint is None else checkpoint.n_recalled
        on_step = told_by(show, progress, dataset, known)
        found = discover_in(dataset, options, n_jobs=n_jobs, on_step=on_step, memo=checkpoint)
    return time.perf_counter() - begin, found


def _checkpoint(dataset: "Dataset", options: "Options", out: Path) -> "Checkpoint":
    from gode.files import make_folder
    from gode.search.checkpoint import Checkpoint

    make_folder(out)
    decisive = {name: value for name, value in vars(options).items() if name not in NOT_DECISIVE}
    return Checkpoint(out / CHECKPOINT, dataset, decisive)


def _finish(
    found: "Discovery", readings: "Readings", out: Path | None, *, seconds: float, as_json: bool, quiet: bool
) -> None:
    """Save and print the result, with the columns of the files that would improve a poor fit."""
    from gode.cli.results import print_discovery, print_json, save_results
    from gode.discovery.causes import with_helpful_columns

    found = with_helpful_columns(found, readings.others)
    files = save_results(found, out) if out else []
    try:
        if as_json:
            print_json(found, readings.told, files)
        elif quiet:
            say(str(found.equation))
        else:
            print_discovery(found, seconds=seconds)
            _say_all([f"written: {path}" for path in files])
    except KeyboardInterrupt:
        when = f"after {files[0]} was written" if files else "while the result was printed"
        raise KeyboardInterrupt(when) from None


def _exit(found: "Discovery") -> None:
    """Exit with the code that tells scripts about the result."""
    if found.interrupted:
        exit_interrupted()
    if found.assessment.is_failure:
        sys.exit(NOT_EXPLAINED)


UNASKED = ("files", "n_jobs", "out", "as_json", "quiet", "progress")  # options that change no answer


def asked_options(words: Sequence[str]) -> "tuple[DataOptions, dict[str, object]]":
    """Return the options about the data among the words of `gode discover`, and the others.

    Raises:
        ConfigError: if the command would refuse the words.
    """
    try:
        given = discover_command.make_context("discover", ["FILE", *words]).params
    except click.UsageError as error:
        raise ConfigError(error.format_message()) from None
    return parted({name: value for name, value in given.items() if name not in UNASKED})


def asked_data(
    tables: "Sequence[Table]", words: Sequence[str]
) -> "tuple[Dataset, Readings, Options, list[str]]":
    """Return what `gode discover` would search in some tables, how they were read, and what it would say.

    Raises:
        GodeError: if the command would refuse the data, or the options of the search.
    """
    from gode.discovery.framing import check_names, frame_of
    from gode.search.settings import check_start

    data, choices = asked_options(words)
    read = partial(dataset_of, tables)
    dataset, readings, options, notes = asked_search(read, data, choices)
    frame = frame_of(options.known, dataset) if options.known.frame else None
    for settings in options.settings(dataset, frame):
        check_start(settings, dataset.inputs)
    check_names(options.individual, frame.parameters if frame else ())
    return dataset, readings, options, notes


@main.command("demo")
@click.option("--out", type=OutPath(), default=Path("out"), show_default=True, help="Folder.")
def demo_command(out: Path) -> None:
    """Discover the equation behind an example measurement, and draw a picture.

    \b
    Example:
      gode demo --out out
    """
    from gode.cli.results import print_discovery, save_results
    from gode.cli.running import compiling_ahead, live_progress
    from gode.data.example import load_example
    from gode.discovery import discover
    from gode.files import make_folder

    make_folder(out)  # before the search, so that it is not in vain
    example = load_example("growth")
    say(f"The data: {len(example.t)} points. {example.truth}")
    say("The first run compiles the numerical core, which takes about 15 seconds; later ones do not.")
    begin = time.perf_counter()
    with compiling_ahead(), live_progress(quiet=False) as on_step:
        found = discover(example.t, example.u, order=1, on_step=on_step)
    print_discovery(found, seconds=time.perf_counter() - begin)
    for path in save_results(found, out):
        say(f"written: {path}")
