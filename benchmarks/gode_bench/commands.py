"""gode bench: the paper's suites, suites of systems, other tools, sweeps, the engine's speed, and the report.

What the commands need is imported when they run, so that `gode --help` stays quick.
"""

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gode.choices import EffortName
from gode.cli.app import OutPath, add_options, console, exit_interrupted
from gode.errors import ConfigError

if TYPE_CHECKING:
    from gode_bench.jobs import Job
    from gode_bench.records import Record
    from gode_bench.run import StudyProgress
    from gode_bench.tables import TextTable

INACCURATE = 1  # exit code if the quick suite exceeds a limit of its errors


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


RUN_OPTIONS = add_options(
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

INITIAL_OPTION = click.option(
    "--initial", type=click.Choice(["known", "unknown"]), default="known", show_default=True,
    help="Whether the methods are given the initial values.",
)  # fmt: skip


@click.group()
def bench() -> None:
    """Measure gode and other tools on the paper's problems.

    \b
    Example:
      gode bench b1 --seeds 0 1 2 --methods gode floor --out out/bench
      gode bench report out/bench
    """


def _suite_command(names: tuple[str, ...], title: str, text: str) -> None:
    """Register the command of some suites."""

    @bench.command(title, help=text, cls=MultiValueCommand)
    @RUN_OPTIONS
    @INITIAL_OPTION
    @click.option("--noise", multiple=True, type=float, default=(0.05,), show_default=True, help="[several]")
    @click.option(
        "--quick", is_flag=True, help="A few problems, one seed, quick effort; fails if errors are too large."
    )
    @click.pass_context
    def run_suite(
        ctx: click.Context, problems: tuple[str, ...], methods: tuple[str, ...], seeds: tuple[int, ...],
        initial: str, effort: str, jobs: int, dask: str | None, limit: float, retry: bool, pools: bool,
        out: Path, noise: tuple[float, ...], quick: bool,
    ) -> None:  # fmt: skip
        from gode_bench.jobs import suite_jobs
        from gode_bench.quick import check_quick, quick_jobs

        todo = (
            quick_jobs(names)
            if quick
            else suite_jobs(
                names, problems=problems, methods=_usable_methods(methods), seeds=seeds, noise=noise,
                initial=initial, effort=effort,
            )
        )  # fmt: skip
        _run_study(ctx, todo, jobs, limit, retry, pools, out, dask)
        if quick:
            _exit_quick(check_quick(out, todo))


_suite_command(("b1",), "b1", "Suite B1: thirty equations of first order.")
_suite_command(("b2",), "b2", "Suite B2: ten linear and nonlinear equations of first and second order.")
_suite_command(("b3",), "b3", "Suite B3: three driven oscillators, of which the acceleration is measured.")
_suite_command(("b1", "b2", "b3"), "all", "The three suites.")


def _systems_command(suite: str, noise: tuple[float, ...], text: str) -> None:
    """Register the command of a suite of systems."""

    @bench.command(suite, help=text, cls=MultiValueCommand)
    @RUN_OPTIONS
    @click.option(
        "--noise",
        multiple=True,
        type=float,
        default=noise,
        show_default=True,
        help="Standard deviations of the noise, in odebench in shares of each value, elsewhere in those of "
        "each state.  [several]",
    )
    @click.option(
        "--drop",
        multiple=True,
        type=float,
        default=(0.0,),
        show_default=True,
        help="Shares of the samples that are left out at random.  [several]",
    )
    @click.pass_context
    def run_systems(
        ctx: click.Context, problems: tuple[str, ...], methods: tuple[str, ...], seeds: tuple[int, ...],
        effort: str, jobs: int, dask: str | None, limit: float, retry: bool, pools: bool, out: Path,
        noise: tuple[float, ...], drop: tuple[float, ...],
    ) -> None:  # fmt: skip
        from gode_bench.jobs import system_jobs

        todo = system_jobs(
            suite, problems=problems, methods=_usable_methods(methods, several_states=True), seeds=seeds,
            noise=noise, dropped=drop, effort=effort,
        )  # fmt: skip
        _run_study(ctx, todo, jobs, limit, retry, pools, out, dask)


FROM_TWO_STARTS = "Methods are given data from the first initial condition, and scored from both."
_systems_command(
    "odebench",
    (0.05,),
    "ODEBench: 63 systems of one to four states. --problems takes numbers and ranges, as 24,25 or 24-63. "
    + FROM_TWO_STARTS,
)
_systems_command(
    "dysts",
    (0.01,),
    "38 chaotic systems with three states, polynomials all of them, ten periods each. " + FROM_TWO_STARTS,
)
_systems_command(
    "autosindy",
    (0.0, 0.01, 0.02, 0.03, 0.04, 0.05),
    "The six systems, six noise levels and five seeds of AutoSINDy. " + FROM_TWO_STARTS,
)


@bench.command("sweep", cls=MultiValueCommand)
@click.argument("what", type=click.Choice(["noise", "samples", "dropped", "runs"]))
@RUN_OPTIONS
@INITIAL_OPTION
@click.option(
    "--values", multiple=True, type=float, help="Values; by default those of the results page.  [several]"
)
@click.pass_context
def sweep_command(
    ctx: click.Context, what: str, problems: tuple[str, ...], methods: tuple[str, ...],
    seeds: tuple[int, ...], initial: str, effort: str, jobs: int, dask: str | None, limit: float, retry: bool,
    pools: bool, out: Path, values: tuple[float, ...],
) -> None:  # fmt: skip
    """Vary the noise, the number of samples, the share of dropped samples, or the number of runs."""
    from gode_bench.jobs import sweep_jobs

    todo = sweep_jobs(
        what,
        problems=problems,
        values=values,
        methods=_usable_methods(methods),
        seeds=seeds,
        initial=initial,
        effort=effort,
    )
    _run_study(ctx, todo, jobs, limit, retry, pools, out, dask)


@bench.command("nonlinear")
@click.argument("names", nargs=-1)
@click.option("--data", type=click.Path(path_type=Path), required=True, help="Folder of the records.")
@click.option(
    "--effort", type=click.Choice([*map(str, EffortName)]), default=str(EffortName.NORMAL), show_default=True
)
@click.option("--rows", type=OutPath(), help="File of what is finished; an interrupted call goes on from it.")
@click.option("--out", type=OutPath(), help="Markdown file; by default the terminal.")
def nonlinear_command(
    names: tuple[str, ...], data: Path, effort: str, rows: Path | None, out: Path | None
) -> None:
    """Records of nonlinearbenchmark.org: silverbox, emps, tanks, drives.

    NAMES are those to run; by default all. A law is found on the training record, and simulated over the test
    record; published errors stand below. The records are not part of this package: save them in the folder of
    --data as CSV, with columns t, u and force, or t, speed and voltage.
    """
    from gode_bench.nonlinear import measure, tables
    from gode_bench.report import write_text
    from gode_bench.tables import markdown

    text = "\n".join(markdown(tables(measure(data, names, effort, rows))))
    if out is None:
        click.echo(text)
    else:
        write_text(out, text)
        click.echo(f"tables: {out}")


@bench.command("methods")
def methods_command() -> None:
    """List the methods and whether they are installed."""
    from rich.table import Table

    from gode_bench.methods import METHODS

    table = Table("method", "what it is", "installed")
    for name, each in METHODS.items():
        table.add_row(
            name, each.title, each.version or "yes" if each.installed else f"no: pip install {each.needs}"
        )
    console().print(table)


@bench.command("report")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--markdown", type=OutPath(), help="Write the tables to this file, too.")
@click.option("--latex", type=OutPath(), help="Write the tables to this file as LaTeX.")
def study_report_command(folder: Path, markdown: Path | None, latex: Path | None) -> None:
    """Print the tables of FOLDER, draw its figures, and write a page with all of them."""
    from gode_bench import report as reporting

    found = reporting.make_report(folder)
    for section in found.sections:
        for table in section.tables:
            _show_table(table)
    written = reporting.write_report(found, folder)
    if found.warning:
        click.echo(found.warning)
    click.echo(f"page: {written[0]}; {len(written) - 1} figures in {folder / reporting.FIGURES}")
    for path, text in ((markdown, reporting.markdown), (latex, reporting.latex)):
        if path:
            reporting.write_text(path, text(found))
            click.echo(f"tables: {path}")


@bench.command("engine")
@click.argument("what", nargs=-1)
@click.option("--quick", is_flag=True, help="Smaller samples: seconds instead of minutes.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def engine_command(what: tuple[str, ...], quick: bool, as_json: bool) -> None:
    """Measure the engine and its baselines in one run.

    WHAT are any of fits, solves, decode, smooth, library, memory, start, discoveries; by default all.
    """
    import json
    from dataclasses import asdict

    from gode_bench.engine import measure

    metrics = []
    for metric in measure(what, quick=quick):
        metrics.append(metric)
        if not as_json:
            beside = f"; {metric.baseline}: {metric.base:.4g}" if metric.base is not None else ""
            ratio = f", ratio {metric.ratio:.3g}" if metric.ratio is not None else ""
            note = f" ({metric.note})" if metric.note else ""
            click.echo(f"{metric.name}: {metric.value:.4g} {metric.unit}{beside}{ratio}{note}")
    if as_json:
        click.echo(json.dumps([{**asdict(f), "ratio": f.ratio} for f in metrics]))


def _usable_methods(names: Sequence[str], *, several_states: bool = False) -> list[str]:
    """Return the methods that are installed; print those that are not.

    Methods of the user are also found in modules of the current folder.

    Raises:
        ConfigError: if a method takes one state, but there are several.
    """
    from gode_bench.methods import METHODS, method

    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as `python -m` does; worker processes get the same path
    for name in names:
        if not method(name).installed:
            click.echo(f"{name}: not installed (pip install {method(name).needs}); left out")
        if several_states and not method(name).systems:
            able = ", ".join(one for one in METHODS if METHODS[one].systems)
            raise ConfigError(f"{name} takes one state, but these are systems; choose from {able}")
    return [name for name in dict.fromkeys(names) if method(name).installed]


def _run_study(
    ctx: click.Context, todo: "list[Job]", workers: int, limit: float, retry: bool, pools: bool, out: Path,
    dask: str | None = None,
) -> None:  # fmt: skip
    """Run the jobs that have no result yet, and print the tables."""
    from gode.search.workers import cores
    from gode_bench.report import main_table, remember_command
    from gode_bench.run import RunConfig, run_jobs
    from gode_bench.sweeps import sweep_table, sweeps_of
    from gode_bench.tables import settings
    from gode_bench.worker import now

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
        _show_table(sweep_table(what, own))
    for setting, own in settings(records).items() if not sweeps else ():
        _show_table(main_table(setting, own))


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


def _show_table(table: "TextTable") -> None:
    """Print a table."""
    for line in ("", table.title, *table.lines(), table.note):
        click.echo(line)


def _exit_quick(losses: list[str]) -> None:
    for loss in losses:
        click.echo(loss)
    click.echo("accuracy lost" if losses else "as accurate as it should be")
    if losses:
        sys.exit(INACCURATE)
