"""Write batches to files of tables: JSON lines, Parquet, CSV and Arrow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from curator_core.sdk import FileWriter
from curator_table.formats import FORMATS

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["WriteArrow", "WriteCsv", "WriteJsonl", "WriteParquet"]

Compression = Literal["gz", "zst", "bz2", "xz"]


@dataclass
class WriteJsonl(FileWriter):
    """Write every batch to a JSON Lines file named after its task.

    >>> WriteJsonl("out", compression="zst").file_name("3f2a/0")
    'part-3f2a-0.jsonl.zst'

    Args:
        write_nulls: Write nulls, so that every line has every key; otherwise they are left out.
    """

    columns: list[str] | None = field(default=None, kw_only=True)
    keep_provenance: bool = field(default=False, kw_only=True)
    max_file_bytes: int | None = field(default=None, kw_only=True)
    compression: Compression | None = field(default=None, kw_only=True)
    write_nulls: bool = field(default=False, kw_only=True)

    name = "table.write_jsonl"
    version: ClassVar[str] = "2"
    table_format = FORMATS["jsonl"]

    def write_file(self, table: pa.Table, path: str) -> int:
        return FORMATS["jsonl"].write(table, path, write_nulls=self.write_nulls)


@dataclass
class WriteParquet(FileWriter):
    """Write every batch to a Parquet file named after its task, compressed inside and with page checksums.

    >>> WriteParquet("out").file_name("3f2a/0")
    'part-3f2a-0.parquet'
    """

    columns: list[str] | None = field(default=None, kw_only=True)
    keep_provenance: bool = field(default=False, kw_only=True)
    max_file_bytes: int | None = field(default=None, kw_only=True)

    name = "table.write_parquet"
    version: ClassVar[str] = "2"
    table_format = FORMATS["parquet"]


@dataclass
class WriteArrow(FileWriter):
    """Write every batch to an Arrow IPC file named after its task, with compressed buffers and checksums.

    >>> WriteArrow("out").file_name("3f2a/0")
    'part-3f2a-0.arrow'
    """

    columns: list[str] | None = field(default=None, kw_only=True)
    keep_provenance: bool = field(default=False, kw_only=True)
    max_file_bytes: int | None = field(default=None, kw_only=True)

    name = "table.write_arrow"
    version: ClassVar[str] = "2"
    table_format = FORMATS["arrow"]


@dataclass
class WriteCsv(FileWriter):
    """Write every batch to a CSV file with a header line, named after its task.

    >>> WriteCsv("out", compression="gz").file_name("3f2a/0")
    'part-3f2a-0.csv.gz'
    """

    columns: list[str] | None = field(default=None, kw_only=True)
    keep_provenance: bool = field(default=False, kw_only=True)
    max_file_bytes: int | None = field(default=None, kw_only=True)
    compression: Compression | None = field(default=None, kw_only=True)

    name = "table.write_csv"
    version: ClassVar[str] = "2"
    table_format = FORMATS["csv"]
