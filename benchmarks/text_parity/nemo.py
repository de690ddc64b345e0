"""Curator's heuristic, repetition and code filters against those of NeMo Curator: the same decision is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pyarrow.parquet as pq
from text_comparison.our_stages import CODE, code_stages, heuristic_stages

from text_parity.agreement import compare
from text_parity.ours import tagged, texts_of
from text_parity.reference import decisions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from text_corpora.corpus import Corpus

    from text_parity.agreement import Agreement

_SAME_SCORE = 1e-9
MIN_FRACTION = 1.0


def prose(corpus: Corpus) -> Iterator[Agreement]:
    """Yield what was found of every filter for prose."""
    theirs = decisions("nemo", corpus, "english")
    for name, mine in tagged(texts_of(corpus.path), heuristic_stages(tag=True, are_all_needed=False)).items():
        yield _compared(name, corpus.name, mine, theirs)


def code(corpus: Corpus) -> Iterator[Agreement]:
    """Yield what was found of every filter for source code, over the kinds of code that it is for."""
    theirs = decisions("nemo", corpus, "code")
    table = pq.read_table(corpus.path, columns=["text", "mime"])
    mimes = pl.Series(table["mime"].to_pylist())
    parts: dict[str, list[tuple[pl.DataFrame, pl.DataFrame]]] = {name: [] for name in CODE}
    for mime in mimes.unique(maintain_order=True):
        is_mine = mimes == mime
        for name, mine in tagged(table["text"].filter(is_mine.to_arrow()), code_stages(mime)).items():
            parts[name].append((mine, theirs.filter(is_mine)))
    for name, found in parts.items():
        if found:
            mine, yours = (pl.concat(frames) for frames in zip(*found, strict=True))
            yield _compared(name, corpus.name, mine, yours)


def _compared(name: str, corpus: str, mine: pl.DataFrame, theirs: pl.DataFrame) -> Agreement:
    """Compare decisions, and say of those that differ whether the scores do.

    Documents about which NeMo Curator raises (a division by zero, mostly) are left out: it has no decision on them.
    So are documents that it judges otherwise because it took another of several n-grams that are equally frequent:
    which one it takes depends on Python's hash seed.
    """
    frame = pl.DataFrame(
        {
            "id": theirs["id"],
            "ours": mine["reason"],
            "score": mine["score"].cast(pl.Float64),
            "their_score": theirs[f"{name}_score"],
            "keep": theirs[f"{name}_keep"],
        }
    )
    low, high = f"{name}_low", f"{name}_high"
    is_free = pl.lit(value=False)
    if low in theirs.columns:
        frame = frame.with_columns(low=theirs[low], high=theirs[high])
        is_within = pl.col("score").is_between(pl.col("low") - _SAME_SCORE, pl.col("high") + _SAME_SCORE)
        differs = pl.col("ours").is_null() != pl.col("keep")
        is_free = (pl.col("low") < pl.col("high")) & is_within & differs
    frame = frame.filter(pl.col("keep").is_not_null() & ~is_free.fill_null(value=False))
    is_close = (frame["score"] - frame["their_score"]).abs() <= _SAME_SCORE
    why = ["same score" if close else "scores differ" for close in is_close.to_list()]
    kept = [None if keep else "dropped" for keep in frame["keep"]]
    ours = [None if reason is None else "dropped" for reason in frame["ours"]]
    left_out = theirs.height - frame.height
    return compare(
        (name, corpus), frame["id"].to_list(), (ours, kept), min_fraction=MIN_FRACTION, why=why, left_out=left_out
    )
