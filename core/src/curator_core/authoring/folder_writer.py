"""Write files into a folder, named after tasks, so that a repeated task replaces its own files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from curator_core.authoring.stage import ProcessingStage
from curator_core.authoring.tasks import FileGroupTask, FileSlice, TableBatch
from curator_core.files.atomic import make_folder
from curator_core.files.filesystems import is_local, open_filesystem
from curator_core.files.parts import part_name, remove_parts
from curator_core.values.errors import ConfigError, StageError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from curator_core.authoring.stage import NodeInfo, WorkerInfo

__all__ = ["FolderWriter"]


@dataclass
class FolderWriter(ProcessingStage[TableBatch, FileGroupTask]):
    """Base of stages that write batches to files in a folder: a subclass defines ``process``.

    Files are called :meth:`file_stem` and an extension, which lets a resumed run find and remove them.

    >>> @dataclass
    ... class Count(FolderWriter):
    ...     def process(self, task):
    ...         path = self.file_path(f"{self.file_stem(task.task_id)}.count")
    ...         return self.written(task, {path: 0}, rows=task.num_rows)
    >>> Count("out").process(TableBatch(data={"text": ["one"]}, task_id="3f2a/0")).paths
    ['out/part-3f2a-0.count']

    Args:
        path: Output folder or URL; created where missing.
    """

    path: str

    thread_safe: ClassVar[bool] = True

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        """Create the output folder, once a machine."""
        make_folder(self.path)

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        """Create the output folder, for runners that have no nodes."""
        make_folder(self.path)

    def file_stem(self, task_id: str) -> str:
        """Return the beginning of the names of all files that a task is written to.

        Raises:
            StageError: The task has no id.
        """
        if not task_id:
            raise StageError(
                f"stage {self.name!r} names files after tasks, and this task has no id",
                fix="run it in a pipeline, or give the task a task_id",
            )
        return part_name(task_id)

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

    def file_path(self, file_name: str) -> str:
        """Return where a file of this name is, as the output task says it."""
        return f"{self.path.rstrip('/') or '/'}/{file_name}"

    def output_extensions(self) -> tuple[str, ...]:
        """Return the extensions by which a reader finds files of this kind; none where all files of a task count."""
        return ()

    def remove_output(self, sources: Collection[str], *, only_torn: bool) -> None:
        """Remove the files of source tasks from the output folder."""
        remove_parts(self.path, sources, only_torn=only_torn)

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
