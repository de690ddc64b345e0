"""datatrove's quality filters with their default thresholds, and its two ways to split words."""

from __future__ import annotations

from typing import Any

from datatrove.pipeline.filters import (  # type: ignore[import-not-found]
    C4QualityFilter,
    FineWebQualityFilter,
    GopherQualityFilter,
    GopherRepetitionFilter,
)
from datatrove.utils import word_tokenizers  # type: ignore[import-not-found]
from datatrove.utils.text import split_into_parts  # type: ignore[import-not-found]

FILTERS = {
    "gopher_repetition": GopherRepetitionFilter,
    "gopher_quality": GopherQualityFilter,
    "c4_quality": C4QualityFilter,
    "fineweb_quality": FineWebQualityFilter,
}


class SplitTokenizer(word_tokenizers.WhitespaceTokenizer):  # type: ignore[misc]
    """Words are ``str.split``; sentences are those of datatrove's tokenizer for languages without one of their own."""

    def word_tokenize(self, text: str) -> list[str]:
        return text.split()


def new_filters() -> dict[str, Any]:
    """Return all four filters by the name that curator gives them."""
    return {name: each() for name, each in FILTERS.items()}


def use_words(words: str) -> None:
    """Split words as ``whitespace`` or ``spacy`` (datatrove's own for English) from now on, in this process."""
    if words == "whitespace":
        tokenizer = SplitTokenizer()
        word_tokenizers.load_word_tokenizer = lambda _language: tokenizer
    elif words != "spacy":
        raise ValueError(f"words is whitespace or spacy, not {words}")
    split_into_parts.cache_clear()
