"""Stages that bring documents into proportion."""

from __future__ import annotations

from curator_core.specs import StageSpec

__all__ = ["STAGES"]

STAGES = (
    StageSpec(
        "blend",
        target="curator_text.mixing.blend:Blend",
        summary="Read several sources in given proportions, mixed.",
        kind="reader",
    ),
    StageSpec(
        "score_buckets",
        target="curator_text.mixing.score_buckets:ScoreBuckets",
        summary="Combine scores of several models and sort documents into buckets.",
        kind="annotator",
        produces=("score", "bucket"),
    ),
    StageSpec(
        "resample",
        target="curator_text.mixing.resample:Resample",
        summary="Repeat or thin out documents by a weight for each bucket.",
        kind="other",
        produces=("copy",),
    ),
    StageSpec(
        "shuffle",
        target="curator_text.mixing.shuffle:Shuffle",
        summary="Bring the rows of each batch into a random order.",
        kind="other",
    ),
    StageSpec(
        "partition",
        target="curator_text.mixing.shuffle:Partition",
        summary="Give each row the number of a random partition, to shuffle a whole corpus.",
        kind="annotator",
        produces=("partition",),
    ),
    StageSpec(
        "statistics",
        target="curator_text.mixing.statistics:Statistics",
        summary="Gather histograms and quantiles of measures, columns and expressions.",
        kind="other",
    ),
    StageSpec(
        "write_routed",
        target="curator_text.mixing.write_routed:WriteRouted",
        summary="Write the rows of each bucket, language or other value to a folder of its own.",
        kind="writer",
    ),
)
