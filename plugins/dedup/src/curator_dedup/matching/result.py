"""The result of a deduplication."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from curator_core.sdk import WorkflowResult

__all__ = ["DeduplicationResult"]


@dataclass(frozen=True)
class DeduplicationResult:
    """Counts, and where the files are.

    Args:
        documents: Documents of the input.
        removed: Documents of which another is kept.
        clusters: Groups of documents that are duplicates of each other.
        largest_cluster: How many documents the largest has.
        duplicates_path: Parquet file with ``id``, ``kept_id`` and ``similarity`` of the removed documents.
        overview: Sizes of clusters, the most repeated documents and samples of removed ones, as text; the cache
            has it as ``overview.json``.
        output_paths: Files with the documents that are left.
        quarantined: Records that could not be read.
        steps: Return values and durations of the steps.
    """

    documents: int
    removed: int
    clusters: int
    largest_cluster: int
    duplicates_path: str
    overview: str
    output_paths: list[str]
    quarantined: int
    steps: WorkflowResult = field(repr=False)

    @classmethod
    def of(cls, steps: WorkflowResult) -> DeduplicationResult:
        """Collect the result from the return values of the steps."""
        decision = steps["decide"]
        return cls(
            documents=decision["documents"],
            removed=decision["removed"],
            clusters=decision["clusters"],
            largest_cluster=decision["largest_cluster"],
            duplicates_path=decision["duplicates"],
            overview=decision["overview"],
            output_paths=steps["remove"].outputs if "remove" in steps.steps else [],
            quarantined=next(iter(steps.steps.values())).quarantined_count,
            steps=steps,
        )

    @property
    def kept(self) -> int:
        """Documents that are left."""
        return self.documents - self.removed

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
        return {
            "documents": self.documents,
            "kept": self.kept,
            "removed": self.removed,
            "clusters": self.clusters,
            "largest_cluster": self.largest_cluster,
            "duplicates": self.duplicates_path,
            "outputs": self.output_paths,
            "quarantined": self.quarantined,
            **self.steps.to_dict(),
        }

    def report(self) -> str:
        """Return the counts, and the time of each step, as text."""
        share = self.removed / self.documents if self.documents else 0.0
        lines = [
            f"{self.documents:,} documents: {self.kept:,} kept, {self.removed:,} removed ({share:.1%})",
            f"{self.clusters:,} clusters of duplicates, the largest with {self.largest_cluster:,} documents",
            self.overview,
            f"duplicates: {self.duplicates_path}",
            "   ".join(f"{name} {seconds:.1f} s" for name, seconds in self.steps.seconds.items()),
            *(f"warning: {each}" for each in self.warnings),
        ]
        return "\n".join(lines)
