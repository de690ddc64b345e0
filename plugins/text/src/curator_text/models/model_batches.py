"""Group rows of similar length into batches for a model, and pad them: pure functions of lengths and ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

__all__ = ["TokenRows", "length_batches"]


def length_batches(lengths: np.ndarray, *, max_rows: int, max_tokens: int) -> Iterator[np.ndarray]:
    """Yield the rows of each batch: rows of similar length, longest first, so that little is spent on padding.

    A batch has at most ``max_rows`` rows and ``max_tokens`` tokens with padding, but at least one row. Rows without
    tokens are in none.

    >>> [batch.tolist() for batch in length_batches(np.array([2, 9, 0, 8]), max_rows=8, max_tokens=18)]
    [[1, 3], [0]]
    """
    order = np.argsort(-lengths, kind="stable")
    order = order[: np.count_nonzero(lengths)]
    begin = 0
    while begin < len(order):
        width = int(lengths[order[begin]])
        size = max(1, min(max_rows, max_tokens // width))
        yield order[begin : begin + size]
        begin += size


@dataclass(frozen=True)
class TokenRows:
    """The token ids of some rows, end to end.

    Args:
        values: All ids.
        starts: Where each row begins.
        lengths: How many ids each row has; zero for null rows.
    """

    values: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray

    @classmethod
    def from_columns(cls, columns: Sequence[pa.ChunkedArray]) -> TokenRows:
        """Join list columns of several tables."""
        import pyarrow as pa
        import pyarrow.compute as pc

        chunks = [chunk for column in columns for chunk in column.chunks]
        values, lengths = [], []
        for chunk in chunks:
            values.append(chunk.flatten().to_numpy(zero_copy_only=False))
            lengths.append(pc.fill_null(pc.list_value_length(chunk).cast(pa.int64()), 0).to_numpy(zero_copy_only=False))
        joined = np.concatenate(lengths) if lengths else np.empty(0, dtype=np.int64)
        starts = np.cumsum(joined) - joined
        return cls(np.concatenate(values) if values else np.empty(0, dtype=np.int32), starts, joined)

    def padded(self, rows: np.ndarray, pad_id: int) -> tuple[np.ndarray, np.ndarray]:
        """Return ids and attention mask of some rows, padded on the right to the longest of them."""
        lengths = self.lengths[rows]
        mask = np.arange(lengths.max()) < lengths[:, None]
        ids = np.full(mask.shape, pad_id, dtype=np.int64)
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        ids[mask] = self.values[np.repeat(self.starts[rows], lengths) + within]
        return ids, mask
