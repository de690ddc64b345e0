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
        label_field: Column with the label.
        score_field: Column with the score.
        keep: Labels to keep; all unless given.
        min_score: Lowest score to keep; any unless given.
    """

    label_field: str = "label"
    score_field: str = "score"
    keep: list[str] | None = None
    min_score: float | None = None

    name = "text.classify"

    def inputs(self) -> Columns:
        return [self.label_field, self.score_field]

    def judge(self, batch: TableBatch) -> Verdict:
        score = batch.series(self.score_field)
        reasons = {}
        if self.keep is not None:
            reasons["other_label"] = ~batch.text(self.label_field).is_in(self.keep)
        if self.min_score is not None:
            reasons["low_score"] = score < self.min_score
        return Verdict(score, reasons)
