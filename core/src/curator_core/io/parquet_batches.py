"""Keep batches of Parquet rows small when they are decoded, whatever their size in the file.

A file of a megabyte can hold a text of a megabyte once, in a dictionary, and a hundred thousand references to it. The
size in the file says little about what a batch takes in memory, so text that repeats is read as references, which know
how long the rows will be, and decoded a few rows at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curator_core.io.memory_claims import ROW_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["claimed_bytes", "decoded_parts", "repeating_columns", "rows_per_batch"]

_REFERENCE_BYTES = 4
"""Most that a reference takes in a file; text that is not in the dictionary takes more, but for a few short words."""

_PHYSICAL_BYTES = {"INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
_PAGE_HEADER_BYTES = 8192
"""Room for page headers, in which the smallest and the largest text of a page are repeated."""


def rows_per_batch(group: Any, schema: pa.Schema, batch_bytes: int) -> int:
    """Return how many rows of a row group make about ``batch_bytes``, references not counted."""
    in_file = group.total_byte_size / max(1, group.num_rows)
    return int(max(1, batch_bytes // max(in_file, sum(_width(field.type) for field in schema), ROW_BYTES)))


def claimed_bytes(group: Any, columns: Sequence[str]) -> int:
    """Return what the columns of a row group decode to at least, as its description says."""
    chunks = [group.column(index) for index in range(group.num_columns)]
    values = (
        max(chunk.num_values * _PHYSICAL_BYTES.get(chunk.physical_type, 1), chunk.total_uncompressed_size)
        for chunk in chunks
        if chunk.path_in_schema in columns or chunk.path_in_schema.partition(".")[0] in columns
    )
    return int(group.num_rows * ROW_BYTES + sum(values))


def repeating_columns(metadata: Any, schema: pa.Schema, groups: Sequence[int]) -> list[str]:
    """Return the columns of text that are mostly references in some row groups."""
    texts = [field.name for field in schema if _is_text(field.type)]
    try:
        chunks = [_chunks(metadata.row_group(number)) for number in groups] if texts else []
    except UnicodeDecodeError:  # the names in a damaged footer; whether they matter shows in reading
        return []
    return [name for name in texts if _repeats([each.get(name) for each in chunks])]


def decoded_parts(batch: pa.RecordBatch, schema: pa.Schema, batch_bytes: int) -> Iterator[pa.Table]:
    """Yield a batch in tables of about ``batch_bytes``, with its references replaced by what they stand for.

    Args:
        batch: Rows, with columns of text as dictionaries.
        schema: The types that the file has.
        batch_bytes: Size of a table; one row at least.
    """
    table = pa.Table.from_batches([batch])
    references = [name for name in table.column_names if table.schema.field(name).type != schema.field(name).type]
    if not references:
        yield table
        return
    ends = np.cumsum(sum(_lengths(batch.column(name)) for name in references))
    start = 0
    while start < table.num_rows:
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + batch_bytes, side="right")))
        yield _decoded(table.slice(start, stop - start), references, schema)
        start = stop


def _decoded(table: pa.Table, references: Sequence[str], schema: pa.Schema) -> pa.Table:
    for name in references:
        index = table.column_names.index(name)
        table = table.set_column(index, name, table.column(index).cast(schema.field(name).type))
    return table


def _lengths(column: Any) -> Any:
    """Return the bytes of every value of a dictionary-encoded column."""
    if not len(column.dictionary):
        return np.zeros(len(column), dtype=np.int64)
    of_values = pc.fill_null(pc.binary_length(column.dictionary), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return of_values[pc.fill_null(column.indices, 0).to_numpy(zero_copy_only=False)]


def _chunks(group: Any) -> dict[str, Any]:
    chunks = [group.column(index) for index in range(group.num_columns)]
    return {chunk.path_in_schema: chunk for chunk in chunks}


def _repeats(chunks: Sequence[Any]) -> bool:
    if not all(chunk is not None and chunk.has_dictionary_page for chunk in chunks):
        return False
    dictionaries = sum(chunk.data_page_offset - chunk.dictionary_page_offset for chunk in chunks)
    besides = sum(chunk.total_compressed_size for chunk in chunks) - dictionaries
    references = _REFERENCE_BYTES * sum(chunk.num_values for chunk in chunks)
    return bool(besides <= references + _PAGE_HEADER_BYTES * len(chunks))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))


def _width(kind: pa.DataType) -> float:
    """Return the bytes that a value takes at least."""
    if pa.types.is_struct(kind):
        return sum(_width(kind.field(index).type) for index in range(kind.num_fields))
    if pa.types.is_null(kind):
        return 0
    try:
        return float(kind.bit_width / 8)
    except ValueError:  # of varying length: an offset, at least
        return 4
