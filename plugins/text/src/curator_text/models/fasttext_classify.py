"""Add the label that a fastText model gives each document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from curator_core.sdk import ProcessingStage, TableBatch
from curator_text.models.fasttext_model import LABEL_PREFIX, FastTextModel, check_model_file
from curator_text.models.keep_labels import KeepLabels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator_core.sdk import Columns, WorkerInfo

__all__ = ["FasttextClassify"]


@dataclass
class FasttextClassify(ProcessingStage[TableBatch, TableBatch]):
    """Add the most probable label of a supervised fastText model, and its probability; drop documents by them if asked.

    Labels come without their ``__label__``. Line ends are read as spaces. A null text, and one in which the model knows
    no word, gets nulls.

    >>> FasttextClassify("quality.bin", label_column="quality", score_column="quality_score").outputs()
    ['quality', 'quality_score']

    Args:
        model: A ``.bin`` or ``.ftz`` file on disk.
        label_column: Column for the label.
        score_column: Column for its probability.
        keep: Keep only documents with one of these labels, without ``__label__``.
        min_score: Keep only documents whose label has at least this probability.
        max_chars: Maximum number of characters of a document to look at; all unless given.
        text_column: Column with the text.
        overwrite: Replace existing columns of label and score; otherwise they are an error.
    """

    model: str
    label_column: str = "label"
    score_column: str = "score"
    keep: list[str] | None = None
    min_score: float | None = None
    max_chars: int | None = None
    text_column: str = "text"
    overwrite: bool = False

    name = "text.fasttext_classify"
    row_wise: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return [self.text_column]

    def outputs(self) -> Columns:
        return [self.label_column, self.score_column]

    def new_columns(self) -> Mapping[str, str]:
        return {} if self.overwrite else {"label_column": self.label_column, "score_column": self.score_column}

    def preflight(self) -> Sequence[str] | None:
        check_model_file(self.name, self.model)
        return None

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002
        self._model = FastTextModel(self.model, stage=self.name)

    def teardown(self) -> None:
        self.__dict__.pop("_model", None)

    def process(self, task: TableBatch) -> TableBatch | None:
        self.check_new_columns(task.columns)
        labels, scores = self._model.best(task.text(self.text_column), max_chars=self.max_chars)
        names = [None if label is None else label.removeprefix(LABEL_PREFIX) for label in labels]
        output = task.with_column(self.label_column, pa.array(names, pa.string())).with_column(
            self.score_column, pa.array(scores, pa.float32(), mask=np.isnan(scores))
        )
        if self.keep is None and self.min_score is None:
            return output
        limits = KeepLabels(self.label_column, self.score_column, keep=self.keep, min_score=self.min_score)
        return limits.with_(name=self.name).process(output)
