"""Read and write Arrow IPC files, sealed (and read IPC streams), batch by batch, surviving a corrupt one."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from curator_core.errors import DataError
from curator_core.io.atomic import atomic_output
from curator_core.io.filesystems import open_slice
from curator_core.io.limits import DEFAULT_BLOCK_BYTES
from curator_core.io.memory_claims import is_data_error
from curator_core.io.provenance import check_schema, own_name, with_provenance
from curator_core.io.seal import ARROW_FOOTER, SEAL_KEY, SealedFile, SealingFile, check_seal
from curator_core.recording import BadRecord, current

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.io.limits import Limits
    from curator_core.tasks import FileSlice

__all__ = ["read_arrow", "sniff_arrow", "write_arrow"]

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
        reader = _open(file, piece)
        row = 0
        for index, batch in _batches(reader, piece, limits):
            if isinstance(batch, BaseException):
                message = f"record batch {index} cannot be read: {batch}"
                current().bad_record(BadRecord(message, piece.path, row, error_type="CorruptArrow"))
                continue
            table = pa.Table.from_batches([batch])
            if columns is not None:
                names = table.column_names
                table = table.select([name for name in names if own_name(name, taken=names) in columns])
            for start, part in _parts(table, batch_bytes):
                rows = np.arange(row + start, row + start + part.num_rows)
                yield with_provenance(part, piece.path, rows, columns)
            row += batch.num_rows


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


def sniff_arrow(piece: FileSlice) -> list[str]:
    """Return the columns of the schema."""
    with open_slice(piece) as file:
        names = _open(file, piece).schema.names
    return [own_name(name, taken=names) for name in names]


def _open(file: Any, piece: FileSlice) -> Any:
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
        raise DataError(f"not a readable Arrow file: {error}", source=piece.path) from error
    check_seal(sealed, reader.schema.metadata, piece.path)
    check_schema(reader.schema, piece.path)
    return reader


def _batches(reader: Any, piece: FileSlice, limits: Limits | None) -> Iterator[tuple[int, Any]]:
    """Yield record batches with their numbers, or the error in place of one that is corrupt."""
    count = getattr(reader, "num_record_batches", None)  # a stream has no index
    for index in itertools.count() if count is None else range(count):
        try:
            batch = reader.read_next_batch() if count is None else reader.get_batch(index)
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


def _parts(table: pa.Table, batch_bytes: int) -> Iterator[tuple[int, pa.Table]]:
    rows = max(1, batch_bytes * table.num_rows // max(1, table.nbytes))
    for start in range(0, table.num_rows, rows):
        yield start, table.slice(start, rows)
