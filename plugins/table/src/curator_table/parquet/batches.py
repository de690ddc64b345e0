"""Keep batches of Parquet rows small when they are decoded, independent of their size in the file.

A file of a megabyte can hold a text of a megabyte once, in a dictionary, and a hundred thousand references to it. The
size in the file says little about the size of a batch in memory, so text that repeats is read as references, which know
how long the rows will be, and decoded a few rows at a time. Text of which only a part repeats is read in batches that
stay within bounds even if every row has the longest text.
"""

from __future__ import annotations

import itertools
import operator
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from curator_table.memory_claims import ROW_BYTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["claimed_bytes", "repeating_columns", "rows_per_batch", "safe_rows", "with_types"]

_REFERENCE_BYTES = 4
"""Most that a reference takes in a file; text that is not in the dictionary takes more, but for a few short words."""

_PHYSICAL_BYTES = {"INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
_PAGE_HEADER_BYTES = 8192
"""Room for page headers, in which the smallest and the largest text of a page are repeated."""

_REPEATING_ENCODINGS = frozenset(["PLAIN_DICTIONARY", "RLE_DICTIONARY", "DELTA_BYTE_ARRAY"])
_READ_AS_REFERENCES = frozenset(["PLAIN_DICTIONARY", "RLE_DICTIONARY", "PLAIN", "RLE", "BIT_PACKED"])
"""Those that Arrow can decode into a dictionary."""

_DICTIONARY_HEADER = re.compile(rb"\x15\x04\x15([\x80-\xff]{0,4}[\x00-\x7f])", re.DOTALL)
_DICTIONARY_HEADER_BYTES = 8


def rows_per_batch(group: Any, schema: pa.Schema, batch_bytes: int) -> int:
    """Return how many rows of a row group make about ``batch_bytes``, references not counted."""
    in_file = group.total_byte_size / max(1, group.num_rows)
    return int(max(1, batch_bytes // max(in_file, sum(_width(field.type) for field in schema), ROW_BYTES)))


def claimed_bytes(group: Any, columns: Collection[str]) -> int:
    """Return the minimum decoded size of the columns of a row group, according to its description."""
    values = (
        max(chunk.num_values * _PHYSICAL_BYTES.get(chunk.physical_type, 1), chunk.total_uncompressed_size)
        for chunk in _chunks(group, columns)
    )
    return int(group.num_rows * ROW_BYTES + sum(values))


def repeating_columns(group: Any, columns: Collection[str], allowed_bytes: int) -> frozenset[str]:
    """Return the texts in these columns that are mostly references in a row group, to be read as such.

    Nested text is slower to read in this way, which is done only where it might decode to more than is allowed.
    """
    chunks = (chunk for chunk in _text_chunks(group, columns) if _repeats(chunk))
    return frozenset(
        chunk.path_in_schema
        for chunk in chunks
        if chunk.path_in_schema in columns or chunk.num_values * chunk.total_uncompressed_size > allowed_bytes
    )


def safe_rows(
    file: Any, group: Any, columns: Collection[str], references: Collection[str], *, rows: int, allowed_bytes: int
) -> int:
    """Return how many rows, of ``rows``, stay within a bound though each may have the longest text of the row group.

    Args:
        file: The Parquet file.
        group: Description of the row group.
        columns: Columns that are read.
        references: Texts in them that are read as references.
        rows: Rows of a batch in which no text occurs twice.
        allowed_bytes: Maximum decoded size of a batch.
    """
    texts = [chunk for chunk in _text_chunks(group, columns) if chunk.path_in_schema not in references]
    chunks = [chunk for chunk in texts if not _REPEATING_ENCODINGS.isdisjoint(chunk.encodings)]
    per_row = [max(1, chunk.num_values / max(1, group.num_rows)) for chunk in chunks]
    longest = [chunk.total_uncompressed_size for chunk in chunks]
    if rows * sum(map(operator.mul, longest, per_row)) > allowed_bytes:
        longest = [_longest_text(file, chunk) for chunk in chunks]
    return min(rows, max(1, int(allowed_bytes / max(1, sum(map(operator.mul, longest, per_row))))))


def with_types(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with the types that the file has: references are replaced by their text."""
    for index, field in enumerate(table.schema):
        kind = schema.field(field.name).type
        if field.type != kind:
            table = table.set_column(index, field.name, table.column(index).cast(kind))
    return table


def _chunks(group: Any, columns: Collection[str]) -> Iterator[Any]:
    """Yield the column chunks of columns, of which a nested one has several: ``x.list.element`` belongs to ``x``."""
    wanted = frozenset(columns)
    for index in range(group.num_columns):
        chunk = group.column(index)
        if not wanted.isdisjoint(itertools.accumulate(chunk.path_in_schema.split("."), "{}.{}".format)):
            yield chunk


def _text_chunks(group: Any, columns: Collection[str]) -> Iterator[Any]:
    return (chunk for chunk in _chunks(group, columns) if chunk.physical_type == "BYTE_ARRAY")


def _repeats(chunk: Any) -> bool:
    if not chunk.has_dictionary_page or not _READ_AS_REFERENCES.issuperset(chunk.encodings):
        return False
    besides = chunk.total_compressed_size - (chunk.data_page_offset - chunk.dictionary_page_offset)
    return bool(besides <= _REFERENCE_BYTES * chunk.num_values + _PAGE_HEADER_BYTES)


def _longest_text(file: Any, chunk: Any) -> int:
    """Return a bound on the texts of a chunk that may occur many times: the size of their dictionary, or of all.

    The header of a page begins with its kind and its size (PageHeader in parquet.thrift), each a byte that says what
    kind of number follows and a number of seven bits a byte, the lowest first, doubled because it might be negative.
    """
    if "DELTA_BYTE_ARRAY" not in chunk.encodings:
        file.seek(chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset)
        header = _DICTIONARY_HEADER.match(file.read(_DICTIONARY_HEADER_BYTES))
        if header is not None:
            return int(sum((byte & 127) << 7 * place for place, byte in enumerate(header[1])) // 2)
    return int(chunk.total_uncompressed_size)


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
