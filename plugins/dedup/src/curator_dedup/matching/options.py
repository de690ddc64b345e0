"""The common options of all deduplications, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from curator_core.sdk import DEFAULT_BLOCK_BYTES, ConfigError

if TYPE_CHECKING:
    from curator_dedup.matching.clusters import KeepRule

__all__ = ["IN_MEMORY_BYTES", "MatchingOptions", "OutputMode"]

OutputMode = Literal["remove", "tag"]
IN_MEMORY_BYTES = 512 << 20
"""Default size up to which a corpus is held in memory between passes."""


@dataclass(frozen=True, kw_only=True)
class MatchingOptions:
    """A corpus, the output folders, and the treatment of duplicates.

    Args:
        input_path: Files, folders, globs or URLs.
        cache_path: Folder for intermediate files of the steps; it can serve as an index later.
        output_path: Folder for the documents that are left.
        content_column: Column that is compared.
        id_column: Column with ids; file and place unless given.
        perform_removal: Whether to write the documents that are left; otherwise only the table of duplicates is made.
        keep: Which document of a cluster is kept.
        score_column: Column with numbers, the highest of which is kept with ``keep="best"``.
        output_mode: Leave duplicates out, or write all documents with ``duplicate_of`` and ``duplicate_count``.
        compare_with: Caches of earlier workflows: documents that duplicate one there are removed; those corpora stay.
        input_format: Table format; found out from the files unless given.
        block_bytes: Size of a unit of work.
        in_memory_bytes: A corpus up to this size is read once and held in memory; a larger one is read in every pass.

    Raises:
        ConfigError: Two of them contradict each other.
    """

    input_path: str | list[str]
    cache_path: str
    output_path: str | None
    content_column: str
    id_column: str | None = None
    perform_removal: bool = True
    keep: KeepRule = "first"
    score_column: str | None = None
    output_mode: OutputMode = "remove"
    compare_with: str | list[str] | None = None
    input_format: str | None = None
    block_bytes: int = DEFAULT_BLOCK_BYTES
    in_memory_bytes: int = IN_MEMORY_BYTES

    def __post_init__(self) -> None:
        if self.perform_removal and self.output_path is None:
            raise ConfigError("removal needs a place to write to", fix="add output_path, or perform_removal: false")
        if self.keep not in ("first", "longest", "best"):
            raise ConfigError(f"keep={self.keep!r}", fix="use first, longest or best")
        if (self.keep == "best") != (self.score_column is not None):
            raise ConfigError("keep: best and score_column go together", fix="give both or neither")
        if self.output_mode not in ("remove", "tag"):
            raise ConfigError(f"output_mode={self.output_mode!r}", fix="use remove or tag")

    @property
    def columns(self) -> list[str]:
        """Columns that the first pass needs."""
        return [name for name in (self.content_column, self.id_column, self.score_column) if name is not None]
