"""Binary files to tables: Excel, MATLAB, HDF5 and Parquet; of bounded size, with a sentence for damage."""

import io
import struct
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

import numpy as np

from gode.arrays import Float
from gode.errors import DataError
from gode.tables.headers import parted, unit_in_name
from gode.tables.table import Column, Table, columns_of, listed
from gode.tables.text import GUESSED, Reading, text_table

if TYPE_CHECKING:
    from openpyxl import Workbook

# A packed file may hold this many bytes, and this many values. Set by hand, for a machine with some
# gigabytes.
MAX_UNPACKED = 1_000_000_000
MAX_VALUES = 50_000_000
# From the first number of bytes on, a file may unpack to no more than the second number of times its size:
# numbers that were measured do not pack so tightly, whereas a bomb does. Set by hand.
LARGE = 50_000_000
TIGHTEST = 200
DAMAGES = (  # all of these were raised by libraries on damaged files
    ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError, NotImplementedError,
    OverflowError, OSError, EOFError, RuntimeError, SyntaxError, UnboundLocalError, struct.error, zlib.error,
    BadZipFile,
)  # fmt: skip
WORKBOOK = "xl/workbook.xml"
# A sheet with fewer cells of numbers or times than three rows of two is no table. Set by hand.
ENOUGH = 6
SHEET_CHOICES = (("\t", "."), ("\t", ","))  # numbers that were typed as text may have decimal commas
ZERO = datetime(1899, 12, 31)  # origin of durations beyond a day that are formatted as times
FIRST_DATE = datetime(1900, 3, 1)
Rows = list[list[object]]
MAT_HEADER = 128  # The first element of a v5 file begins after this many bytes, by the format.
COMPRESSED = 15  # A compressed element has this type, by the format.
KINDS = {"double", "single", "logical", *(f"{sign}int{n}" for sign in ("", "u") for n in (8, 16, 32, 64))}
Variables = Mapping[str, object]  # arrays, and structs as mappings


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
    units = tuple(unit or unit_in_name(name) for name, unit in split)
    lines = np.arange(1, len(columns[0]) + 1)
    return Table(source, tuple(plain), units, tuple(columns), lines, notes=notes)


def read_excel(data: bytes, source: str, sheet: str, reading: Reading = GUESSED) -> Table:
    """Return the table in a sheet; without a name the first one that holds numbers.

    Raises:
        DataError: if there is none, or the file is no workbook.
    """
    name, text = sheet_text(data, source, sheet)
    table = text_table(text, source, SHEET_CHOICES, reading)
    return replace(table, notes=(f"sheet {name!r}", *table.notes[1:]))  # without the note on the delimiter


def sheet_text(data: bytes, source: str, sheet: str) -> tuple[str, str]:
    """Return the name of a sheet and its cells as text with tabs; by default the first that holds numbers.

    Raises:
        DataError: if there is none, or the file is no workbook.
    """
    with unpacking(source, "Excel", "openpyxl"), ZipFile(io.BytesIO(data)) as archive:
        if WORKBOOK not in archive.namelist():
            raise DataError(f"{source} is a ZIP archive and no Excel workbook; unpack it first")
        check_unpacked(sum(info.file_size for info in archive.infolist()), 0, source, packed=len(data))
        sheets = _sheets(data, source, sheet)
        name, rows = next(((n, r) for n, r in sheets if sheet or _n_values(r) >= ENOUGH), ("", []))
    if not name:
        raise DataError(f"{source} has no sheet with numbers; save the columns of time and signal in one")
    return name, _text(rows)


def prepare() -> None:
    """Import what reads workbooks."""
    import openpyxl  # noqa: F401


