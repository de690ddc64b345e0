"""Stages that drop documents by one heuristic each, those of NeMo Curator among them."""

from __future__ import annotations

from curator_core.specs import StageSpec

__all__ = ["STAGES"]

STAGES = (
    StageSpec(
        "word_count",
        target="curator_text.filters.words:WordCount",
        summary="Drop documents with too few or too many words.",
        kind="filter",
    ),
    StageSpec(
        "mean_word_length",
        target="curator_text.filters.words:MeanWordLength",
        summary="Drop documents whose words are too short or too long on average.",
        kind="filter",
    ),
    StageSpec(
        "long_word",
        target="curator_text.filters.words:LongWord",
        summary="Drop documents with a word too long to be one.",
        kind="filter",
    ),
    StageSpec(
        "non_alpha_numeric",
        target="curator_text.filters.characters:NonAlphaNumeric",
        summary="Drop documents with too many characters other than letters and digits.",
        kind="filter",
    ),
    StageSpec(
        "symbols_to_words",
        target="curator_text.filters.words:SymbolsToWords",
        summary="Drop documents with many words that are hash signs or ellipses.",
        kind="filter",
    ),
    StageSpec(
        "numbers",
        target="curator_text.filters.characters:Numbers",
        summary="Drop documents with too many digits.",
        kind="filter",
    ),
    StageSpec(
        "urls",
        target="curator_text.filters.web_addresses:Urls",
        summary="Drop documents that consist largely of web addresses.",
        kind="filter",
    ),
    StageSpec(
        "bullets",
        target="curator_text.filters.lines:Bullets",
        summary="Drop documents in which nearly every line is a bullet point.",
        kind="filter",
    ),
    StageSpec(
        "white_space",
        target="curator_text.filters.characters:WhiteSpace",
        summary="Drop documents with too much white space.",
        kind="filter",
    ),
    StageSpec(
        "parentheses",
        target="curator_text.filters.characters:Parentheses",
        summary="Drop documents with many brackets.",
        kind="filter",
    ),
    StageSpec(
        "boiler_plate_string",
        target="curator_text.filters.boilerplate:BoilerPlateString",
        summary="Drop documents with cookie banners and policies in many paragraphs.",
        kind="filter",
    ),
    StageSpec(
        "punctuation",
        target="curator_text.filters.lines:Punctuation",
        summary="Drop documents in which few lines end like a sentence.",
        kind="filter",
    ),
    StageSpec(
        "ellipsis",
        target="curator_text.filters.lines:Ellipsis",
        summary="Drop documents in which many lines end with an ellipsis.",
        kind="filter",
    ),
    StageSpec(
        "common_english_words",
        target="curator_text.filters.words:CommonEnglishWords",
        summary="Drop documents in which the commonest English words are missing.",
        kind="filter",
    ),
    StageSpec(
        "words_without_alphabets",
        target="curator_text.filters.words:WordsWithoutAlphabets",
        summary="Drop documents with many words that hold no letter.",
        kind="filter",
    ),
    StageSpec(
        "repeated_lines",
        target="curator_text.filters.repetition:RepeatedLines",
        summary="Drop documents with repeated lines.",
        kind="filter",
    ),
    StageSpec(
        "repeated_paragraphs",
        target="curator_text.filters.repetition:RepeatedParagraphs",
        summary="Drop documents with repeated paragraphs.",
        kind="filter",
    ),
    StageSpec(
        "repeated_lines_by_char",
        target="curator_text.filters.repetition:RepeatedLinesByChar",
        summary="Drop documents that consist largely of repeated lines.",
        kind="filter",
    ),
    StageSpec(
        "repeated_paragraphs_by_char",
        target="curator_text.filters.repetition:RepeatedParagraphsByChar",
        summary="Drop documents that consist largely of repeated paragraphs.",
        kind="filter",
    ),
    StageSpec(
        "repeating_top_n_grams",
        target="curator_text.filters.repetition:RepeatingTopNGrams",
        summary="Drop documents that consist largely of one phrase.",
        kind="filter",
    ),
    StageSpec(
        "repeating_duplicate_n_grams",
        target="curator_text.filters.repetition:RepeatingDuplicateNGrams",
        summary="Drop documents that consist largely of repeated n-grams.",
        kind="filter",
    ),
    StageSpec(
        "histogram",
        target="curator_text.filters.characters:Histogram",
        summary="Drop documents with many characters that are not common in a language.",
        kind="filter",
    ),
    StageSpec(
        "length",
        target="curator_text.filters.characters:Length",
        summary="Drop documents of too few or too many bytes, characters or words.",
        kind="filter",
    ),
    StageSpec(
        "substring",
        target="curator_text.filters.patterns:Substring",
        summary="Keep documents that hold a string at the beginning, the end or anywhere.",
        kind="filter",
    ),
    StageSpec(
        "regex",
        target="curator_text.filters.patterns:Regex",
        summary="Drop or keep documents in which a regular expression is found.",
        kind="filter",
    ),
    StageSpec(
        "url_blocklist",
        target="curator_text.filters.web_addresses:UrlBlocklist",
        summary="Drop documents from listed domains, or with listed words in their URL.",
        kind="filter",
    ),
    StageSpec(
        "word_blocklist",
        target="curator_text.filters.word_blocklist:WordBlocklist",
        summary="Drop documents with words from your lists.",
        kind="filter",
    ),
    StageSpec(
        "pornographic_urls",
        target="curator_text.filters.web_addresses:PornographicUrls",
        summary="Drop documents with links to pornography.",
        kind="filter",
    ),
)
