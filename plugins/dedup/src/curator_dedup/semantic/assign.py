"""The second pass: every vector goes to the clusters whose centres it is nearest to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from curator_core.sdk import TableBatch
from curator_dedup.cache_files import PartWriter, load_array
from curator_dedup.numbering import DocumentNumbers
from curator_dedup.semantic.vectors import unit_vectors
from curator_dedup.shuffle_file import write_shuffled

if TYPE_CHECKING:
    from curator_core.sdk import Columns, WorkerInfo

__all__ = ["AssignClusters"]


@dataclass
class AssignClusters(PartWriter[TableBatch]):
    """Write the vectors of a batch, sorted by cluster.

    Two vectors that are near each other may be nearest to different centres. So a vector also goes to the second
    nearest cluster as a guest where it is so close to the border that one like it may be on the other side.

    Args:
        path: Folder of the cache; vectors go to ``clusters`` in it.
        numbering: File with the batches of the corpus.
        embedding_column: Column with embeddings.
        partitions: Into how many partitions clusters are put.
        eps: Largest cosine distance of duplicates.
        device: Where to compute.
    """

    numbering: str
    embedding_column: str = "embedding"
    partitions: int = 1
    eps: float = 0.05
    device: str = "cpu"

    name = "dedup.assign_clusters"
    folder = "clusters"

    def inputs(self) -> Columns:
        return [self.embedding_column]

    def setup(self, worker: WorkerInfo) -> None:
        import torch

        super().setup(worker)
        self._numbers = DocumentNumbers(self.numbering)
        self._centres = torch.from_numpy(np.array(load_array(f"{self.path}/centres.npy"))).to(self.device)

    def write_part(self, task: TableBatch, path: str) -> dict[str, Any] | None:
        """Write the vectors of a batch; None where it has none."""
        vectors, is_there = unit_vectors(task, self.embedding_column)
        chosen = np.flatnonzero(is_there)
        if len(chosen) == 0:
            return None
        rows, clusters, similarity = self._assign(vectors[chosen])
        values = pa.array(vectors[chosen[rows]].reshape(-1))
        table = pa.table(
            {
                "document": self._numbers.of(task)[chosen[rows]],
                "cluster": clusters.astype(np.int32),
                "similarity": similarity.astype(np.float32),
                "vector": pa.FixedSizeListArray.from_arrays(values, vectors.shape[1]),
            }
        )
        partition = clusters % self.partitions
        size = write_shuffled(table, partition, path, partitions=self.partitions, metadata={})
        return {"rows": table.num_rows, "bytes": size}

    def _assign(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        import torch

        from curator_dedup.semantic.kmeans import nearest

        similarity, labels = nearest(torch.from_numpy(vectors).to(self.device), self._centres, count=2)
        own = np.arange(len(vectors))
        result = [(own, labels[:, 0].cpu().numpy(), similarity[:, 0].cpu().numpy())]
        if labels.shape[1] > 1:
            # For unit vectors x, y of distance d and centres a, b: if x is nearer to a and y to b, then x (a - b) or
            # y (b - a) is at most d |a - b| / 2.
            apart = (self._centres[labels[:, 0]] - self._centres[labels[:, 1]]).norm(dim=1)
            reach = apart * (2 * self.eps) ** 0.5 / 2
            guests = torch.nonzero(similarity[:, 0] - similarity[:, 1] <= reach).flatten().cpu().numpy()
            # A guest keeps the similarity to its own centre: rows are preferred in the same order wherever they meet.
            result.append((guests, labels[guests, 1].cpu().numpy(), similarity[guests, 0].cpu().numpy()))
        rows, clusters, near = (np.concatenate(each) for each in zip(*result, strict=True))
        return rows, clusters, near
