"""NeMo Curator's recipe for English text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_text.filters.boiler_plate_string import BoilerPlateString
from curator_text.filters.bullets import Bullets
from curator_text.filters.common_english_words import CommonEnglishWords
from curator_text.filters.ellipsis import Ellipsis  # noqa: A004 - named after NeMo Curator's filter
from curator_text.filters.long_word import LongWord
from curator_text.filters.mean_word_length import MeanWordLength
from curator_text.filters.non_alpha_numeric import NonAlphaNumeric
from curator_text.filters.numbers import Numbers
from curator_text.filters.parentheses import Parentheses
from curator_text.filters.punctuation import Punctuation
from curator_text.filters.repeated_lines import RepeatedLines
from curator_text.filters.repeated_lines_by_char import RepeatedLinesByChar
from curator_text.filters.repeated_paragraphs import RepeatedParagraphs
from curator_text.filters.repeated_paragraphs_by_char import RepeatedParagraphsByChar
from curator_text.filters.repeating_duplicate_n_grams import RepeatingDuplicateNGrams
from curator_text.filters.repeating_top_n_grams import RepeatingTopNGrams
from curator_text.filters.symbols_to_words import SymbolsToWords
from curator_text.filters.urls import Urls
from curator_text.filters.white_space import WhiteSpace
from curator_text.filters.word_count import WordCount
from curator_text.filters.words_without_alphabets import WordsWithoutAlphabets

if TYPE_CHECKING:
    from curator_text.filters.rule_filter import RuleFilter

__all__ = ["nemo_english"]


def nemo_english(text_field: str = "text", *, tag: bool = False) -> list[RuleFilter]:
    """Return the filters of NeMo Curator 1.4.0's recipe for English, in its order and with its thresholds.

    They are the 28 entries of ``config/text/heuristic_filter_english_pipeline.yaml``. Letters and digits are those of
    ASCII in the first of them, as there. Names are numbered where a filter occurs more than once.

    >>> [stage.name for stage in nemo_english()][:3]
    ['text.non_alpha_numeric', 'text.symbols_to_words', 'text.numbers']

    Args:
        text_field: Column with the text.
        tag: Keep all rows and add the score and reason columns of every filter instead.
    """
    filters: list[RuleFilter] = [
        NonAlphaNumeric(max_share=0.25, ascii_only=True),
        SymbolsToWords(max_share=0.1),
        Numbers(max_share=0.15),
        Urls(max_share=0.2),
        WhiteSpace(max_share=0.25),
        Parentheses(max_share=0.1),
        BoilerPlateString(max_share=0.4),
        RepeatedLines(min_share=0.7),
        RepeatedParagraphs(min_share=0.7),
        RepeatedLinesByChar(min_share=0.8),
        RepeatedParagraphsByChar(min_share=0.8),
        WordCount(min_words=50, max_words=100_000),
        Punctuation(max_share=0.85),
        WordsWithoutAlphabets(min_share=0.8),
        CommonEnglishWords(min_words=2),
        MeanWordLength(min_length=3, max_length=10),
        LongWord(max_length=1000),
        Ellipsis(max_share=0.3),
    ]
    for n, share in ((2, 0.2), (3, 0.18), (4, 0.16)):
        filters.append(RepeatingTopNGrams(n=n, max_share=share).with_(name=f"text.repeating_top_{n}_grams"))
    for n, share in ((5, 0.15), (6, 0.14), (7, 0.13), (8, 0.12), (9, 0.11), (10, 0.1)):
        repeating = RepeatingDuplicateNGrams(n=n, max_share=share)
        filters.append(repeating.with_(name=f"text.repeating_duplicate_{n}_grams"))
    filters.append(Bullets(max_share=0.9))
    for stage in filters:
        stage.text_field, stage.tag = text_field, tag
    return filters
