"""Write batches to files of tables: JSON lines, Parquet, CSV and Arrow."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from curator_core.sdk import ROW_COLUMN, SOURCE_COLUMN, ConfigError, FileWriter
from curator_table.formats import format_named

if TYPE_CHECKING:
    import pyarrow as pa

    from curator_core.sdk import Columns, FileGroupTask, FinishedRun, TableBatch

__all__ = ["TableWriter", "WriteArrow", "WriteCsv", "WriteJsonl", "WriteParquet"]

Compression = Literal["gz", "zst", "bz2", "xz"]


@dataclass
class TableWriter(FileWriter):
    """Base of stages that write a table format: one file per batch, or several where it is large.

    >>> @dataclass
    ... class WriteLines(TableWriter):
    ...     format = "jsonl"
    >>> WriteLines("out").file_name("3f2a/0/2")
    'part-3f2a-0-2.jsonl'

    Args:
        columns: Columns to write, in this order; all, where None.
        keep_provenance: Also write ``_source`` and ``_row``.
        max_file_bytes: Write a batch that is larger than this in memory to several files. A batch is about as large as
            the reader's ``block_bytes``, less dropped rows; raise that one for larger files.
    """

    columns: list[str] | None = field(default=None, kw_only=True)
    keep_provenance: bool = field(default=False, kw_only=True)
    max_file_bytes: int | None = field(default=None, kw_only=True)

    format = "jsonl"
    version: ClassVar[str] = "2"

    def __post_init__(self) -> None:
        compression = getattr(self, "compression", None)
        self.extension = format_named(self.format).base_extensions[0] + (f".{compression}" if compression else "")
        if self.max_file_bytes is not None and self.max_file_bytes <= 0:
            raise ConfigError(f"stage {self.name!r}: max_file_bytes must be positive, got {self.max_file_bytes}")

    def inputs(self) -> Columns:
        return list(self.columns or ())

    def process(self, task: TableBatch) -> FileGroupTask | None:
        """Write a batch; return its files, or None where it has no rows."""
        if not task.num_rows:
            return None
        table = task.data.select(self._chosen(task))
        parts = self._parts(table)
        sizes = {}
        for number, part in enumerate(parts):
            suffix = f".{number:04}{self.extension}" if len(parts) > 1 else None
            path = self.file_path(self.file_name(task.task_id, suffix))
            sizes[path] = self.write_file(part, path)
        return self.written(task, sizes, rows=table.num_rows)

    def write_file(self, table: pa.Table, path: str) -> int:
        return format_named(self.format).write(table, path, **self.write_options())

    def write_options(self) -> dict[str, Any]:
        """Return further arguments of the format's writing function."""
        return {}

    def finish(self, run: FinishedRun) -> None:  # noqa: ARG002 - the same after any run
        """Warn where the files of the run cannot be read as one table."""
        if format_named(self.format).has_types:
            from curator_table.types.column_types import warn_of_differences

            warn_of_differences(self.path, self.format)

    def output_extensions(self) -> tuple[str, ...]:
        return format_named(self.format).extensions

    def _parts(self, table: pa.Table) -> list[pa.Table]:
        """Cut a table into as few parts of equal numbers of rows as fit ``max_file_bytes`` on average."""
        if self.max_file_bytes is None or table.nbytes <= self.max_file_bytes:
            return [table]
        count = min(table.num_rows, -(-table.nbytes // self.max_file_bytes))
        edges = [index * table.num_rows // count for index in range(count + 1)]
        return [table.slice(start, end - start) for start, end in pairwise(edges)]

    def _chosen(self, task: TableBatch) -> list[str]:
        provenance = (SOURCE_COLUMN, ROW_COLUMN)
        for name in self.columns or ():
            task.check_column(name)
        chosen = [name for name in task.columns if name not in provenance] if self.columns is None else self.columns
        more = provenance if self.keep_provenance else ()
        return [*chosen, *(name for name in more if name in task.columns and name not in chosen)]


@dataclass
class WriteJsonl(TableWriter):
    """Write every batch to a JSON Lines file named after its task.

    >>> WriteJsonl("out", compression="zst").file_name("3f2a/0")
    'part-3f2a-0.jsonl.zst'

    Args:
        compression: Compress the files: ``gz``, ``zst``, ``bz2`` or ``xz``.
        write_nulls: Write nulls, so that every line has every key; otherwise they are left out.
    """

    compression: Compression | None = field(default=None, kw_only=True)
    write_nulls: bool = field(default=False, kw_only=True)

    name = "table.write_jsonl"

    def write_options(self) -> dict[str, Any]:
        return {"write_nulls": self.write_nulls}


@dataclass
class WriteParquet(TableWriter):
    """Write every batch to a Parquet file named after its task, compressed inside and with page checksums.

    >>> WriteParquet("out").file_name("3f2a/0")
    'part-3f2a-0.parquet'
    """

    name = "table.write_parquet"
    format = "parquet"


@dataclass
class WriteArrow(TableWriter):
    """Write every batch to an Arrow IPC file named after its task, with compressed buffers and checksums.

    >>> WriteArrow("out").file_name("3f2a/0")
    'part-3f2a-0.arrow'
    """

    name = "table.write_arrow"
    format = "arrow"


@dataclass
class WriteCsv(TableWriter):
    """Write every batch to a CSV file with a header line, named after its task.

    >>> WriteCsv("out", compression="gz").file_name("3f2a/0")
    'part-3f2a-0.csv.gz'

    Args:
        compression: Compress the files: ``gz``, ``zst``, ``bz2`` or ``xz``.
    """

    compression: Compression | None = field(default=None, kw_only=True)

    name = "table.write_csv"
    format = "csv"
