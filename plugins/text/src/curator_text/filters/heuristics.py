"""Published recipes of filters under one name each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from curator_core.sdk import CompositeStage, ConfigError, TableBatch
from curator_table import SEGMENTED
from curator_text.filters.boilerplate import BoilerPlateString
from curator_text.filters.characters import NonAlphaNumeric, Numbers, Parentheses, WhiteSpace
from curator_text.filters.lines import Bullets, Ellipsis, Punctuation  # noqa: A004 - the name that people know
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
from curator_text.filters.web_addresses import Urls
from curator_text.filters.words import (
    CommonEnglishWords,
    LongWord,
    MeanWordLength,
    SymbolsToWords,
    WordCount,
    WordsWithoutAlphabets,
)
from curator_text.metrics.word_counts import Words

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator_core.sdk import Filter, ProcessingStage

__all__ = ["RECIPES", "Heuristics", "nemo_english"]

Recipe = Literal["gopher", "c4", "fineweb", "nemo_english"]


@dataclass
class Heuristics(CompositeStage[TableBatch, TableBatch]):
    """Run the filters of a published recipe, in their order.

    ``gopher`` is repetition and quality (Rae et al. 2021), ``c4`` the rules of C4 (Raffel et al. 2020), ``fineweb``
    Gopher's two, C4 without its rule about end marks, and FineWeb's own (Penedo et al. 2024; the order is that of the
    script that made the dataset), ``nemo_english`` the 28 filters of NeMo Curator's recipe for English, which split
    words at whitespace. Shared metrics are computed once.

    >>> [stage.name for stage in Heuristics("gopher").decompose()]
    ['text.gopher_repetition', 'text.gopher_quality']

    Args:
        recipe: The recipe.
        words: How text is split into words; None for the way the recipe was published with.
        text_column: Column with the text.
        tag: Keep all rows and add the score and reason columns of every filter instead.
    """

    recipe: Recipe = "gopher"
    words: Words | None = None
    text_column: str = "text"
    tag: bool = False

    name = "text.heuristics"

    def __post_init__(self) -> None:
        if self.recipe not in RECIPES:
            raise ConfigError(f"{self.name}: unknown recipe {self.recipe!r}", fix=f"known: {', '.join(RECIPES)}")

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        words, make = RECIPES[self.recipe]
        return [*make(words=self.words or words, text_column=self.text_column, tag=self.tag)]


def _gopher(**common: Any) -> list[Filter]:
    return [GopherRepetition(**common), GopherQuality(**common)]


def _c4(**common: Any) -> list[Filter]:
    _check_english("c4", common["words"])
    return [C4Quality(**common)]


def _fineweb(**common: Any) -> list[Filter]:
    _check_english("fineweb", common["words"])
    return [*_gopher(**common), C4Quality(need_end_mark=False, **common), FinewebQuality(**common)]


def _check_english(recipe: str, words: Words) -> None:
    if words in SEGMENTED:
        raise ConfigError(
            f"text.heuristics: the recipe {recipe} has rules of C4, which are for English: words must be whitespace or "
            f"spacy_like, got {words}",
            fix="use the recipe gopher, or text.fineweb_quality",
        )


def _nemo_english(*, words: Words, text_column: str, tag: bool) -> list[Filter]:
    if words != "whitespace":
        raise ConfigError("text.heuristics: the recipe nemo_english splits words at whitespace", fix="leave words out")
    return nemo_english(text_column, tag=tag)


def nemo_english(text_column: str = "text", *, tag: bool = False) -> list[Filter]:
    """Return the filters of NeMo Curator 1.4.0's recipe for English, in its order and with its thresholds.

    They are the 28 entries of ``config/text/heuristic_filter_english_pipeline.yaml``. Letters and digits are those of
    ASCII in the first of them, as there. Names are numbered where a filter occurs more than once.

    >>> [stage.name for stage in nemo_english()][:3]
    ['text.non_alpha_numeric', 'text.symbols_to_words', 'text.numbers']

    Args:
        text_column: Column with the text.
        tag: Keep all rows and add the score and reason columns of every filter instead.
    """
    common: Any = {"text_column": text_column, "tag": tag}
    top = [
        RepeatingTopNGrams(n=n, max_fraction=fraction, **common).with_(name=f"text.repeating_top_{n}_grams")
        for n, fraction in ((2, 0.2), (3, 0.18), (4, 0.16))
    ]
    repeated = [
        RepeatingDuplicateNGrams(n=n, max_fraction=fraction, **common).with_(name=f"text.repeating_duplicate_{n}_grams")
        for n, fraction in ((5, 0.15), (6, 0.14), (7, 0.13), (8, 0.12), (9, 0.11), (10, 0.1))
    ]
    return [
        NonAlphaNumeric(max_fraction=0.25, ascii_only=True, **common),
        SymbolsToWords(max_fraction=0.1, **common),
        Numbers(max_fraction=0.15, **common),
        Urls(max_fraction=0.2, **common),
        WhiteSpace(max_fraction=0.25, **common),
        Parentheses(max_fraction=0.1, **common),
        BoilerPlateString(max_fraction=0.4, **common),
        RepeatedLines(min_fraction=0.7, **common),
        RepeatedParagraphs(min_fraction=0.7, **common),
        RepeatedLinesByChar(min_fraction=0.8, **common),
        RepeatedParagraphsByChar(min_fraction=0.8, **common),
        WordCount(min_words=50, max_words=100_000, **common),
        Punctuation(max_fraction=0.85, **common),
        WordsWithoutAlphabets(min_fraction=0.8, **common),
        CommonEnglishWords(min_words=2, **common),
        MeanWordLength(min_length=3, max_length=10, **common),
        LongWord(max_length=1000, **common),
        Ellipsis(max_fraction=0.3, **common),
        *top,
        *repeated,
        Bullets(max_fraction=0.9, **common),
    ]


RECIPES: dict[str, tuple[Words, Callable[..., list[Filter]]]] = {
    "gopher": ("whitespace", _gopher),
    "c4": ("spacy_like", _c4),
    "fineweb": ("spacy_like", _fineweb),
    "nemo_english": ("whitespace", _nemo_english),
}
"""The recipes by name: the published way to split words, and the function that makes the stages."""