def sheet_names(data: bytes) -> list[str]:
    """Return the names of the sheets of a workbook."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about features of Excel without data
        return [sheet.title for sheet in _book(data).worksheets]


def read_matlab(data: bytes, source: str, part: str) -> Table:
    """Return the table in a MATLAB file of version 5 to 7.

    Raises:
        DataError: if it is damaged or too large, or nothing in it makes a table.
    """
    with unpacking(source, "MATLAB", "scipy"):
        from scipy.io import loadmat, whosmat
        from scipy.io.matlab import MatReadError

        check_unpacked(_unpacked_size(data), 0, source)
        try:
            listing = whosmat(io.BytesIO(data))  # type: ignore[arg-type]
        except MatReadError as error:
            raise ValueError(error) from None
        check_unpacked(0, sum(int(np.prod(shape, dtype=float)) for _, shape, _ in listing), source)
        wanted = [name for name, _, kind in listing if kind in KINDS or kind == "struct"]
        found = loadmat(io.BytesIO(data), variable_names=wanted)  # type: ignore[arg-type]
        return _table({name: _plain(found[name]) for name in wanted}, source, part)


def read_hdf5(data: bytes, source: str, part: str) -> Table:
    """Return the table in a MATLAB file of version 7.3, or in another HDF5 file.

    Raises:
        DataError: if it is damaged or too large, or nothing in it makes a table.
    """
    with unpacking(source, "HDF5 (MATLAB 7.3)", "h5py"):
        import h5py

        with h5py.File(io.BytesIO(data), "r") as file:
            found = _datasets(file, deeper=True)
            groups = [found, *(item for item in found.values() if isinstance(item, Mapping))]
            every = [item for group in groups for item in group.values() if isinstance(item, h5py.Dataset)]
            check_unpacked(0, sum(item.size for item in every), source)
            return _table({name: _values(item) for name, item in found.items()}, source, part)


def read_parquet(data: bytes, source: str, part: str) -> Table:
    """Return the table in a Parquet file.

    Raises:
        DataError: if it is damaged or too large, or if a part is named: it has none.
    """
    if part:
        raise DataError(f"{source} is a file of Parquet and has no parts; leave out :{part}")
    with unpacking(source, "Parquet", "pyarrow"):
        import pyarrow as pa
        from pyarrow import parquet

        file = parquet.ParquetFile(pa.BufferReader(data))
        meta = file.metadata
        sizes = [meta.row_group(i).total_byte_size for i in range(meta.num_row_groups)]
        check_unpacked(sum(sizes), meta.num_rows * max(meta.num_columns, 1), source)
        schema = file.schema_arrow
        words = [f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
        plain = [field.name for field in schema if not pa.types.is_nested(field.type)]
        # text stays dictionary-encoded: long strings that repeat would fill the memory
        file = parquet.ParquetFile(pa.BufferReader(data), read_dictionary=words)
        frame = file.read(columns=plain).to_pandas(ignore_metadata=True)
        return columns_table(source, [str(name) for name in frame.columns], columns_of(frame), ())


def _sheets(data: bytes, source: str, wanted: str) -> Iterable[tuple[str, Rows]]:
    """Yield names and cells of the sheets, or of the one that is wanted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = _book(data)
        names = [sheet.title for sheet in book.worksheets]
        if wanted and wanted not in names:
            raise DataError(f"{source} has no sheet {wanted!r}; its sheets are {listed(names)}")
        for sheet in book.worksheets:
            if wanted in ("", sheet.title):
                sheet.reset_dimensions()  # those in the file may be wrong
                yield sheet.title, _rows(sheet.iter_rows(values_only=True), source)


def _book(data: bytes) -> "Workbook":
    import openpyxl

    return openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)


def _rows(rows: Iterable[Iterable[object]], source: str) -> Rows:
    out: Rows = []
    n_values = 0
    for row in rows:
        cells = list(row)
        while cells and cells[-1] in (None, ""):
            cells.pop()
        out.append(cells)
        n_values += len(cells) + 1
        check_unpacked(0, n_values, source)
    return out


def _n_values(rows: Rows) -> int:
    return sum(isinstance(cell, int | float | date | time | timedelta) for row in rows for cell in row)


def _text(rows: Rows) -> str:
    """Return the sheet as text with tabs; from its header on, all rows have the same number of cells."""
    usual = Counter(len(row) for row in rows if len(row) > 1).most_common(1)
    width = usual[0][0] if usual else 1
    filled = [sum(cell not in (None, "") for cell in row) for row in rows]
    start = next((i for i, n in enumerate(filled) if 2 * n > width), 0)
    width = max((len(row) for row in rows[start:]), default=1)
    lines = ["\t".join(map(_word, row)) for row in rows[:start]]
    lines += ["\t".join([*map(_word, row), *[""] * (width - len(row))]) for row in rows[start:]]
    return "\n".join(lines)


