"""Read which n-grams of benchmark sets are common phrases, by the counts of ``text.count_contamination``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from curator_core.sdk import list_files, open_filesystem

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read_common"]


def read_common(folder: str, max_matches: int) -> NDArray[np.uint64]:
    """Return the n-grams that occur in more documents than that, by the counts in a folder.

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
