"""The second step: from one partition of the keys of all batches at a time, pairs of documents that share one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from curator_core.sdk import EmptyTask, FileGroupTask, ProcessingStage
from curator_dedup.cache_files import PartWriter
from curator_dedup.held_keys import KeyRecords
from curator_dedup.matching.pair_file import write_pairs
from curator_dedup.matching.pairing import PairRule, pairs_with_a_key
from curator_dedup.matching.search_in_memory import joined_records
from curator_dedup.numbering import Numbering, first_numbers
from curator_dedup.shuffle_file import partition_tasks, read_partition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.sdk import FileSlice, NodeInfo, WorkerInfo

__all__ = ["FindPairs", "ListPartitions"]

_MARK_BITS = 64


@dataclass
class ListPartitions(ProcessingStage[EmptyTask, FileGroupTask]):
    """Make one unit of work of each partition of the keys.

    Args:
        numberings: Files with the batches of each corpus.
        partitions: How many partitions there are.
    """

    numberings: list[str]
    partitions: int = 1

    name = "dedup.partitions"

    def process(self, task: EmptyTask) -> Iterator[FileGroupTask]:  # noqa: ARG002 - it makes its own work
        batches = [each for path in self.numberings for each in Numbering.read(path).batches]
        return partition_tasks(
            [each.keys for each in batches], range(self.partitions), [each.version for each in batches]
        )


@dataclass
class FindPairs(PartWriter[FileGroupTask]):
    """Read a partition of the keys of all batches and write the pairs of documents that may be duplicates.

    Args:
        path: Folder of the cache; pairs go to ``pairs`` in it.
        numberings: Files with the batches of each corpus; numbers of the second continue where the first ends.
        rule: Which documents of a key are paired (see :func:`curator_dedup.matching.pairing.pairs_with_a_key`).
        max_distance: In how many bits, at most, with ``near``.
    """

    numberings: list[str] = field(default_factory=list)
    rule: PairRule = "candidates"
    max_distance: int = 0

    name = "dedup.find_pairs"
    folder = "pairs"

    def setup_on_node(self, node: NodeInfo) -> None:
        from curator_dedup.kernels.compiling import compile_once

        super().setup_on_node(node)
        keys, documents = np.zeros(1, np.uint64), np.zeros(1, np.int64)
        marks = keys.astype(np.uint32) if self.rule == "candidates" else keys
        compile_once(f"pairs: {self.rule}", lambda: pairs_with_a_key(keys, marks, documents, rule=self.rule))

    def setup(self, worker: WorkerInfo) -> None:
        super().setup(worker)
        self._first = first_numbers(self.numberings)

    def write_part(self, task: FileGroupTask, path: str) -> dict[str, Any]:
        """Write the pairs of a partition."""
        pairs = self._pairs(task)
        return {"rows": len(pairs), "bytes": self.write(pairs, path)}

    def write(self, pairs: Any, path: str) -> int:
        """Write pairs to a file; return its bytes."""
        columns = {"first": pairs[:, 0], "second": pairs[:, 1]}
        if self.rule == "near":
            columns["similarity"] = 1 - pairs[:, 2] / _MARK_BITS
        return write_pairs(pa.table(columns), path)

    def _pairs(self, task: FileGroupTask) -> Any:
        batches = [(self._first[piece.path], _records(piece)) for piece in task.data]
        if not batches:
            return np.empty((0, 3), np.int64)
        return pairs_with_a_key(*joined_records(batches), rule=self.rule, max_distance=self.max_distance)


def _records(piece: FileSlice) -> KeyRecords:
    table, _ = read_partition(piece)
    keys, marks, documents = (table.column(name).to_numpy() for name in ("key", "mark", "document"))
    return KeyRecords(keys, marks, documents, np.array([len(keys)]))
