"""Common parts of the readers of binary files: limits on size, and errors for damaged files."""

import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from zipfile import BadZipFile

import numpy as np

from gode.errors import DataError
from gode.tables.layout import parted, time_unit
from gode.tables.table import Column, Table

MAX_UNPACKED = 1_000_000_000  # bytes
LARGE, TIGHTEST = 50_000_000, 200  # bytes from which a packed file may be no more than this much smaller
MAX_VALUES = 50_000_000  # rows times columns
DAMAGES = (  # all of these were raised by libraries on damaged files
    ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError, NotImplementedError,
    OverflowError, OSError, EOFError, RuntimeError, SyntaxError, UnboundLocalError, struct.error, zlib.error,
    BadZipFile,
)  # fmt: skip


@contextmanager
def unpacking(source: str, kind: str, library: str) -> Iterator[None]:
    """Convert the errors of a reader into DataError.

    Raises:
        DataError: if the library is not installed, or the file is damaged.
    """
    try:
        yield
    except DataError:
        raise
    except ImportError:
        raise DataError(
            f"{source} is a file of {kind}, which needs {library}: pip install 'gode-engine[files]', "
            "or save the table as CSV"
        ) from None
    except MemoryError:
        raise DataError(f"{source} needs more memory than there is; save fewer rows or columns") from None
    except DAMAGES as error:
        reason = (str(error).splitlines() or [""])[0][:120] or type(error).__name__
        raise DataError(
            f"{source} is a damaged file of {kind} ({reason}); save it again, or as CSV"
        ) from None


def check_unpacked(size: int, n_values: int, source: str, *, packed: int = 0) -> None:
    """Raise DataError, before unpacking, for content that is too large, or as tight as no table is."""
    if packed and size > LARGE and size > TIGHTEST * packed:
        raise DataError(
            f"{source} unpacks to {size // packed} times its size, which no table of measurements does; "
            "save it again, or as CSV"
        )
    if size > MAX_UNPACKED or n_values > MAX_VALUES:
        raise DataError(
            f"{source} unpacks to more than {MAX_UNPACKED // 10**6} MB or {MAX_VALUES // 10**6} million "
            "values, which is the most that is read; save fewer rows or columns"
        )


def columns_table(
    source: str, names: Sequence[str], columns: Sequence[Column], notes: tuple[str, ...]
) -> Table:
    """Return the table of columns that have names, perhaps with a unit as in ``u [m]``; rows count from 1."""
    if not len(names) or not len(columns[0]):
        raise DataError(f"{source} holds no rows; save the columns of time and signal in it")
    split = [parted(name) for name in names]
    plain = [name for name, _ in split]
    if len(set(plain)) < len(plain):
        plain, split = list(names), [(name, "") for name in names]
    units = tuple(unit or time_unit(name)[1] for name, unit in split)
    lines = np.arange(1, len(columns[0]) + 1)
    return Table(source, tuple(plain), units, tuple(columns), lines, notes=notes)
