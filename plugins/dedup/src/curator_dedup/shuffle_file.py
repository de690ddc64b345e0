"""Parquet files whose rows are sorted into partitions, one row group each, to be read across many files.

A step that needs all rows with equal keys reads one partition of every file. The files are written once, by the step
that makes the rows, and nothing is ever gathered in one place.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curator_core.sdk import DataError, FileGroupTask, FileSlice, atomic_output, open_filesystem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["partition_tasks", "partitions_for", "read_partition", "write_partitions", "write_shuffled"]

_COUNTS_KEY = b"curator.partitions"
_MAX_PARTITIONS = 4096


def partitions_for(total_bytes: int, partition_bytes: int) -> int:
    """Return how many partitions keep each to about ``partition_bytes``: a power of two, so that it is stable.

    >>> partitions_for(5_000, 1_000), partitions_for(10, 1_000)
    (8, 1)
    """
    wanted = -(-total_bytes // partition_bytes)
    return min(_MAX_PARTITIONS, 1 << max(0, wanted - 1).bit_length())


def write_shuffled(
    table: pa.Table, partition: NDArray[Any], path: str, *, partitions: int, metadata: Mapping[bytes, bytes]
) -> int:
    """Write the rows of a table, sorted by partition; return the bytes written.

    Args:
        table: The rows.
        partition: The partition of each row.
        path: The file.
        partitions: How many there are.
        metadata: Kept in the file.
    """
    counts = np.bincount(partition, minlength=partitions)
    if partitions > 1:
        order = np.argsort(partition.astype(np.uint16), kind="stable")  # a radix sort, for numbers this small
        table = table.take(pa.array(order))
    return write_partitions(table, counts, path, metadata=metadata)


def write_partitions(table: pa.Table, counts: NDArray[np.int64], path: str, *, metadata: Mapping[bytes, bytes]) -> int:
    """Write rows that are sorted by partition already; return the bytes written.

    Args:
        table: The rows.
        counts: How many of them each partition has.
        path: The file.
        metadata: Kept in the file.
    """
    table = table.combine_chunks()
    notes = {**metadata, _COUNTS_KEY: json.dumps(counts.tolist()).encode()}
    schema = table.schema.with_metadata(notes)
    with atomic_output(path) as file:
        options: dict[str, Any] = {"compression": "zstd", "use_dictionary": False, "write_page_checksum": True}
        if all(pa.types.is_integer(each.type) for each in schema):
            options |= {"compression": "none", "write_statistics": False}  # hashes: nothing to gain
        with pq.ParquetWriter(file, schema, **options) as writer:
            begin = 0
            for count in counts[counts > 0].tolist():
                writer.write_table(table.slice(begin, count), row_group_size=count)
                begin += count
        return file.tell()


def partition_tasks(
    paths: Sequence[str], partitions: Iterable[int], versions: Sequence[str]
) -> Iterator[FileGroupTask]:
    """Yield one unit of work for every partition: that partition of all files.

    Args:
        paths: The files.
        partitions: The partitions.
        versions: Version of each file.
    """
    for partition in partitions:
        span = (partition, partition + 1)
        yield FileGroupTask(
            data=tuple(
                FileSlice(path, row_groups=span, version=version) for path, version in zip(paths, versions, strict=True)
            )
        )


def read_partition(piece: FileSlice) -> tuple[pa.Table, dict[bytes, bytes]]:
    """Return the rows of one partition of a file, and the file's metadata.

    Raises:
        DataError: The file is damaged, or none of this kind.
    """
    assert piece.row_groups is not None
    filesystem, inner = open_filesystem(piece.path)
    try:
        with filesystem.open(inner, "rb") as file:
            parquet = pq.ParquetFile(file, page_checksum_verification=True)
            metadata = dict(parquet.schema_arrow.metadata or {})
            if _COUNTS_KEY not in metadata:
                raise DataError("the file has no partitions", source=piece.path, fix="remove the cache and start anew")
            counts = json.loads(metadata[_COUNTS_KEY])
            partition = piece.row_groups[0]
            if partition >= len(counts) or counts[partition] == 0:
                return parquet.schema_arrow.empty_table(), metadata
            group = sum(count > 0 for count in counts[:partition])
            return parquet.read_row_group(group), metadata
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"a file of the cache cannot be read: {error}", source=piece.path, fix="remove the cache and start anew"
        ) from error
