"""Deduplication of lines or paragraphs as one job: a hash for each, those that repeat, documents without them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from curator_core.sdk import DEFAULT_BLOCK_BYTES, ConfigError, Pipeline, WorkflowStep
from curator_dedup.cache_files import read_columns, save_array
from curator_dedup.lines.find_repeats import FindRepeats
from curator_dedup.lines.remove_lines import NOTHING_LEFT, RemoveLines
from curator_dedup.lines.write_lines import WriteLineHashes
from curator_dedup.matching.find_pairs import ListPartitions
from curator_dedup.matching.options import IN_MEMORY_BYTES, MatchingOptions
from curator_dedup.matching.workflow import MatchingWorkflow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import ProcessingStage, WorkflowResult
    from curator_dedup.lines.write_lines import Unit
    from curator_dedup.matching.keyed_documents import WriteKeys

__all__ = ["LineDeduplicationResult", "LineDeduplicationWorkflow"]


@dataclass(frozen=True)
class LineDeduplicationResult:
    """Counts, and where the files are.

    Args:
        documents: Documents of the input.
        documents_removed: Documents of which nothing was left.
        lines_removed: Lines, or paragraphs, that were removed.
        output_paths: Files with the documents that are left.
        quarantined: Records that could not be read.
        steps: Return values and durations of the steps.
    """

    documents: int
    documents_removed: int
    lines_removed: int
    output_paths: list[str]
    quarantined: int
    steps: WorkflowResult = field(repr=False)

    @property
    def was_finished(self) -> bool:
        """Whether an earlier run had finished all steps, so that there was nothing to do."""
        return self.steps.was_finished

    @property
    def warnings(self) -> list[str]:
        """Warnings of the steps."""
        return self.steps.warnings

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, the paths, and the results of the steps as plain values."""
        counts = {
            name: getattr(self, name) for name in ("documents", "documents_removed", "lines_removed", "quarantined")
        }
        return {**counts, "outputs": self.output_paths, **self.steps.to_dict()}

    def report(self) -> str:
        """Return the counts as text."""
        counts = (
            f"{self.documents:,} documents: {self.lines_removed:,} repeated pieces removed, "
            f"{self.documents_removed:,} documents with nothing else in them dropped"
        )
        return "\n".join([counts, *(f"warning: {each}" for each in self.warnings)])


_RECORD_BYTES = 24
_LINES_PER_DOCUMENT = 10


class LineDeduplicationWorkflow(MatchingWorkflow):
    """Remove lines, or paragraphs, that occurred earlier in the corpus: menus, notices, headers of web pages.

    The first ``max_copies`` of the input stay. A document of which nothing is left is dropped. A line is compared
    without the spaces at its ends.

    >>> LineDeduplicationWorkflow(input_path="corpus", cache_path="cache", output_path="unique").unit
    'line'

    Args:
        input_path: Files, folders, globs or URLs.
        cache_path: Folder for intermediate files of the steps.
        output_path: Folder for the documents that are left.
        text_column: Column with text.
        unit: Unit of comparison: lines, or paragraphs (between empty lines).
        min_bytes: Shorter ones are kept: empty lines and closing brackets are not copies.
        max_copies: How many copies of a line may stay.
        input_format: Table format; found out from the files unless given.
        block_bytes: Size of a unit of work.
        in_memory_bytes: A corpus up to this size is read once and held in memory; a larger one is read in every pass.
    """

    kind: ClassVar[str] = "lines"

    def __init__(  # noqa: PLR0913 - a whole job, by keyword
        self,
        input_path: str | list[str],
        cache_path: str,
        output_path: str,
        text_column: str = "text",
        *,
        unit: Unit = "line",
        min_bytes: int = 20,
        max_copies: int = 1,
        input_format: str | None = None,
        block_bytes: int = DEFAULT_BLOCK_BYTES,
        in_memory_bytes: int = IN_MEMORY_BYTES,
    ) -> None:
        super().__init__(
            f"{unit} deduplication",
            MatchingOptions(
                input_path=input_path,
                cache_path=cache_path,
                output_path=output_path,
                content_column=text_column,
                input_format=input_format,
                block_bytes=block_bytes,
                in_memory_bytes=in_memory_bytes,
            ),
        )
        if unit not in ("line", "paragraph"):
            raise ConfigError(f"unit={unit!r}", fix="use line or paragraph")
        if min_bytes < 1 or max_copies < 1:
            raise ConfigError(f"min_bytes={min_bytes} and max_copies={max_copies} must both be at least 1")
        self.unit: Unit = unit
        self.min_bytes = min_bytes
        self.max_copies = max_copies

    @property
    def key_bytes(self) -> int:
        return _RECORD_BYTES * _LINES_PER_DOCUMENT

    def parameters(self) -> dict[str, Any]:
        return {"unit": self.unit, "min_bytes": self.min_bytes}

    def key_writer(self, partitions: int) -> WriteKeys:
        return WriteLineHashes(
            self.cache_path, self.content_column, partitions=partitions, unit=self.unit, min_bytes=self.min_bytes
        )

    def plan_steps(self) -> Sequence[WorkflowStep]:
        return [
            WorkflowStep("keys", self._keys),
            WorkflowStep("number", self._number),
            WorkflowStep("repeats", self._repeats),
            WorkflowStep("decide", self._decide),
            WorkflowStep("remove", self._remove),
        ]

    def _repeats(self, results: WorkflowResult) -> Pipeline:  # noqa: ARG002 - what it needs is on disk
        numberings = self.numberings()
        stages: list[ProcessingStage[Any, Any]] = [
            ListPartitions(numberings, self.partitions),
            FindRepeats(self.cache_path, numberings, self.max_copies),
        ]
        return Pipeline(f"{self.name}: repeats", stages=stages)

    def _decide(self, results: WorkflowResult) -> dict[str, Any]:
        tables = [pl.DataFrame(read_columns(path, ["document", "line"])) for path in results["repeats"].outputs]
        lines = pl.concat(tables).sort("document", "line")
        save_array(lines["document"].to_numpy(), f"{self.cache_path}/repeat-documents.npy")
        save_array(lines["line"].cast(pl.Int64).to_numpy(), f"{self.cache_path}/repeat-lines.npy")
        return {"lines": len(lines), "documents": results["number"]["documents"]}

    def summary(self, steps: WorkflowResult) -> LineDeduplicationResult:
        removal = steps["remove"]
        return LineDeduplicationResult(
            documents=steps["number"]["documents"],
            documents_removed=removal.dropped.get(NOTHING_LEFT, 0),
            lines_removed=steps["decide"]["lines"],
            output_paths=removal.outputs,
            quarantined=steps["keys"].quarantined_count,
            steps=steps,
        )

    def _remove(self, results: WorkflowResult) -> Pipeline:  # noqa: ARG002 - what it needs is on disk
        assert self.output_path is not None
        stages = [
            *self.corpus.reading(None, name="dedup.read"),
            RemoveLines(self.cache_path, self.numbering_path, self.content_column, unit=self.unit),
            self.corpus.writing(self.output_path, name="dedup.write"),
        ]
        return Pipeline(f"{self.name}: remove", stages=stages)
