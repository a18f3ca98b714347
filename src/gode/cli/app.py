"""The command `gode`: its group, whose commands are imported when called, and how errors are shown."""

import errno
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, NoReturn

import click

from gode import __version__
from gode.errors import GodeError

if TYPE_CHECKING:
    from rich.console import Console

Decorator = Callable[[Callable[..., None]], Callable[..., None]]
# Each command with its module in gode.cli, which is imported when the command is called.
COMMANDS = {
    "demo": "discover",
    "discover": "discover",
    "discover-many": "fleet",
    "export": "records",
    "fit": "discover",
    "grammar": "models",
    "grammars": "models",
    "model": "models",
    "pack": "records",
    "report": "records",
    "show": "records",
    "simulate": "records",
    "studio": "studio",
    "train": "models",
    "watch": "fleet",
}
PLUGINS = "gode.commands"  # Entry points of this group are commands of other packages, loaded when called.
# What --out writes beside the record.
REPORT, PICTURE, FIT = "report.html", "overview.png", "fit.csv"
RUNS = "runs.csv"  # the constants of each run, where these have their own
NOT_EXPLAINED = 3  # exit code if the fit is poor, or no equation is supported
INTERRUPTED, TERMINATED = 130, 143  # exit codes after SIGINT and SIGTERM
ARGUMENT = re.compile(r"\b(\w{4,})=(?:'([^']*)'|([\w.]+))?")  # of a Python call, such as order=2 or force=


class StrictCommand(click.Command):
    """A command that refuses an option given twice; click would silently use the last one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments.

        Raises:
            click.UsageError: if an option that takes one value is repeated.
        """
        _, _, given = self.make_parser(ctx).parse_args(list(args))
        options = [each for each in given if isinstance(each, click.Option)]
        values = [each for each in options if not (each.multiple or each.count or each.is_flag)]
        for option in values:
            n = values.count(option)
            if n > 1 and not ctx.resilient_parsing:  # which is set during completion
                name = option.opts[0]
                several = "," in str(option.metavar)
                hint = f"for several columns write {name} A1,A2" if several else "give it once"
                times = "twice" if n == 2 else f"{n} times"
                raise click.UsageError(f"{name} was given {times}; {hint}", ctx)
        return super().parse_args(ctx, args)


class Termination:
    """Treats SIGTERM like Ctrl-C inside its `with` block; does nothing outside the main thread."""

    def __init__(self) -> None:
        self.exit_code = INTERRUPTED
        self._before: object = None

    def __enter__(self) -> "Termination":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGTERM, self._interrupt)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)  # type: ignore[arg-type]

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.exit_code = TERMINATED
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # Ctrl-C is ignored, as in what a shell runs in the background
            raise KeyboardInterrupt
        handler(signal.SIGINT, frame)


def exit_interrupted() -> NoReturn:
    """Exit with the code of the signal that interrupted the current command."""
    termination = click.get_current_context().find_object(Termination)
    sys.exit(termination.exit_code if termination else INTERRUPTED)


class _Group(click.Group):
    """A group whose errors are one sentence, with exit code 2; --debug, anywhere, shows the traceback."""

    command_class = StrictCommand

    def list_commands(self, ctx: click.Context) -> list[str]:
        from importlib.metadata import entry_points

        return sorted({*COMMANDS, *entry_points(group=PLUGINS).names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            import_module(f"gode.cli.{COMMANDS[cmd_name]}")  # it adds itself to the group
        elif cmd_name not in self.commands:
            self._add_plugin(ctx, cmd_name)
        return super().get_command(ctx, cmd_name)

    def _add_plugin(self, ctx: click.Context, name: str) -> None:
        """Add the command of another package; if the benchmarks are missing, say how to install them."""
        from importlib.metadata import entry_points

        for entry in entry_points(group=PLUGINS, name=name):
            self.add_command(entry.load(), name)
        if name == "bench" and name not in self.commands and not ctx.resilient_parsing:
            raise click.UsageError(
                "the benchmarks are a package of their own, which is not installed; in a clone of gode run: "
                "pip install ./benchmarks"
            )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")  # a question mark where the terminal cannot show ±
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
                stop(in_options(str(error), super().get_command(ctx, ctx.invoked_subcommand or "")))
            except OSError as error:
                _stop_writing(error, debug=debug)
            except (KeyboardInterrupt, SystemError) as error:
                # numba turns Ctrl-C inside compiled code into a SystemError caused by it
                pressed = isinstance(error, KeyboardInterrupt) or isinstance(
                    error.__cause__, KeyboardInterrupt
                )
                if debug or not pressed:
                    raise
                when = error.args[0] if isinstance(error, KeyboardInterrupt) and error.args else ""
                click.echo(f"gode: interrupted {when or 'before there was a result'}", err=True)
                sys.exit(termination.exit_code)


class OutPath(click.Path):
    """A file or folder to write, whose name must not be empty."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Return the path."""
        if value == "":
            self.fail("the name is empty; name a file or folder, such as result", param, ctx)
        return super().convert(value, param, ctx)  # type: ignore[arg-type]


def add_options(*options: Decorator) -> Decorator:
    """Return a decorator that adds options to a command, in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def console(*, stderr: bool = False) -> "Console":
    """Return the terminal for output, or for progress; one that reports no width gets 80 columns."""
    from rich.console import Console

    found = Console(highlight=False, stderr=stderr)
    return found if found.width > 0 else Console(highlight=False, stderr=stderr, width=80)


def say(text: str, *, style: str = "") -> None:
    """Print text without wrapping it, so that piped output keeps its lines."""
    from rich.text import Text

    console().print(Text(text, style=style), soft_wrap=True)


def in_options(message: str, command: click.Command | None) -> str:
    """Return a message of the library with Python arguments (order=2) as options of `command` (--order 2)."""
    options = {p.name: p for p in command.params if isinstance(p, click.Option)} if command else {}

    def option(found: re.Match[str]) -> str:
        known, value = options.get(found[1]), found[2] or found[3] or ""
        if known is None:
            return found[0]
        if known.is_flag:
            return known.secondary_opts[0] if value == "False" else known.opts[0]
        return f"{known.opts[0]} {value}".rstrip()

    return ARGUMENT.sub(option, message)


def _stop_usage(error: click.UsageError) -> NoReturn:
    """Exit after a mistake in the options; plain `gode` is none and gets its help."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        raise error
    message = " ".join(error.format_message().split()).rstrip(".")
    command = error.ctx.command_path if error.ctx else "gode"
    stop(f"{message[:1].lower()}{message[1:]}; see {command} --help")


def _stop_writing(error: OSError, *, debug: bool) -> NoReturn:
    """Exit when the output cannot be written, as on a full disk; buffered output is discarded."""
    if debug or error.errno not in (errno.ENOSPC, errno.EIO):
        raise error
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    stop(f"the output cannot be written ({error.strerror}); free some space or send it elsewhere")


def stop(sentence: str) -> NoReturn:
    """Exit with one sentence and code 2."""
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
