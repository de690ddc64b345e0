"""Drop documents that use unwanted words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from curator_core.sdk import ConfigError, Filter, Verdict
from curator_text.metrics.surface import SURFACE
from curator_text.word_lists import read_lists

if TYPE_CHECKING:
    from curator_core.sdk import Columns, TableBatch, WorkerInfo

__all__ = ["WITHOUT_SPACES", "WordBlocklist"]

WITHOUT_SPACES = frozenset({"ja", "km", "lo", "my", "th", "zh"})
"""Languages that put no spaces between words: there a listed word counts wherever it is found, as in mC4
(Xue et al. 2021)."""

_BREAKS = r"[^\w]+"
_OWN_LETTERS = re.compile(r"[\w\s'\u2019.-]+")
"""Entries of these characters are found as whole words; others ("a$$") would lose theirs with the marks."""


@dataclass(frozen=True)
class _Words:
    """One list, ready to search: entries to find anywhere, between spaces, and between marks."""

    anywhere: list[str]
    spaced: list[str]
    marked: str | None


@dataclass
class WordBlocklist(Filter):
    """Drop documents with words from a list, which you supply: one that is common in one community offends in another.

    The defaults are the bad-words rule of C4 (Raffel et al. 2020, section 2.2): one listed word drops a document.
    Words are found whole and in any case; an entry of several words is found with any marks or spaces between.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["Damn, he said.", "The damned river", "clean"]})
    >>> WordBlocklist(words=["damn"]).process(batch).data["text"].to_pylist()
    ['The damned river', 'clean']

    Args:
        words: The words, or for each language its words.
        word_files: Files with one entry on a line, ``#`` for comments; or for each language its files.
        language_column: Column with the language of a document, by which its list is chosen; a document in a language
            without a list is kept. Needed where lists are given by language.
        max_count: Maximum number of listed words to keep a document.
        max_fraction: Largest fraction of a document's words that may be listed; None is no limit.
        whole_words: Find whole words only. In Burmese, Chinese, Japanese, Khmer, Lao and Thai (by ``language_column``),
            which put no spaces between words, entries are found anywhere.
        text_column: Column with the text.
    """

    words: list[str] | dict[str, list[str]] = field(default_factory=list)
    word_files: str | list[str] | dict[str, str | list[str]] | None = None
    language_column: str | None = None
    max_count: int | None = 0
    max_fraction: float | None = None
    whole_words: bool = True
    text_column: str = "text"

    name = "text.word_blocklist"

    def __post_init__(self) -> None:
        if not self.words and not self.word_files:
            raise ConfigError(f"{self.name}: no words are given", fix="name a file with words: word_files: words.txt")
        by_language = isinstance(self.words, dict) or isinstance(self.word_files, dict)
        if by_language and self.language_column is None:
            raise ConfigError(f"{self.name}: lists by language need a column", fix="e.g. language_column: language")
        if self.max_count is None and self.max_fraction is None:
            raise ConfigError(f"{self.name}: no limit is given", fix="e.g. max_count: 0")

    def inputs(self) -> Columns:
        return [self.text_column] if self.language_column is None else [self.text_column, self.language_column]

    def preflight(self) -> None:
        """Read the lists, so that a missing file ends the run before it starts."""
        self._load()

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        """Read the lists."""
        self._lists = self._load()

    def judge(self, batch: TableBatch) -> Verdict:
        lists: dict[str | None, _Words] = getattr(self, "_lists", None) or self._load()
        texts = batch.text(self.text_column)
        if self.language_column is None:
            found = _count(texts, lists[None])
        else:
            found = self._count_by_language(texts, batch.text(self.language_column), lists)
        reasons = {}
        if self.max_count is not None:
            reasons["blocked_words"] = found > self.max_count
        if self.max_fraction is not None:
            words = SURFACE.of(batch, self.text_column)["words"].clip(1)
            reasons["blocked_word_fraction"] = found / words > self.max_fraction
        return Verdict(found, reasons)

    def _count_by_language(self, texts: pl.Series, languages: pl.Series, lists: dict[str | None, _Words]) -> pl.Series:
        """Count with the list of each document's language, or the one for all where it has none."""
        rows = pl.int_range(len(texts), eager=True, dtype=pl.UInt32)
        counts = pl.select(pl.when(texts.is_not_null()).then(pl.lit(0, pl.Int64))).to_series()
        for language in languages.unique():
            words = lists.get(language) or lists.get(None)
            if words is not None:
                chosen = rows.filter(languages.eq_missing(language))
                counts = counts.scatter(chosen, _count(texts.gather(chosen), words))
        return counts

    def _load(self) -> dict[str | None, _Words]:
        lists: dict[str | None, list[str]] = {}
        if isinstance(self.words, dict):
            lists |= {language: list(words) for language, words in self.words.items()}
        elif self.words:
            lists[None] = list(self.words)
        files = self.word_files if isinstance(self.word_files, dict) else {None: self.word_files}
        for language, paths in files.items():
            if paths:
                lists.setdefault(language, []).extend(read_lists(paths, stage=self.name))
        return {
            language: _prepared(words, whole=self.whole_words and language not in WITHOUT_SPACES)
            for language, words in lists.items()
        }


def _prepared(words: list[str], *, whole: bool) -> _Words:
    entries = sorted({word.strip().lower() for word in words} - {""})
    if not whole:
        return _Words(entries, [], None)
    plain = [entry for entry in entries if _OWN_LETTERS.fullmatch(entry)]
    odd = [entry for entry in entries if not _OWN_LETTERS.fullmatch(entry)]
    spaced = pl.Series(plain, dtype=pl.String).str.replace_all(_BREAKS, " ").to_list()
    marked = "|".join(re.escape(entry) for entry in odd)
    return _Words(
        anywhere=[max(entry.split(), key=len) for entry in spaced] + odd,
        spaced=[f" {entry.strip()} " for entry in spaced],
        marked=rf"\b{{start-half}}(?:{marked})\b{{end-half}}" if odd else None,
    )


def _count(texts: pl.Series, words: _Words) -> pl.Series:
    """Return how many listed words each text has; null where the text is null."""
    lower = texts.str.to_lowercase()
    if not words.spaced and words.marked is None:
        everywhere: pl.Series = lower.str.extract_many(words.anywhere).list.len().cast(pl.Int64)
        return everywhere
    # An automaton finds the few texts that hold such letters at all; only they are cut into words.
    suspects = lower.str.contains_any(words.anywhere).fill_null(value=False).arg_true()
    counts = pl.select(pl.when(texts.is_not_null()).then(pl.lit(0, pl.Int64))).to_series()
    if suspects.is_empty():
        return counts
    rows = lower.gather(suspects)
    found = pl.repeat(0, len(rows), eager=True, dtype=pl.Int64)
    if words.spaced:
        spaced = pl.select(pl.format(" {} ", rows.str.replace_all(_BREAKS, " "))).to_series()
        found += spaced.str.extract_many(words.spaced, overlapping=True).list.len().cast(pl.Int64)
    if words.marked is not None:
        found += rows.str.count_matches(words.marked).cast(pl.Int64)
    counted: pl.Series = counts.scatter(suspects, found)
    return counted
