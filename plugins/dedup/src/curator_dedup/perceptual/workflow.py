"""Perceptual deduplication as one job: pieces of hashes, pairs that differ in few bits, removal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from curator_core.sdk import DEFAULT_BLOCK_BYTES, ConfigError
from curator_dedup.matching.find_pairs import FindPairs
from curator_dedup.matching.options import IN_MEMORY_BYTES, MatchingOptions
from curator_dedup.matching.workflow import MatchingWorkflow
from curator_dedup.perceptual.write_hashes import WritePieces

if TYPE_CHECKING:
    from curator_dedup.matching.clusters import KeepRule
    from curator_dedup.matching.keyed_documents import WriteKeys
    from curator_dedup.matching.options import OutputMode

__all__ = ["PerceptualDeduplicationWorkflow"]

_RECORD_BYTES = 20
_MAX_DISTANCE = 15
"""With more, pieces would be shorter than four bits, and nearly everything would be compared with everything."""


class PerceptualDeduplicationWorkflow(MatchingWorkflow):
    """Keep one of all rows whose perceptual hashes differ in at most ``max_distance`` of 64 bits.

    Hashes that near agree in at least one of ``max_distance + 1`` pieces, so none is missed.

    >>> PerceptualDeduplicationWorkflow(input_path="images", cache_path="cache", output_path="unique").max_distance
    4

    Args:
        input_path: Files, folders, globs or URLs.
        cache_path: Folder for intermediate files of the steps; it can serve as an index later.
        output_path: Folder for the rows that are left.
        hash_column: Column with 64-bit hashes: numbers, or 16 hexadecimal digits.
        id_column: Column with ids; file and place unless given.
        perform_removal: Whether to write the rows that are left; otherwise only the table of duplicates is made.
        max_distance: Bits in which hashes of duplicates differ, at most.
        keep: Which row of a cluster is kept: the first of the input, or the best by ``score_column``.
        score_column: Column with numbers, the highest of which is kept with ``keep="best"``.
        output_mode: Leave duplicates out, or write all rows with ``duplicate_of`` and ``duplicate_count``.
        compare_with: Caches of earlier workflows: rows that duplicate one there are removed; those corpora stay.
        input_format: Table format; found out from the files unless given.
        block_bytes: Size of a unit of work.
        in_memory_bytes: A corpus up to this size is read once and held in memory; a larger one is read in every pass.
    """

    kind: ClassVar[str] = "perceptual"

    def __init__(  # noqa: PLR0913 - a whole job, by keyword
        self,
        input_path: str | list[str],
        cache_path: str,
        output_path: str | None = None,
        hash_column: str = "phash",
        id_column: str | None = None,
        *,
        perform_removal: bool = True,
        max_distance: int = 4,
        keep: KeepRule = "first",
        score_column: str | None = None,
        output_mode: OutputMode = "remove",
        compare_with: str | list[str] | None = None,
        input_format: str | None = None,
        block_bytes: int = DEFAULT_BLOCK_BYTES,
        in_memory_bytes: int = IN_MEMORY_BYTES,
    ) -> None:
        super().__init__(
            "perceptual deduplication",
            MatchingOptions(
                input_path=input_path,
                cache_path=cache_path,
                output_path=output_path,
                content_column=hash_column,
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
        if not 0 <= max_distance <= _MAX_DISTANCE:
            raise ConfigError(f"max_distance must be from 0 to {_MAX_DISTANCE}, got {max_distance}")
        if keep == "longest":
            raise ConfigError("keep: longest is for texts; all hashes have the same length", fix="use first or best")
        self.max_distance = max_distance

    @property
    def key_bytes(self) -> int:
        return (self.max_distance + 1) * _RECORD_BYTES

    def parameters(self) -> dict[str, Any]:
        return {"max_distance": self.max_distance}

    def key_writer(self, partitions: int) -> WriteKeys:
        return WritePieces(
            self.cache_path,
            self.content_column,
            id_column=self.id_column,
            score_column=self.score_column,
            partitions=partitions,
            max_distance=self.max_distance,
        )

    def pair_finder(self, numberings: list[str]) -> FindPairs:
        return FindPairs(self.cache_path, numberings, rule="near", max_distance=self.max_distance)
