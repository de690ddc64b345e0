"""Curate text: read documents, clean them, filter them, write them.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_table import (
        AddId,
        Blend,
        Partition,
        ReadArrow,
        ReadCsv,
        ReadHf,
        ReadJsonl,
        ReadParquet,
        Resample,
        ScoreBuckets,
        Shuffle,
        Statistics,
        WriteArrow,
        WriteCsv,
        WriteJsonl,
        WriteParquet,
        WriteRouted,
    )
    from curator_text.batch import DocumentBatch
    from curator_text.extraction.extract_html import ExtractHtml
    from curator_text.extraction.html_to_text import HtmlToText
    from curator_text.filters.alpha import Alpha
    from curator_text.filters.boiler_plate_string import BoilerPlateString
    from curator_text.filters.bullets import Bullets
    from curator_text.filters.c4_quality import C4Quality
    from curator_text.filters.common_english_words import CommonEnglishWords
    from curator_text.filters.ellipsis import Ellipsis  # noqa: A004 - named after NeMo Curator's filter
    from curator_text.filters.fineweb_quality import FinewebQuality
    from curator_text.filters.general_comment_to_code import GeneralCommentToCode
    from curator_text.filters.gopher_quality import GopherQuality
    from curator_text.filters.gopher_repetition import GopherRepetition
    from curator_text.filters.heuristics import Heuristics
    from curator_text.filters.histogram import Histogram
    from curator_text.filters.html_boilerplate import HtmlBoilerplate
    from curator_text.filters.length import Length
    from curator_text.filters.long_word import LongWord
    from curator_text.filters.mean_word_length import MeanWordLength
    from curator_text.filters.non_alpha_numeric import NonAlphaNumeric
    from curator_text.filters.number_of_lines_of_code import NumberOfLinesOfCode
    from curator_text.filters.numbers import Numbers
    from curator_text.filters.parentheses import Parentheses
    from curator_text.filters.per_extension import PerExtension
    from curator_text.filters.pornographic_urls import PornographicUrls
    from curator_text.filters.punctuation import Punctuation
    from curator_text.filters.python_comment_to_code import PythonCommentToCode
    from curator_text.filters.regex import Regex
    from curator_text.filters.repeated_lines import RepeatedLines
    from curator_text.filters.repeated_lines_by_char import RepeatedLinesByChar
    from curator_text.filters.repeated_paragraphs import RepeatedParagraphs
    from curator_text.filters.repeated_paragraphs_by_char import RepeatedParagraphsByChar
    from curator_text.filters.repeating_duplicate_n_grams import RepeatingDuplicateNGrams
    from curator_text.filters.repeating_top_n_grams import RepeatingTopNGrams
    from curator_text.filters.substring import Substring
    from curator_text.filters.symbols_to_words import SymbolsToWords
    from curator_text.filters.url_blocklist import UrlBlocklist
    from curator_text.filters.urls import Urls
    from curator_text.filters.white_space import WhiteSpace
    from curator_text.filters.word_blocklist import WordBlocklist
    from curator_text.filters.word_count import WordCount
    from curator_text.filters.words_without_alphabets import WordsWithoutAlphabets
    from curator_text.filters.xml_header import XmlHeader
    from curator_text.language.fast_text_lang_id import FastTextLangId
    from curator_text.language.language_id import LanguageId
    from curator_text.llm.llm import Llm
    from curator_text.models.classify import Classify
    from curator_text.models.count_tokens import CountTokens
    from curator_text.models.embed import Embed
    from curator_text.models.fast_text_quality import FastTextQuality
    from curator_text.models.fasttext_classify import FasttextClassify
    from curator_text.models.perplexity import Perplexity
    from curator_text.models.token_count import TokenCount
    from curator_text.models.tokenize import Tokenize
    from curator_text.models.tokenizer_fertility import TokenizerFertility
    from curator_text.modifiers.fasttext_label import FasttextLabel
    from curator_text.modifiers.fix_unicode import FixUnicode
    from curator_text.modifiers.join_documents import JoinDocuments
    from curator_text.modifiers.normalize import Normalize
    from curator_text.modifiers.normalize_newlines import NormalizeNewlines
    from curator_text.modifiers.normalize_whitespace import NormalizeWhitespace
    from curator_text.modifiers.remove_boilerplate import RemoveBoilerplate
    from curator_text.modifiers.remove_lines import RemoveLines
    from curator_text.modifiers.remove_markdown import RemoveMarkdown
    from curator_text.modifiers.remove_quotation import RemoveQuotation
    from curator_text.modifiers.remove_urls import RemoveUrls
    from curator_text.modifiers.slice import Slice
    from curator_text.modifiers.split_documents import SplitDocuments
    from curator_text.privacy.count_contamination import CountContamination
    from curator_text.privacy.decontaminate import Decontaminate
    from curator_text.privacy.redact_pii import RedactPii
    from curator_text.privacy.remove_contamination import RemoveContamination
    from curator_text.reading.text_files import ReadText
    from curator_text.reading.warc import ReadWarc
    from curator_text.writing.tokens import WriteTokens

__version__ = "0.1.0"

__all__ = [
    "AddId",
    "Alpha",
    "Blend",
    "BoilerPlateString",
    "Bullets",
    "C4Quality",
    "Classify",
    "CommonEnglishWords",
    "CountContamination",
    "CountTokens",
    "Decontaminate",
    "DocumentBatch",
    "Ellipsis",
    "Embed",
    "ExtractHtml",
    "FastTextLangId",
    "FastTextQuality",
    "FasttextClassify",
    "FasttextLabel",
    "FinewebQuality",
    "FixUnicode",
    "GeneralCommentToCode",
    "GopherQuality",
    "GopherRepetition",
    "Heuristics",
    "Histogram",
    "HtmlBoilerplate",
    "HtmlToText",
    "JoinDocuments",
    "LanguageId",
    "Length",
    "Llm",
    "LongWord",
    "MeanWordLength",
    "NonAlphaNumeric",
    "Normalize",
    "NormalizeNewlines",
    "NormalizeWhitespace",
    "NumberOfLinesOfCode",
    "Numbers",
    "Parentheses",
    "Partition",
    "PerExtension",
    "Perplexity",
    "PornographicUrls",
    "Punctuation",
    "PythonCommentToCode",
    "ReadArrow",
    "ReadCsv",
    "ReadHf",
    "ReadJsonl",
    "ReadParquet",
    "ReadText",
    "ReadWarc",
    "RedactPii",
    "Regex",
    "RemoveBoilerplate",
    "RemoveContamination",
    "RemoveLines",
    "RemoveMarkdown",
    "RemoveQuotation",
    "RemoveUrls",
    "RepeatedLines",
    "RepeatedLinesByChar",
    "RepeatedParagraphs",
    "RepeatedParagraphsByChar",
    "RepeatingDuplicateNGrams",
    "RepeatingTopNGrams",
    "Resample",
    "ScoreBuckets",
    "Shuffle",
    "Slice",
    "SplitDocuments",
    "Statistics",
    "Substring",
    "SymbolsToWords",
    "TokenCount",
    "Tokenize",
    "TokenizerFertility",
    "UrlBlocklist",
    "Urls",
    "WhiteSpace",
    "WordBlocklist",
    "WordCount",
    "WordsWithoutAlphabets",
    "WriteArrow",
    "WriteCsv",
    "WriteJsonl",
    "WriteParquet",
    "WriteRouted",
    "WriteTokens",
    "XmlHeader",
]


def __getattr__(name: str) -> object:
    from curator_text.catalogue import STAGES

    targets = ("curator_text.batch:DocumentBatch", *(spec.target for spec in STAGES if spec.alias_of is None))
    home = next((module for module, _, each in (target.partition(":") for target in targets) if each == name), None)
    if home is None and name in __all__:  # stages for any table, of which many pipelines of text consist
        home = "curator_table"
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
