"""The keys under which documents meet those like them: one for each band of a signature, one for all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from curator_core.sdk import ColumnBytes
from curator_dedup.minhash.signing import sign

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_dedup.minhash.scheme import MinhashScheme

__all__ = ["band_records"]

_AT_ONCE = 4096
"""Documents whose signatures are made at once on a CPU: they stay in its cache until they are cut into bands."""


def band_records(
    text: ColumnBytes, scheme: MinhashScheme, bands: int, *, device: str | None = None
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the keys, the marks and the places of all documents that have shingles and are not null.

    A mark is a part of the hash of the whole signature: equal for documents that agree in all bands. Under the key of
    the whole signature all documents are alike, and the mark is zero.

    Args:
        text: The documents.
        scheme: How signatures are made.
        bands: Into how many bands they are cut.
        device: A torch device to make them on; the CPU, without torch, unless given.
    """
    from curator_dedup.kernels.bands import band_keys

    rows = text.num_values
    keys = np.empty((rows, bands + 1), np.uint64)
    marks = np.zeros((rows, bands + 1), np.uint32)
    documents = np.empty((rows, bands + 1), np.uint32)
    count = 0
    step = _AT_ONCE if device is None else max(1, rows)
    for begin in range(0, rows, step):
        part = ColumnBytes(text.data, text.offsets[begin : min(rows, begin + step) + 1], None)
        signatures, shingles = sign(part, scheme, device=device)
        if text.is_null is not None:
            shingles[text.is_null[begin : begin + step]] = 0
        chosen = np.flatnonzero(shingles)
        span = slice(count, count + len(chosen))
        band_keys(signatures, chosen, begin, bands, keys[span], marks[span], documents[span])
        count += len(chosen)
    return keys[:count].reshape(-1), marks[:count].reshape(-1), documents[:count].reshape(-1)
