"""gode studio: a page on this machine to drop a file on, watch the search, and take the result away."""

from importlib.util import find_spec
from pathlib import Path

import click

from gode.cli.app import OutPath, main, say
from gode.errors import ConfigError

NEEDED = ("starlette", "uvicorn", "python_multipart")  # of the extra; the last is asked for by an upload only


@main.command("studio")
@click.argument("files", nargs=-1, type=click.Path(), metavar="[FILE...]")
@click.option(
    "--folder",
    type=OutPath(),
    default=Path("gode-runs"),
    show_default=True,
    help="Folder that keeps the runs.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; by default any that is free.")
@click.option("--browser/--no-browser", default=True, help="Whether to open the page in the browser.")
def studio_command(files: tuple[str, ...], folder: Path, port: int, browser: bool) -> None:
    """Open a page to find equations with: drop a file, choose columns, watch, compare, take away.

    The page is on this machine only, behind the link that is printed; nothing is sent anywhere. Its runs are
    folders that gode report, simulate and export read. It needs the extra: pip install 'gode-engine[studio]'.

    \b
    Examples:
      gode studio
      gode studio growth.csv --folder plates
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"the studio needs {missing[0]}, which is not installed: pip install 'gode-engine[studio]'"
        )
    from gode.studio.server import serve

    serve(folder, files, port=port, browser=browser, say=say)
