"""Drop images that show nudity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from curator_core.sdk import ConfigError, Filter, ModelStage, UnknownNameError, Verdict
from curator_image.decoding import decoded_images
from curator_image.headers import MAX_PIXELS, ignore_pillow_warnings
from curator_image.nudity_model import EXPLICIT_LABELS, INPUT_SIDE, LABELS, NudityModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from curator_core.sdk import Columns, DataError, TableBatch

__all__ = ["Nsfw"]

_SCORE = "_nsfw_score"
_SHOWN = 0.2
"""Scores below this are not listed; nudenet's own limit."""
_FOUND = pa.large_list(pa.struct([("label", pa.large_string()), ("score", pa.float32())]))


@dataclass
class Nsfw(ModelStage, Filter):
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
        bytes_column: Column with the encoded images.
        max_pixels: An image that claims more is quarantined, from its header; None for no limit.
    """

    max_score: float = 0.5
    labels: list[str] | None = None
    scores_column: str | None = None
    bytes_column: str = "bytes"
    max_pixels: int | None = MAX_PIXELS

    name = "image.nsfw"
    model_batch_size = 8
    uses_torch = False
    thread_safe: ClassVar[bool] = False  # its networks use several threads by themselves
    unreadable: ClassVar[str] = "UnreadableImage"
    options: ClassVar[tuple[str, ...]] = (*Filter.options, "model_batch_size")

    def __post_init__(self) -> None:
        if not 0 <= self.max_score <= 1:
            raise ConfigError(f"{self.name}: max_score must be between 0 and 1, got {self.max_score}")
        for label in self.labels or ():
            if label not in LABELS:
                raise UnknownNameError("label", label, LABELS, fix=f"known: {', '.join(LABELS)}")

    def inputs(self) -> Columns:
        return [self.bytes_column]

    def outputs(self) -> Columns:
        return [*super().outputs(), *([self.scores_column] if self.scores_column else [])]

    def load(self, device: str) -> NudityModel:  # noqa: ARG002 - it runs on CPUs
        ignore_pillow_warnings()
        return NudityModel(stage=self.name, threads=max(1, int(self.resources.cpus)))

    def prepare(self, model: NudityModel, batch: TableBatch) -> Iterator[NDArray[np.uint8] | DataError | None]:  # noqa: ARG002
        return decoded_images(batch, self.bytes_column, side=INPUT_SIDE, max_pixels=self.max_pixels)

    def output_types(self, model: NudityModel) -> dict[str, pa.DataType]:  # noqa: ARG002
        return {_SCORE: pa.float32()} | ({self.scores_column: _FOUND} if self.scores_column else {})

    def predict(self, model: NudityModel, rows: list[NDArray[np.uint8]]) -> dict[str, Any]:
        scores = model.scores(rows)
        highest = scores[:, [LABELS.index(label) for label in self.labels or EXPLICIT_LABELS]].max(axis=1)
        if self.scores_column is None:
            return {_SCORE: highest}
        found = [[{"label": LABELS[at], "score": row[at]} for at in np.flatnonzero(row >= _SHOWN)] for row in scores]
        return {_SCORE: highest, self.scores_column: found}

    def complete(self, batch: TableBatch) -> TableBatch | None:
        return self.apply(batch.with_data(batch.data.drop_columns([_SCORE])), self.judge(batch))

    def judge(self, batch: TableBatch) -> Verdict:
        """Judge images by the scores of the detector."""
        score = batch.series(_SCORE)
        return Verdict(score, {"nudity": score > self.max_score})
