"""Compare the vectors within each cluster: who has one like it that comes before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from curator_core.sdk import EmptyTask, FileGroupTask, ProcessingStage
from curator_dedup.cache_files import PartWriter, load_array
from curator_dedup.semantic.vectors import drawn
from curator_dedup.shuffle_file import partition_tasks, read_partition
from curator_table import write_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.sdk import WorkerInfo

__all__ = ["FindPartners", "KeepSemantic", "ListClusters"]

KeepSemantic = Literal["hard", "easy", "random", "best"]
"""Which of similar rows is kept: the farthest from its cluster's centre, the nearest, any, or the best by a column."""


@dataclass
class ListClusters(ProcessingStage[EmptyTask, FileGroupTask]):
    """Make one unit of work of each partition of the clusters.

    Args:
        paths: The files.
        versions: Version of each.
        partitions: How many partitions there are.
    """

    paths: list[str] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    partitions: int = 1

    name = "dedup.clusters"

    def process(self, task: EmptyTask) -> Iterator[FileGroupTask]:  # noqa: ARG002 - it makes its own work
        return partition_tasks(self.paths, range(self.partitions), self.versions)


@dataclass
class FindPartners(PartWriter[FileGroupTask]):
    """Write for every row that has one, in its cluster, a partner that is to be kept rather than it.

    Args:
        path: Folder of the cache; partners go to ``partners`` in it.
        eps: Largest cosine distance of duplicates.
        which_to_keep: Which of similar rows is kept.
        seed: Start of the random numbers, for ``random``.
        device: Where to compute.
    """

    eps: float = 0.05
    which_to_keep: KeepSemantic = "hard"
    seed: int = 0
    device: str = "cpu"

    name = "dedup.find_partners"
    folder = "partners"

    def setup(self, worker: WorkerInfo) -> None:
        super().setup(worker)
        self._scores = load_array(f"{self.path}/scores.npy") if self.which_to_keep == "best" else None

    def write_part(self, task: FileGroupTask, path: str) -> dict[str, Any]:
        """Compare the clusters of a partition."""
        tables = [table for piece in task.data if (table := read_partition(piece)[0]).num_rows]
        found = [self._partners(tables)] if tables else []
        document, partner, similarity = (
            (np.concatenate(each) for each in zip(*found, strict=True))
            if found
            else (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
        )
        table = pa.table({"document": document, "partner": partner, "similarity": similarity.astype(np.float64)})
        return {"rows": len(document), "bytes": write_parquet(table, path)}

    def _partners(self, tables: list[pa.Table]) -> tuple[Any, Any, Any]:
        import torch

        from curator_dedup.semantic.compare import earlier_partner

        joined = pa.concat_tables(tables).combine_chunks()
        documents, clusters, near = (joined.column(name).to_numpy() for name in ("document", "cluster", "similarity"))
        vectors = _matrix(joined.column("vector"))
        order = np.lexsort((documents, self._preference(documents, near, vectors), clusters))
        begins = np.flatnonzero(np.diff(clusters[order], prepend=-1))
        results = []
        for begin, end in zip(begins, np.append(begins[1:], len(order)), strict=True):
            rows = order[begin:end]
            if len(rows) < 2:  # noqa: PLR2004 - one alone has no partner
                continue
            partner, similarity = earlier_partner(
                torch.from_numpy(vectors[rows]).to(self.device), float(np.float32(1 - self.eps))
            )
            has_one = torch.nonzero(partner >= 0).flatten().cpu().numpy()
            chosen = partner.cpu().numpy()[has_one]
            results.append((documents[rows[has_one]], documents[rows[chosen]], similarity.cpu().numpy()[has_one]))
        if not results:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32)
        found = [np.concatenate(each) for each in zip(*results, strict=True)]
        return found[0], found[1], found[2]

    def _preference(self, documents: Any, near: Any, vectors: Any) -> Any:
        """Return the sort keys of rows within a cluster: the lowest is kept first."""
        if self.which_to_keep == "hard":
            return near
        if self.which_to_keep == "easy":
            return -near
        if self.which_to_keep == "best":
            assert self._scores is not None
            scores = np.asarray(self._scores)[documents]
            return -np.where(np.isnan(scores), -np.inf, scores)
        return drawn(vectors, self.seed)


def _matrix(column: pa.ChunkedArray) -> Any:
    array = column.combine_chunks()
    array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    return array.flatten().to_numpy().reshape(len(array), -1)
