"""Fuzzy deduplication as one job: MinHash signatures, candidates, exact verification, clusters, removal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from xxhash import xxh3_64_hexdigest

from curator_core.sdk import (
    DEFAULT_BLOCK_BYTES,
    ConfigError,
    Pipeline,
    WorkflowStep,
    atomic_output,
    make_folder,
)
from curator_dedup.cache_files import read_columns, save_array
from curator_dedup.corpus import Corpus
from curator_dedup.fuzzy.corpus_texts import CorpusTexts
from curator_dedup.fuzzy.gather import GatherCandidates
from curator_dedup.fuzzy.verification import plan_verification
from curator_dedup.fuzzy.verify import ListCandidates, VerifyPairs
from curator_dedup.fuzzy.verify_in_memory import similarity_in_memory
from curator_dedup.fuzzy.write_signatures import WriteBands
from curator_dedup.matching.clusters import components
from curator_dedup.matching.decisions import document_column
from curator_dedup.matching.options import IN_MEMORY_BYTES, MatchingOptions
from curator_dedup.matching.pair_file import write_pairs
from curator_dedup.matching.pairing import unique_pairs
from curator_dedup.matching.workflow import MatchingWorkflow, pair_files
from curator_dedup.minhash.scheme import MinhashScheme
from curator_table import check_segmenter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.sdk import ProcessingStage, WorkflowResult
    from curator_dedup.matching.clusters import KeepRule
    from curator_dedup.matching.keyed_documents import WriteKeys
    from curator_dedup.matching.options import OutputMode
    from curator_dedup.matching.workflow import Pairs
    from curator_table import SpacedWords

__all__ = ["FuzzyDeduplicationWorkflow"]

_PART_BYTES = 256 << 20
"""Text of candidates that are compared in one part."""
_RECORD_BYTES = 16


class FuzzyDeduplicationWorkflow(MatchingWorkflow):
    """Find documents that share most of their shingles, and keep one of each cluster.

    Documents whose MinHash signatures agree in all hashes of at least one band are candidates; two documents of Jaccard
    similarity s are with probability ``1 - (1 - s ** minhashes_per_band) ** num_bands``. With ``verify``, candidates
    are compared shingle by shingle, and only those of at least ``threshold`` count. Clusters are connected components.

    >>> workflow = FuzzyDeduplicationWorkflow(input_path="corpus", cache_path="cache", output_path="unique")
    >>> workflow.scheme.num_hashes
    260

    Args:
        input_path: Files, folders, globs or URLs.
        cache_path: Folder for intermediate files of the steps; it can serve as an index later.
        output_path: Folder for the documents that are left.
        text_column: Column with the text.
        id_column: Column with ids; file and place unless given.
        perform_removal: Whether to write the documents that are left; otherwise only the table of duplicates is made.
        char_ngrams: Characters in a shingle.
        word_ngrams: Words in a shingle, instead.
        words: Where words end: at ``whitespace``, of which a segmenter puts some into ``chinese``, ``japanese`` or
            ``thai`` first.
        num_bands: Bands of a signature.
        minhashes_per_band: Hashes of a band.
        verify: Compare candidates exactly.
        threshold: Minimum similarity of duplicates, with ``verify``.
        seed: Start of the random numbers.
        keep: Which document of a cluster is kept: the first of the input, the longest, or the best by ``score_column``.
        score_column: Column with numbers, the highest of which is kept with ``keep="best"``.
        output_mode: Leave duplicates out, or write all documents with ``duplicate_of`` and ``duplicate_count``.
        compare_with: Caches of earlier workflows: documents that duplicate one there are removed; those corpora stay.
        input_format: Table format; found out from the files unless given.
        bits: Size of a hash: 32 or 64.
        device: A torch device to make signatures on; the CPU, without torch, unless given.
        block_bytes: Size of a unit of work.
        in_memory_bytes: A corpus up to this size is read once and held in memory; a larger one is read in every pass.
    """

    kind: ClassVar[str] = "fuzzy"

    def __init__(  # noqa: PLR0913 - a whole job, by keyword
        self,
        input_path: str | list[str],
        cache_path: str,
        output_path: str | None = None,
        text_column: str = "text",
        id_column: str | None = None,
        *,
        perform_removal: bool = True,
        char_ngrams: int = 24,
        word_ngrams: int | None = None,
        words: SpacedWords = "whitespace",
        num_bands: int = 20,
        minhashes_per_band: int = 13,
        verify: bool = True,
        threshold: float = 0.8,
        seed: int = 42,
        keep: KeepRule = "first",
        score_column: str | None = None,
        output_mode: OutputMode = "remove",
        compare_with: str | list[str] | None = None,
        input_format: str | None = None,
        bits: Literal[32, 64] = 32,
        device: str | None = None,
        block_bytes: int = DEFAULT_BLOCK_BYTES,
        in_memory_bytes: int = IN_MEMORY_BYTES,
    ) -> None:
        super().__init__(
            "fuzzy deduplication",
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
        if not 0 < threshold <= 1:
            raise ConfigError(f"threshold must be over 0 and at most 1, got {threshold}")
        if num_bands < 1 or minhashes_per_band < 1:
            raise ConfigError(f"{num_bands} bands of {minhashes_per_band} hashes: both must be at least 1")
        self.scheme = MinhashScheme(
            unit="char" if word_ngrams is None else "word",
            ngrams=char_ngrams if word_ngrams is None else word_ngrams,
            num_hashes=num_bands * minhashes_per_band,
            bits=bits,
            seed=seed,
            words=words,
        )
        check_segmenter("dedup.fuzzy", words)
        self.num_bands = num_bands
        self.verify = verify
        self.threshold = threshold
        self.device = device

    @property
    def reads_again(self) -> bool:
        return self.perform_removal or self.verify

    @property
    def key_bytes(self) -> int:
        return (self.num_bands + 1) * _RECORD_BYTES

    def parameters(self) -> dict[str, Any]:
        return {**self.scheme.parameters(), "bands": self.num_bands}

    def key_writer(self, partitions: int) -> WriteKeys:
        return WriteBands(
            self.cache_path,
            self.content_column,
            id_column=self.id_column,
            score_column=self.score_column,
            partitions=partitions,
            scheme=self.scheme,
            bands=self.num_bands,
            device=self.device,
        )

    def pair_steps(self) -> Sequence[WorkflowStep]:
        if not self.verify:
            return []
        if self.is_in_memory:
            return [WorkflowStep("verify", self._verify_in_memory)]
        gathering = [
            WorkflowStep(f"gather-{number}", lambda results, number=number: self._gather(results, number))  # type: ignore[misc]
            for number in range(len(self.compare_with) + 1)
        ]
        return [
            WorkflowStep("candidates", self._candidates),
            *gathering,
            WorkflowStep("parts", self._parts),
            WorkflowStep("verify", self._verify),
        ]

    def duplicate_pairs(self, results: WorkflowResult) -> Iterator[Pairs]:
        if not self.verify:
            yield from super().duplicate_pairs(results)
            return
        for path in pair_files(results["verify"]) if results["verify"] is not None else ():
            table = read_columns(path, ["first", "second", "similarity"])
            first, second, similarity = (table.column(name).to_numpy() for name in table.column_names)
            yield first, second, similarity

    def _candidates(self, results: WorkflowResult) -> dict[str, Any]:
        """Plan the verification: which pairs, in which parts, with which documents."""
        first, second = unique_pairs([(first, second) for first, second, _ in self.found_pairs(results)])
        sizes = document_column(self.batches(), "size")
        roots = components(len(sizes), [(first, second)])
        plan = plan_verification(first, second, roots, sizes, part_bytes=_PART_BYTES)
        cache = self.cache_path
        save_array(plan.first, f"{cache}/candidate-first.npy")
        save_array(plan.second, f"{cache}/candidate-second.npy")
        save_array(np.searchsorted(plan.pair_part, np.arange(plan.parts + 1)), f"{cache}/candidate-begins.npy")
        save_array(plan.documents, f"{cache}/wanted-documents.npy")
        save_array(plan.document_part.astype(np.int32), f"{cache}/wanted-parts.npy")
        return {
            "pairs": len(plan.first),
            "documents": len(np.unique(plan.documents)),
            "parts": plan.parts,
            "version": xxh3_64_hexdigest(np.concatenate([plan.first, plan.second]).tobytes()),
        }

    def _gather(self, results: WorkflowResult, number: int) -> Pipeline | None:
        """Collect the candidates of one corpus: an earlier one, or, last, this one."""
        parts = results["candidates"]["parts"]
        if not parts:
            return None
        earlier = self.earlier()
        corpus, numbering, content_column = self.corpus, self.numbering_path, self.content_column
        start = sum(index.documents for index in earlier[:number])
        if number < len(earlier):
            index = earlier[number]
            corpus = Corpus(index.paths, index.format, index.block_bytes)
            numbering, content_column = index.numbering, index.content_column
        stages = [
            *corpus.reading([content_column], name="dedup.read"),
            GatherCandidates(self.cache_path, numbering, content_column, parts, start),
        ]
        return Pipeline(f"{self.name}: gather", stages=stages)

    def _parts(self, results: WorkflowResult) -> dict[str, int]:
        """Note which files have texts of which part."""
        files: list[list[tuple[str, str]]] = [[] for _ in range(results["candidates"]["parts"])]
        for number in range(len(self.compare_with) + 1):
            for task in results[f"gather-{number}"] or ():
                for part in task.meta["parts"]:
                    files[part].append((task.paths[0], task.task_id))
        with atomic_output(f"{self.cache_path}/parts.json") as file:
            file.write(json.dumps({"version": results["candidates"]["version"], "files": files}).encode())
        return {"parts": len(files)}

    def _verify(self, results: WorkflowResult) -> Pipeline | None:
        if not results["parts"]["parts"]:
            return None
        stages: list[ProcessingStage[Any, Any]] = [
            ListCandidates(self.cache_path),
            VerifyPairs(self.cache_path, self.scheme, self.threshold),
        ]
        return Pipeline(f"{self.name}: verify", stages=stages)

    def _verify_in_memory(self, results: WorkflowResult) -> dict[str, Any]:
        """Compare the candidates of a corpus that is held, without files in between."""
        first, second = unique_pairs([(first, second) for first, second, _ in self.found_pairs(results)])
        order = np.lexsort((second, first))
        first, second = first[order], second[order]
        texts = CorpusTexts(self.corpus, self.numbering_path, self.content_column)
        similarity = similarity_in_memory(first, second, texts, self.scheme, threads=self.threads)
        is_similar = similarity >= self.threshold
        columns = {"first": first, "second": second, "similarity": similarity}
        path = f"{self.cache_path}/verified/all.parquet"
        make_folder(f"{self.cache_path}/verified")
        write_pairs(pa.table({name: values[is_similar] for name, values in columns.items()}), path)
        return {"candidates": len(first), "pairs": int(is_similar.sum()), "files": [path]}
