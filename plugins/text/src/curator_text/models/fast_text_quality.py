"""Keep documents by the quality score of a fastText model, those of low score at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from curator_core.sdk import ConfigError, Filter, Verdict
from curator_table import hash_text
from curator_text.models.fasttext_model import LABEL_PREFIX, FastTextModel, check_model_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import TableBatch, WorkerInfo

__all__ = ["FastTextQuality"]

_KEY_SPACE = 2.0**64


@dataclass
class FastTextQuality(Filter):
    """Keep a document with a chance that grows with its score, or from a score on.

    The score is the probability of ``label``; where the model says another label, one minus that label's. A document is
    kept when ``X > 1 - score`` for a number X drawn from a Lomax (Pareto II) distribution with shape ``alpha``, the
    rule by which GPT-3 sampled Common Crawl (Brown et al. 2020, appendix A, with alpha 9): good documents nearly always
    stay, and some of the others do, for variety. That is NeMo Curator's ``FastTextQualityFilter``, with its defaults.
    There X depends on the order of documents; here it comes from a hash of the text and the seed, so that the same
    documents are kept in any order and on any worker.

    >>> FastTextQuality("quality.bin").alpha
    3.0

    Args:
        model: A ``.bin`` or ``.ftz`` file on disk.
        label: Label of good documents, with or without ``__label__``.
        alpha: Shape of the distribution: the higher, the fewer doubtful documents stay. None keeps by ``min_score``
            alone.
        min_score: Drop documents with a lower score in any case.
        seed: Another seed draws other numbers.
        max_chars: Maximum number of characters of a document to look at; all unless given.
        text_column: Column with the text.
    """

    model: str
    label: str = "__label__hq"
    alpha: float | None = 3.0
    min_score: float | None = None
    seed: int = 42
    max_chars: int | None = None
    text_column: str = "text"

    name = "text.fast_text_quality"
    thread_safe: ClassVar[bool] = False  # fastText does not promise it

    def __post_init__(self) -> None:
        if self.alpha is not None and self.alpha <= 0:
            raise ConfigError(f"{self.name}: alpha must be above 0, got {self.alpha}")
        if self.alpha is None and self.min_score is None:
            raise ConfigError(f"{self.name}: alpha and min_score are both empty", fix="give one of them")

    def preflight(self) -> Sequence[str] | None:
        check_model_file(self.name, self.model)
        return None

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002
        self._model = FastTextModel(self.model, stage=self.name)

    def teardown(self) -> None:
        self.__dict__.pop("_model", None)

    def judge(self, batch: TableBatch) -> Verdict:
        import polars as pl

        texts = batch.text(self.text_column)
        labels, scores = self._model.best(texts, max_chars=self.max_chars)
        wanted = self.label.removeprefix(LABEL_PREFIX)
        is_wanted = np.array([label is not None and label.removeprefix(LABEL_PREFIX) == wanted for label in labels])
        score = pl.Series(np.where(is_wanted, scores, 1.0 - scores), nan_to_null=True)
        reasons = {}
        if self.min_score is not None:
            reasons["low_score"] = score < self.min_score
        if self.alpha is not None:
            drawn = pl.Series(
                [None if text is None else self._draw(text) for text in texts.to_list()], dtype=pl.Float64
            )
            reasons["not_drawn"] = drawn <= 1.0 - score
        return Verdict(score, reasons)

    def _draw(self, text: str) -> float:
        """Return a text's number: the inverse of the distribution function, at a place that its hash decides."""
        assert self.alpha is not None
        place = (hash_text(text, self.seed) + 0.5) / _KEY_SPACE
        return (1.0 - place) ** (-1.0 / self.alpha) - 1.0 if place < 1.0 else np.inf
