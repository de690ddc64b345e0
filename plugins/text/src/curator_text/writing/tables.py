"""Write documents to files; how a file becomes whole or not there at all is core's business."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from curator_table import TableWriter

__all__ = ["WriteArrow", "WriteCsv", "WriteJsonl", "WriteParquet"]


@dataclass
class WriteJsonl(TableWriter):
    """Write every batch to a JSON Lines file named after its task.

    >>> WriteJsonl("out", compression="zst").file_name("3f2a/0")
    'part-3f2a-0.jsonl.zst'

    Args:
        path: Output folder or URL; created where missing.
        columns: Columns to write, in this order; all, where None.
        keep_provenance: Also write ``_source`` and ``_row``.
        compression: Compress the files: ``gz``, ``zst``, ``bz2`` or ``xz``.
        max_file_bytes: Write a batch that is larger than this in memory to several files.
        write_nulls: Write nulls, so that every line has every key; otherwise they are left out.
    """

    write_nulls: bool = field(default=False, kw_only=True)

    name = "text.write_jsonl"
    format: ClassVar[str] = "jsonl"

    def write_options(self) -> dict[str, Any]:
        return {"write_nulls": self.write_nulls}


@dataclass
class WriteParquet(TableWriter):
    """Write every batch to a Parquet file named after its task, compressed inside and with page checksums.

    >>> WriteParquet("out").file_name("3f2a/0")
    'part-3f2a-0.parquet'

    Args:
        path: Output folder or URL; created where missing.
        columns: Columns to write, in this order; all, where None.
        keep_provenance: Also write ``_source`` and ``_row``.
        compression: Leave out: Parquet compresses its pages, not the file.
        max_file_bytes: Write a batch that is larger than this in memory to several files.
    """

    name = "text.write_parquet"
    format: ClassVar[str] = "parquet"


@dataclass
class WriteArrow(TableWriter):
    """Write every batch to an Arrow IPC file named after its task, with compressed buffers and checksums.

    >>> WriteArrow("out").file_name("3f2a/0")
    'part-3f2a-0.arrow'

    Args:
        path: Output folder or URL; created where missing.
        columns: Columns to write, in this order; all, where None.
        keep_provenance: Also write ``_source`` and ``_row``.
        compression: Leave out: Arrow files compress their buffers, not the file.
        max_file_bytes: Write a batch that is larger than this in memory to several files.
    """

    name = "text.write_arrow"
    format: ClassVar[str] = "arrow"


@dataclass
class WriteCsv(TableWriter):
    """Write every batch to a CSV file with a header line, named after its task.

    >>> WriteCsv("out", compression="gz").file_name("3f2a/0")
    'part-3f2a-0.csv.gz'

    Args:
        path: Output folder or URL; created where missing.
        columns: Columns to write, in this order; all, where None.
        keep_provenance: Also write ``_source`` and ``_row``.
        compression: Compress the files: ``gz``, ``zst``, ``bz2`` or ``xz``.
        max_file_bytes: Write a batch that is larger than this in memory to several files.
    """

    name = "text.write_csv"
    format: ClassVar[str] = "csv"
