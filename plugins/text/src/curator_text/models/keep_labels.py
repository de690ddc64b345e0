"""Drop rows by the label and score that a classifier gave them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.sdk import Filter, Verdict

if TYPE_CHECKING:
    from curator_core.sdk import Columns, TableBatch

__all__ = ["KeepLabels"]


@dataclass
class KeepLabels(Filter):
    """Keep rows with some labels, and with a score that is high enough.

    Args:
        label_column: Column with the label.
        score_column: Column with the score.
        keep: Labels to keep; all unless given.
        min_score: Minimum score to keep; any unless given.
    """

    label_column: str = "label"
    score_column: str = "score"
    keep: list[str] | None = None
    min_score: float | None = None

    name = "text.classify"

    def inputs(self) -> Columns:
        return [self.label_column, self.score_column]

    def judge(self, batch: TableBatch) -> Verdict:
        score = batch.series(self.score_column)
        reasons = {}
        if self.keep is not None:
            reasons["other_label"] = ~batch.text(self.label_column).is_in(self.keep)
        if self.min_score is not None:
            reasons["low_score"] = score < self.min_score
        return Verdict(score, reasons)
