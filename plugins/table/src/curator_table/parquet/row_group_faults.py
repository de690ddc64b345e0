"""Row groups whose description in the footer is damaged, found without reading any of their data."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["row_group_faults"]

_SIZE_BYTES = 1 << 62


def row_group_faults(metadata: pq.FileMetaData, groups: Iterable[int]) -> dict[int, str]:
    """Return row groups whose description is damaged, and the damage.

    Asking pyarrow about the columns of such a group would end the process; starting to read from it raises. So this
    reads from a file without data: with an intact description the read starts and finds nothing, with a damaged one it
    fails before.

    Args:
        metadata: The footer.
        groups: The row groups to look at.
    """
    return {group: fault for group in groups if (fault := _fault_of(metadata, group)) is not None}


def _fault_of(metadata: pq.FileMetaData, group: int) -> str | None:
    try:
        parquet = pq.ParquetFile(_NoData(), metadata=metadata, pre_buffer=True)
        next(parquet.iter_batches(1, row_groups=[group], use_threads=False), None)
    except (pa.ArrowException, OSError, ValueError) as error:
        return str(error) if "histogram" in str(error) else None  # any other damage is found and reported in reading
    return None


class _NoData(io.RawIOBase):
    """A file that is as large as any and ends wherever it is read.

    It raises nothing: Arrow would keep the exception, and with it every frame up to that of the reader and its tables.
    """

    def __init__(self) -> None:
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._position = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: _SIZE_BYTES}[whence] + offset
        return self._position

    def read(self, size: int | None = -1) -> bytes:  # noqa: ARG002 - whatever is asked for
        return b""
