"""Make signatures: the compiled kernels on the CPU, the same numbers with torch on a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_core.column_bytes import ColumnBytes
    from curator_dedup.minhash.scheme import MinhashScheme

__all__ = ["sign"]


def sign(
    column: ColumnBytes, scheme: MinhashScheme, *, device: str | None = None
) -> tuple[NDArray[np.unsignedinteger[Any]], NDArray[np.int64]]:
    """Return the signatures of documents, one a row, and the number of shingles of each.

    A document without characters (or words) has no shingles, and a signature that means nothing.

    >>> from curator_core.column_bytes import column_bytes
    >>> from curator_dedup.minhash.scheme import MinhashScheme
    >>> import pyarrow as pa
    >>> rows, shingles = sign(column_bytes(pa.array(["one two three", "one two three", ""])), MinhashScheme(ngrams=5))
    >>> bool((rows[0] == rows[1]).all()), shingles.tolist()
    (True, [9, 9, 0])

    Args:
        column: The documents.
        scheme: How.
        device: A torch device, to compute there; the CPU with compiled kernels unless given.
    """
    if device is not None:
        from curator_dedup.minhash.torch_signing import sign_with_torch

        return sign_with_torch(column, scheme, device=device)
    from curator_dedup.kernels.shingles import powers_of_base
    from curator_dedup.kernels.signatures import multiplied_signatures, sketched_signatures

    signatures = np.empty((column.num_values, scheme.num_hashes), scheme.entry_type)
    powers = powers_of_base(scheme.ngrams)
    factors, terms = scheme.constants()
    by_word = scheme.unit == "word"
    if scheme.method == "sketch":
        counts = sketched_signatures(
            column.data, column.offsets, scheme.ngrams, by_word, powers, factors, terms[0], signatures
        )
    else:
        counts = multiplied_signatures(
            column.data, column.offsets, scheme.ngrams, by_word, powers, factors, terms, signatures
        )
    return signatures, counts
