"""NeMo Curator's filter by language: keep what a fastText model is sure about, whatever the language."""

from __future__ import annotations

from dataclasses import dataclass, field

from curator_text.language.language_id import LanguageId

__all__ = ["FastTextLangId"]


@dataclass
class FastTextLangId(LanguageId):
    """Drop documents whose language is not clear: NeMo Curator's ``FastTextLangId``, with its default of 0.3.

    It is :class:`~curator_text.LanguageId`, which has the same parameters and drops nothing by itself, with that
    score to begin with and, as there, a look at all of a document.

    >>> from curator_text import DocumentBatch
    >>> texts = ["The weather is fine and the mountains are high.", "12 + 30 = 42"]
    >>> FastTextLangId().process(DocumentBatch(data={"text": texts})).data["language"].to_pylist()
    ['en']

    Args:
        keep: Languages to keep; all, where None.
        min_score: Keep only documents with at least this score.
        max_chars: Characters of a document to look at; None for all.
        backend: ``fasttext`` (lid.176), or ``cld2`` (faster, less accurate; needs the extra ``cld2``).
        model: A fastText model in place of the packaged lid.176; its labels are the languages.
        text_field: Column with the text.
        language_field: Column for the language.
        score_field: Column for the score.
        overwrite: Replace columns of those names; else one that is there is an error.
        tag: Keep all rows and add a score and a reason column instead.
        invert: Drop what would be kept and keep what would be dropped.
        save_dropped: Write dropped rows with ``_stage``, ``_reason`` and ``_score`` to the run directory.
    """

    min_score: float = field(default=0.3, kw_only=True)
    max_chars: int | None = field(default=None, kw_only=True)

    name = "text.fast_text_lang_id"
