"""Semantic deduplication as one job: clusters of embeddings, near-duplicates within each, removal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from curator_core.sdk import DEFAULT_BLOCK_BYTES, ConfigError, DataError, Pipeline, WorkflowStep
from curator_dedup.cache_files import read_columns, save_array
from curator_dedup.matching.decisions import document_column
from curator_dedup.matching.options import IN_MEMORY_BYTES, MatchingOptions
from curator_dedup.matching.workflow import MatchingWorkflow
from curator_dedup.semantic.assign import AssignClusters
from curator_dedup.semantic.decide import clusters_of_partners
from curator_dedup.semantic.find_partners import FindPartners, ListClusters
from curator_dedup.semantic.vectors import drawn
from curator_dedup.semantic.write_vectors import WriteSample
from curator_dedup.shuffle_file import partitions_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import ProcessingStage, WorkflowResult
    from curator_dedup.matching.keyed_documents import WriteKeys
    from curator_dedup.matching.options import OutputMode
    from curator_dedup.semantic.find_partners import KeepSemantic

__all__ = ["SemanticDeduplicationWorkflow"]

_SAMPLE_PER_CLUSTER = 40
"""Vectors of the sample for each cluster: fewer would leave clusters to chance, more only cost time."""
_SAMPLE_BYTES = 1 << 30
_PARTITION_BYTES = 128 << 20


class SemanticDeduplicationWorkflow(MatchingWorkflow):
    """Keep one of all rows whose embeddings are nearly the same, in any modality.

    The method is SemDeDup (Abbas et al. 2023): embeddings are clustered by k-means, and within each cluster a row is
    removed when one that is preferred to it is at a cosine distance of at most ``eps``.

    >>> SemanticDeduplicationWorkflow(input_path="corpus", cache_path="cache", output_path="unique").eps
    0.05

    Args:
        input_path: Files, folders, globs or URLs.
        cache_path: Folder for intermediate files of the steps.
        output_path: Folder for the rows that are left.
        embedding_column: Column with embeddings: lists of numbers.
        id_column: Column with ids; file and place unless given.
        perform_removal: Whether to write the rows that are left; otherwise only the table of duplicates is made.
        n_clusters: Into how many clusters; about twice the square root of the number of rows unless given.
        eps: Largest cosine distance of duplicates.
        which_to_keep: ``hard`` keeps the row farthest from its cluster's centre, ``easy`` the nearest, ``random`` any,
            ``best`` the one with the highest score.
        score_column: Column with scores, for ``best``.
        iterations: Rounds of k-means.
        output_mode: Leave duplicates out, or write all rows with ``duplicate_of`` and ``duplicate_count``.
        input_format: Table format; found out from the files unless given.
        device: Where to compute, as torch calls it.
        seed: Start of the random numbers.
        block_bytes: Size of a unit of work.
        in_memory_bytes: A corpus up to this size is read once and held in memory; a larger one is read in every pass.
    """

    kind: ClassVar[str] = "semantic"

    def __init__(  # noqa: PLR0913 - a whole job, by keyword
        self,
        input_path: str | list[str],
        cache_path: str,
        output_path: str | None = None,
        embedding_column: str = "embedding",
        id_column: str | None = None,
        *,
        perform_removal: bool = True,
        n_clusters: int | None = None,
        eps: float = 0.05,
        which_to_keep: KeepSemantic = "hard",
        score_column: str | None = None,
        iterations: int = 8,
        output_mode: OutputMode = "remove",
        input_format: str | None = None,
        device: str = "cpu",
        seed: int = 42,
        block_bytes: int = DEFAULT_BLOCK_BYTES,
        in_memory_bytes: int = IN_MEMORY_BYTES,
    ) -> None:
        super().__init__(
            "semantic deduplication",
            MatchingOptions(
                input_path=input_path,
                cache_path=cache_path,
                output_path=output_path,
                content_column=embedding_column,
                id_column=id_column,
                perform_removal=perform_removal,
                keep="first" if score_column is None else "best",
                score_column=score_column,
                output_mode=output_mode,
                input_format=input_format,
                block_bytes=block_bytes,
                in_memory_bytes=in_memory_bytes,
            ),
        )
        if not 0 <= eps < 1:
            raise ConfigError(f"eps must be at least 0 and under 1, got {eps}")
        if n_clusters is not None and n_clusters < 1:
            raise ConfigError(f"n_clusters must be at least 1, got {n_clusters}")
        if which_to_keep not in ("hard", "easy", "random", "best"):
            raise ConfigError(f"which_to_keep={which_to_keep!r}", fix="use hard, easy, random or best")
        if (which_to_keep == "best") != (score_column is not None):
            raise ConfigError("which_to_keep: best and score_column go together", fix="give both or neither")
        self.n_clusters = n_clusters
        self.eps = eps
        self.which_to_keep = which_to_keep
        self.iterations = iterations
        self.device = device
        self.seed = seed

    @property
    def reads_again(self) -> bool:
        return True

    @property
    def key_bytes(self) -> int:
        return 1

    @property
    def partitions(self) -> int:
        return 1

    def parameters(self) -> dict[str, Any]:
        return {"eps": self.eps}

    def key_writer(self, partitions: int) -> WriteKeys:
        fraction = min(1.0, _SAMPLE_BYTES / max(1, self.corpus.total_bytes))
        return WriteSample(
            self.cache_path,
            self.content_column,
            id_column=self.id_column,
            score_column=self.score_column,
            partitions=partitions,
            fraction=fraction,
            seed=self.seed,
        )

    def plan_steps(self) -> Sequence[WorkflowStep]:
        steps = [
            WorkflowStep("sample", self._keys),
            WorkflowStep("number", self._number),
            WorkflowStep("centres", self._centres),
            WorkflowStep("assign", self._assign),
            WorkflowStep("compare", self._compare),
            WorkflowStep("decide", self._decide),
        ]
        if self.perform_removal:
            steps.append(WorkflowStep("remove", self._remove))
        return steps

    def _centres(self, results: WorkflowResult) -> dict[str, int]:
        """Find the centres of clusters in the sample."""
        from curator_dedup.semantic.kmeans import spherical_kmeans

        documents = results["number"]["documents"]
        clusters = self.n_clusters or max(1, min(documents // 20, round(2 * math.sqrt(documents))))
        batches = self.batches()
        tables = [table for batch in batches if (table := read_columns(batch.keys, ["vector"])).num_rows]
        widths = {table.schema.field("vector").type.list_size for table in tables}
        if len(widths) > 1:
            raise DataError(
                f"the embeddings have different lengths: {', '.join(map(str, sorted(widths)))}",
                fix="embed all rows with the same model",
            )
        wanted = min(max(1, sum(table.num_rows for table in tables)), max(1, clusters * _SAMPLE_PER_CLUSTER))
        sample = _matrix(tables)
        sample = sample[np.argsort(drawn(sample, self.seed), kind="stable")[:wanted]]
        centres = (
            spherical_kmeans(sample, clusters, iterations=self.iterations, seed=self.seed, device=self.device)
            if len(sample)
            else np.zeros((1, 1), np.float32)
        )
        save_array(centres, f"{self.cache_path}/centres.npy")
        if self.which_to_keep == "best":
            save_array(document_column(batches, "score"), f"{self.cache_path}/scores.npy")
        vector_bytes = documents * centres.shape[1] * 4
        return {
            "clusters": len(centres),
            "partitions": min(partitions_for(vector_bytes, _PARTITION_BYTES), len(centres)),
        }

    def _assign(self, results: WorkflowResult) -> Pipeline:
        stages = [
            *self.corpus.reading([self.content_column], name="dedup.read"),
            AssignClusters(
                self.cache_path,
                self.numbering_path,
                self.content_column,
                partitions=results["centres"]["partitions"],
                eps=self.eps,
                device=self.device,
            ),
        ]
        return Pipeline(f"{self.name}: assign", stages=stages)

    def _compare(self, results: WorkflowResult) -> Pipeline:
        tasks = list(results["assign"])
        paths, versions = [task.paths[0] for task in tasks], [task.task_id for task in tasks]
        stages: list[ProcessingStage[Any, Any]] = [
            ListClusters(paths, versions, results["centres"]["partitions"]),
            FindPartners(self.cache_path, self.eps, self.which_to_keep, self.seed, self.device),
        ]
        return Pipeline(f"{self.name}: compare", stages=stages)

    def _decide(self, results: WorkflowResult) -> dict[str, Any]:
        tables = [read_columns(path, ["document", "partner", "similarity"]) for path in results["compare"].outputs]
        joined = pa.concat_tables(tables)
        found = (joined.column(name).to_numpy() for name in ("document", "partner", "similarity"))
        clusters, similarity = clusters_of_partners(*found)
        return self.write_decisions(results["number"]["documents"], clusters, similarity)


def _matrix(tables: Sequence[pa.Table]) -> np.ndarray[Any, np.dtype[np.float32]]:
    chunks = [chunk for table in tables for chunk in table.column("vector").chunks]
    parts = [chunk.flatten().to_numpy().reshape(len(chunk), -1) for chunk in chunks]
    return np.concatenate(parts) if parts else np.zeros((0, 1), np.float32)
