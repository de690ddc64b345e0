"""Metrics that have no form over columns: a function of one document at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from curator_text.metrics.group import MetricGroup

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from curator_text.metrics.text_bytes import TextBytes

__all__ = ["per_document"]


def per_document(name: str, function: Callable[[str], float]) -> MetricGroup:
    """Return a group with one metric, ``score``, that a function gives for every document.

    >>> import polars as pl
    >>> per_document("length", len).of_texts(pl.Series(["abc", None]))["score"].to_list()
    [3.0, None]
    """

    def measure(texts: TextBytes) -> dict[str, NDArray[Any]]:
        scores = np.zeros(texts.num_documents)
        scores[texts.rows_to_measure] = [function(text) for text in texts.texts_to_measure()]
        return {"score": scores}

    return MetricGroup(name, measure)
