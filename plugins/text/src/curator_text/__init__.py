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
    from curator_text.filters.boilerplate import BoilerPlateString
    from curator_text.filters.characters import Histogram, Length, NonAlphaNumeric, Numbers, Parentheses, WhiteSpace
    from curator_text.filters.code import (
        Alpha,
        GeneralCommentToCode,
        HtmlBoilerplate,
        NumberOfLinesOfCode,
        PythonCommentToCode,
        XmlHeader,
    )
    from curator_text.filters.heuristics import Heuristics
    from curator_text.filters.lines import (
        Bullets,
        Ellipsis,  # noqa: A004 - the name that people know
        Punctuation,
    )
    from curator_text.filters.patterns import Regex, Substring
    from curator_text.filters.per_extension import PerExtension
    from curator_text.filters.quality import C4Quality, FinewebQuality, GopherQuality
    from curator_text.filters.repetition import (
        GopherRepetition,
        RepeatedLines,
        RepeatedLinesByChar,
        RepeatedParagraphs,
        RepeatedParagraphsByChar,
        RepeatingDuplicateNGrams,
        RepeatingTopNGrams,
    )
    from curator_text.filters.web_addresses import PornographicUrls, UrlBlocklist, Urls
    from curator_text.filters.word_blocklist import WordBlocklist
    from curator_text.filters.words import (
        CommonEnglishWords,
        LongWord,
        MeanWordLength,
        SymbolsToWords,
        WordCount,
        WordsWithoutAlphabets,
    )
    from curator_text.language.language_id import FastTextLangId, LanguageId
    from curator_text.llm.llm import Llm
    from curator_text.models.add_token_count import AddTokenCount
    from curator_text.models.classify import Classify
    from curator_text.models.embed import Embed
    from curator_text.models.fast_text_quality import FastTextQuality
    from curator_text.models.fasttext_classify import FasttextClassify
    from curator_text.models.perplexity import Perplexity
    from curator_text.models.token_count import TokenCount
    from curator_text.models.tokenize import Tokenize
    from curator_text.models.tokenizer_fertility import TokenizerFertility
    from curator_text.modifiers.fasttext_label import FasttextLabel
    from curator_text.modifiers.fix_unicode import FixUnicode
    from curator_text.modifiers.normalize import Normalize, NormalizeNewlines, NormalizeWhitespace
    from curator_text.modifiers.remove import (
        RemoveBoilerplate,
        RemoveLines,
        RemoveMarkdown,
        RemoveQuotation,
        RemoveUrls,
    )
    from curator_text.modifiers.segments import JoinDocuments, SplitDocuments
    from curator_text.modifiers.slice import Slice
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
    "AddTokenCount",
    "Alpha",
    "Blend",
    "BoilerPlateString",
    "Bullets",
    "C4Quality",
    "Classify",
    "CommonEnglishWords",
    "CountContamination",
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
