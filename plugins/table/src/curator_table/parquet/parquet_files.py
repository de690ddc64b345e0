"""Read and write Parquet with checksums over every byte, by row group, surviving a corrupt one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curator_core.sdk import (
    DEFAULT_BLOCK_BYTES,
    BadRecord,
    DataError,
    StreamError,
    atomic_output,
    open_slice,
    own_name,
    report,
    with_provenance,
)
from curator_table.foreign_content import unreadable_table
from curator_table.json.kinds import has_empty_object
from curator_table.json.writer import json_ready, json_texts
from curator_table.memory_claims import ROW_BYTES, DecodedBytes, check_width, is_data_error
from curator_table.parquet.batches import claimed_bytes, repeating_columns, rows_per_batch, safe_rows, with_types
from curator_table.parquet.row_group_faults import row_group_faults
from curator_table.row_sizes import has_views, parts
from curator_table.seal import PARQUET_FOOTER, SEAL_KEY, SealedFile, SealingFile, check_seal
from curator_table.types.schema_checks import check_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.sdk import FileSlice, Limits

__all__ = ["look_parquet", "parquet_group_sizes", "read_parquet", "write_parquet"]

_ROW_GROUP_BYTES = 64 * 2**20
_MAX_STRING_BYTES = 2**31
_READ_ERRORS = (pa.ArrowException, DataError, OSError, ValueError)


def read_parquet(
    piece: FileSlice,
    *,
    columns: Sequence[str] | None = None,
    batch_bytes: int = DEFAULT_BLOCK_BYTES,
    limits: Limits | None = None,
) -> Iterator[pa.Table]:
    """Yield the rows of a Parquet file, or of some of its row groups, in tables of about ``batch_bytes``.

    Every table has ``_source`` (the path) and ``_row`` (record number in the file). Checksums are verified where the
    file has them: those of pages, and the seal that :func:`write_parquet` adds. A corrupt row group is reported as a
    bad record at its first lost row; the others come out.

    Raises:
        DataError: The file as a whole cannot be read.
    """
    with open_slice(piece) as file:
        sealed = _sealed(file, piece)
        parquet = _open(sealed, piece)
        metadata, schema = parquet.metadata, parquet.schema_arrow
        wanted = _wanted(schema.names, columns)
        check_width([schema.field(name).type for name in wanted], piece.path, limits)
        decoded = DecodedBytes(piece.path, sealed.size_bytes, limits)
        groups = range(*(piece.row_groups or (0, metadata.num_row_groups)))
        broken = _broken_groups(parquet, groups)
        readers = _Readers(sealed, piece, parquet, wanted)
        group_rows = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        first_rows = np.concatenate([[0], np.cumsum(group_rows)])
        for group in groups:
            row = int(first_rows[group])
            if group in broken:
                message = f"row group {group}, rows {row:,} to {first_rows[group + 1] - 1:,}: {broken[group]}"
                report().bad_record(BadRecord(message, piece.path, row, error_type="CorruptParquet"))
                continue
            try:
                for table in _tables(readers, group, batch_bytes, decoded):
                    yield with_provenance(table, piece.path, np.arange(row, row + len(table)), columns)
                    row += len(table)
            except StreamError as error:
                report().bad_record(BadRecord(error.reason, piece.path, row, error_type=error.error_type))
                return
            except _READ_ERRORS as error:
                if not is_data_error(error, file_bytes=piece.file_bytes, limits=limits):
                    raise
                message = f"row group {group}, rows {row:,} to {first_rows[group + 1] - 1:,}: {error}"
                report().bad_record(BadRecord(message, piece.path, row, error_type="CorruptParquet"))
            else:
                if row != first_rows[group + 1]:
                    message = f"row group {group} has {row - first_rows[group]:,} of {group_rows[group]:,} rows"
                    report().bad_record(BadRecord(message, piece.path, row, error_type="CorruptParquet"))


class _Readers:
    """Open a file once for every choice of texts that are read as references, and keep the options."""

    def __init__(self, sealed: SealedFile, piece: FileSlice, parquet: pq.ParquetFile, wanted: list[str]) -> None:
        self.sealed = sealed
        self.metadata = parquet.metadata
        self.schema = parquet.schema_arrow
        self.wanted = wanted
        self.decodable = [name for name in wanted if not has_views(self.schema.field(name).type)]
        self._piece = piece
        self._opened: dict[frozenset[str], pq.ParquetFile] = {frozenset(): parquet}

    def reader(self, references: frozenset[str]) -> pq.ParquetFile:
        if references not in self._opened:
            options = {"metadata": self.metadata, "read_dictionary": references}
            self._opened[references] = _open(self.sealed, self._piece, **options)
        return self._opened[references]


def _tables(readers: _Readers, group: int, batch_bytes: int, decoded: DecodedBytes) -> Iterator[pa.Table]:
    """Yield the rows of a row group, and count their decoded bytes."""
    described = readers.metadata.row_group(group)
    decoded.check(claimed_bytes(described, readers.wanted))
    references = repeating_columns(described, readers.decodable, decoded.left)
    rows = rows_per_batch(described, readers.schema, batch_bytes)
    rows = safe_rows(readers.sealed, described, readers.wanted, references, rows=rows, allowed_bytes=decoded.left)
    batches = readers.reader(references).iter_batches(rows, row_groups=[group], columns=readers.wanted)
    for table in _joined(batches, batch_bytes):
        for part, referred_bytes in parts(table, batch_bytes):
            decoded.check(referred_bytes)
            typed = with_types(part, readers.schema)
            decoded.add(max(referred_bytes, typed.nbytes) + ROW_BYTES * typed.num_rows)
            yield typed


def _joined(batches: Iterator[pa.RecordBatch], batch_bytes: int) -> Iterator[pa.Table]:
    """Yield batches, small ones together; those before one that cannot be read too."""
    waiting: list[pa.RecordBatch] = []
    waiting_bytes = 0
    try:
        for batch in batches:
            batch.validate(full=True)
            waiting.append(batch)
            waiting_bytes += batch.nbytes
            if waiting_bytes + batch.nbytes > batch_bytes:
                yield pa.Table.from_batches(waiting)
                waiting, waiting_bytes = [], 0
    except _READ_ERRORS:
        if waiting:
            yield pa.Table.from_batches(waiting)
        raise
    if waiting:
        yield pa.Table.from_batches(waiting)


def write_parquet(table: pa.Table, path: str) -> int:
    """Write a Parquet file (zstd, page checksums and a seal over the whole file); the same table gives the same bytes.

    A column with objects that have no fields, which Parquet cannot store, is written as JSON text.

    Returns:
        The bytes written.
    """
    table = _storable(table)
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), SEAL_KEY: b"1"})
    rows_per_group = max(1, _ROW_GROUP_BYTES * table.num_rows // max(1, table.nbytes))
    with atomic_output(path) as file:
        sink = SealingFile(file, PARQUET_FOOTER)
        with pq.ParquetWriter(sink, table.schema, compression="zstd", write_page_checksum=True) as writer:
            writer.write_table(table, row_group_size=rows_per_group)
            sink.begin_footer()
        sink.finish()
        return file.tell()


def parquet_group_sizes(piece: FileSlice) -> list[int] | None:
    """Return the compressed bytes of every row group; None where the footer cannot be read."""
    try:
        with open_slice(piece) as file:
            parquet = _open(_sealed(file, piece), piece)
            metadata = parquet.metadata
            if _broken_groups(parquet, range(metadata.num_row_groups)):
                return None  # reading it will report why
            return [_compressed_bytes(metadata.row_group(i)) for i in range(metadata.num_row_groups)]
    except DataError:
        return None  # reading it will report why


def look_parquet(piece: FileSlice, *, max_bytes: int, limits: Limits) -> dict[str, pa.DataType]:  # noqa: ARG001 - a contract
    """Return the columns that the footer names."""
    with open_slice(piece) as file:
        schema = _open(_sealed(file, piece), piece).schema_arrow
    return {own_name(field.name, taken=schema.names): field.type for field in schema}


def _sealed(file: Any, piece: FileSlice) -> SealedFile:
    return SealedFile(file, PARQUET_FOOTER, piece.path)


def _open(sealed: SealedFile, piece: FileSlice, **options: Any) -> pq.ParquetFile:
    try:
        parquet = pq.ParquetFile(sealed, page_checksum_verification=True, **options)
        schema = parquet.schema_arrow
    except DataError:
        raise
    except _READ_ERRORS as error:
        if not is_data_error(error, file_bytes=piece.file_bytes):
            raise
        raise unreadable_table(piece, "Parquet", error) from error
    check_seal(sealed, schema.metadata, piece.path)
    check_schema(schema, piece.path)
    return parquet


def _broken_groups(parquet: pq.ParquetFile, groups: Sequence[int]) -> dict[int, str]:
    """Return row groups whose description is damaged. A sealed file's footer is known to be whole."""
    if SEAL_KEY in (parquet.schema_arrow.metadata or {}):
        return {}
    return row_group_faults(parquet.metadata, groups)


def _wanted(names: Sequence[str], columns: Sequence[str] | None) -> list[str]:
    return [name for name in names if columns is None or own_name(name, taken=names) in columns]


def _compressed_bytes(group: Any) -> int:
    return sum(group.column(i).total_compressed_size for i in range(group.num_columns))


def _storable(table: pa.Table) -> pa.Table:
    """Return the table with the types of the run: text is text, and values without a Parquet type are JSON text."""
    for index, field in enumerate(table.schema):
        column = table.column(index)
        if pa.types.is_large_string(field.type) and column.nbytes < _MAX_STRING_BYTES:  # as stages on polars leave it
            table = table.set_column(index, field.with_type(pa.string()), column.cast(pa.string()))
        elif has_empty_object(field.type):
            texts = json_texts(json_ready(table.select([index])).column(0)).cast(pa.json_(pa.string()))
            table = table.set_column(index, field.name, texts)
    return table
