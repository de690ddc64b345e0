"""From one partition of the keys of all lines: those that stand elsewhere too, and are not among the first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from curator_core.sdk import FileGroupTask, FileSlice, ProcessingStage, make_folder, part_name, remove_parts
from curator_dedup.matching.find_pairs import first_numbers
from curator_dedup.shuffle_file import read_partition
from curator_table import write_parquet

if TYPE_CHECKING:
    from collections.abc import Collection

    from curator_core.sdk import NodeInfo, WorkerInfo

__all__ = ["FindRepeats"]


@dataclass
class FindRepeats(ProcessingStage[FileGroupTask, FileGroupTask]):
    """Write the lines to remove: document and number of the line.

    Args:
        path: Folder of the cache; lines go to ``repeats`` in it.
        numberings: Files with the batches of the corpus.
        max_copies: How many copies of a line may stay, the first ones of the input.
    """

    path: str
    numberings: list[str] = field(default_factory=list)
    max_copies: int = 1

    name = "dedup.find_repeats"
    thread_safe: ClassVar[bool] = True

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        make_folder(f"{self.path}/repeats")

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        make_folder(f"{self.path}/repeats")
        self._first = first_numbers(self.numberings)

    def process(self, task: FileGroupTask) -> FileGroupTask:
        """Write the lines of a partition."""
        repeats = self._repeats(task)
        path = f"{self.path}/repeats/{part_name(task.task_id, '.parquet')}"
        size = write_parquet(repeats.to_arrow(), path)
        return FileGroupTask(data=(FileSlice(path),), task_id=task.task_id, meta={"rows": len(repeats), "bytes": size})

    def remove_output(self, sources: Collection[str], *, only_torn: bool) -> None:
        """Remove the lines of partitions."""
        remove_parts(f"{self.path}/repeats", sources, only_torn=only_torn)

    def _repeats(self, task: FileGroupTask) -> pl.DataFrame:
        from curator_dedup.kernels.edges import repeated

        frames = []
        for piece in task.data:
            table, _ = read_partition(piece)
            document = table.column("document").to_numpy() + np.int64(self._first[piece.path])
            columns = {name: table.column(name).to_numpy() for name in ("key", "mark", "line")}
            frames.append(pl.DataFrame({**columns, "document": document}))
        rows = pl.concat(frames)
        rows = rows.filter(pl.Series(repeated(rows["key"].to_numpy())))
        rows = rows.sort("key", "mark", "document", "line")
        place = pl.int_range(pl.len()).over("key", "mark")
        return rows.filter(place >= self.max_copies).select("document", "line")
