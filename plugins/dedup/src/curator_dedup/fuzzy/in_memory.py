"""Near-duplicates among texts in memory: the steps of the workflow without its files, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from curator_core.sdk import column_bytes
from curator_dedup.fuzzy.band_records import band_records
from curator_dedup.matching.clusters import components, make_clusters
from curator_dedup.matching.pairing import pairs_with_a_key, unique_pairs
from curator_dedup.minhash.scheme import MinhashScheme
from curator_dedup.minhash.signing import words_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from curator_core.sdk import ColumnBytes
    from curator_table import SpacedWords

__all__ = ["find_near_duplicates", "similarity_of_pairs"]


def find_near_duplicates(  # noqa: PLR0913 - by keyword, as the workflow
    texts: pa.Array | pa.ChunkedArray | Sequence[str | None],
    *,
    char_ngrams: int = 24,
    word_ngrams: int | None = None,
    words: SpacedWords = "whitespace",
    num_bands: int = 20,
    minhashes_per_band: int = 13,
    verify: bool = True,
    threshold: float = 0.8,
    seed: int = 42,
) -> pa.Table:
    """Return which texts are near-duplicates of others, as :class:`FuzzyDeduplicationWorkflow` finds them.

    All keys are in memory at once: 16 bytes for each band of each text.

    >>> texts = ["the opening hours are from nine to five", "closed", "the opening hours are from nine to five!"]
    >>> find_near_duplicates(texts, char_ngrams=5, num_bands=20, minhashes_per_band=4).to_pylist()
    [{'document': 2, 'kept': 0, 'similarity': 0.9722222222222222}]

    Args:
        texts: The texts; a null is never a duplicate.
        char_ngrams: Characters in a shingle.
        word_ngrams: Words in a shingle, instead.
        words: Where words end: at ``whitespace``, of which a segmenter puts some into ``chinese``, ``japanese`` or
            ``thai`` first.
        num_bands: Bands of a signature.
        minhashes_per_band: Hashes of a band.
        verify: Compare candidates exactly.
        threshold: Minimum similarity of duplicates, with ``verify``.
        seed: Start of the random numbers.

    Returns:
        ``document``, the place of a text that is a duplicate; ``kept``, that of the first of its cluster; and
        ``similarity``, the highest with another of the cluster, null without ``verify``.
    """
    column = column_bytes(texts if isinstance(texts, pa.Array | pa.ChunkedArray) else pa.array(texts, pa.string()))
    scheme = MinhashScheme(
        unit="char" if word_ngrams is None else "word",
        ngrams=char_ngrams if word_ngrams is None else word_ngrams,
        num_hashes=num_bands * minhashes_per_band,
        seed=seed,
        words=words,
    )
    keys, marks, documents = band_records(column, scheme, num_bands)
    edges = pairs_with_a_key(keys, marks, documents.astype(np.int64))
    first, second = unique_pairs([(edges[:, 0], edges[:, 1])])
    similarity = None
    if verify:
        order = np.lexsort((second, first))
        first, second = first[order], second[order]
        similarity = similarity_of_pairs(column, scheme, first, second)
        is_similar = similarity >= threshold
        first, second, similarity = first[is_similar], second[is_similar], similarity[is_similar]
    clusters = make_clusters(components(column.num_values, [(first, second)]))
    values = pa.nulls(len(clusters.removed), pa.float64())
    if similarity is not None:
        highest = np.zeros(column.num_values)
        for numbers in (first, second):
            np.maximum.at(highest, numbers, similarity)
        values = pa.array(highest[clusters.removed])
    kept = clusters.kept[clusters.kept != clusters.members]
    return pa.table({"document": clusters.removed, "kept": kept, "similarity": values})


def similarity_of_pairs(
    column: ColumnBytes, scheme: MinhashScheme, first: NDArray[Any], second: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the exact Jaccard similarity of pairs of texts.

    Args:
        column: The texts.
        scheme: How documents are cut into shingles.
        first: Place of one text of each pair; sorted, so that its shingles are made once.
        second: Place of the other.
    """
    from curator_dedup.kernels.jaccard import jaccard_of_pairs
    from curator_dedup.kernels.shingles import powers_of_base

    column = words_apart(column, scheme)
    powers = powers_of_base(scheme.ngrams)
    similarity: NDArray[np.float64] = jaccard_of_pairs(
        column.data, column.offsets, scheme.ngrams, scheme.unit == "word", powers, first, second
    )
    return similarity
