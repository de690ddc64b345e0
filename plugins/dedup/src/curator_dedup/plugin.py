"""Declare the stages and workflows of curator-dedup without importing them."""

from __future__ import annotations

from curator_core.hookspecs import hookimpl
from curator_core.specs import StageSpec, WorkflowSpec

CURATOR_API = (1, 0)


@hookimpl
def curator_stages() -> list[StageSpec]:
    return [
        StageSpec(
            "content_hash",
            target="curator_dedup.content_hash:ContentHash",
            summary="Add a 128-bit hash of a text or binary column, equal for rows with the same content.",
            kind="annotator",
            produces=("content_hash",),
        ),
        StageSpec(
            "minhash",
            target="curator_dedup.minhash.stage:Minhash",
            summary="Add the MinHash signature of a text column.",
            kind="annotator",
            produces=("minhash",),
        ),
    ]


@hookimpl
def curator_workflows() -> list[WorkflowSpec]:
    return [
        WorkflowSpec(
            "exact",
            target="curator_dedup.exact.workflow:ExactDeduplicationWorkflow",
            summary="Keep one of all documents, or files, that are the same.",
        ),
        WorkflowSpec(
            "lines",
            target="curator_dedup.lines.workflow:LineDeduplicationWorkflow",
            summary="Remove lines, or paragraphs, that occurred earlier in the corpus.",
        ),
        WorkflowSpec(
            "perceptual",
            target="curator_dedup.perceptual.workflow:PerceptualDeduplicationWorkflow",
            summary="Keep one of all rows whose perceptual hashes differ in few bits.",
        ),
        WorkflowSpec(
            "semantic",
            target="curator_dedup.semantic.workflow:SemanticDeduplicationWorkflow",
            summary="Keep one of all rows whose embeddings are nearly the same.",
            requires=("torch",),
            extra="semantic",
        ),
        WorkflowSpec(
            "fuzzy",
            target="curator_dedup.fuzzy.workflow:FuzzyDeduplicationWorkflow",
            summary="Keep one of all documents that share most of their shingles (MinHash, verified).",
        ),
    ]
