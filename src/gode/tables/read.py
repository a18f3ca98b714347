"""Files to tables: text of nearly any layout, Excel, MATLAB, HDF5 and Parquet."""

import os
import sys
from pathlib import Path

from gode.errors import DataError
from gode.files import read_bytes, read_most
from gode.tables.binary import read_excel, read_hdf5, read_matlab, read_parquet
from gode.tables.table import Table
from gode.tables.text import GUESSED, Reading, parse_table

# A file may have this many bytes, some seven million rows of two columns. Set by hand: reading needs ten
# times as much memory.
MAX_BYTES = 200_000_000
SMALLER = "keep every tenth row, or only the columns that are needed"
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
    data = read_whole(file)
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


def read_whole(path: str) -> bytes:
    """Return the content of a file of measurements, or of standard input (`-`).

    Raises:
        DataError: if it is no file, too large, or changes while it is read.
    """
    if path == STDIN:
        return read_most(sys.stdin.buffer, MAX_BYTES, "standard input", smaller=SMALLER, error=DataError)
    return read_bytes(path, MAX_BYTES, smaller=SMALLER, error=DataError)
