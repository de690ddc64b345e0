"""The n-grams of benchmark sets, ready to be looked up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from curator_core.sdk import ConfigError, list_files, open_filesystem
from curator_text.metrics.text_bytes import text_bytes
from curator_text.privacy.reference_texts import list_references, read_references
from curator_text.privacy.word_characters import character_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_core.sdk import NodeInfo, ProcessingStage
    from curator_text.privacy.reference_texts import References

__all__ = ["GramIndex", "Matches", "build_index", "check_ngrams", "compile_grams"]


@dataclass(frozen=True)
class Matches:
    """The places where documents repeat a benchmark: row, n-gram, first byte and end of each."""

    row: NDArray[np.int64]
    slot: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]


@dataclass(frozen=True)
class GramIndex:
    """A set of n-grams, by 64-bit keys.

    Args:
        names: The benchmarks.
        keys: A hash table of open addressing; zero is a free slot.
        owners: For each slot, the number of the benchmark.
        sizes: Words of the n-grams, ascending; the first size is looked up first.
        bits: A filter of the beginnings: a hash that is not in it begins no n-gram.
    """

    names: list[str]
    keys: NDArray[np.uint64]
    owners: NDArray[np.int32]
    sizes: NDArray[np.int64]
    bits: NDArray[np.uint8]

    def __len__(self) -> int:
        return int(np.count_nonzero(self.keys))

    def judge(self, texts: pl.Series) -> pl.DataFrame:
        """Return, for each text, its ``words``, its ``matches`` and the benchmark (``owner``) with most of them."""
        from curator_text.kernels.benchmark_grams import find_grams

        column = text_bytes(texts)
        found = find_grams(
            column.data,
            column.offsets,
            character_table(),
            self.bits,
            self.keys,
            self.sizes,
            self.owners,
            len(self.names),
        )
        return pl.DataFrame(dict(zip(("words", "matches", "owner"), found, strict=True)))

    def matches(self, texts: pl.Series) -> Matches:
        """Return every place in the texts at which an n-gram of the set begins."""
        from curator_text.kernels.benchmark_grams import list_matches

        total = int(self.judge(texts)["matches"].sum())
        column = text_bytes(texts)
        return Matches(
            *list_matches(column.data, column.offsets, character_table(), self.bits, self.keys, self.sizes, total)
        )

    def without(self, keys: NDArray[np.uint64]) -> GramIndex:
        """Return the set without some of its keys."""
        taken = self.keys != 0
        kept = taken & ~np.isin(self.keys, keys)
        table, owners = _hash_table(self.keys[kept], self.owners[kept])
        return GramIndex(self.names, table, owners, self.sizes, self.bits)


def build_index(
    references: References,
    *,
    ngrams: int,
    min_words: int,
    columns: list[str] | None = None,
    counts: str | None = None,
    max_matches: int = 0,
    stage: str,
) -> GramIndex:
    """Read benchmark sets and return their n-grams.

    Args:
        references: Files, by name of the benchmark or not.
        ngrams: Words of an n-gram.
        min_words: A text of fewer words is left out; one of fewer than ``ngrams`` words is one n-gram as a whole.
        columns: Columns to read.
        counts: Folder that ``text.count_contamination`` has written; None leaves out no n-gram.
        max_matches: N-grams in more documents than this, by those counts, are left out.
        stage: Name of the stage that asks, for messages.

    Raises:
        ConfigError: There is nothing to compare with.
    """
    texts: list[pl.Series] = []
    owners: list[int] = []
    listed = list_references(references)
    for number, entries in enumerate(listed.values()):
        parts = [part for part in read_references(entries, columns) if len(part)]
        texts += parts
        owners += [number] * sum(len(part) for part in parts)
    joined = pl.concat(texts) if texts else pl.Series([], dtype=pl.String)
    index = _index(joined, np.array(owners, np.int32), list(listed), ngrams=ngrams, min_words=min_words)
    if not len(index):
        raise ConfigError(
            f"{stage}: no text in the references has {min_words} words",
            fix="check the files, reference_columns and min_words",
        )
    return index if counts is None else index.without(_read_common(counts, max_matches))


def check_ngrams(stage_name: str, *, ngrams: int, min_words: int) -> None:
    """Refuse sizes of n-grams that make no sense together.

    >>> check_ngrams("text.decontaminate", ngrams=13, min_words=8)

    Raises:
        ConfigError: Says which.
    """
    if not 1 <= min_words <= ngrams:
        raise ConfigError(
            f"{stage_name}: min_words must be between 1 and ngrams={ngrams}, got {min_words}",
            fix="e.g. ngrams: 13, min_words: 8",
        )


def _read_common(folder: str, max_matches: int) -> NDArray[np.uint64]:
    """Return the n-grams that are in more documents than ``max_matches``, by the counts in a folder.

    Raises:
        ConfigError: There are no counts.
    """
    counts: dict[int, int] = {}
    for entry in list_files(folder, extensions=[".parquet"]):
        filesystem, inner = open_filesystem(entry.path)
        with filesystem.open(inner, "rb") as file:
            frame = pl.read_parquet(file.read())
        for gram, documents in frame.select("gram", "documents").iter_rows():
            counts[gram] = counts.get(gram, 0) + documents
    return np.array([gram for gram, documents in counts.items() if documents > max_matches], np.uint64)


def _index(texts: pl.Series, owners: NDArray[np.int32], names: list[str], *, ngrams: int, min_words: int) -> GramIndex:
    from curator_text.kernels.benchmark_grams import count_words, list_grams

    column = text_bytes(texts)
    words = count_words(column.data, column.offsets, character_table())
    sizes = np.where(words >= min_words, np.minimum(words, ngrams), 0)
    present = np.unique(sizes[sizes > 0])
    if not len(present):
        return GramIndex(
            names, np.zeros(1, np.uint64), np.zeros(1, np.int32), np.array([ngrams]), np.zeros(1, np.uint8)
        )
    total = int((words - sizes + 1)[sizes > 0].sum())
    keys, prefixes, rows = list_grams(column.data, column.offsets, character_table(), sizes, int(present[0]), total)
    table, table_owners = _hash_table(keys, owners[rows])
    return GramIndex(names, table, table_owners, present.astype(np.int64), _bit_filter(prefixes))


def _hash_table(keys: NDArray[np.uint64], owners: NDArray[np.int32]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Place keys in a table at most half full; of equal keys the first counts."""
    keys, first = np.unique(keys, return_index=True)
    owners = owners[first]
    size = 1 << max(4, int(2 * len(keys)).bit_length())
    table, table_owners = np.zeros(size, np.uint64), np.zeros(size, np.int32)
    mask = np.uint64(size - 1)
    place = keys & mask
    while len(keys):  # in parallel: the first key at a free slot gets it, the others try the next slot
        free = np.flatnonzero(table[place] == 0)
        slots, winners = np.unique(place[free], return_index=True)
        winners = free[winners]
        table[slots], table_owners[slots] = keys[winners], owners[winners]
        left = np.ones(len(keys), np.bool_)
        left[winners] = False
        keys, owners, place = keys[left], owners[left], (place[left] + np.uint64(1)) & mask
    return table, table_owners


def _bit_filter(prefixes: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Set one of at least sixteen bits per key: of what is not in the set, at most one in sixteen passes."""
    size = 1 << max(10, int(16 * len(prefixes)).bit_length())
    flags = np.zeros(size, np.bool_)
    flags[prefixes & np.uint64(size - 1)] = True
    return np.packbits(flags, bitorder="little")


def compile_grams(stage: ProcessingStage[Any, Any], node: NodeInfo) -> None:  # noqa: ARG001 - the same for all
    """Compile the lookup of n-grams, once per machine: the ``setup_on_node`` of stages that use it."""
    from curator_text.kernels.compiling import compile_once

    compile_once("benchmark_grams", _use_kernels)


def _use_kernels() -> None:
    texts = pl.Series(["a b c d", "b c"])
    index = _index(texts, np.zeros(2, np.int32), ["example"], ngrams=2, min_words=2)
    index.matches(texts)