def _word(cell: object) -> str:
    """Return a cell as text that reads back as the same number or time."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(int(cell))
    if isinstance(cell, datetime) and cell < FIRST_DATE:
        return _duration(cell - ZERO)
    if isinstance(cell, timedelta):
        return _duration(cell)
    return " ".join(str(cell).replace('"', " ").split())


def _duration(span: timedelta) -> str:
    seconds, rest = divmod(span, timedelta(seconds=1))
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest.microseconds:06}"


def _unpacked_size(data: bytes) -> int:
    """Return the unpacked size of all elements of a v5 file in bytes, or slightly more than the limit."""
    order = "little" if data[126:128] == b"IM" else "big"
    size, at = 0, MAT_HEADER
    while at + 8 <= len(data) and size <= MAX_UNPACKED:
        kind, length = (int.from_bytes(data[at + i : at + i + 4], order) for i in (0, 4))  # type: ignore[arg-type]
        block = data[at + 8 : at + 8 + length]
        unpacker = zlib.decompressobj()
        while kind == COMPRESSED and block and size <= MAX_UNPACKED:
            size += len(unpacker.decompress(block, 1 << 20))
            block = unpacker.unconsumed_tail
        size, at = size + len(block), at + 8 + length
    return size


def _plain(value: object) -> object:
    """Return a struct as a mapping of its fields."""
    if isinstance(value, np.ndarray) and value.dtype.names and value.size == 1:
        return {name: value.flat[0][name] for name in value.dtype.names}
    return value


def _datasets(group: object, *, deeper: bool) -> Variables:
    """Return the datasets in a group and in the groups in it; links into other files are not followed."""
    import h5py

    out: dict[str, object] = {}
    assert isinstance(group, h5py.Group)
    for name in group:
        if name.startswith("#") or not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        item = group[name]
        if isinstance(item, h5py.Group) and deeper:
            out[name] = _datasets(item, deeper=False)
        elif isinstance(item, h5py.Dataset) and item.dtype.kind in "fiub" and _is_own(item):
            out[name] = item
    return out


def _values(item: object) -> object:
    """Return the numbers of a dataset, or of all in a group; MATLAB writes its matrices by columns."""
    if isinstance(item, Mapping):
        return {name: _values(each) for name, each in item.items()}
    return np.asarray(item[()]).T  # type: ignore[index]


def _is_own(item: object) -> bool:
    """Tell whether the values of a dataset are numbers stored in the file itself."""
    kind = item.attrs.get("MATLAB_class", b"double")  # type: ignore[attr-defined]
    text = kind.decode() if isinstance(kind, bytes) else str(kind)
    return text in KINDS and not item.external and not item.is_virtual  # type: ignore[attr-defined]


def _table(variables: Variables, source: str, part: str) -> Table:
    structs = {name: value for name, value in variables.items() if isinstance(value, Mapping)}
    places: dict[str, Variables] = {"": variables, **structs}
    if part:
        if part not in variables:
            raise DataError(f"{source} has no variable {part!r}; it has {listed(list(variables))}")
        places = {part: structs.get(part, {part: variables[part]})}
    for place, values in places.items():
        columns = _columns(values)
        if columns:
            notes = (f"struct {place!r}",) if place in structs else ()
            return columns_table(source, list(columns), list(columns.values()), notes)
    raise DataError(
        f"{source} holds no two vectors of numbers of the same length, in no struct either "
        f"(variables: {listed(list(variables)) or 'none'}); save them with save('data.mat', 't', 'u')"
    )


def _columns(variables: Variables) -> dict[str, Float]:
    """Return the columns of equal length, the greatest that at least two have."""
    by_length: dict[int, dict[str, Float]] = {}
    for name, value in variables.items():
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub" or value.ndim > 2:
            continue
        array: Float = np.atleast_1d(np.squeeze(value))
        rows = array.T if len(array) < array.shape[-1] else array
        single = {name: rows} if rows.ndim == 1 else {f"{name} {i + 1}": c for i, c in enumerate(rows.T)}
        by_length.setdefault(len(rows), {}).update(single)
    lengths = [n for n, columns in by_length.items() if len(columns) > 1 and n > 1]
    if not lengths:
        return {}
    found = by_length[max(lengths)]
    lone = len({name.rpartition(" ")[0] for name in found}) == 1 and len(variables) == 1
    return {f"column {i + 1}": c for i, c in enumerate(found.values())} if lone else found
