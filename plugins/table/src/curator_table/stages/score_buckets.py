"""Combine scores of several models into one, and sort rows into buckets by it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import polars as pl

from curator_core.sdk import ConfigError, ProcessingStage, StageError, TableBatch
from curator_table.stages.statistics_files import read_quantiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_core.sdk import Columns, WorkerInfo

__all__ = ["ScoreBuckets"]

_Quantiles = tuple["NDArray[np.float64]", "NDArray[np.float64]"]


@dataclass
class ScoreBuckets(ProcessingStage[TableBatch, TableBatch]):
    """Combine scores into one and name the bucket it falls into, such as high, medium and low quality.

    Scores of different models are made comparable first: with ``ranges``, by their scales; or with ``ranks``, by the
    fraction of the corpus that scores no higher, as Nemotron-CC does (Su et al. 2024, section 2.3, which takes the
    maximum). A null or NaN score is left out of the combination; a row without any has no bucket (null).

    >>> from curator_core import TableBatch
    >>> batch = TableBatch(data={"edu": [4.5, 1.0, None], "prose": [0.9, 0.3, None]})
    >>> stage = ScoreBuckets(scores=["edu", "prose"], ranges={"edu": [0, 5]})
    >>> stage.process(batch).data.select(["score", "bucket"]).to_pylist()
    [{'score': 0.9, 'bucket': 'high'}, {'score': 0.25, 'bucket': 'low'}, {'score': None, 'bucket': None}]

    Args:
        scores: Columns with the scores; or for each column its weight in the mean.
        combine: How several scores become one.
        buckets: For each bucket the smallest score in it. A score below all of them has no bucket.
        ranges: For a column, the scores that become 0 and 1; scores beyond are cut to that.
        ranks: Folder of ``table.statistics`` over these columns: each score becomes the fraction of rows with no
            higher one.
        column: Column for the name of the bucket.
        score_column: Column for the combined score.
    """

    scores: list[str] | dict[str, float]
    combine: Literal["mean", "max", "min"] = "mean"
    buckets: dict[str, float] = field(default_factory=lambda: {"low": 0.0, "medium": 1 / 3, "high": 2 / 3})
    ranges: dict[str, list[float]] = field(default_factory=dict)
    ranks: str | None = None
    column: str = "bucket"
    score_column: str = "score"

    name = "table.score_buckets"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.scores or not self.buckets:
            raise ConfigError(f"{self.name}: give at least one column of scores and one bucket")
        if isinstance(self.scores, dict):
            if self.combine != "mean":
                raise ConfigError(f"{self.name}: weights are for the mean", fix=f"list the columns for {self.combine}")
            if min(self.scores.values()) < 0 or not sum(self.scores.values()) > 0:
                raise ConfigError(f"{self.name}: weights are not negative, and not all zero")
        if len(set(self.buckets.values())) < len(self.buckets):
            raise ConfigError(f"{self.name}: two buckets begin at the same score")
        for column, limits in self.ranges.items():
            if column not in self.scores or len(limits) != 2 or not limits[0] < limits[1]:  # noqa: PLR2004 - low, high
                raise ConfigError(f"{self.name}: the range of {column!r} is {limits}", fix="e.g. ranges: {edu: [0, 5]}")

    def inputs(self) -> Columns:
        return list(self.scores)

    def outputs(self) -> Columns:
        return [self.score_column, self.column]

    def preflight(self) -> None:
        """Read the statistics, so that missing ones end the run before it starts."""
        self._quantiles()

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        """Read the statistics."""
        self._ranks = self._quantiles()

    def process(self, task: TableBatch) -> TableBatch:
        ranks: dict[str, _Quantiles] | None = self.__dict__.get("_ranks")
        ranks = self._quantiles() if ranks is None else ranks
        frame = pl.DataFrame([self._score(task.series(name), ranks) for name in self.scores])
        score = frame.select(self._combined().alias(self.score_column)).to_series()
        names = pl.lit(None, pl.String)
        for bucket, smallest in sorted(self.buckets.items(), key=lambda item: item[1]):
            names = pl.when(pl.lit(score) >= smallest).then(pl.lit(bucket)).otherwise(names)
        bucket_names = pl.select(names.alias(self.column)).to_series() if len(score) else score.cast(pl.String)
        return task.with_column(self.score_column, score).with_column(self.column, bucket_names)

    def _score(self, values: pl.Series, ranks: dict[str, _Quantiles]) -> pl.Series:
        if not values.dtype.is_numeric() and values.dtype != pl.Null:
            raise StageError(f"{self.name}: column {values.name!r} holds {values.dtype}, not numbers")
        scores = values.cast(pl.Float64).fill_nan(None)
        if values.name in self.ranges:
            low, high = self.ranges[values.name]
            scores = ((scores - low) / (high - low)).clip(0, 1)
        if values.name in ranks:
            fractions = np.interp(scores.fill_null(math.nan).to_numpy(), *ranks[values.name])
            scores = pl.Series(values.name, fractions).fill_nan(None)
        comparable: pl.Series = scores
        return comparable

    def _combined(self) -> pl.Expr:
        columns = [pl.col(name) for name in self.scores]
        if self.combine == "max":
            return pl.max_horizontal(columns)
        if self.combine == "min":
            return pl.min_horizontal(columns)
        weights = self.scores if isinstance(self.scores, dict) else dict.fromkeys(self.scores, 1.0)
        total = pl.sum_horizontal([pl.col(name) * weight for name, weight in weights.items()])
        present = pl.sum_horizontal([pl.col(name).is_not_null() * pl.lit(weight) for name, weight in weights.items()])
        return pl.when(present > 0).then(total / present)

    def _quantiles(self) -> dict[str, _Quantiles]:
        return {} if self.ranks is None else read_quantiles(self.ranks, list(self.scores), stage=self.name)
