"""Read and write Arrow IPC files, sealed (and read IPC streams), batch by batch, surviving a corrupt one."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
from curator_table.arrow.claims import claimed_bytes, file_messages, stream_messages
from curator_table.foreign_content import unreadable_table
from curator_table.memory_claims import ROW_BYTES, DecodedBytes, check_width, inner_types, is_data_error
from curator_table.row_sizes import has_references, has_views, parts
from curator_table.seal import ARROW_FOOTER, SEAL_KEY, SealedFile, SealingFile, check_seal
from curator_table.types.schema_checks import check_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.sdk import FileSlice, Limits

__all__ = ["look_arrow", "read_arrow", "write_arrow"]

_FILE_MAGIC = b"ARROW1"
_RECORD_BATCH_BYTES = 16 * 2**20
_READ_ERRORS = (pa.ArrowException, DataError, OSError, ValueError)


def read_arrow(
    piece: FileSlice,
    *,
    columns: Sequence[str] | None = None,
    batch_bytes: int = DEFAULT_BLOCK_BYTES,
    limits: Limits | None = None,
) -> Iterator[pa.Table]:
    """Yield the rows of an Arrow IPC file or stream, in tables of about ``batch_bytes``.

    Every table has ``_source`` (the path) and ``_row`` (record number in the file). Buffers are validated, because a
    flipped bit in an offset would otherwise read foreign memory. The format has no checksums; those of the seal that
    :func:`write_arrow` adds are verified. A corrupt record batch is reported; the batches after it come out where the
    file has an index (not in a stream), numbered as if the lost one had no rows, since how many it had is lost with it.

    Raises:
        DataError: The file as a whole cannot be read.
    """
    with open_slice(piece) as file:
        reader, sealed = _open(file, piece)
        names = reader.schema.names
        wanted = [name for name in names if columns is None or own_name(name, taken=names) in columns]
        check_width([reader.schema.field(name).type for name in wanted], piece.path, limits)
        _check_runs(reader.schema, wanted, piece.path)
        decoded = DecodedBytes(piece.path, sealed.size_bytes, limits)
        row = 0
        try:
            for index, batch in _batches(reader, sealed, piece, decoded, limits):
                if isinstance(batch, BaseException):
                    message = f"record batch {index} cannot be read: {batch}"
                    error_type = batch.error_type if isinstance(batch, StreamError) else "CorruptArrow"
                    report().bad_record(BadRecord(message, piece.path, row, error_type=error_type))
                    continue
                for part in _parts(pa.Table.from_batches([batch]).select(wanted), batch_bytes, decoded):
                    yield with_provenance(part, piece.path, np.arange(row, row + part.num_rows), columns)
                    row += part.num_rows
        except StreamError as error:
            report().bad_record(BadRecord(error.reason, piece.path, row, error_type=error.error_type))


def write_arrow(table: pa.Table, path: str) -> int:
    """Write an Arrow IPC file (zstd buffers, a seal over the whole file); return the bytes written."""
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), SEAL_KEY: b"1"})
    options = pa.ipc.IpcWriteOptions(compression="zstd", unify_dictionaries=True)
    rows = max(1, _RECORD_BATCH_BYTES * table.num_rows // max(1, table.nbytes))
    with atomic_output(path) as file:
        sink = SealingFile(file, ARROW_FOOTER)
        with pa.ipc.new_file(sink, table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=rows)
            sink.begin_footer()
        sink.finish()
        return file.tell()


def look_arrow(piece: FileSlice, *, max_bytes: int, limits: Limits) -> dict[str, pa.DataType]:  # noqa: ARG001 - a contract
    """Return the columns of the schema."""
    with open_slice(piece) as file:
        schema = _open(file, piece)[0].schema
    kinds = {own_name(field.name, taken=schema.names): field.type for field in schema}
    return {name: kind.value_type if pa.types.is_run_end_encoded(kind) else kind for name, kind in kinds.items()}


def _open(file: Any, piece: FileSlice) -> tuple[Any, SealedFile]:
    try:
        is_file = file.read(len(_FILE_MAGIC)) == _FILE_MAGIC
        file.seek(0)
        sealed = SealedFile(file, ARROW_FOOTER, piece.path)
        reader = pa.ipc.open_file(sealed) if is_file else pa.ipc.open_stream(sealed)
    except DataError:
        raise
    except _READ_ERRORS as error:
        if not is_data_error(error, file_bytes=piece.file_bytes):
            raise
        raise unreadable_table(piece, "Arrow", error) from error
    check_seal(sealed, reader.schema.metadata, piece.path)
    check_schema(reader.schema, piece.path)
    return reader, sealed


def _batches(
    reader: Any, sealed: SealedFile, piece: FileSlice, decoded: DecodedBytes, limits: Limits | None
) -> Iterator[tuple[int, Any]]:
    """Yield record batches with their numbers, or the error in place of one that is corrupt or decodes to too much."""
    count = getattr(reader, "num_record_batches", None)  # a stream has no index
    claims = _stream_claims(sealed) if count is None else _file_claims(sealed, count)
    for index in itertools.count() if count is None else range(count):
        try:
            claimed = next(claims, None)
            if isinstance(claimed, DataError):
                raise claimed
            decoded.check(claimed or 0)
            batch = reader.read_next_batch() if count is None else reader.get_batch(index)
            if claimed is None:
                raise DataError("it is not where the messages say")
            batch.validate(full=True)
        except StopIteration:  # noqa: PERF203 - each batch may fail on its own
            return
        except _READ_ERRORS as error:
            if not is_data_error(error, file_bytes=piece.file_bytes, limits=limits):
                raise
            yield index, error
            if count is None:
                return
        else:
            yield index, batch


def _file_claims(sealed: SealedFile, count: int) -> Iterator[int | DataError]:
    """Yield the decoded size of each record batch, with all dictionaries, which Arrow reads before the first.

    For a batch with a corrupt message, the error is yielded, because later ones must still be checked.
    """
    try:
        dictionaries, batches = file_messages(sealed)
        of_dictionaries = sum(claimed_bytes(sealed, offset)[0] for offset in dictionaries)
    except DataError as error:
        yield from itertools.repeat(error, count)
        return
    for offset in batches:
        try:
            yield of_dictionaries + claimed_bytes(sealed, offset)[0]
        except DataError as error:  # noqa: PERF203 - each may be corrupt
            yield error
    yield from itertools.repeat(DataError("the footer does not say where it is"), count - len(batches))


def _stream_claims(sealed: SealedFile) -> Iterator[int]:
    """Yield the decoded size of each record batch, with the dictionaries so far; stop at a corrupt one."""
    of_dictionaries = 0
    for offset in stream_messages(sealed):
        claimed, is_batch = claimed_bytes(sealed, offset)
        if is_batch:
            yield of_dictionaries + claimed
        else:
            of_dictionaries += claimed


def _parts(table: pa.Table, batch_bytes: int, decoded: DecodedBytes) -> Iterator[pa.Table]:
    """Yield a table in parts of about ``batch_bytes``, as large as they are once references and runs are replaced."""
    held_bytes = sum(column.nbytes for column in table.columns if not has_views(column.type))  # views are measured
    row_bytes = ROW_BYTES + held_bytes // max(1, table.num_rows)
    for part, size_bytes in parts(table, batch_bytes, held_bytes=row_bytes):
        decoded.add(size_bytes)
        yield _without_runs(part)


def _without_runs(table: pa.Table) -> pa.Table:
    for index, field in enumerate(table.schema):
        if pa.types.is_run_end_encoded(field.type):
            table = table.set_column(index, field.name, pc.run_end_decode(table.column(index)))
    return table


def _check_runs(schema: pa.Schema, names: Sequence[str], path: str) -> None:
    """Refuse runs that Arrow cannot decode: neither polars nor Parquet knows them.

    Raises:
        DataError: Names the column.
    """
    for name in names:
        kind = schema.field(name).type
        values = kind.value_type if pa.types.is_run_end_encoded(kind) else None
        is_simple = values is None or not (has_references(values) or isinstance(values, pa.BaseExtensionType))
        if not is_simple or any(map(_has_runs, inner_types(kind))):
            raise DataError(
                f"column {name!r} has run-end encoded values of a type that cannot be decoded: {kind}",
                source=path,
                fix="decode them before the file is written, or name the columns you need",
            )


def _has_runs(kind: pa.DataType) -> bool:
    return bool(pa.types.is_run_end_encoded(kind) or any(map(_has_runs, inner_types(kind))))
