"""Files that the steps of a workflow leave to each other in its cache: a Parquet file of each task, and long arrays."""

from __future__ import annotations

import io
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import pyarrow.parquet as pq

from curator_core.sdk import (
    FileGroupTask,
    FileSlice,
    ProcessingStage,
    Task,
    atomic_output,
    is_local,
    make_folder,
    open_filesystem,
    part_name,
    remove_parts,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    import pyarrow as pa
    from numpy.typing import NDArray

    from curator_core.sdk import NodeInfo, WorkerInfo

__all__ = ["PartWriter", "load_array", "read_columns", "save_array"]

X = TypeVar("X", bound=Task[Any])

_SMALL_BYTES = 1 << 16
"""A smaller array is read as a whole."""


@dataclass
class PartWriter(ProcessingStage[X, FileGroupTask]):
    """Base of stages that write a Parquet file for each task: a subclass says into which folder, and writes.

    >>> from curator_core import TableBatch
    >>> from curator_table import write_parquet
    >>> class WriteTexts(PartWriter[TableBatch]):
    ...     folder = "texts"
    ...     def write_part(self, task, path):
    ...         return {"rows": task.num_rows, "bytes": write_parquet(task.data, path)}
    >>> stage = WriteTexts("memory://cache")
    >>> stage.process(TableBatch(data={"text": ["one"]}, task_id="3f2a/0")).paths
    ['memory://cache/texts/part-3f2a-0.parquet']

    Args:
        path: Folder of the cache.
    """

    path: str

    folder: ClassVar[str]
    """Where the files go, in the cache."""
    thread_safe: ClassVar[bool] = True

    @abstractmethod
    def write_part(self, task: X, path: str) -> dict[str, Any] | None:
        """Write the file of a task.

        Args:
            task: The task.
            path: The file.

        Returns:
            The counts, including ``rows`` and ``bytes``; None if there was nothing to write.
        """

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        make_folder(f"{self.path}/{self.folder}")

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        make_folder(f"{self.path}/{self.folder}")

    def process(self, task: X) -> FileGroupTask | None:
        """Write the file of a task and return a task that names it; None where there was nothing to write."""
        path = f"{self.path}/{self.folder}/{part_name(task.task_id, '.parquet')}"
        counted = self.write_part(task, path)
        if counted is None:
            return None
        return FileGroupTask(data=(FileSlice(path),), task_id=task.task_id, meta=counted)

    def remove_output(self, sources: Collection[str], *, only_torn: bool) -> None:
        """Remove the files of source tasks."""
        remove_parts(f"{self.path}/{self.folder}", sources, only_torn=only_torn)


def read_columns(path: str, columns: list[str] | None = None) -> pa.Table:
    """Read some columns, or all, of a Parquet file."""
    filesystem, inner = open_filesystem(path)
    with filesystem.open(inner, "rb") as file:
        return pq.ParquetFile(file, page_checksum_verification=True).read(columns)


def save_array(values: NDArray[Any], path: str) -> None:
    """Write an array to a file, whole or not at all."""
    with atomic_output(path) as file:
        np.lib.format.write_array(file, np.ascontiguousarray(values), allow_pickle=False)


def load_array(path: str) -> NDArray[Any]:
    """Return an array that was saved; mapped where the disk is local, so that a worker reads only what it looks up."""
    filesystem, inner = open_filesystem(path)
    if is_local(filesystem) and filesystem.size(inner) > _SMALL_BYTES:
        mapped: NDArray[Any] = np.lib.format.open_memmap(inner, mode="r")
        return mapped
    loaded: NDArray[Any] = np.lib.format.read_array(io.BytesIO(filesystem.cat_file(inner)), allow_pickle=False)
    return loaded
