"""Options and runs that the studies of gode bench share."""

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gode.choices import EffortName
from gode.cli.app import OutPath, add_options, exit_interrupted
from gode.errors import ConfigError

if TYPE_CHECKING:
    from gode.benchmarks.jobs import Job
    from gode.benchmarks.records import Record
    from gode.benchmarks.run import StudyProgress
    from gode.benchmarks.tables import TextTable


class MultiValueCommand(click.Command):
    """A command whose repeatable options take several values: --seeds 0 1 2 for --seeds 0 --seeds 1 ..."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the name of an option before each of its values."""
        several = {o for p in self.params if isinstance(p, click.Option) and p.multiple for o in p.opts}
        out: list[str] = []
        current = ""
        for word in args:
            if word.startswith("--"):
                current = word if word in several else ""
                out.append(word)
            elif current and out[-1] != current:
                out += [current, word]
            else:
                out.append(word)
        return super().parse_args(ctx, out)


run_options = add_options(
    click.option("--problems", multiple=True, help="Names of problems; by default all.  [several]"),
    click.option("--methods", multiple=True, default=("gode", "floor"), show_default=True,
                 help="gode, gode-paper, pysindy, ...; see `gode bench methods`; or your own "
                 "module:function.  [several]"),
    click.option("--seeds", multiple=True, type=int, default=(0, 1, 2, 3, 4), show_default=True,
                 help="[several]"),
    click.option("--effort", type=click.Choice([*map(str, EffortName)]), default="normal",
                 show_default=True),
    click.option("--jobs", default=2, show_default=True,
                 help="Processes, at most one for each core."),
    click.option("--dask", metavar="ADDRESS",
                 help="Run on the workers of this Dask scheduler, which keep no --limit."),
    click.option("--limit", default=1800.0, show_default=True, help="Time limit of a run in seconds."),
    click.option("--retry", is_flag=True, help="Repeat runs that failed."),
    click.option("--pools", is_flag=True, help="Save all candidates of gode, to replay their selection."),
    click.option("--out", type=OutPath(), default=Path("out/bench"), show_default=True,
                 help="Folder of the results; an unfinished study in it is continued."),
)  # fmt: skip


initial_option = click.option(
    "--initial", type=click.Choice(["known", "unknown"]), default="known", show_default=True,
    help="Whether the methods are given the initial values.",
)  # fmt: skip


def usable_methods(names: Sequence[str], *, several_states: bool = False) -> list[str]:
    """Return the methods that are installed; print those that are not.

    Methods of the user are also found in modules of the current folder.

    Raises:
        ConfigError: if a method takes one state, but there are several.
    """
    from gode.benchmarks.methods import METHODS, method

    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as `python -m` does; worker processes get the same path
    for name in names:
        if not method(name).installed:
            click.echo(f"{name}: not installed (pip install {method(name).needs}); left out")
        if several_states and not method(name).systems:
            able = ", ".join(one for one in METHODS if METHODS[one].systems)
            raise ConfigError(f"{name} takes one state, but odebench has systems; choose from {able}")
    return [name for name in dict.fromkeys(names) if method(name).installed]


def run_study(
    ctx: click.Context, todo: "list[Job]", workers: int, limit: float, retry: bool, pools: bool, out: Path,
    dask: str | None = None,
) -> None:  # fmt: skip
    """Run the jobs that have no result yet, and print the tables."""
    from gode.benchmarks.report import main_table, remember_command
    from gode.benchmarks.run import RunConfig, run_jobs
    from gode.benchmarks.sweeps import sweep_table, sweeps_of
    from gode.benchmarks.tables import settings
    from gode.benchmarks.worker import now
    from gode.search.workers import cores

    saved = (out / "pools").absolute() if pools else None
    config = RunConfig(workers=workers, limit=limit, retry=retry, pools=saved, dask=dask)
    if workers > cores() and not dask:
        click.echo(f"--jobs {workers}: {cores()} processes are used, one for each core")
        workers, config = cores(), replace(config, workers=cores())
    if not todo:
        click.echo("nothing to do: none of these methods is installed")
        return
    remember_command(out, _command(ctx), now())
    where = f"on {dask}" if dask else f"{workers} at a time"
    click.echo(f"{len(todo)} runs, {where}; finished ones go to {out / 'runs.jsonl'}")
    try:
        records = run_jobs(todo, out, config, _show_progress, click.echo)
    except KeyboardInterrupt:
        click.echo("\nstopped; what is finished is kept, and the same command goes on from there")
        exit_interrupted()
    sweeps = sweeps_of(records)
    for what, own in sweeps.items():
        show_table(sweep_table(what, own))
    for setting, own in settings(records).items() if not sweeps else ():
        show_table(main_table(setting, own))


def _command(ctx: click.Context) -> str:
    """Return the command that repeats this study, defaults left out."""
    words = ["gode", "bench", str(ctx.info_name)]
    for parameter in ctx.command.params:
        value = ctx.params.get(parameter.name or "")
        if isinstance(parameter, click.Argument):
            words.append(str(value))
        elif value not in (None, (), parameter.get_default(ctx)) and isinstance(parameter, click.Option):
            values = value if isinstance(value, tuple) else () if value is True else (value,)
            words += [parameter.opts[0], *map(str, values)]
    return shlex.join(words)


def _show_progress(step: "StudyProgress") -> None:
    record = step.record
    click.echo(
        f"{step.done}/{step.total} {_span(step.left)} left: {record.job.problem} {record.job.method} "
        f"seed {record.job.seed}: {_outcome(record)} in {record.seconds:.1f} s",
    )


def _outcome(record: "Record") -> str:
    """Return the errors of a run, or for a system R² from both initial conditions, and what was found."""
    score = record.score
    found = "exact" if score.exact else "structure" if score.structure else score.failure or ""
    if score.r2:
        numbers = " ".join("-inf" if r is None else f"{r:.4f}" for r in score.r2)
        return f"R² {numbers} {found}".strip()
    return f"{' '.join(f'{e:.4f}' for e in score.errors)} {found}".strip()


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def show_table(table: "TextTable") -> None:
    """Print a table."""
    for line in ("", table.title, *table.lines(), table.note):
        click.echo(line)
