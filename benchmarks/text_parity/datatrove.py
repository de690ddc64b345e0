"""Curator's Gopher, C4 and FineWeb filters against those of datatrove: decision, reason and, for C4, the text left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from text_comparison.our_stages import quality_stages

from text_parity.agreement import compare
from text_parity.ours import tagged, texts_of
from text_parity.reference import decisions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from text_corpora.corpus import Corpus

    from text_parity.agreement import Agreement

MIN_FRACTION = {"whitespace": 1.0, "spacy_like": 0.99}
"""With the same words, everything is the same. spaCy's words are followed closely, not exactly."""
_THEIRS = {"whitespace": "whitespace", "spacy_like": "spacy"}


def quality(corpus: Corpus, words: str) -> Iterator[Agreement]:
    """Yield what was found of every filter, and of the text that C4 leaves of documents that both keep.

    Documents about which datatrove raises (a division by zero where there are no words) are left out.
    """
    theirs = decisions("datatrove", corpus, _THEIRS[words])
    ids = theirs["id"].to_list()
    for name, mine in tagged(texts_of(corpus.path), quality_stages(words, tag=True)).items():
        yours = theirs[f"{name}_reason"].to_list()
        ours = mine["reason"].to_list()
        asked = [number for number, reason in enumerate(yours) if not (reason or "").startswith("error")]
        yield compare(
            (f"{name}, {words}", corpus.name),
            [ids[number] for number in asked],
            ([ours[number] for number in asked], [yours[number] for number in asked]),
            min_fraction=MIN_FRACTION[words],
            by_reason=words == "whitespace",
            left_out=len(yours) - len(asked),
        )
        if name == "c4_quality":
            yield _texts_left(corpus.name, words, mine, theirs)


def _texts_left(corpus: str, words: str, mine: pl.DataFrame, theirs: pl.DataFrame) -> Agreement:
    """Compare what C4 leaves of documents that both keep; its line rules do not depend on how words are split."""
    both = pl.DataFrame(
        {
            "id": theirs["id"],
            "ours": pl.Series(mine["text"]).set(mine["reason"].is_not_null(), None),
            "theirs": theirs["c4_text"],
        }
    ).drop_nulls()
    outcomes = ([None] * both.height, [None if same else "another text" for same in both["ours"] == both["theirs"]])
    return compare((f"c4_quality text, {words}", corpus), both["id"].to_list(), outcomes, min_fraction=1.0)
