"""NeMo Curator's heuristic, repetition and code filters with their default thresholds, by curator's stage names."""

from __future__ import annotations

from typing import Any

from nemo_curator.stages.text.filters.heuristic import string  # type: ignore[import-not-found]
from nemo_curator.stages.text.filters.heuristic.code import code  # type: ignore[import-not-found]
from nemo_curator.stages.text.filters.heuristic.repetition import repetition  # type: ignore[import-not-found]

TOP_NGRAMS = {2: 0.2, 3: 0.18, 4: 0.16}
DUPLICATE_NGRAMS = {5: 0.15, 6: 0.14, 7: 0.13, 8: 0.12, 9: 0.11, 10: 0.10}
"""Fractions by length, of Gopher (Rae et al. 2021, table A1), as in NeMo Curator's recipe for English."""


def english_filters() -> dict[str, Any]:
    """Return the filters for prose; all but the substring filter are those of its recipe for English."""
    return {
        "non_alpha_numeric": string.NonAlphaNumericFilter(),
        "symbols_to_words": string.SymbolsToWordsFilter(),
        "numbers": string.NumbersFilter(),
        "urls": string.UrlsFilter(),
        "bullets": string.BulletsFilter(),
        "white_space": string.WhiteSpaceFilter(),
        "parentheses": string.ParenthesesFilter(),
        "long_word": string.LongWordFilter(),
        "word_count": string.WordCountFilter(),
        "boiler_plate_string": string.BoilerPlateStringFilter(),
        "mean_word_length": string.MeanWordLengthFilter(),
        "punctuation": string.PunctuationFilter(),
        "ellipsis": string.EllipsisFilter(),
        "common_english_words": string.CommonEnglishWordsFilter(stop_at_false=False),
        "words_without_alphabets": string.WordsWithoutAlphabetsFilter(),
        "pornographic_urls": string.PornographicUrlsFilter(),
        "substring": string.SubstringFilter("the", "any"),
        "repeated_lines": repetition.RepeatedLinesFilter(),
        "repeated_paragraphs": repetition.RepeatedParagraphsFilter(),
        "repeated_lines_by_char": repetition.RepeatedLinesByCharFilter(),
        "repeated_paragraphs_by_char": repetition.RepeatedParagraphsByCharFilter(),
        **{
            f"repeating_top_ngrams_{n}": repetition.RepeatingTopNGramsFilter(n, fraction)
            for n, fraction in TOP_NGRAMS.items()
        },
        **{
            f"repeating_duplicate_ngrams_{n}": repetition.RepeatingDuplicateNGramsFilter(n, fraction)
            for n, fraction in DUPLICATE_NGRAMS.items()
        },
    }


def code_filters(mime: str) -> dict[str, Any]:
    """Return the filters for source code of a kind, such as ``text/x-python``."""
    python = {"python_comment_to_code": code.PythonCommentToCodeFilter()} if mime == "text/x-python" else {}
    return {
        **python,
        "general_comment_to_code": code.GeneralCommentToCodeFilter(mime),
        "number_of_lines_of_code": code.NumberOfLinesOfCodeFilter(),
        "xml_header": code.XMLHeaderFilter(),
        "alpha": code.AlphaFilter(),
        "html_boilerplate": code.HTMLBoilerplateFilter(),
    }
