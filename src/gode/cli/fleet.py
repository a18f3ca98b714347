"""gode discover-many, gode watch: many records of a folder, on this machine or on a cluster."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gode.cli.app import NOT_EXPLAINED, OutPath, add_options, exit_interrupted, main, say
from gode.cli.request import RECORDS, given_of, table_options
from gode.errors import DataError

if TYPE_CHECKING:
    from gode.fleet.engine import Engine
    from gode.fleet.watching import Law, Told


engine_options = add_options(
    click.option("--dask", metavar="ADDRESS", help="Work on the workers of this Dask scheduler."),
    click.option("--jobs", type=click.IntRange(1), help="Processes; by default one for each core."),
)


@main.command("discover-many")
@click.argument("source", type=click.Path(), metavar="FOLDER")
@table_options(RECORDS)
@engine_options
@click.option("--id", metavar="COLUMN", help="FOLDER is one long table; this column tells its records apart.")
@click.option("--each", metavar="FILE", help="Table of options of single records, named in its first column.")
@click.option("--metadata", metavar="FILE", help="Table about the records, named in its first column.")
@click.option("--pictures/--no-pictures", default=True, show_default=True, help="Draw each record.")
@click.option("--out", type=OutPath(), required=True, help="Folder of the results; it is continued.")
def discover_many_command(
    source: str, out: Path, id: str | None, each: str | None, metadata: str | None, pictures: bool,
    dask: str | None, jobs: int | None, **options: Any,
) -> None:  # fmt: skip
    """Find the equation behind each file in FOLDER, and what they have in common.

    The options about columns and equations are those of gode discover. Each finished record is a line in
    table.jsonl; given again, the command goes on where it was stopped or killed. At the end there are
    table.csv, the page index.html, and the folders records and pictures.

    \b
    Examples:
      gode discover-many wells --effort quick --out result
      gode discover-many bridge --order 2 --metadata weather.csv --out result
      gode discover-many plate.csv --id well --out result --jobs 8
    """
    from gode.errors import ConfigError
    from gode.fleet.folder import run_folder
    from gode.fleet.many import count_of, options_table, read_metadata, tasks_of

    chosen = given_of(options)
    if Path(source).resolve() == out.resolve():
        raise ConfigError(f"--out {out} is the folder of the records; name another for the results")
    own = options_table(each) if each else {}
    about = read_metadata(metadata) if metadata else None
    tasks = tasks_of(source, id=id, each=own, picture=pictures, options=chosen)
    total = count_of(source, id)
    engine = chosen_engine(dask, jobs)
    say(f"{total} records, {engine.width} at a time; finished ones go to {out / 'table.jsonl'}")
    try:
        for step in run_folder(tasks, total, out, engine, settings={**chosen, "each": own}, on_note=say):
            found = step.row.failure or step.row.equation
            say(f"{step.done}/{step.total} {_span(step.left)} left: {step.row.id}: {found}")
        _finish(out, engine, about)
    except KeyboardInterrupt:
        say("\nstopped; what is finished is kept, and the same command goes on from there")
        exit_interrupted()
    finally:
        engine.close()


def _finish(out: Path, engine: "Engine", about: Any) -> None:
    """Fit shared laws where they are missing; write the table and the page; print the laws."""
    from gode.fleet.folder import CSV, PAGE, settle_folder, write_table
    from gode.fleet.table import Fleet

    for done, total in settle_folder(out, Fleet.read(out).unsettled, engine, on_note=say):
        if done in (1, total) or done % 100 == 0:
            say(f"fitting shared laws to other records: {done}/{total}")
    fleet = Fleet.read(out)
    write_table(fleet.table, out)
    fleet.report(out / PAGE, about)
    without = len(fleet.records) - len(fleet.fits)
    say(f"\n{len(fleet.records)} records, {without} without a law. The laws of the others:")
    for _, row in fleet.groups.head(10).iterrows():
        say(f"  {row['records']:6d} {row['law']} (could explain {row['could explain']})")
    for name, row in fleet.outliers.head(10).iterrows():
        say(f"  apart: {name}, {row['value']:.4g} multiplying {row['constant']}, usually {row['usual']:.4g}")
    for path in (out / CSV, out / PAGE):
        say(f"written: {path}")


def chosen_engine(dask: str | None, jobs: int | None) -> "Engine":
    """Return the engine that the options ask for.

    Raises:
        ConfigError: if there is none.
    """
    from gode.errors import ConfigError
    from gode.fleet.cluster import DaskCluster
    from gode.fleet.engine import OwnProcesses
    from gode.fleet.result import begin

    if dask and jobs:
        raise ConfigError("--dask and --jobs both say where to work; give one of them")
    return DaskCluster(dask) if dask else OwnProcesses(jobs, begin=begin)


def _span(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


@main.command("watch")
@click.argument("folder", type=click.Path(path_type=Path))
@table_options(RECORDS)
@engine_options
@click.option("--law", metavar="EQUATION|RECORD", help="By default it is found in the first records.")
@click.option(
    "--first", type=click.IntRange(3), default=20, show_default=True, help="Records that show what is usual."
)
@click.option(
    "--every", type=click.FloatRange(0.01), default=5.0, show_default=True, help="Seconds between looks."
)
@click.option("--once", is_flag=True, help="Check what is there, and end; exit code 3 if something changed.")
@click.option("--quiet", is_flag=True, help="Print changes only.")
@click.option(
    "--out", type=OutPath(), default=Path("out/watch"), show_default=True, help="Folder of the log."
)
def watch_command(
    folder: Path, out: Path, law: str | None, first: int, every: float, once: bool, quiet: bool,
    dask: str | None, jobs: int | None, **options: Any,
) -> None:  # fmt: skip
    """Check each file that arrives in FOLDER: same law, same constants within error bars, or drift?

    The first records show what is usual; --law gives the equation, as text or as a record whose constants are
    then the usual ones. A file is read once its size and time are the same at two looks, and again when it
    changes later. The log in OUT is also the state: started again, the command goes on with new or changed
    files only.

    \b
    Examples:
      gode watch bridge/daily --order 2 --acceleration a
      gode watch plant --law "u'' = C*u' + C*u" --once
      gode watch plant --law result/record.json
    """
    from gode.fleet.many import parted_options
    from gode.fleet.watching import LOG, Watch

    if not folder.is_dir():
        raise DataError(f"{folder} is no folder; name the one in which records arrive")
    chosen = given_of(options)
    columns, rest = parted_options(chosen)
    engine = chosen_engine(dask, jobs)
    told = 0
    try:
        watch = Watch(
            folder, out, engine, columns=columns, options=rest, law=_law(law), first=first, on_note=say
        )  # fmt: skip
        if watch.seen:
            say(f"going on from {out / LOG}: {len(watch.known)} records are known")
        watch.arrived()
        while True:
            time.sleep(every)
            for each in watch.take(watch.arrived(), last=once):
                told += _say(each, quiet=quiet)
            if once:
                break
    except KeyboardInterrupt:
        exit_interrupted()
    finally:
        engine.close()
    if watch.law is not None and watch.monitor is not None:
        say(f"{len(watch.known)} records, {told} told; the law is {watch.law.law}; log: {out / LOG}")
    else:
        say(f"too few records to learn what is usual; {first} are waited for, and --once needs 3")
    sys.exit(NOT_EXPLAINED if told else 0)


def _law(text: str | None) -> "Law | None":
    """Return the law that --law names."""
    from gode.fleet.watching import Law, given_law

    if text is None:
        return None
    if "=" in text:
        return Law(text)
    from gode.cli.records import load_record

    return given_law(load_record(text))


def _say(told: "Told", *, quiet: bool) -> bool:
    """Print what is said of a record; return whether it is a change."""
    from gode.fleet.watching import Status

    same = told.status is Status.SAME and not told.drift
    if same and not quiet:
        say(f"{told.id}: same law, same constants")
    if told.sentence:
        say(f"{told.id}: {told.sentence}", style="bold red")
    for sentence in told.drift:
        say(f"{told.id}: {sentence}", style="bold red")
    return not same
