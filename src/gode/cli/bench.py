"""gode bench: the paper's suites, ODEBench, other tools, sweeps, the engine's speed, and the report."""

import sys
from pathlib import Path

import click

from gode.cli.app import OutPath, console, main
from gode.cli.study import (
    MultiValueCommand,
    initial_option,
    run_options,
    run_study,
    show_table,
    usable_methods,
)

INACCURATE = 1  # exit code if the quick suite exceeds a limit of its errors


@main.group()
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
    @run_options
    @initial_option
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
        from gode.benchmarks.jobs import suite_jobs
        from gode.benchmarks.quick import check_quick, quick_jobs

        todo = (
            quick_jobs(names)
            if quick
            else suite_jobs(
                names, problems=problems, methods=usable_methods(methods), seeds=seeds, noise=noise,
                initial=initial, effort=effort,
            )
        )  # fmt: skip
        run_study(ctx, todo, jobs, limit, retry, pools, out, dask)
        if quick:
            _exit_quick(check_quick(out, todo))


_suite_command(("b1",), "b1", "Suite B1: thirty equations of first order.")
_suite_command(("b2",), "b2", "Suite B2: ten linear and nonlinear equations of first and second order.")
_suite_command(("b3",), "b3", "Suite B3: three driven oscillators, of which the acceleration is measured.")
_suite_command(("b1", "b2", "b3"), "all", "The three suites.")


@bench.command("odebench", cls=MultiValueCommand)
@run_options
@click.option(
    "--noise",
    multiple=True,
    type=float,
    default=(0.05,),
    show_default=True,
    help="Standard deviations of the noise, in shares of each value.  [several]",
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
def odebench_command(
    ctx: click.Context, problems: tuple[str, ...], methods: tuple[str, ...], seeds: tuple[int, ...],
    effort: str, jobs: int, dask: str | None, limit: float, retry: bool, pools: bool, out: Path,
    noise: tuple[float, ...], drop: tuple[float, ...],
) -> None:  # fmt: skip
    """ODEBench: 63 systems of one to four states.

    --problems takes numbers and ranges, as 24,25 or 24-63. Methods are given data from the first initial
    condition, and scored from both.
    """
    from gode.benchmarks.jobs import odebench_jobs

    todo = odebench_jobs(
        problems=problems, methods=usable_methods(methods, several_states=True), seeds=seeds, noise=noise,
        dropped=drop, effort=effort,
    )  # fmt: skip
    run_study(ctx, todo, jobs, limit, retry, pools, out, dask)


@bench.command("sweep", cls=MultiValueCommand)
@click.argument("what", type=click.Choice(["noise", "samples", "dropped", "runs"]))
@run_options
@initial_option
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
    from gode.benchmarks.jobs import sweep_jobs

    todo = sweep_jobs(
        what,
        problems=problems,
        values=values,
        methods=usable_methods(methods),
        seeds=seeds,
        initial=initial,
        effort=effort,
    )
    run_study(ctx, todo, jobs, limit, retry, pools, out, dask)


@bench.command("methods")
def methods_command() -> None:
    """List the methods and whether they are installed."""
    from rich.table import Table

    from gode.benchmarks.methods import METHODS

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
    from gode.benchmarks import report as reporting

    found = reporting.make_report(folder)
    for section in found.sections:
        for table in section.tables:
            show_table(table)
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

    WHAT are any of fits, solves, decode, smooth, library, memory, start; by default all.
    """
    import json
    from dataclasses import asdict

    from gode.benchmarks.engine import measure

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


def _exit_quick(losses: list[str]) -> None:
    for loss in losses:
        click.echo(loss)
    click.echo("accuracy lost" if losses else "as accurate as it should be")
    if losses:
        sys.exit(INACCURATE)
