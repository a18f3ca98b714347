"""The command `gode`: its group, its console, and how an error is told."""

import sys
from typing import NoReturn

import click
from rich.console import Console

from gode import __version__
from gode.errors import GodeError

console = Console(highlight=False)


class _Group(click.Group):
    """A group whose errors are one sentence, with exit code 2; --debug gives the traceback."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except GodeError as error:
            if ctx.params.get("debug"):
                raise
            stop(str(error))


def stop(sentence: str) -> NoReturn:
    """End the program with one sentence and exit code 2."""
    click.echo(f"gode: {sentence}", err=True)
    sys.exit(2)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gode")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(debug: bool) -> None:
    """Find the differential equation behind a noisy time series."""
