"""gode report, gode export: a record as a page, or as a program."""

import json
import os
from pathlib import Path

import click

from gode.cli.app import OutPath, main
from gode.cli.keep import write_report
from gode.cli.simulate import load_record
from gode.errors import ConfigError

LINEAR = "linear"
LANGUAGES = ("python", "c", "julia", "matlab", "modelica", LINEAR)


@main.command()
@click.argument("record", type=click.Path())
@click.option("--out", type=OutPath(), help="HTML file; by default beside the record.")
def report(record: str, out: Path | None) -> None:
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
    write_report(found, path)
    click.echo(f"written: {path}")


@main.command()
@click.argument("record", type=click.Path())
@click.option(
    "--to",
    "language",
    type=click.Choice(LANGUAGES),
    required=True,
    help="Language of the program; linear for the matrices near an equilibrium, as JSON.",
)
@click.option("--run", type=click.IntRange(0), default=0, help="Run of the record to start from, from 0.")
@click.option("--near", type=float, help="For linear: near which u the equilibrium lies.")
@click.option("--force", type=float, help="For linear: the constant input.  [default: 0]")
@click.option("--step", type=float, help="For linear: sample time of a discrete model, the input held.")
@click.option("--out", type=OutPath(), help="File; by default the terminal.")
def export(
    record: str, language: str, run: int, out: Path | None,
    near: float | None, force: float | None, step: float | None,
) -> None:  # fmt: skip
    """Write the equation of RECORD as a program that simulates it, or as a linear model.

    \b
    Examples:
      gode export result/record.json --to python
      gode export result --to c --out model.c
      gode export result --to linear --force 1.5 --step 0.01
    """
    from gode.files import replacing

    text = _exported(record, language, run, near, force, step)
    if out is None:
        click.echo(text, nl=False)
        return
    with replacing(out) as draft:
        draft.write_text(text, encoding="utf-8")
    click.echo(f"written: {out}", err=True)


def _exported(
    record: str, language: str, run: int, near: float | None, force: float | None, step: float | None
) -> str:
    from gode.report.code import code

    if language != LINEAR:
        given = [name for name, v in (("near", near), ("force", force), ("step", step)) if v is not None]
        if given:
            raise ConfigError(f"--{given[0]} belongs to --to linear; leave it out for --to {language}")
        return code(load_record(record), language, run=run)
    model = load_record(record).linearise(near, force=force or 0.0)
    return json.dumps((model if step is None else model.discrete(step)).as_dict(), indent=1) + "\n"
