"""Write batches to files whose names depend only on the task, so that a repeated task replaces its own file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from curator_core.errors import ConfigError, StageError
from curator_core.io.atomic import make_folder, remove_files
from curator_core.io.filesystems import is_local, open_filesystem
from curator_core.io.formats import format_named
from curator_core.stage import ProcessingStage
from curator_core.tasks import ROW_COLUMN, SOURCE_COLUMN, FileGroupTask, FileSlice, TableBatch

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from curator_core.stage import Columns, NodeInfo, WorkerInfo

__all__ = ["TableWriter"]

Compression = Literal["gz", "zst", "bz2", "xz"]


@dataclass
class TableWriter(ProcessingStage[TableBatch, FileGroupTask]):
    """Base of stages that write a table format: one file per batch, whole or not there at all.

    A batch without rows writes nothing. The task returned names the file; its ``meta`` has ``rows`` and ``bytes``.

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
    """

    path: str
    columns: list[str] | None = field(default=None, kw_only=True)
    keep_provenance: bool = field(default=False, kw_only=True)
    compression: Compression | None = field(default=None, kw_only=True)

    format: ClassVar[str] = "jsonl"
    thread_safe: ClassVar[bool] = True

    def __post_init__(self) -> None:
        kind = format_named(self.format)
        if self.compression is not None and not kind.takes_compression:
            raise ConfigError(
                f"stage {self.name!r}: {kind.name} files are compressed inside; compression={self.compression!r} "
                "does not apply",
                fix="leave compression out",
            )

    def inputs(self) -> Columns:
        return list(self.columns or ())

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        """Create the output folder, once a machine."""
        make_folder(self.path)

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        """Create the output folder, for runners that have no nodes."""
        make_folder(self.path)

    def process(self, task: TableBatch) -> FileGroupTask | None:
        """Write a batch; return its file, or None where it has no rows."""
        if not task.num_rows:
            return None
        if not task.task_id:
            raise StageError(
                f"stage {self.name!r} names files after tasks, and this task has no id",
                fix="run it in a pipeline, or give the task a task_id",
            )
        path = self.file_path(self.file_name(task.task_id))
        table = task.data.select(self._chosen(task))
        size = format_named(self.format).write(table, path)
        return FileGroupTask(
            data=(FileSlice(path, file_bytes=size),),
            task_id=task.task_id,
            dataset_name=task.dataset_name,
            meta={**task.meta, "rows": table.num_rows, "bytes": size},
        )

    def file_name(self, task_id: str) -> str:
        """Return the name of the file that a task is written to."""
        extension = format_named(self.format).base_extensions[0]
        outer = f".{self.compression}" if self.compression else ""
        return f"part-{task_id.replace('/', '-')}{extension}{outer}"

    def file_path(self, file_name: str) -> str:
        """Return where a file of this name is, as the output task says it."""
        return f"{self.path.rstrip('/') or '/'}/{file_name}"

    def remove_output(self, sources: Collection[str], *, only_torn: bool) -> None:
        """Remove the files of source tasks from the output folder."""
        stems = {self.file_name(source).partition(".")[0] for source in sources}
        remove_files(self.path, stems, only_torn=only_torn)

    def preflight(self) -> Sequence[str] | None:
        """Check that the output folder can be written to.

        Raises:
            ConfigError: It is a file, or neither it nor its nearest parent may be written to.
        """
        filesystem, inner = open_filesystem(self.path)
        if filesystem.isfile(inner):
            raise ConfigError(
                f"stage {self.name!r}: the output path {self.path!r} is a file, but a folder is written",
                fix="name a folder, or remove the file",
            )
        if is_local(filesystem):
            folder = Path(inner)
            while not folder.exists():
                folder = folder.parent
            if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
                raise ConfigError(
                    f"stage {self.name!r}: cannot write to {self.path!r}: {str(folder)!r} is not a writable folder",
                    fix="choose another output path, or change its permissions",
                )
        return None

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
