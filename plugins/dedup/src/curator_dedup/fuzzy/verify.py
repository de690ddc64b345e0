"""Compare candidates, a part at a time: the exact similarity of every pair."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from curator_core.sdk import (
    EmptyTask,
    FileGroupTask,
    FileSlice,
    ProcessingStage,
    column_bytes,
    open_filesystem,
)
from curator_dedup.cache_files import PartWriter, load_array
from curator_dedup.fuzzy.in_memory import similarity_of_pairs
from curator_dedup.matching.pair_file import write_pairs
from curator_dedup.minhash.scheme import MinhashScheme
from curator_dedup.shuffle_file import read_partition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.sdk import NodeInfo, WorkerInfo

__all__ = ["ListCandidates", "VerifyPairs"]


@dataclass
class ListCandidates(ProcessingStage[EmptyTask, FileGroupTask]):
    """Make one unit of work of each part: its pairs, and the files with the texts of its candidates.

    Args:
        path: Folder of the cache; ``parts.json`` in it says which files have texts of which part.
    """

    path: str

    name = "dedup.candidates"

    def process(self, task: EmptyTask) -> Iterator[FileGroupTask]:  # noqa: ARG002 - it makes its own work
        filesystem, inner = open_filesystem(f"{self.path}/parts.json")
        found = json.loads(filesystem.cat_file(inner))
        for part, files in enumerate(found["files"]):
            pieces = [(f"{self.path}/candidate-first.npy", found["version"]), *files]
            slices = tuple(FileSlice(path, row_groups=(part, part + 1), version=version) for path, version in pieces)
            yield FileGroupTask(data=slices, meta={"part": part})


@dataclass
class VerifyPairs(PartWriter[FileGroupTask]):
    """Write the pairs of a part that are similar enough, with their similarity.

    Args:
        path: Folder of the cache; pairs go to ``verified`` in it.
        scheme: How documents are cut into shingles.
        threshold: Minimum Jaccard similarity of duplicates.
    """

    scheme: MinhashScheme = field(default=MinhashScheme())
    threshold: float = 0.8

    name = "dedup.verify"
    folder = "verified"

    def setup_on_node(self, node: NodeInfo) -> None:
        from curator_dedup.kernels.compiling import compile_once

        super().setup_on_node(node)
        sample, place = column_bytes(pa.array(["a text"])), np.zeros(1, np.int64)
        compile_once("verification", lambda: similarity_of_pairs(sample, self.scheme, place, place))

    def setup(self, worker: WorkerInfo) -> None:
        super().setup(worker)
        self._pairs = [load_array(f"{self.path}/candidate-{name}.npy") for name in ("first", "second")]
        self._begins = load_array(f"{self.path}/candidate-begins.npy")

    def write_part(self, task: FileGroupTask, path: str) -> dict[str, Any]:
        """Compare the pairs of a part."""
        part = task.meta["part"]
        span = slice(self._begins[part], self._begins[part + 1])
        first, second = (np.asarray(each[span]) for each in self._pairs)
        texts = pa.concat_tables([read_partition(piece)[0] for piece in task.data[1:]])
        numbers = texts.column("document").to_numpy()
        order = np.argsort(numbers)
        places = (order[np.searchsorted(numbers, each, sorter=order)] for each in (first, second))
        column = column_bytes(texts.column("text"))
        similarity = similarity_of_pairs(column, self.scheme, *places)
        pairs = pl.DataFrame({"first": first, "second": second, "similarity": similarity})
        pairs = pairs.filter(pl.col("similarity") >= self.threshold)
        return {"rows": len(pairs), "bytes": write_pairs(pairs.to_arrow(), path)}
