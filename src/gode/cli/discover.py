"""gode discover: from files of measurements to the equation."""

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gode.choices import EffortName, Preset
from gode.cli.app import NOT_EXPLAINED, OutPath, main
from gode.cli.measured import Choice, Measured, data_options, read_measured
from gode.cli.stopping import exit_interrupted
from gode.errors import ConfigError

if TYPE_CHECKING:
    from gode.discovery import Discovery
    from gode.discovery.options import Options
    from gode.report.checkpoint import Checkpoint

UNDECIDING = ("max_seconds",)  # options after whose change the fits known from before are still right


@main.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@data_options
@click.option(
    "--order",
    type=click.Choice(["1", "2", "auto"]),
    help="Of the equation; auto tries both. By default 2 with accelerations, else 1.",
)
@click.option(
    "--grammar",
    type=click.Path(),
    metavar="NAME",
    help="A model that comes with gode or was made by gode train, or a grammar file of few equations.",
)
@click.option("--without", metavar="SYMBOL", multiple=True, help="Leave out log, t, ...; may be repeated.")
@click.option("--start", metavar="EQUATION", help="A guess, such as \"u'' = C*u\".")
@click.option("--effort", type=click.Choice([*map(str, EffortName)]), default="normal", show_default=True)
@click.option("--preset", type=click.Choice([*map(str, Preset)]), default="default", show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Same seed, same answer.")
@click.option(
    "--max-seconds",
    type=click.FloatRange(0, min_open=True),
    metavar="S",
    help="End with the best so far after this time.",
)
@click.option(
    "--jobs",
    "n_jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Processes, at most one for each core; the answer does not depend on it.",
)
@click.option("--out", type=OutPath(), help="Folder for record, report and picture.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, and nothing else.")
@click.option("--quiet", is_flag=True, help="Print the equation, and nothing else.")
def discover(
    files: tuple[str, ...], order: str | None, n_jobs: int, out: Path | None, as_json: bool, quiet: bool,
    time: str | None, u: str | None, velocity: str | None, acceleration: str | None,
    force: str | None, run: str | None, initial: tuple[str, ...],
    hold: bool | None, interpolation: str, **options: object,
) -> None:  # fmt: skip
    """Find the equation behind the measurements in FILE.

    The columns of time and signal are guessed from their names, and said; the options name others, by name or
    number, or none. Several files, a column of runs, or several columns for --u, are several runs of one
    system. FILE is text, Excel (FILE.xlsx:Sheet), MATLAB, Parquet, or - for standard input. An empty cell was
    not observed. With --out, a run that was killed goes on where it stopped when the same command is given
    again; Ctrl-C ends with the best equation so far, and so does SIGTERM.

    \b
    Examples:
      gode discover data.csv
      gode discover pendulum.csv --order 2 --u angle --out result
      gode discover a.csv b.csv --force "sin(2*t)" --initial 1,0 --without log
      gode discover plate.xlsx --u A1,A2,A3
      gode discover shaker.csv --acceleration a --u none --order 2 --json
    """
    choice = Choice(
        time=time, u=u, velocity=velocity, acceleration=acceleration, force=force, run=run, initial=initial,
        hold=hold, interpolation=interpolation,
    )  # fmt: skip
    measured = read_measured(files, choice)
    usual = "2" if measured.arguments["acceleration"] is not None else "1"
    options["order"] = "auto" if order == "auto" else int(order or usual)
    told = check_initial(
        measured, 2 if order == "auto" else int(order or usual), "auto" if order == "auto" else ""
    )
    told += told_of_jobs(n_jobs)
    silent = as_json or quiet
    tell((*measured.told, *told), silent=silent)
    seconds, found, checkpoint = _found(measured, options, n_jobs, out, silent=silent, progress=not quiet)
    finish(found, measured, out, seconds=seconds, as_json=as_json, quiet=quiet)
    if checkpoint is not None and not (found.interrupted or found.timed_out):
        checkpoint.remove()
    end(found)


def end(found: "Discovery") -> None:
    """End with the exit code that tells scripts how it went."""
    if found.interrupted:
        exit_interrupted()
    if found.quality.verdict.is_failure:
        sys.exit(NOT_EXPLAINED)


def tell(sentences: tuple[str, ...], *, silent: bool) -> None:
    """Say how the data were understood."""
    from gode.cli.show import say

    for sentence in () if silent else sentences:
        say(sentence)


def finish(
    found: "Discovery", measured: Measured, out: Path | None, *, seconds: float, as_json: bool, quiet: bool
) -> None:
    """Save and show a discovery."""
    from gode.cli.keep import keep
    from gode.cli.show import print_discovery, print_json, say

    files = keep(found, out) if out else []
    try:
        if as_json:
            print_json(found, measured.told, files)
        elif quiet:
            say(str(found.equation))
        else:
            print_discovery(found, seconds=seconds)
            tell(tuple(f"written: {path}" for path in files), silent=False)
    except KeyboardInterrupt:
        when = f"after {files[0]} was written" if files else "while the result was printed"
        raise KeyboardInterrupt(when) from None


def labelled(found: "Discovery", measured: Measured) -> "Discovery":
    """Return the discovery with the names of columns and runs, and of columns that would help it."""
    from gode.discovery.explaining import with_helpful_columns

    dataset = replace(found.prepared.dataset, labels=measured.labels, names=measured.names)
    found = replace(found, prepared=replace(found.prepared, dataset=dataset))
    return with_helpful_columns(found, measured.others)


def _found(
    measured: Measured,
    given: dict[str, object],
    n_jobs: int,
    out: Path | None,
    *,
    silent: bool,
    progress: bool,
) -> "tuple[float, Discovery, Checkpoint | None]":
    from gode.cli.ahead import compiling_ahead
    from gode.cli.live import live_progress
    from gode.discovery.api import discover_in
    from gode.discovery.arguments import make_dataset
    from gode.discovery.options import Options

    options = Options(**given)  # type: ignore[arg-type]
    checkpoint = None if out is None else _checkpoint(measured, options, out)
    if checkpoint and checkpoint.n_recalled:
        tell((f"going on from {checkpoint.path}: {checkpoint.n_recalled} fits are known",), silent=silent)
    begin = time.perf_counter()
    dataset = make_dataset(**measured.arguments)  # type: ignore[arg-type]
    with compiling_ahead(), live_progress(quiet=not progress) as on_step:
        found = discover_in(dataset, options, n_jobs=n_jobs, on_step=on_step, memo=checkpoint)
    return time.perf_counter() - begin, labelled(found, measured), checkpoint


def _checkpoint(measured: Measured, options: "Options", out: Path) -> "Checkpoint":
    from gode.cli.keep import CHECKPOINT
    from gode.discovery.arguments import make_dataset
    from gode.files import make_folder
    from gode.report.checkpoint import Checkpoint

    make_folder(out)
    decisive = {name: value for name, value in vars(options).items() if name not in UNDECIDING}
    return Checkpoint(out / CHECKPOINT, make_dataset(**measured.arguments), decisive)  # type: ignore[arg-type]


def told_of_jobs(n_jobs: int) -> list[str]:
    """Return what to tell about more processes than there are cores."""
    from gode.discovery.workers import cores

    most = cores()
    return [f"--jobs {n_jobs}: {most} processes are used, one for each core"] if n_jobs > most else []


def check_initial(measured: Measured, order: int, asked: str = "") -> list[str]:
    """Refuse too many initial values; return what to tell about too few."""
    initial = measured.arguments["initial"]
    if not isinstance(initial, list):
        return []
    sizes = [len(values) for values in (initial if isinstance(initial[0], list) else [initial])]
    if max(sizes) > order:
        what = "u(t0)" if order == 1 else "u(t0),u'(t0)"
        raise ConfigError(f"--initial must be {what} for order {asked or order}, got {max(sizes)} values")
    return ["u(t0) is known; u'(t0) is fitted"] if min(sizes) < order and not asked else []
