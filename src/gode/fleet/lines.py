"""An append-only file of JSON lines, written by one process at a time; an incomplete last line is cut off."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedRandom
from pathlib import Path
from typing import TypeVar

from gode.errors import FileError
from gode.files import opened

T = TypeVar("T")
MAX_LINE = 100_000_000  # bytes


class Lines:
    """A file of lines, open for appending by this process alone."""

    def __init__(self, file: BufferedRandom) -> None:
        self._file = file

    def append(self, line: str) -> None:
        """Write a line, and wait until it is on the disk."""
        self._file.write(line.encode())
        self._file.flush()
        os.fsync(self._file.fileno())


def read_lines(path: Path, parse: Callable[[str], T], what: str) -> Iterator[T]:
    """Yield what `parse` makes of each complete line.

    Raises:
        FileError: if it raises ValueError, with the number of the line.
    """
    with opened(path) as file:
        for i, line in enumerate(iter(lambda: file.readline(MAX_LINE), b"")):
            if len(line) == MAX_LINE:
                raise FileError(f"{path}, line {i + 1}: longer than {MAX_LINE} bytes, so not {what}")
            if not line.endswith(b"\n"):
                return  # writing was interrupted
            try:
                yield parse(line.decode())
            except ValueError as error:
                raise FileError(
                    f"{path}, line {i + 1}: not {what} ({error}); delete that line and start again"
                ) from error


@contextmanager
def open_lines(path: Path) -> Iterator[Lines]:
    """Open a file for appending; an incomplete last line is cut off.

    Raises:
        FileError: if it cannot be written, or another process is writing to it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a+b")  # noqa: SIM115 - closed below
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}; choose another --out") from error
    with file:
        if not _locked(file):
            raise FileError(f"another process is writing to {path}; wait for it or choose another --out")
        file.truncate(_complete(file))
        yield Lines(file)


def _complete(file: BufferedRandom) -> int:
    """Return the length of the file up to its last complete line."""
    size = file.seek(0, os.SEEK_END)
    end = size
    while end > 0:
        start = max(0, end - 65536)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _locked(file: BufferedRandom) -> bool:
    """Lock the file until this process ends, where the system has locks; tell whether that worked."""
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def as_line(values: object) -> str:
    """Return values as a line of JSON."""
    return json.dumps(values, sort_keys=True, allow_nan=False) + "\n"
