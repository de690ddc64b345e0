"""Writers: files in a folder, named after tasks, so that a repeated task replaces its own files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Protocol, cast

from curator_core.authoring.stage import ProcessingStage, columns_of
from curator_core.authoring.tasks import ROW_COLUMN, SOURCE_COLUMN, FileGroupTask, FileSlice, TableBatch
from curator_core.files.atomic import atomic_output, make_folder
from curator_core.files.compression import open_compressed
from curator_core.files.filesystems import is_local, open_filesystem
from curator_core.files.parts import part_name, remove_parts
from curator_core.values.errors import ConfigError, StageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import pyarrow as pa

    from curator_core.authoring.stage import Columns, FinishedRun, NodeInfo, WorkerInfo

__all__ = ["FileWriter"]


class WritableFormat(Protocol):
    """What writes the files of a format, with the first of its extensions, for any writer that holds it."""

    @property
    def extensions(self) -> tuple[str, ...]: ...
    def write(self, table: pa.Table, path: str) -> int: ...
    def check_written(self, folder: str) -> None: ...


@dataclass
class FileWriter(ProcessingStage[TableBatch, FileGroupTask]):
    r"""Base of stages that write files: a subclass writes a table to an open file, or names a format.

    Every batch becomes a file ``part-TASKID.EXTENSION``, whole or not there at all: it is written under another name,
    synced and renamed. A batch without rows writes nothing. A resumed run finds the files by their names and removes
    those that do not belong to it. The task returned names the file; its ``meta`` has ``rows`` and ``bytes``.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class WriteLogs(FileWriter):
    ...     extension = ".log"
    ...     def write(self, table, file):
    ...         for message in table["message"].to_pylist():
    ...             file.write(f"{message}\n".encode())
    >>> WriteLogs("out").file_name("3f2a/0/2")
    'part-3f2a-0-2.log'

    A stage that writes several files of a batch defines :meth:`parts`, or :meth:`process` instead of ``write``: it
    names them with :meth:`file_name` and returns :meth:`written`.

    A field of a subclass that has the name of one of these attributes becomes a parameter with that meaning.

    Args:
        path: Output folder or URL; created where missing.

    Attributes:
        columns: Columns to write, in this order; all, where None.
        keep_provenance: Also write ``_source`` and ``_row``.
        max_file_bytes: Write a batch that is larger than this in memory to several files. A batch is about as large as
            the reader's ``block_bytes``, less what filters dropped; raise that one for larger files.
        compression: Compress the files: ``gz``, ``zst``, ``bz2`` or ``xz``.
        extension: End of the names of the files, with the dot; ``.gz``, ``.zst``, ``.bz2`` and ``.xz`` behind it
            compress them.
    """

    path: str

    thread_safe: ClassVar[bool] = True
    # Without annotations, because these are no parameters; a subclass may make some of them.
    columns = cast("list[str] | None", None)
    keep_provenance = False
    max_file_bytes = cast("int | None", None)
    compression = cast("str | None", None)
    extension = ""
    table_format = cast("WritableFormat | None", None)
    """What writes the files where the subclass does not: a value of ``curator_table.FORMATS``."""

    def __post_init__(self) -> None:
        if self.max_file_bytes is not None and self.max_file_bytes <= 0:
            raise ConfigError(f"stage {self.name!r}: max_file_bytes must be positive, got {self.max_file_bytes}")
        if self.table_format is not None:
            self.extension = self.table_format.extensions[0]
        if self.compression is not None:
            self.extension += f".{self.compression}"

    def inputs(self) -> Columns:
        return list(self.columns or ())

    def write(self, table: pa.Table, file: BinaryIO) -> None:  # noqa: ARG002 - the signature is the contract
        """Write a table, which has at least one row, and neither ``_source`` nor ``_row`` unless asked for."""
        raise StageError(f"stage {self.name!r} defines neither write nor process")

    def process(self, task: TableBatch) -> FileGroupTask | None:
        """Write a batch; return its files, or None where there is nothing to write."""
        parts = list(self.parts(task))
        sizes = {}
        for number, part in enumerate(parts):
            suffix = f".{number:04}{self.extension}" if len(parts) > 1 else None
            path = self.file_path(self.file_name(task.task_id, suffix))
            sizes[path] = self.write_file(part, path)
        return self.written(task, sizes, rows=sum(map(len, parts))) if parts else None

    def parts(self, task: TableBatch) -> Iterable[Any]:
        """Yield what :meth:`write` makes a file of each, rows that ``len`` can count.

        The chosen columns unless overridden, in as few tables of equal numbers of rows as fit ``max_file_bytes``.

        >>> [part.column_names for part in FileWriter("out").parts(TableBatch(data={"n": [1, 2], "_row": [0, 1]}))]
        [['n']]
        """
        if not task.num_rows:
            return
        for name in columns_of(self.inputs()):
            task.check_column(name)
        provenance = (SOURCE_COLUMN, ROW_COLUMN)
        chosen = [name for name in task.columns if name not in provenance] if self.columns is None else self.columns
        more = provenance if self.keep_provenance else ()
        table = task.data.select([*chosen, *(name for name in more if name in task.columns and name not in chosen)])
        wanted = 1 if self.max_file_bytes is None else -(-table.nbytes // self.max_file_bytes)
        count = max(1, min(table.num_rows, wanted))
        edges = [index * table.num_rows // count for index in range(count + 1)]
        for start, end in pairwise(edges):
            yield table.slice(start, end - start)

    def write_file(self, table: Any, path: str) -> int:
        """Write a table to a file that is whole or not there at all; return its size in bytes."""
        if self.table_format is not None:
            return self.table_format.write(table, path)
        with atomic_output(path) as file:
            with open_compressed(file, path) as stream:
                self.write(table, stream)
            return file.tell()

    def file_name(self, task_id: str, suffix: str | None = None) -> str:
        """Return the name of the file that a task is written to, or of one of several.

        Args:
            task_id: The task.
            suffix: What follows the task's id in the name; ``extension`` unless given.

        Raises:
            StageError: The task has no id.
        """
        if not task_id:
            raise StageError(
                f"stage {self.name!r} names files after tasks, and this task has no id",
                fix="run it in a pipeline, or give the task a task_id",
            )
        return part_name(task_id, self.extension if suffix is None else suffix)

    def file_path(self, file_name: str) -> str:
        """Return where a file of this name is, as the output task says it."""
        return f"{self.path.rstrip('/') or '/'}/{file_name}"

    def written(self, task: TableBatch, sizes: Mapping[str, int], *, rows: int) -> FileGroupTask:
        """Return the task that names the files written for ``task``; its ``meta`` has ``rows`` and ``bytes``.

        Args:
            task: What was written.
            sizes: Bytes of each file, by path.
            rows: Rows in all of them.
        """
        return FileGroupTask(
            data=tuple(FileSlice(path, file_bytes=size) for path, size in sizes.items()),
            task_id=task.task_id,
            dataset_name=task.dataset_name,
            meta={**task.meta, "rows": rows, "bytes": sum(sizes.values())},
        )

    def output_extensions(self) -> tuple[str, ...]:
        """Return the extensions by which a reader finds files of this kind; none where all files of a task count."""
        if self.table_format is not None:
            return self.table_format.extensions
        return (self.extension,) if self.extension else ()

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        """Create the output folder, once a machine."""
        make_folder(self.path)

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        """Create the output folder, for runners that have no nodes."""
        make_folder(self.path)

    def remove_output(self, sources: Collection[str], *, only_torn: bool) -> None:
        """Remove the files of source tasks from the output folder."""
        remove_parts(self.path, sources, only_torn=only_torn)

    def finish(self, run: FinishedRun) -> None:  # noqa: ARG002 - the same after any run
        """Warn where the files of the run cannot be read as one table."""
        if self.table_format is not None:
            self.table_format.check_written(self.path)

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
