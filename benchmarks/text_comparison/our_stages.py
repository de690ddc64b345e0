"""curator's stages that correspond to the peers' filters, by the names under which their decisions are recorded."""

from __future__ import annotations

from typing import Any

from curator_core.registry import default_registry, make_stage

QUALITY = ("gopher_repetition", "gopher_quality", "c4_quality", "fineweb_quality")
"""The filters of datatrove, in the order in which a document meets them."""
PLAIN = (
    "non_alpha_numeric",
    "symbols_to_words",
    "numbers",
    "urls",
    "bullets",
    "white_space",
    "parentheses",
    "long_word",
    "word_count",
    "boiler_plate_string",
    "mean_word_length",
    "punctuation",
    "ellipsis",
    "common_english_words",
    "words_without_alphabets",
    "pornographic_urls",
    "substring",
    "repeated_lines",
    "repeated_paragraphs",
    "repeated_lines_by_char",
    "repeated_paragraphs_by_char",
)
"""The filters of NeMo Curator that are used with their default thresholds, in its order."""
CODE = (
    "python_comment_to_code",
    "general_comment_to_code",
    "number_of_lines_of_code",
    "xml_header",
    "alpha",
    "html_boilerplate",
)
TOP_NGRAMS = (2, 3, 4)
DUPLICATE_NGRAMS = (5, 6, 7, 8, 9, 10)
_PARAMETERS = {"non_alpha_numeric": {"ascii_only": True}, "substring": {"substring": "the"}}
# Ours counts letters of all scripts by default; NeMo Curator's only those of ASCII.


def quality_stages(words: str, *, tag: bool) -> dict[str, Any]:
    """Return datatrove's filters with a way to split words."""
    return {name: make_stage(f"text.{name}", words=words, tag=tag) for name in QUALITY}


def missing_stages() -> list[str]:
    """Return the names above that no stage of the installed plugins has."""
    names = [*QUALITY, *PLAIN, *CODE, "repeating_top_n_grams", "repeating_duplicate_n_grams"]
    return [name for name in names if f"text.{name}" not in default_registry().stages]


def code_stages(mime: str) -> dict[str, Any]:
    """Return NeMo Curator's filters for source code of a kind; they tag."""
    stages: dict[str, Any] = {}
    for name in _there(CODE):
        if name != "python_comment_to_code" or mime == "text/x-python":
            parameters = {"language": mime} if name == "general_comment_to_code" else {}
            stages[name] = make_stage(f"text.{name}", tag=True, **parameters)
    return stages


def heuristic_stages(*, tag: bool, are_all_needed: bool = True) -> dict[str, Any]:
    """Return NeMo Curator's filters for prose, all or those that there are stages for."""
    names = PLAIN if are_all_needed else _there(PLAIN)
    stages = {name: make_stage(f"text.{name}", tag=tag, **_PARAMETERS.get(name, {})) for name in names}
    for kind, lengths in (("top", TOP_NGRAMS), ("duplicate", DUPLICATE_NGRAMS)):
        for n in lengths:
            name = f"repeating_{kind}_ngrams_{n}"
            stage = make_stage(f"text.repeating_{kind}_n_grams", n=n, tag=tag)
            stages[name] = stage.with_(name=f"text.{name}")
    return stages


def _there(names: tuple[str, ...]) -> list[str]:
    return [name for name in names if f"text.{name}" in default_registry().stages]
