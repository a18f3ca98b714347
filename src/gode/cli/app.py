"""The command `gode`: its group, whose commands are loaded when they are called, and how an error is told."""

import errno
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import click

from gode import __version__
from gode.cli.once import Once
from gode.cli.stopping import Termination
from gode.errors import GodeError

# Each command with its module in gode.cli, which is imported when it is asked for.
COMMANDS = {
    "bench": "bench",
    "demo": "demo",
    "discover": "discover",
    "export": "export",
    "fit": "fit",
    "grammars": "grammars",
    "model": "models",
    "report": "export",
    "simulate": "simulate",
    "train": "models",
}
NOT_EXPLAINED = 3  # the exit code where the fit is poor, or no equation is supported


class _Group(click.Group):
    """A group whose errors are one sentence, with exit code 2; --debug, anywhere, gives the traceback."""

    command_class = Once

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            import_module(f"gode.cli.{COMMANDS[cmd_name]}")  # it adds itself to the group
        return super().get_command(ctx, cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")  # a terminal that cannot write ± gets a question mark
        debug = ["--debug"] if "--debug" in args else []
        try:
            return super().parse_args(ctx, [*debug, *(word for word in args if word != "--debug")])
        except click.UsageError as error:
            _stop_usage(error)
        except OSError as error:  # help is printed here
            _stop_writing(error, debug=bool(debug))

    def invoke(self, ctx: click.Context) -> object:
        debug = bool(ctx.params.get("debug"))
        with Termination() as termination:
            ctx.obj = termination
            try:
                return super().invoke(ctx)
            except click.UsageError as error:
                _stop_usage(error)
            except GodeError as error:
                if debug:
                    traceback.print_exc()
                stop(str(error))
            except OSError as error:
                _stop_writing(error, debug=debug)
            except (KeyboardInterrupt, SystemError) as error:
                # compiled code answers Ctrl-C with a SystemError that is caused by it
                pressed = isinstance(error, KeyboardInterrupt) or isinstance(
                    error.__cause__, KeyboardInterrupt
                )
                if debug or not pressed:
                    raise
                what = error.args[0] if isinstance(error, KeyboardInterrupt) and error.args else ""
                click.echo(f"gode: interrupted {what or 'before there was a result'}", err=True)
                sys.exit(termination.exit_code)


class OutPath(click.Path):
    """A file or folder to write, which must have a name."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Return the path."""
        if value == "":
            self.fail("the name is empty; name a file or folder, such as result", param, ctx)
        return super().convert(value, param, ctx)  # type: ignore[arg-type]


def _stop_usage(error: click.UsageError) -> NoReturn:
    """End with a mistake in the words of the command line; a bare `gode` is none and gets its help."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        raise error
    message = error.format_message().rstrip(".")
    command = error.ctx.command_path if error.ctx else "gode"
    stop(f"{message[:1].lower()}{message[1:]}; see {command} --help")


def _stop_writing(error: OSError, *, debug: bool) -> NoReturn:
    """End where the output has no room left; what is still waiting to be written goes nowhere."""
    if debug or error.errno not in (errno.ENOSPC, errno.EIO):
        raise error
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    stop(f"the output cannot be written ({error.strerror}); free some space or send it elsewhere")


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
Exit codes: 0 done, 2 a mistake in the data or the options, 3 a poor fit or
no equation that is supported, 130 interrupted, 143 terminated.

\b
Completion of commands, options and files by the Tab key, for bash (zsh and
fish alike):
  eval "$(_GODE_COMPLETE=bash_source gode)"
"""


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EPILOG)
@click.version_option(__version__, prog_name="gode")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(debug: bool) -> None:
    """Find the differential equation behind a noisy time series."""
