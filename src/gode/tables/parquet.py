"""Parquet files: every column of numbers, times or words."""

from gode.errors import DataError
from gode.tables.packed import check_unpacked, columns_table, unpacking
from gode.tables.table import Table, columns_of


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
