"""Files of pairs of documents: numbers that are used once and soon, so they are not compressed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from curator_core.sdk import atomic_output

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write_pairs"]


def write_pairs(table: pa.Table, path: str) -> int:
    """Write pairs to a file of the cache; return the bytes written.

    Args:
        table: ``first`` and ``second``, the numbers of the documents, and ``similarity``, where it is known.
        path: The file.
    """
    with atomic_output(path) as file:
        pq.write_table(
            table, file, compression="none", use_dictionary=False, write_statistics=False, write_page_checksum=True
        )
        return file.tell()
