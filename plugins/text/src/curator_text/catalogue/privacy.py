"""Stages that remove sensitive content and benchmark questions from documents."""

from __future__ import annotations

from curator_core.specs import StageSpec

__all__ = ["STAGES"]

STAGES = (
    StageSpec(
        "redact_pii",
        target="curator_text.privacy.redact_pii:RedactPii",
        summary="Replace e-mail and IP addresses, phone, card and account numbers, API keys and logins.",
        kind="modifier",
    ),
    StageSpec(
        "decontaminate",
        target="curator_text.privacy.decontaminate:Decontaminate",
        summary="Drop documents that repeat benchmark questions (n-gram overlap).",
        kind="filter",
    ),
    StageSpec(
        "remove_contamination",
        target="curator_text.privacy.remove_contamination:RemoveContamination",
        summary="Cut benchmark questions out of documents, and split them there.",
        kind="modifier",
        produces=("segment_id",),
    ),
    StageSpec(
        "count_contamination",
        target="curator_text.privacy.count_contamination:CountContamination",
        summary="Count in how many documents benchmark n-grams occur, to tell common phrases.",
        kind="writer",
    ),
)
