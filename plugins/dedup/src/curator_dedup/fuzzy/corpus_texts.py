"""Texts of candidates out of a corpus that is small enough to be gone through for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from curator_core.errors import DataError
from curator_dedup.arrays import places_of
from curator_dedup.corpus import Corpus  # noqa: TC001 - a field's type is read at run time
from curator_dedup.matching.keyed_documents import text_column
from curator_dedup.numbering import DocumentNumbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["CorpusTexts"]


@dataclass(frozen=True)
class CorpusTexts:
    """Where texts are.

    Args:
        corpus: The corpus.
        numbering: File with the numbers of its documents.
        content_field: Column with the text.
    """

    corpus: Corpus
    numbering: str
    content_field: str

    def of(self, documents: NDArray[np.int64]) -> pa.Table:
        """Return the columns ``document`` and ``text`` of some documents.

        Args:
            documents: Their numbers, sorted, none twice.

        Raises:
            DataError: One is not there any more.
        """
        numbers = DocumentNumbers(self.numbering)
        found = [pa.table({"document": pa.array([], pa.int64()), "text": pa.array([], pa.large_string())})]
        for batch in self.corpus.batches([self.content_field]):
            numbers_here = numbers.of(batch)
            places, _ = places_of(documents, numbers_here)
            if len(places):
                texts = text_column(batch, self.content_field).cast(pa.large_string()).take(pa.array(places))
                found.append(pa.table({"document": numbers_here[places], "text": texts}))
        table = pa.concat_tables(found)
        if len(table) != len(documents):
            raise DataError(
                f"{len(documents) - len(table):,} documents are not in the input any more",
                source=str(self.corpus.paths),
                fix="start anew, without --resume",
            )
        return table
