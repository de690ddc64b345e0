"""Make signatures: the compiled kernels on the CPU, the same numbers with torch on a GPU."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from curator_core.sdk import column_bytes
from curator_table import SEGMENTED, separate_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_core.sdk import ColumnBytes
    from curator_dedup.minhash.scheme import MinhashScheme

__all__ = ["sign", "words_apart"]


def words_apart(column: ColumnBytes, scheme: MinhashScheme) -> ColumnBytes:
    """Return documents with spaces between the words, as the scheme finds them; the same where it is at whitespace."""
    if scheme.words not in SEGMENTED:
        return column
    ends = column.offsets.tolist()
    texts = [column.data[begin:end].tobytes().decode() for begin, end in pairwise(ends)]
    apart = column_bytes(pa.array([separate_words(text, scheme.words) for text in texts], pa.large_string()))
    return replace(apart, is_null=column.is_null)


def sign(
    column: ColumnBytes, scheme: MinhashScheme, *, device: str | None = None
) -> tuple[NDArray[np.unsignedinteger[Any]], NDArray[np.int64]]:
    """Return the signatures of documents, one a row, and the number of shingles of each.

    A document without characters (or words) has no shingles, and a signature that means nothing.

    >>> from curator_core.authoring.column_bytes import column_bytes
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
    column = words_apart(column, scheme)
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
