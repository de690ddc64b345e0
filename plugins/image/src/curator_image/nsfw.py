"""Drop images that show nudity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from curator_core.sdk import ConfigError, Filter, UnknownNameError, Verdict
from curator_image.decoded_rows import compute_of_pixels
from curator_image.headers import MAX_PIXELS, ignore_pillow_warnings
from curator_image.nudity_model import EXPLICIT_LABELS, INPUT_SIDE, LABELS, NudityModel

if TYPE_CHECKING:
    from curator_core.sdk import Columns, TableBatch, WorkerInfo

__all__ = ["Nsfw"]

_IMAGES_AT_A_TIME = 8


@dataclass
class Nsfw(Filter):
    """Keep images in which no exposed part of the body is detected.

    The score is the highest one of any of ``labels`` anywhere in the image, by the detector of the package ``nudenet``,
    whose weights come with it. With ``scores_column`` all labels above 0.2 come out, too, so that a limit can be
    chosen later. An image that cannot be decoded is quarantined.

    >>> Nsfw(max_score=0.3, tag=True).outputs()
    ['nsfw_score', 'nsfw_reason']

    Args:
        max_score: Drop images with a higher score, from 0 to 1.
        labels: Labels that count; the explicit ones of the detector unless given.
        scores_column: Column to add, with labels and their scores; none, where None.
        bytes_field: Column with the encoded images.
        max_pixels: An image that claims more is quarantined, from its header; None for no limit.
    """

    max_score: float = 0.5
    labels: list[str] | None = None
    scores_column: str | None = None
    bytes_field: str = "bytes"
    max_pixels: int | None = MAX_PIXELS

    name = "image.nsfw"
    thread_safe: ClassVar[bool] = False  # its networks use several threads by themselves
    fuse = False  # every worker has the weights in memory

    def __post_init__(self) -> None:
        if not 0 <= self.max_score <= 1:
            raise ConfigError(f"{self.name}: max_score must be from 0 to 1, got {self.max_score}")
        for label in self.labels or ():
            if label not in LABELS:
                raise UnknownNameError("label", label, LABELS, fix=f"known: {', '.join(LABELS)}")

    def inputs(self) -> Columns:
        return [self.bytes_field]

    def outputs(self) -> Columns:
        return [*super().outputs(), *([self.scores_column] if self.scores_column else [])]

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002
        ignore_pillow_warnings()
        self._model = NudityModel(stage=self.name, threads=max(1, int(self.resources.cpus)))

    def teardown(self) -> None:
        self.__dict__.pop("_model", None)

    def process(self, task: TableBatch) -> TableBatch | None:
        batch, verdict = self._look(task)
        return None if task.num_rows and not batch.num_rows else self.apply(batch, verdict)

    def judge(self, batch: TableBatch) -> Verdict:
        """Judge images that can all be decoded."""
        return self._look(batch)[1]

    def _look(self, task: TableBatch) -> tuple[TableBatch, Verdict]:
        batch, scores, has_image = compute_of_pixels(
            task,
            self.bytes_field,
            self._model.scores,
            at_a_time=_IMAGES_AT_A_TIME,
            side=INPUT_SIDE,
            max_pixels=self.max_pixels,
        )
        chosen = [LABELS.index(label) for label in self.labels or EXPLICIT_LABELS]
        highest: list[float | None] = [None] * batch.num_rows
        found: list[list[dict[str, object]] | None] = [None] * batch.num_rows
        for index, row in zip(np.flatnonzero(has_image).tolist(), scores if scores is not None else (), strict=True):
            highest[index] = float(row[chosen].max())
            found[index] = [{"label": LABELS[at], "score": float(row[at])} for at in np.flatnonzero(row >= _SHOWN)]
        if self.scores_column is not None:
            kind = pl.List(pl.Struct({"label": pl.String, "score": pl.Float32}))
            batch = batch.with_column(self.scores_column, pl.Series(found, dtype=kind))
        score = pl.Series(highest, dtype=pl.Float32)
        return batch, Verdict(score, {"nudity": score > self.max_score})


_SHOWN = 0.2
"""Scores below this are not listed; nudenet's own limit."""
