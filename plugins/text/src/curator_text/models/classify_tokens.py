"""Classify token lists: the part of ``text.classify`` that runs the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curator_core.sdk import UnknownNameError
from curator_text.models.classifier_network import load_classifier_network
from curator_text.models.keep_labels import KeepLabels
from curator_text.models.label_columns import LabelColumns
from curator_text.models.token_model import TokenModel

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from curator_core.sdk import Columns, TableBatch
    from curator_text.models.classifier_network import Head

__all__ = ["ClassifyTokens"]

_REGRESSION = "regression"


@dataclass
class ClassifyTokens(TokenModel):
    """Add what a classifier says of each token list, and drop rows by it where asked.

    Args:
        model: A folder, or an id on the hub.
        tokens_field: Column with the token ids.
        columns: Columns to add.
        head: What is made of the model's logits.
        keep: Labels to keep; all unless given.
        min_score: Lowest score to keep; any unless given.
        save_dropped: Write dropped rows to the run directory.
        keep_tokens: Whether the token ids stay in the table.
        settings: How the model is loaded and fed.
    """

    columns: LabelColumns = field(default_factory=LabelColumns)
    head: Head = "auto"
    keep: list[str] | None = None
    min_score: float | None = None
    save_dropped: bool = False

    name = "text.classify"

    def outputs(self) -> Columns:
        return self.columns.names

    def load(self, folder: Path) -> Any:
        network = load_classifier_network(folder, self.settings, head=self.head, stage=self.name)
        known = network.labels
        for label in (self.keep or ()) if network.head != _REGRESSION else ():
            if label not in known:
                raise UnknownNameError(f"label for {self.name}:", label, known, fix=f"known: {', '.join(known)}")
        return network

    def with_results(self, batch: TableBatch, numbers: np.ndarray, has_tokens: np.ndarray) -> TableBatch | None:
        labels, is_regression = self._network.labels, self._network.head == _REGRESSION
        for name, column in self.columns.of(numbers, labels, has_tokens=has_tokens, is_regression=is_regression):
            batch = batch.with_column(name, column)
        return self._kept(batch)

    def _kept(self, batch: TableBatch) -> TableBatch | None:
        if self.keep is None and self.min_score is None:
            return batch
        limits = KeepLabels(
            self.columns.label_field,
            self.columns.score_field,
            keep=self.keep,
            min_score=self.min_score,
            save_dropped=self.save_dropped,
        )
        return limits.with_(name=self.name).process(batch)
