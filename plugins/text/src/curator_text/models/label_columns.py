"""The columns of a classifier: label, score, rounded score, the scores of all labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LabelColumns"]

_MIN_ROUNDED, _MAX_ROUNDED = 0, 5  # the range of the educational scores that are rounded
_ABOVE, _BELOW = "high_quality", "low_quality"


@dataclass(frozen=True)
class LabelColumns:
    """Names of the columns, and how labels come about.

    Args:
        label_column: Column for the label; none for a regression without a threshold.
        score_column: Column for the label's probability, or a regression's score.
        int_column: Column for a regression's score, rounded to a whole number from 0 to 5.
        scores_column: Column for the numbers of all labels.
        threshold: Score from which a regression's label is ``high_quality``, and below which ``low_quality``.
    """

    label_column: str = "label"
    score_column: str = "score"
    int_column: str | None = None
    scores_column: str | None = None
    threshold: float | None = None

    @property
    def names(self) -> list[str]:
        """All columns, in order; ``label_column`` also where a regression leaves it null."""
        optional = (self.int_column, self.scores_column)
        return [self.label_column, self.score_column, *(each for each in optional if each is not None)]

    def of(
        self, numbers: np.ndarray, labels: tuple[str, ...], *, is_regression: bool
    ) -> Iterator[tuple[str, pa.Array]]:
        """Yield the columns for some rows."""
        best = numbers.argmax(axis=1)
        top = numbers[np.arange(len(numbers)), best]
        yield self.label_column, self._labels(best, top, labels, is_regression=is_regression)
        yield self.score_column, pa.array(top, pa.float32())
        if self.int_column is not None:
            rounded = np.clip(np.rint(top), _MIN_ROUNDED, _MAX_ROUNDED).astype(np.int32)
            yield self.int_column, pa.array(rounded, pa.int32())
        if self.scores_column is not None:
            fields = [pa.array(np.ascontiguousarray(numbers[:, index]), pa.float32()) for index in range(len(labels))]
            yield self.scores_column, pa.StructArray.from_arrays(fields, list(labels))

    def _labels(self, best: np.ndarray, top: np.ndarray, labels: tuple[str, ...], *, is_regression: bool) -> pa.Array:
        names: tuple[str, ...] = labels
        if is_regression:
            if self.threshold is None:
                return pa.nulls(len(best), pa.string())
            names, best = (_BELOW, _ABOVE), (top >= self.threshold).astype(np.int64)
        return pa.array(names, pa.string()).take(pa.array(best, pa.int64()))
