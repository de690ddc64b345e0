"""Published recipes of filters under one name each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from curator_core.sdk import CompositeStage, ConfigError, TableBatch
from curator_table import SEGMENTED
from curator_text.metrics.word_counts import Words

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator_core.sdk import ProcessingStage

__all__ = ["RECIPES", "Heuristics"]

Recipe = Literal["gopher", "c4", "fineweb", "nemo_english"]


@dataclass
class Heuristics(CompositeStage[TableBatch, TableBatch]):
    """Run the filters of a published recipe, in their order.

    ``gopher`` is repetition and quality (Rae et al. 2021), ``c4`` the rules of C4 (Raffel et al. 2020), ``fineweb``
    Gopher's two, C4 without its rule about end marks, and FineWeb's own (Penedo et al. 2024; the order is that of the
    script that made the dataset), ``nemo_english`` the 28 filters of NeMo Curator's recipe for English, which split
    words at whitespace. What the filters have in common is measured once.

    >>> [stage.name for stage in Heuristics("gopher").decompose()]
    ['text.gopher_repetition', 'text.gopher_quality']

    Args:
        recipe: The recipe.
        words: How text is split into words; None for the way the recipe was published with.
        text_field: Column with the text.
        tag: Keep all rows and add the score and reason columns of every filter instead.
    """

    recipe: Recipe = "gopher"
    words: Words | None = None
    text_field: str = "text"
    tag: bool = False

    name = "text.heuristics"

    def __post_init__(self) -> None:
        if self.recipe not in RECIPES:
            raise ConfigError(f"{self.name}: unknown recipe {self.recipe!r}", fix=f"known: {', '.join(RECIPES)}")

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        words, make = RECIPES[self.recipe]
        return make(words=self.words or words, text_field=self.text_field, tag=self.tag)


def _gopher(**common: Any) -> list[ProcessingStage[Any, Any]]:
    from curator_text.filters.gopher_quality import GopherQuality
    from curator_text.filters.gopher_repetition import GopherRepetition

    return [GopherRepetition(**common), GopherQuality(**common)]


def _check_english(recipe: str, words: Words) -> None:
    if words in SEGMENTED:
        raise ConfigError(
            f"text.heuristics: the recipe {recipe} has rules of C4, which know no words: {words}",
            fix="use the recipe gopher, or text.fineweb_quality",
        )


def _c4(**common: Any) -> list[ProcessingStage[Any, Any]]:
    from curator_text.filters.c4_quality import C4Quality

    _check_english("c4", common["words"])
    return [C4Quality(**common)]


def _fineweb(**common: Any) -> list[ProcessingStage[Any, Any]]:
    from curator_text.filters.c4_quality import C4Quality
    from curator_text.filters.fineweb_quality import FinewebQuality

    _check_english("fineweb", common["words"])
    return [*_gopher(**common), C4Quality(need_end_mark=False, **common), FinewebQuality(**common)]


def _nemo_english(*, words: Words, text_field: str, tag: bool) -> list[ProcessingStage[Any, Any]]:
    from curator_text.recipes.nemo_english import nemo_english

    if words != "whitespace":
        raise ConfigError("text.heuristics: the recipe nemo_english splits words at whitespace", fix="leave words out")
    return [*nemo_english(text_field, tag=tag)]


RECIPES: dict[str, tuple[Words, Callable[..., list[ProcessingStage[Any, Any]]]]] = {
    "gopher": ("whitespace", _gopher),
    "c4": ("spacy_like", _c4),
    "fineweb": ("spacy_like", _fineweb),
    "nemo_english": ("whitespace", _nemo_english),
}
"""The recipes by name: how each was published to split words, and what makes its stages."""
