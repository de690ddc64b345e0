"""Exact deduplication as one job: a hash of each value, values that share one, removal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from curator_core.sdk import DEFAULT_BLOCK_BYTES
from curator_dedup.exact.write_hashes import WriteHashes
from curator_dedup.matching.find_pairs import FindPairs
from curator_dedup.matching.options import IN_MEMORY_BYTES, MatchingOptions
from curator_dedup.matching.workflow import MatchingWorkflow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.sdk import WorkflowResult
    from curator_dedup.matching.clusters import KeepRule
    from curator_dedup.matching.keyed_documents import WriteKeys
    from curator_dedup.matching.options import OutputMode
    from curator_dedup.matching.workflow import Pairs

__all__ = ["ExactDeduplicationWorkflow"]

_RECORD_BYTES = 20


class ExactDeduplicationWorkflow(MatchingWorkflow):
    """Keep one of all documents whose text, or whose bytes, are the same.

    Values are compared by 128-bit hashes: among a billion different ones, the chance that any two share one is under
    one in 10^20.

    >>> ExactDeduplicationWorkflow(input_path="corpus", cache_path="cache", output_path="unique").kind
    'exact'

    Args:
        input_path: Files, folders, globs or URLs.
        cache_path: Folder for intermediate files of the steps; it can serve as an index later.
        output_path: Folder for the documents that are left.
        text_column: Column with text or bytes (of images, audio, video).
        id_column: Column with ids; file and place unless given.
        perform_removal: Whether to write the documents that are left; otherwise only the table of duplicates is made.
        normalize: Compare text in lower case, with runs of whitespace as one space and none at the ends.
        keep: Which document of a cluster is kept: the first of the input, the longest, or the best by ``score_column``.
        score_column: Column with numbers, the highest of which is kept with ``keep="best"``.
        output_mode: Leave duplicates out, or write all documents with ``duplicate_of`` and ``duplicate_count``.
        compare_with: Caches of earlier workflows: documents that duplicate one there are removed; those corpora stay.
        input_format: Table format; found out from the files unless given.
        block_bytes: Size of a unit of work.
        in_memory_bytes: A corpus up to this size is read once and held in memory; a larger one is read in every pass.
    """

    kind: ClassVar[str] = "exact"

    def __init__(  # noqa: PLR0913 - a whole job, by keyword
        self,
        input_path: str | list[str],
        cache_path: str,
        output_path: str | None = None,
        text_column: str = "text",
        id_column: str | None = None,
        *,
        perform_removal: bool = True,
        normalize: bool = False,
        keep: KeepRule = "first",
        score_column: str | None = None,
        output_mode: OutputMode = "remove",
        compare_with: str | list[str] | None = None,
        input_format: str | None = None,
        block_bytes: int = DEFAULT_BLOCK_BYTES,
        in_memory_bytes: int = IN_MEMORY_BYTES,
    ) -> None:
        super().__init__(
            "exact deduplication",
            MatchingOptions(
                input_path=input_path,
                cache_path=cache_path,
                output_path=output_path,
                content_column=text_column,
                id_column=id_column,
                perform_removal=perform_removal,
                keep=keep,
                score_column=score_column,
                output_mode=output_mode,
                compare_with=compare_with,
                input_format=input_format,
                block_bytes=block_bytes,
                in_memory_bytes=in_memory_bytes,
            ),
        )
        self.normalize = normalize

    @property
    def key_bytes(self) -> int:
        return _RECORD_BYTES

    def pair_finder(self, numberings: list[str]) -> FindPairs:
        return FindPairs(self.cache_path, numberings, rule="equal")

    def parameters(self) -> dict[str, Any]:
        return {"normalize": self.normalize, "version": 1}

    def key_writer(self, partitions: int) -> WriteKeys:
        return WriteHashes(
            self.cache_path,
            self.content_column,
            id_column=self.id_column,
            score_column=self.score_column,
            partitions=partitions,
            normalize=self.normalize,
        )

    def duplicate_pairs(self, results: WorkflowResult) -> Iterator[Pairs]:
        for first, second, _ in self.found_pairs(results):
            yield first, second, np.ones(len(first))
