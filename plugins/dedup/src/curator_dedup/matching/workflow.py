"""The base of exact and fuzzy deduplication: keys, pairs with equal keys, clusters, a decision, removal."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from curator_core.sdk import (
    ConfigError,
    NodeInfo,
    Pipeline,
    Workflow,
    WorkflowStep,
    atomic_output,
    check_own_output,
    is_local,
    make_folder,
    open_filesystem,
)
from curator_dedup.cache_files import read_columns
from curator_dedup.corpus import Corpus
from curator_dedup.held_keys import holding_keys, taken_keys
from curator_dedup.held_tables import holding
from curator_dedup.index import Index
from curator_dedup.matching.clusters import components, make_clusters
from curator_dedup.matching.decisions import document_column, document_places, ids_of, write_decisions
from curator_dedup.matching.find_pairs import FindPairs, ListPartitions
from curator_dedup.matching.look_up import DocumentTexts
from curator_dedup.matching.overview import make_overview, overview_text
from curator_dedup.matching.place_ids import PlaceIds
from curator_dedup.matching.remove_duplicates import RemoveDuplicates, TagDuplicates
from curator_dedup.matching.result import DeduplicationResult
from curator_dedup.matching.search_in_memory import pairs_in_memory
from curator_dedup.numbering import Batch, Numbering, number_documents, places_of
from curator_dedup.shuffle_file import partitions_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from curator_core.sdk import Executor, ProcessingStage, Resume, RunResult, Watch, WorkflowResult
    from curator_dedup.matching.clusters import Clusters
    from curator_dedup.matching.keyed_documents import WriteKeys
    from curator_dedup.matching.options import MatchingOptions

__all__ = ["MatchingWorkflow", "Pairs", "pair_files"]

Pairs: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None]"
"""Numbers of the documents of pairs, and how similar they are, where that is known."""
_PARTITION_BYTES = 64 << 20
"""Keys in one partition, which is sorted in memory."""
_MIN_PARTITIONS = 4
"""So that threads share the work also where one partition would do."""
_DOCUMENT_BYTES = 500
"""Assumed size of a document, to choose a number of partitions."""


class MatchingWorkflow(Workflow):
    """Base of the workflows that compare the documents of a corpus with each other, and with those of earlier ones.

    Args:
        name: Name in reports.
        options: The common options.
    """

    kind: ClassVar[str]

    def __init__(self, name: str, options: MatchingOptions) -> None:
        super().__init__(name)
        self.cache_path = options.cache_path.rstrip("/") or "/"
        self.corpus = Corpus(
            options.input_path,
            options.input_format,
            options.block_bytes,
            name=self.cache_path,
            held_columns=None if options.perform_removal else options.columns,
        )
        self.output_path = options.output_path
        self.content_column = options.content_column
        self.id_column = options.id_column
        self.perform_removal = options.perform_removal
        self.keep = options.keep
        self.score_column = options.score_column
        self.output_mode = options.output_mode
        earlier = options.compare_with
        self.compare_with = [earlier] if isinstance(earlier, str) else list(earlier or ())
        self.columns = options.columns
        self.in_memory_bytes = options.in_memory_bytes
        self.threads = 1

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return the settings that the keys depend on; they must be equal for corpora that are compared."""

    @abstractmethod
    def key_writer(self, partitions: int) -> WriteKeys:
        """Return the stage that writes keys."""

    @property
    @abstractmethod
    def key_bytes(self) -> int:
        """Bytes that the keys of a document have."""

    def pair_finder(self, numberings: list[str]) -> FindPairs:
        """Return the stage that pairs documents which share a key."""
        return FindPairs(self.cache_path, numberings)

    def pair_steps(self) -> Sequence[WorkflowStep]:
        """Return steps between the search for pairs and the decision."""
        return []

    def duplicate_pairs(self, results: WorkflowResult) -> Iterator[Pairs]:
        """Yield the pairs that are duplicates, and their similarity, where it is known."""
        yield from self.found_pairs(results)

    def run(
        self,
        executor: Executor | None = None,
        run_dir: str | os.PathLike[str] | None = None,
        *,
        resume: Resume = False,
        watch: Watch | None = None,
    ) -> Any:
        """Run all steps.

        Args:
            executor: How to run the pipelines; in this process unless given.
            run_dir: Folder for ledgers and quarantined records; ``run`` in the cache unless given, where that is local.
            resume: Resume an earlier run.
            watch: Shows progress, or asks a step to stop.
        """
        self._check_folders()
        make_folder(self.cache_path)
        if run_dir is None and is_local(open_filesystem(self.cache_path)[0]):
            run_dir = f"{self.cache_path}/run"
        self.threads = _threads_of(executor)
        with (
            holding(self.corpus.name) if self.is_in_memory else nullcontext(),
            nullcontext() if self.compare_with else holding_keys(self.cache_path, self.in_memory_bytes),
        ):
            return self.summary(super().run(executor, run_dir, resume=resume, watch=watch))

    def _check_folders(self) -> None:
        """Refuse an output or a cache that the next pass over the input would take for a part of it."""
        reading = self.corpus.reading(None, name="dedup.read")
        folders = [(self.cache_path, "dedup.cache")]
        if self.perform_removal and self.output_path is not None:
            folders.append((self.output_path, "dedup.write"))
        check_own_output([*reading, *(self.corpus.writing(path, name=name) for path, name in folders)])

    def summary(self, steps: WorkflowResult) -> Any:
        """Return the result of the steps."""
        return DeduplicationResult.of(steps)

    def plan_steps(self) -> Sequence[WorkflowStep]:
        steps = [
            WorkflowStep("keys", self._keys),
            WorkflowStep("number", self._number),
            WorkflowStep("pairs", self._pairs),
            *self.pair_steps(),
            WorkflowStep("decide", self._decide),
        ]
        if self.perform_removal:
            steps.append(WorkflowStep("remove", self._remove))
        return steps

    @property
    def is_in_memory(self) -> bool:
        """Whether the corpus is held in memory from one pass to the next."""
        return self.reads_again and not self.compare_with and self.corpus.total_bytes <= self.in_memory_bytes

    @property
    def reads_again(self) -> bool:
        """Whether there is more than one pass over the input."""
        return self.perform_removal

    # -- the corpora that are compared: earlier ones first, then this one --

    @property
    def numbering_path(self) -> str:
        """File with the numbers of this corpus's documents."""
        return f"{self.cache_path}/numbering.json"

    def earlier(self) -> list[Index]:
        """Return the indexes of the corpora that this one is compared with.

        Raises:
            ConfigError: One was made with other parameters.
        """
        found = []
        for folder in self.compare_with:
            index = Index.read(folder)
            index.check(self.kind, self.parameters(), folder=folder)
            found.append(index)
        if len({index.partitions for index in found}) > 1:
            raise ConfigError(
                "the indexes have different numbers of partitions: "
                + ", ".join(
                    f"{folder} {index.partitions}" for folder, index in zip(self.compare_with, found, strict=True)
                ),
                fix="make the later ones with compare_with naming the first",
            )
        return found

    @property
    def partitions(self) -> int:
        """Into how many partitions keys are sorted: as those of earlier corpora, else by the size of this one."""
        earlier = self.earlier()
        if earlier:
            return earlier[0].partitions
        documents = self.corpus.total_bytes // _DOCUMENT_BYTES + 1
        return max(_MIN_PARTITIONS, partitions_for(documents * self.key_bytes, _PARTITION_BYTES))

    def numberings(self) -> list[str]:
        """Return the files with the numbers of the documents of all corpora."""
        return [*(index.numbering for index in self.earlier()), self.numbering_path]

    @property
    def start(self) -> int:
        """Number of this corpus's first document."""
        return sum(index.documents for index in self.earlier())

    def batches(self) -> list[Batch]:
        """Return the batches of all corpora, numbered through."""
        batches: list[Batch] = []
        start = 0
        for path in self.numberings():
            numbering = Numbering.read(path)
            batches += [replace(batch, first=start + batch.first) for batch in numbering.batches]
            start += numbering.documents
        return batches

    # -- the steps --

    def _keys(self, results: WorkflowResult) -> Pipeline:  # noqa: ARG002 - the first step
        self.corpus.check_columns(self.columns)
        reading = self.corpus.reading(self.columns, name="dedup.read")
        return Pipeline(f"{self.name}: keys", stages=[*reading, self.key_writer(self.partitions)])

    def _number(self, results: WorkflowResult) -> dict[str, int]:
        batches = []
        first = 0
        for task in next(iter(results.steps.values())):
            keys, documents = task.paths
            batches.append(Batch(first, task.meta["rows"], keys, documents, task.meta["version"]))
            first += task.meta["rows"]
        numbering = number_documents(batches, document_places(batches), f"{self.cache_path}/rows.npy")
        numbering.write(self.numbering_path)
        paths = self.corpus.paths
        Index(
            kind=self.kind,
            parameters=self.parameters(),
            partitions=self.partitions,
            paths=[paths] if isinstance(paths, str) else paths,
            format=self.corpus.format_name,
            block_bytes=self.corpus.block_bytes,
            content_column=self.content_column,
            numbering=self.numbering_path,
            documents=numbering.documents,
        ).write(self.cache_path)
        return {"documents": numbering.documents}

    def _pairs(self, results: WorkflowResult) -> Pipeline | dict[str, Any]:  # noqa: ARG002 - what it needs is held, or on disk
        numberings = self.numberings()
        finder = self.pair_finder(numberings)
        batches = self.batches()
        held = taken_keys(self.cache_path, [batch.keys for batch in batches])
        if held is None:
            stages: list[ProcessingStage[Any, Any]] = [ListPartitions(numberings, self.partitions), finder]
            return Pipeline(f"{self.name}: pairs", stages=stages)
        finder.setup_on_node(NodeInfo())
        records = [(batch.first, keys) for batch, keys in zip(batches, held, strict=True)]
        pairs = pairs_in_memory(records, rule=finder.rule, max_distance=finder.max_distance, threads=self.threads)
        path = f"{self.cache_path}/pairs/all.parquet"
        finder.write(pairs, path)
        return {"pairs": len(pairs), "files": [path]}

    def found_pairs(self, results: WorkflowResult) -> Iterator[Pairs]:
        """Yield the pairs that share a key, without pairs of two documents of earlier corpora."""
        start = self.start
        for path in pair_files(results["pairs"]):
            table = read_columns(path)
            first, second = (table.column(name).to_numpy() for name in ("first", "second"))
            is_ours = (first >= start) | (second >= start)
            similarity = table.column("similarity").to_numpy()[is_ours] if "similarity" in table.column_names else None
            yield first[is_ours], second[is_ours], similarity

    def _decide(self, results: WorkflowResult) -> dict[str, Any]:
        batches = self.batches()
        documents = batches[-1].first + batches[-1].rows if batches else 0
        pairs = list(self.duplicate_pairs(results))
        roots = components(documents, ((first, second) for first, second, _ in pairs))
        preference = None
        if self.keep != "first":
            preference = document_column(batches, "size" if self.keep == "longest" else "score")
        start = self.start
        is_fixed = np.arange(documents) < start if start else None
        clusters = make_clusters(roots, preference, is_fixed=is_fixed)
        return self.write_decisions(documents - start, clusters, _similarity(clusters.members, pairs))

    def write_decisions(
        self, documents: int, clusters: Clusters, similarity: NDArray[np.float64] | None
    ) -> dict[str, Any]:
        """Write the decisions, and an overview of them.

        Args:
            documents: Documents of this corpus.
            clusters: The clusters.
            similarity: For each member, the highest similarity found with another; unknown where None.
        """
        batches = self.batches()
        are_places = self.id_column is None and not self.compare_with
        place_ids = PlaceIds(Numbering.read(self.numbering_path)) if are_places else None
        path, removed = write_decisions(
            self.cache_path, clusters, batches, similarity, place_ids=place_ids, earlier=self.compare_with
        )
        texts = DocumentTexts(self.corpus, self.numbering_path, self.content_column, self.start)
        overview = make_overview(
            clusters, similarity, ids=lambda numbers: ids_of(numbers, batches).to_pylist(), texts=texts.of
        )
        with atomic_output(f"{self.cache_path}/overview.json") as file:
            file.write(json.dumps(overview, indent=1, ensure_ascii=False, default=str).encode())
        sizes = clusters.sizes[clusters.kept == clusters.members]
        return {
            "documents": documents,
            "removed": removed,
            "clusters": len(sizes),
            "largest_cluster": int(sizes.max()) if len(sizes) else 0,
            "duplicates": path,
            "overview": overview_text(overview),
        }

    def _remove(self, results: WorkflowResult) -> Pipeline:  # noqa: ARG002 - what it needs is on disk
        assert self.output_path is not None
        kind = RemoveDuplicates if self.output_mode == "remove" else TagDuplicates
        stages = [
            *self.corpus.reading(None, name="dedup.read"),
            kind(self.cache_path, self.numbering_path, start=self.start),
            self.corpus.writing(self.output_path, name="dedup.write"),
        ]
        return Pipeline(f"{self.name}: remove", stages=stages)


def pair_files(found: RunResult | dict[str, Any]) -> list[str]:
    """Return the files with the pairs that a step has found: a pipeline, or one that searched in memory."""
    files: list[str] = found["files"] if isinstance(found, dict) else found.outputs
    return files


def _threads_of(executor: Executor | None) -> int:
    """Return how many threads a step in this process may use: an executor's own, or all where others do the work."""
    if executor is None:
        return 1
    return int(getattr(executor, "threads", 0)) or os.cpu_count() or 1


def _similarity(members: NDArray[np.int64], pairs: Sequence[Pairs]) -> NDArray[np.float64] | None:
    """Return for every member the highest similarity found with another; None where none is known."""
    if not pairs or any(similarity is None for _, _, similarity in pairs):
        return None
    if all((np.asarray(similarity) == 1).all() for _, _, similarity in pairs):  # exact copies: nothing to look up
        return np.ones(len(members))
    highest = np.zeros(len(members))
    for first, second, similarity in pairs:
        for numbers in (first, second):
            places, found = places_of(members, numbers)  # without documents of earlier corpora that represent no other
            np.maximum.at(highest, found, np.asarray(similarity)[places])
    return highest
