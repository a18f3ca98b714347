"""gode discover: from files of measurements to the equation."""

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gode.cli.app import INTERRUPTED, main
from gode.cli.keep import CHECKPOINT, keep
from gode.cli.live import live_progress
from gode.cli.measured import Choice, Measured, data_options, read_measured
from gode.cli.show import print_discovery, print_json, say
from gode.errors import ConfigError
from gode.files import make_folder

if TYPE_CHECKING:
    from gode.discovery import Discovery
    from gode.report.checkpoint import Checkpoint

EFFORTS = ("quick", "normal", "thorough")  # as in discovery.settings, which is slow to import
PRESETS = ("default", "paper")


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@data_options
@click.option(
    "--order", type=click.IntRange(1, 2), help="Of the equation; by default 2 with accelerations, else 1."
)
@click.option("--grammar", metavar="NAME", help="A model that comes with gode, or one made by gode train.")
@click.option("--without", metavar="SYMBOL", multiple=True, help="Leave out log, t, ...; may be repeated.")
@click.option("--start", metavar="EQUATION", help="A guess, such as \"u'' = C*u\".")
@click.option("--effort", type=click.Choice(EFFORTS), default="normal", show_default=True)
@click.option("--preset", type=click.Choice(PRESETS), default="default", show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Same seed, same answer.")
@click.option(
    "--jobs",
    "n_jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Processes; the answer does not depend on it.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for record, report and picture.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, and nothing else.")
def discover(
    files: tuple[str, ...], order: int | None, out: Path | None, as_json: bool,
    time: str | None, u: str | None, velocity: str | None, acceleration: str | None,
    force: str | None, run: str | None, initial: tuple[str, ...],
    hold: bool | None, interpolation: str, **options: object,
) -> None:  # fmt: skip
    """Find the equation behind the measurements in FILE.

    The columns of time and signal are guessed from their names, and said; the options name others, by name or
    number, or none. Several files, or a column of runs, are several runs of one system. An empty cell was not
    observed. With --out, a run that was killed goes on where it stopped when the same command is given again;
    Ctrl-C ends with the best equation so far.

    \b
    Examples:
      gode discover data.csv
      gode discover pendulum.csv --order 2 --u angle --out result
      gode discover a.csv b.csv --force "sin(2*t)" --initial 1,0 --without log
      gode discover shaker.csv --acceleration a --u none --order 2 --json
    """
    choice = Choice(
        time=time, u=u, velocity=velocity, acceleration=acceleration, force=force, run=run, initial=initial,
        hold=hold, interpolation=interpolation,
    )  # fmt: skip
    measured = read_measured(files, choice)
    order = order or (2 if measured.arguments["acceleration"] is not None else 1)
    too_few = _check_initial(measured, order)
    if not as_json:
        for sentence in (*measured.told, *too_few):
            say(sentence)
    seconds, found, checkpoint = _found(measured, {"order": order, **options}, out, quiet=as_json)
    finish(found, measured, out, seconds=seconds, as_json=as_json)
    if checkpoint is not None and not found.interrupted:
        checkpoint.remove()
    if found.interrupted:
        sys.exit(INTERRUPTED)


def finish(
    found: "Discovery", measured: Measured, out: Path | None, *, seconds: float | None, as_json: bool
) -> None:
    """Save and show a discovery."""
    files = keep(found, out) if out else []
    if as_json:
        print_json(found, measured.told, files)
        return
    print_discovery(found, seconds=seconds)
    for path in files:
        say(f"written: {path}")


def labelled(found: "Discovery", measured: Measured) -> "Discovery":
    """Return the discovery with the names of columns and runs, for pictures and the report."""
    dataset = replace(found.prepared.dataset, labels=measured.labels, names=measured.names)
    return replace(found, prepared=replace(found.prepared, dataset=dataset))


def _found(
    measured: Measured, options: dict[str, object], out: Path | None, *, quiet: bool
) -> "tuple[float, Discovery, Checkpoint | None]":
    from gode.discovery import discover as discover_

    checkpoint = None if out is None else _checkpoint(measured, options, out)
    if checkpoint and not quiet and checkpoint.n_recalled:
        say(f"going on from {checkpoint.path}: {checkpoint.n_recalled} fits are known")
    begin = time.perf_counter()
    with live_progress(quiet=quiet) as on_step:
        found = discover_(**measured.arguments, **options, on_step=on_step, memo=checkpoint)  # type: ignore[arg-type]
    return time.perf_counter() - begin, labelled(found, measured), checkpoint


def _checkpoint(measured: Measured, options: dict[str, object], out: Path) -> "Checkpoint":
    from gode.discovery.arguments import make_dataset
    from gode.report.checkpoint import Checkpoint

    make_folder(out)
    decisive = {name: value for name, value in options.items() if name != "n_jobs"}
    return Checkpoint(out / CHECKPOINT, make_dataset(**measured.arguments), decisive)  # type: ignore[arg-type]


def _check_initial(measured: Measured, order: int) -> list[str]:
    """Refuse too many initial values; return what to tell about too few."""
    initial = measured.arguments["initial"]
    if not isinstance(initial, list):
        return []
    sizes = [len(values) for values in (initial if isinstance(initial[0], list) else [initial])]
    if max(sizes) > order:
        what = "u(t0)" if order == 1 else "u(t0),u'(t0)"
        raise ConfigError(f"--initial must be {what} for order {order}, got {max(sizes)} values")
    return ["u(t0) is known; u'(t0) is fitted"] if min(sizes) < order else []
