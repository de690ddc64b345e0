"""How many characters of a document belong to a set."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_text.metrics.group import MetricGroup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_text.metrics.text_bytes import TextBytes

__all__ = ["known_characters"]

_CODE_POINTS = 0x110000


@lru_cache(maxsize=16)
def known_characters(characters: str) -> MetricGroup:
    """Return the group of ``chars`` and ``known_chars``: characters in all, and of the set between white space.

    >>> import polars as pl
    >>> known_characters("ab ").of_texts(pl.Series([" a bc "]))["known_chars"].to_list()
    [3]

    Args:
        characters: The set.
    """
    is_known = np.zeros(_CODE_POINTS, dtype=np.bool_)
    is_known[[ord(each) for each in characters]] = True

    def measure(texts: TextBytes) -> dict[str, NDArray[Any]]:
        from curator_text.kernels.known_characters import known_character_counts

        counts = np.zeros((2, texts.num_documents), dtype=np.int64)
        known_character_counts(texts.data, texts.offsets, texts.rows_to_measure, is_known, counts)
        return {"chars": counts[0], "known_chars": counts[1]}

    digest = hashlib.blake2b("".join(sorted(characters)).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    return MetricGroup(f"known_characters {digest}", measure, compiled=True)
