"""MATLAB files, v5 and v7.3: vectors of equal length, the columns of a matrix, the fields of a struct."""

import io
import zlib
from collections.abc import Mapping

import numpy as np

from gode.arrays import Float
from gode.errors import DataError
from gode.tables.packed import MAX_UNPACKED, check_unpacked, columns_table, unpacking
from gode.tables.table import Table, listed

HEADER = 128  # bytes before the first element of a v5 file
COMPRESSED = 15  # the type of a compressed element
KINDS = {"double", "single", "logical", *(f"{sign}int{n}" for sign in ("", "u") for n in (8, 16, 32, 64))}

Variables = Mapping[str, object]  # arrays, and structs as mappings


def read_matlab(data: bytes, source: str, part: str) -> Table:
    """Return the table in a MATLAB file of version 5 to 7.

    Raises:
        DataError: if it is damaged or too large, or nothing in it makes a table.
    """
    with unpacking(source, "MATLAB", "scipy"):
        from scipy.io import loadmat, whosmat

        check_unpacked(_unpacked_size(data), 0, source)
        listing = whosmat(io.BytesIO(data))  # type: ignore[arg-type]
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


def _unpacked_size(data: bytes) -> int:
    """Return the unpacked size of all elements of a v5 file in bytes, or slightly more than the limit."""
    order = "little" if data[126:128] == b"IM" else "big"
    size, at = 0, HEADER
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
