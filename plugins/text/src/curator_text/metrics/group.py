"""Metrics come in groups, each computed in one pass over the text. Filters that use the same group share the pass.

Rows that one filter has dropped are not measured by the groups of later filters (see
:mod:`curator_core.authoring.derived`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from curator_core.sdk import array_series, derived, known_of
from curator_table import SEGMENTED, separate_words
from curator_text.metrics.text_bytes import text_bytes, text_bytes_of, text_pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from curator_core.sdk import TableBatch
    from curator_text.metrics.text_bytes import TextBytes

__all__ = ["MetricGroup"]

_EXAMPLE = "An example, which every kernel is called with once.\n"


@dataclass(frozen=True)
class MetricGroup:
    """Metrics that are measured together.

    Args:
        name: Unique name, with all parameters that change the values (the way words are split, say).
        measure: Returns one array per metric, with one entry per document. It may leave out documents that are not in
            the ``rows`` of its argument.
        compiled: Whether it calls kernels of :mod:`curator_text.kernels`.
        words: A way to split text of a script without spaces (:data:`~curator_table.SEGMENTED`): the
            text is then measured with spaces between its words. Any other leaves the text as it is.
    """

    name: str
    measure: Callable[[TextBytes], Mapping[str, NDArray[Any]]]
    compiled: bool = False
    words: str = "whitespace"

    def of(self, batch: TableBatch, text_column: str) -> pl.DataFrame:
        """Return the metrics of a batch's documents, one column each, null where the text is null."""
        return derived(batch.data, text_column, self.name, lambda: self._of_pieces(batch, text_column))

    def score(self, batch: TableBatch, text_column: str, expression: pl.Expr) -> pl.Series:
        """Return one number per document: an expression over the metrics, null where the text is null."""
        return self.of(batch, text_column).select(expression).to_series()

    def of_rows(self, batch: TableBatch, text_column: str, wanted: NDArray[np.bool_] | None) -> pl.DataFrame:
        """Return the metrics of some documents of a batch; the frame's values for the others are undefined.

        Args:
            batch: The batch.
            text_column: Column with the text.
            wanted: Which documents to measure; None for all.
        """
        if wanted is None:
            return self.of(batch, text_column)
        known = known_of(batch.data, text_column, self.name)
        return self._frame(self._texts(batch, text_column).only(wanted)) if known is None else known

    def prepare(self) -> None:
        """Compile the kernels that measuring needs, once a machine."""
        if not self.compiled:
            return
        from curator_text.kernels.compiling import compile_once

        function = f"{self.measure.__module__}.{self.measure.__qualname__}"
        compile_once(function, lambda: self.measure(text_bytes(pl.Series([_EXAMPLE]))))

    def of_texts(self, texts: pl.Series) -> pl.DataFrame:
        """Measure a string column."""
        return self._frame(text_bytes(_words_apart(texts, self.words)))

    def _texts(self, batch: TableBatch, text_column: str) -> TextBytes:
        if self.words not in SEGMENTED:
            return text_bytes_of(batch, text_column)
        texts = batch.text(text_column)
        key = f"words apart: {self.words}"
        return text_bytes(
            derived(batch.data, text_column, key, lambda: _words_apart(texts, self.words).to_frame())[text_column]
        )

    def _of_pieces(self, batch: TableBatch, text_column: str) -> pl.DataFrame:
        if self.words in SEGMENTED:
            return self._frame(self._texts(batch, text_column))
        frames = [self._frame(piece) for piece in text_pieces(batch, text_column)]
        return frames[0] if len(frames) == 1 else pl.concat(frames)

    def _frame(self, column: TextBytes) -> pl.DataFrame:
        self.prepare()
        frame = pl.DataFrame([array_series(name, values) for name, values in self.measure(column).items()])
        if column.is_null is None:
            return frame
        return frame.select(pl.when(array_series("is_text", ~column.is_null)).then(pl.all()))


def _words_apart(texts: pl.Series, words: str) -> pl.Series:
    if words not in SEGMENTED:
        return texts
    apart = [None if text is None else separate_words(text, words) for text in texts]
    return pl.Series(texts.name, apart, dtype=pl.String)
