"""Write batches to files whose names depend only on the task, so that a repeated task replaces its own file."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from curator_core.sdk import ROW_COLUMN, SOURCE_COLUMN, ConfigError, FolderWriter
from curator_table.formats import format_named

if TYPE_CHECKING:
    import pyarrow as pa

    from curator_core.sdk import Columns, FileGroupTask, FinishedRun, TableBatch

__all__ = ["TableWriter"]

Compression = Literal["gz", "zst", "bz2", "xz"]


@dataclass
class TableWriter(FolderWriter):
    """Base of stages that write a table format: one file per batch, whole or not there at all.

    A batch without rows writes nothing. The task returned names the file, or the files where ``max_file_bytes`` cuts a
    large batch; its ``meta`` has ``rows`` and ``bytes``.

    >>> @dataclass
    ... class WriteLines(TableWriter):
    ...     format = "jsonl"
    >>> WriteLines("out").file_name("3f2a/0/2")
    'part-3f2a-0-2.jsonl'

    Args:
        path: Output folder or URL; created where missing.
        columns: Columns to write, in this order; all, where None.
        keep_provenance: Also write ``_source`` and ``_row``.
        compression: Compress whole files; for JSON lines and CSV.
        max_file_bytes: Write a batch that is larger than this in memory to several files. A batch is about as large as
            the reader's ``block_bytes``, less what filters dropped; raise that one for larger files.
    """

    columns: list[str] | None = field(default=None, kw_only=True)
    keep_provenance: bool = field(default=False, kw_only=True)
    compression: Compression | None = field(default=None, kw_only=True)
    max_file_bytes: int | None = field(default=None, kw_only=True)

    format: ClassVar[str] = "jsonl"
    version: ClassVar[str] = "2"

    def __post_init__(self) -> None:
        kind = format_named(self.format)
        if self.compression is not None and not kind.takes_compression:
            raise ConfigError(
                f"stage {self.name!r}: {kind.name} files are compressed inside; compression={self.compression!r} "
                "does not apply",
                fix="leave compression out",
            )
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
            path = self.file_path(self.file_name(task.task_id, number if len(parts) > 1 else None))
            sizes[path] = format_named(self.format).write(part, path, **self.write_options())
        return self.written(task, sizes, rows=table.num_rows)

    def write_options(self) -> dict[str, Any]:
        """Return what the format's writing function is to be told besides."""
        return {}

    def finish(self, run: FinishedRun) -> None:  # noqa: ARG002 - the same after any run
        """Warn where the files of the run cannot be read as one table."""
        if format_named(self.format).has_types:
            from curator_table.types.column_types import warn_of_differences

            warn_of_differences(self.path, self.format)

    def file_name(self, task_id: str, number: int | None = None) -> str:
        """Return the name of the file that a task is written to, or of one of several."""
        extension = format_named(self.format).base_extensions[0]
        outer = f".{self.compression}" if self.compression else ""
        middle = "" if number is None else f".{number:04}"
        return f"{self.file_stem(task_id)}{middle}{extension}{outer}"

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
        if self.columns is not None:
            for name in self.columns:
                task.check_column(name)
            chosen = list(self.columns)
            if self.keep_provenance:
                chosen += [name for name in (SOURCE_COLUMN, ROW_COLUMN) if name in task.columns and name not in chosen]
            return chosen
        hidden = () if self.keep_provenance else (SOURCE_COLUMN, ROW_COLUMN)
        return [name for name in task.columns if name not in hidden]
