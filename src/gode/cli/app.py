"""The command `gode`: its group, its console, and how an error is told."""

import sys
import traceback
from typing import NoReturn

import click
from rich.console import Console

from gode import __version__
from gode.errors import GodeError

INTERRUPTED = 130
console = Console(highlight=False)


class _Group(click.Group):
    """A group whose errors are one sentence, with exit code 2; --debug, anywhere, gives the traceback."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")  # a terminal that cannot write ± gets a question mark
        debug = ["--debug"] if "--debug" in args else []
        try:
            return super().parse_args(ctx, [*debug, *(word for word in args if word != "--debug")])
        except click.UsageError as error:
            _stop_usage(error)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            _stop_usage(error)
        except GodeError as error:
            if ctx.params.get("debug"):
                traceback.print_exc()
            stop(str(error))
        except (KeyboardInterrupt, SystemError) as error:
            # compiled code answers Ctrl-C with a SystemError that is caused by it
            pressed = isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)
            if ctx.params.get("debug") or not pressed:
                raise
            click.echo("gode: interrupted before there was a result", err=True)
            sys.exit(INTERRUPTED)


def _stop_usage(error: click.UsageError) -> NoReturn:
    """End with a mistake in the words of the command line; a bare `gode` is none and gets its help."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        raise error
    message = error.format_message().rstrip(".")
    command = error.ctx.command_path if error.ctx else "gode"
    stop(f"{message[:1].lower()}{message[1:]}; see {command} --help")


def stop(sentence: str) -> NoReturn:
    """End the program with one sentence and exit code 2."""
    click.echo(f"gode: {sentence}", err=True)
    sys.exit(2)


EPILOG = """
\b
Examples:
  gode demo
  gode discover data.csv --order 2 --out result
  gode simulate result/record.json --to 20

\b
Exit codes: 0 done, 2 a mistake in the data or the options, 130 interrupted.

\b
Completion of commands and options by the Tab key, for bash (zsh and fish alike):
  eval "$(_GODE_COMPLETE=bash_source gode)"
"""


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EPILOG)
@click.version_option(__version__, prog_name="gode")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(debug: bool) -> None:
    """Find the differential equation behind a noisy time series."""
