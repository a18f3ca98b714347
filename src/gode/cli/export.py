"""gode report, gode export: a record as a page, or as a program."""

import os
from pathlib import Path

import click

from gode.cli.app import OutPath, main
from gode.cli.keep import write_report
from gode.cli.simulate import load_record

LANGUAGES = ("python", "c", "julia", "matlab", "modelica")


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
    "--to", "language", type=click.Choice(LANGUAGES), required=True, help="Language of the program."
)
@click.option("--run", type=click.IntRange(0), default=0, help="Run of the record to start from, from 0.")
@click.option("--out", type=OutPath(), help="File; by default the terminal.")
def export(record: str, language: str, run: int, out: Path | None) -> None:
    """Write the equation of RECORD as a program that simulates it.

    \b
    Examples:
      gode export result/record.json --to python
      gode export result --to c --out model.c
    """
    from gode.files import replacing
    from gode.report.code import code

    text = code(load_record(record), language, run=run)
    if out is None:
        click.echo(text, nl=False)
        return
    with replacing(out) as draft:
        draft.write_text(text, encoding="utf-8")
    click.echo(f"written: {out}", err=True)
