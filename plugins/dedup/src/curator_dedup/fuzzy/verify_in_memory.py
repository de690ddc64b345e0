"""Compare candidates whose texts are in memory: the exact similarity of every pair, in threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from curator_dedup.fuzzy.in_memory import similarity_of_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_dedup.fuzzy.corpus_texts import CorpusTexts
    from curator_dedup.minhash.scheme import MinhashScheme

__all__ = ["similarity_in_memory"]

_PAIRS_AT_ONCE = 2048
"""Maximum number of pairs whose texts are put together and compared by one thread."""
_MIN_PAIRS = 64
_TURNS = 4
"""How often each thread comes back for more, at least: so they end together."""


def similarity_in_memory(
    first: NDArray[np.int64], second: NDArray[np.int64], texts: CorpusTexts, scheme: MinhashScheme, *, threads: int
) -> NDArray[np.float64]:
    """Return the Jaccard similarity of pairs of documents.

    Args:
        first: One document of each pair; sorted, so that its shingles are made once.
        second: The other.
        texts: Where the texts are.
        scheme: How documents are cut into shingles.
        threads: How many threads share the pairs.
    """
    step = max(_MIN_PAIRS, min(_PAIRS_AT_ONCE, len(first) // (_TURNS * threads)))

    def compare(begin: int) -> NDArray[np.float64]:
        span = slice(begin, begin + step)
        documents, places = np.unique(np.concatenate([first[span], second[span]]), return_inverse=True)
        one, other = np.split(places, 2)
        return similarity_of_pairs(texts.of(documents), scheme, one, other)

    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(compare, range(0, len(first), step)))
    return np.concatenate(found) if found else np.empty(0)
