"""Keys of the bands of signatures: documents that share the key of any band are candidates for being duplicates."""

from __future__ import annotations

from typing import Any

import numpy as np

from curator_dedup.kernels.compiling import kernel
from curator_dedup.kernels.mixing import BASE, mix64

__all__ = ["band_keys"]

_BASE = np.uint64(BASE)


@kernel
def band_keys(signatures: Any, chosen: Any, begin: Any, bands: Any, keys: Any, marks: Any, documents: Any) -> None:
    """Write the keys of the bands, and a hash of the whole signature, of some documents.

    Args:
        signatures: Documents x entries.
        chosen: Numbers of the documents, those with shingles.
        begin: Added to these numbers.
        bands: How many bands the entries are cut into; a rest at the end belongs to none.
        keys: Where the keys go: chosen documents x bands, and one more column for the key of the whole signature.
        marks: Where 32 bits of the hash of the whole signature go, zero for the last column.
        documents: Where the numbers of the documents go.
    """
    rows = signatures.shape[1] // bands
    for position in range(len(chosen)):
        signature = signatures[chosen[position]]
        whole = np.uint64(0)
        for band in range(bands):
            value = np.uint64(band + 1)
            for entry in range(band * rows, (band + 1) * rows):
                value = (value + np.uint64(signature[entry])) * _BASE
                value ^= value >> np.uint64(29)
            key = mix64(value)
            keys[position, band] = key
            whole = (whole + key) * _BASE
        whole = mix64(whole)
        keys[position, bands] = whole
        for column in range(bands + 1):
            marks[position, column] = whole >> np.uint64(32) if column < bands else 0
            documents[position, column] = begin + chosen[position]
