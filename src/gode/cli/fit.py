"""gode fit: the constants of an equation that is known."""

import time as clock
from pathlib import Path

import click

from gode.cli.app import OutPath, main
from gode.cli.discover import check_initial, end, finish, labelled, tell
from gode.cli.measured import Choice, data_options, read_measured


@main.command()
@click.argument("equation")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@data_options
@click.option("--out", type=OutPath(), help="Folder for record, report and picture.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, and nothing else.")
@click.option("--quiet", is_flag=True, help="Print the equation, and nothing else.")
def fit(
    equation: str, files: tuple[str, ...], out: Path | None, as_json: bool, quiet: bool, **chosen: object
) -> None:
    """Fit the constants C of EQUATION to the measurements in FILE.

    Each C is a constant of its own; numbers stay as they are. See gode discover for the data.

    \b
    Examples:
      gode fit "u' = C*u - C*u^2" data.csv
      gode fit "C*u'' + C*u' + C*u = F" shaker.csv --force f --out result
    """
    from gode.discovery import fit as fit_
    from gode.equation import parse_skeleton

    order = parse_skeleton(equation).order
    measured = read_measured(files, Choice(**chosen))  # type: ignore[arg-type]
    told = check_initial(measured, order)
    tell((*measured.told, *told), silent=as_json or quiet)
    begin = clock.perf_counter()
    found = fit_(equation, **measured.arguments)  # type: ignore[arg-type]
    seconds = clock.perf_counter() - begin
    finish(labelled(found, measured), measured, out, seconds=seconds, as_json=as_json, quiet=quiet)
    end(found)
