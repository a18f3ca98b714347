"""Files to tables: text of nearly any layout, Excel, MATLAB, HDF5 and Parquet."""

import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from gode.errors import DataError
from gode.tables.excel import read_excel
from gode.tables.layout import GUESSED, Reading
from gode.tables.matlab import read_hdf5, read_matlab
from gode.tables.parquet import read_parquet
from gode.tables.table import Table
from gode.tables.text import parse_table

MAX_BYTES = 200_000_000  # some seven million rows of two columns; reading needs ten times as much memory
CHUNK = 1 << 20
STDIN = "-"
ZIP = b"PK\x03\x04"  # the first bytes of a workbook
READERS = {  # by the first bytes of a file
    b"PAR1": read_parquet,
    b"MATLAB 5.0": read_matlab,
    b"MATLAB 7.3": read_hdf5,
    b"\x89HDF\r\n\x1a\n": read_hdf5,
}
REFUSED = {
    b"\xd0\xcf\x11\xe0": "an old Excel file (.xls); save it as .xlsx or CSV",
    b"\x1f\x8b": "packed by gzip; unpack it with gunzip, or pipe it: gunzip -c FILE | gode discover -",
}


def read_table(path: str | Path, reading: Reading = GUESSED) -> Table:
    """Return the table in a file, in FILE:PART (a sheet, a struct), or in standard input (`-`).

    Args:
        reading: what is said about a text or a sheet, such as the line of its header.

    Raises:
        DataError: with a sentence that says what is wrong with the file.
    """
    file, part = _parted(str(path))
    data = _read_bytes(file)
    source = "standard input" if file == STDIN else file
    return parse_file(data, source, part, reading)


def parse_file(data: bytes, source: str, part: str = "", reading: Reading = GUESSED) -> Table:
    """Return the table in the bytes of a file, whose format is recognised by its first bytes."""
    if data.startswith(ZIP):
        return read_excel(data, source, part, reading)
    for mark, reader in READERS.items():
        if data.startswith(mark):
            if reading.header is not None or reading.skip:
                raise DataError(f"{source} is no text; --header and --skip are for text and workbooks")
            return reader(data, source, part)
    for mark, sentence in REFUSED.items():
        if data.startswith(mark):
            raise DataError(f"{source} is {sentence}")
    if part:
        raise DataError(f"{source} is text and has no parts; leave out :{part}")
    return parse_table(data, source, reading)


def _parted(path: str) -> tuple[str, str]:
    """Split FILE:PART; the part is empty if `path` itself exists."""
    file, _, part = path.rpartition(":")
    if file and not os.path.exists(path) and os.path.isfile(file):
        return file, part
    return path, ""


def _read_bytes(path: str) -> bytes:
    """Return the content of a file; refuse one that is too large or changes while it is read."""
    if path == STDIN:
        return _checked_size(_read_most(sys.stdin.buffer), "standard input")
    try:
        with Path(path).open("rb") as file:
            before = os.fstat(file.fileno())
            is_file = stat.S_ISREG(before.st_mode)
            data = b"" if is_file and before.st_size > MAX_BYTES else _read_most(file)
    except IsADirectoryError:
        raise DataError(f"{path} is a directory; name a file in it") from None
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DataError(f"{path} cannot be read ({reason}); check the name and the permissions") from None
    _checked_size(data, path, before.st_size if is_file else 0)
    if is_file and len(data) != before.st_size:
        raise DataError(
            f"{path} had {before.st_size} bytes when it was opened, but {len(data)} could be read: "
            "it is being written; wait until that is done"
        )
    return data


def _read_most(file: BinaryIO) -> bytes:
    """Read a file to its end, or until slightly more than MAX_BYTES were read."""
    parts, size = [], 0
    while size <= MAX_BYTES and (chunk := file.read(CHUNK)):
        parts.append(chunk)
        size += len(chunk)
    return b"".join(parts)


def _checked_size(data: bytes, source: str, size: int = 0) -> bytes:
    if max(len(data), size) > MAX_BYTES:
        raise DataError(
            f"{source} holds more than {MAX_BYTES // 10**6} MB, which is the most that is read; "
            "keep every tenth row, or only the columns that are needed"
        )
    return data
