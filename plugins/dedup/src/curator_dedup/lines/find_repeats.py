"""From one partition of the keys of all lines: those that stand elsewhere too, and are not among the first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from curator_core.sdk import FileGroupTask
from curator_dedup.cache_files import PartWriter
from curator_dedup.numbering import first_numbers
from curator_dedup.shuffle_file import read_partition
from curator_table import write_parquet

if TYPE_CHECKING:
    from curator_core.sdk import WorkerInfo

__all__ = ["FindRepeats"]


@dataclass
class FindRepeats(PartWriter[FileGroupTask]):
    """Write the lines to remove: document and number of the line.

    Args:
        path: Folder of the cache; lines go to ``repeats`` in it.
        numberings: Files with the batches of the corpus.
        max_copies: How many copies of a line may stay, the first ones of the input.
    """

    numberings: list[str] = field(default_factory=list)
    max_copies: int = 1

    name = "dedup.find_repeats"
    folder = "repeats"

    def setup(self, worker: WorkerInfo) -> None:
        super().setup(worker)
        self._first = first_numbers(self.numberings)

    def write_part(self, task: FileGroupTask, path: str) -> dict[str, Any]:
        """Write the lines of a partition."""
        repeats = self._repeats(task)
        return {"rows": len(repeats), "bytes": write_parquet(repeats.to_arrow(), path)}

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
