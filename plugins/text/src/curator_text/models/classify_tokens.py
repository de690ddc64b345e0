"""Classify token lists: the part of ``text.classify`` that runs the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from curator_core.sdk import UnknownNameError
from curator_text.models.classifier_network import load_classifier_network
from curator_text.models.keep_labels import KeepLabels
from curator_text.models.label_columns import LabelColumns
from curator_text.models.token_model import TokenModel

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from curator_core.sdk import Columns, TableBatch
    from curator_text.models.classifier_network import ClassifierNetwork, Head

__all__ = ["ClassifyTokens"]

_REGRESSION = "regression"


@dataclass
class ClassifyTokens(TokenModel):
    """Add the labels of a classifier for each token list, and optionally drop rows by them.

    Args:
        columns: Columns to add.
        head: Function of the model's logits.
        keep: Labels to keep; all unless given.
        min_score: Minimum score to keep; any unless given.
        save_dropped: Write dropped rows to the run directory.
    """

    columns: LabelColumns = field(default_factory=LabelColumns)
    head: Head = "auto"
    keep: list[str] | None = None
    min_score: float | None = None
    save_dropped: bool = False

    name = "text.classify"

    def outputs(self) -> Columns:
        return self.columns.names

    def load_network(self, folder: Path) -> ClassifierNetwork:
        network = load_classifier_network(folder, self, head=self.head, stage=self.name)
        known = network.labels
        for label in (self.keep or ()) if network.head != _REGRESSION else ():
            if label not in known:
                raise UnknownNameError(f"label for {self.name}:", label, known, fix=f"known: {', '.join(known)}")
        return network

    def output_types(self, model: ClassifierNetwork) -> dict[str, pa.DataType]:
        nothing = np.zeros((0, model.width), np.float32)
        return {name: column.type for name, column in self.columns_of_numbers(model, nothing).items()}

    def columns_of_numbers(self, network: ClassifierNetwork, numbers: np.ndarray) -> dict[str, pa.Array]:
        return dict(self.columns.of(numbers, network.labels, is_regression=network.head == _REGRESSION))

    def complete(self, batch: TableBatch) -> TableBatch | None:
        left = super().complete(batch)
        if left is None or (self.keep is None and self.min_score is None):
            return left
        limits = KeepLabels(
            self.columns.label_column,
            self.columns.score_column,
            keep=self.keep,
            min_score=self.min_score,
            save_dropped=self.save_dropped,
        )
        return limits.with_(name=self.name).process(left)
