"""gode watch: a folder in which records arrive, and what changes in them."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gode.cli.app import NOT_EXPLAINED, OutPath, exit_interrupted, main, say
from gode.cli.columns import data_options
from gode.cli.fleet import chosen_engine, engine_options, search_options
from gode.errors import DataError

if TYPE_CHECKING:
    from gode.fleet.watching import Law, Told


@main.command("watch")
@click.argument("folder", type=click.Path(path_type=Path))
@data_options
@search_options
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
    chosen = {name: value for name, value in options.items() if value is not None and value != ()}
    if chosen.get("order") in ("1", "2"):
        chosen["order"] = int(chosen["order"])
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
