"""gode pack: what someone else needs to see the same, as one archive."""

import platform
import sys
import zipfile
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import click

from gode import __version__
from gode.cli.app import FIT, PICTURE, RECORD, REPORT, RUNS, OutPath, main
from gode.errors import FileError, GodeError, shortened
from gode.files import read_bytes, replacing

SAVED = (RECORD, REPORT, PICTURE, FIT, RUNS)  # what gode discover --out writes into its folder
MAX_FILE = 1_000_000_000  # bytes
ABOUT = "about.txt"


@main.command("pack")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--out", type=OutPath(), default=Path("gode-pack.zip"), show_default=True, help="The archive.")
@click.option(
    "--said", metavar="TEXT", default="", help="The command or the lines of Python, as you typed them."
)
def pack_command(paths: tuple[Path, ...], out: Path, said: str) -> None:
    """Pack data, result, command and versions into one archive, to show others what happened.

    PATHS are the folder that gode discover --out wrote, or a record, and the files of the measurements. A
    record holds the measurements, too. Look into the archive before you send it: it holds your data.

    \b
    Examples:
      gode pack result data.csv --out report.zip
      gode pack data.csv --said "gode discover data.csv --order 2"
    """
    files = dict(_files(paths))
    with replacing(out) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(ABOUT, _about(files, said))
        for name, path in files.items():
            archive.writestr(name, read_bytes(path, MAX_FILE))
    click.echo(f"written: {out} ({', '.join([ABOUT, *files])})")


def _files(paths: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Yield each file with its name in the archive.

    Raises:
        FileError: if a path is no file, nor a folder with a record; or if two files have the same name.
    """
    seen: set[str] = set()
    for path in paths:
        found = [path / name for name in SAVED if (path / name).exists()] if path.is_dir() else [path]
        if not found:
            raise FileError(
                f"{shortened(str(path), 200)} holds no {RECORD}; name a folder of gode discover --out"
            )
        for file in found:
            if file.name in seen:
                raise FileError(f"two files are called {file.name}; rename one, or pack them one by one")
            seen.add(file.name)
            yield file.name, file


def _about(files: dict[str, Path], said: str) -> str:
    """Return the command and the versions."""
    lines = [f"command as typed: {said}"] if said else []
    if RECORD in files:
        lines += [f"command of the record: {_command(files[RECORD])}"]
    lines += [
        f"gode {__version__}",
        f"Python {sys.version}",
        f"system: {platform.platform()}, {platform.machine()}",
        *(f"{name} {found}" for name, found in _versions()),
    ]
    return "\n".join(lines) + "\n"


def _command(record: Path) -> str:
    """Return the command that repeats a record, or why it cannot be told."""
    from gode.report import load
    from gode.report.repeat import command

    try:
        return command(load(record))
    except GodeError as problem:
        return f"not known ({problem})"


def _versions() -> Iterator[tuple[str, str]]:
    """Yield what gode is built on, with the version that is installed."""
    needed = [line.partition(";") for line in requires("gode-engine") or ()]
    for name in sorted(
        {text.split(">")[0].split("[")[0].strip() for text, _, condition in needed if not condition}
    ):
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, "is not installed"
