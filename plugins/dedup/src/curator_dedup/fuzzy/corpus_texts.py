"""Texts of candidates out of a corpus that is small enough to be held in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from curator_core.sdk import DataError, column_bytes
from curator_dedup.matching.keyed_documents import text_values
from curator_dedup.numbering import DocumentNumbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_core.sdk import ColumnBytes
    from curator_dedup.corpus import Corpus

__all__ = ["CorpusTexts"]


class CorpusTexts:
    """The texts of a corpus by their numbers. Tables that are held are shared; others are read.

    Args:
        corpus: The corpus.
        numbering: File with the numbers of its documents.
        content_column: Column with the text.
    """

    def __init__(self, corpus: Corpus, numbering: str, content_column: str) -> None:
        numbers = DocumentNumbers(numbering)
        self._source = str(corpus.paths)
        self._batches = [
            (numbers.of(batch), text_values(batch, content_column).cast(pa.large_string()))
            for batch in corpus.batches([content_column])
            if batch.num_rows
        ]

    def of(self, documents: NDArray[np.int64]) -> ColumnBytes:
        """Return the texts of some documents.

        Args:
            documents: Their numbers, sorted, none twice.

        Raises:
            DataError: One is not there any more.
        """
        found = [pa.chunked_array([], pa.large_string())]
        total = 0
        for numbers, texts in self._batches:
            begin, end = np.searchsorted(documents, [numbers[0], numbers[-1] + 1])
            wanted = documents[begin:end]
            places = np.searchsorted(numbers, wanted)
            total += int((numbers[places] == wanted).sum())
            if begin < end:
                found.append(texts.take(pa.array(places)))
        if total != len(documents):
            raise DataError(
                f"{len(documents) - total:,} documents are not in the input any more",
                source=self._source,
                fix="start anew, without --resume",
            )
        return column_bytes(pa.chunked_array([chunk for each in found for chunk in each.chunks], pa.large_string()))
