"""Turn the sampled frames of each clip into one vector."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from curator_core.sdk import (
    DataError,
    ProcessingStage,
    keep_readable,
    limit_threads,
    may_use_gpu,
    restore_threads,
)
from curator_image import ImageEncoder, ImageEncoderSettings
from curator_video.batch import VideoBatch
from curator_video.frame_jpeg import decode_jpeg
from curator_video.opening import quieten_ffmpeg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from curator_core.sdk import Columns, WorkerInfo

__all__ = ["EmbedFrames"]


@dataclass
class EmbedFrames(ProcessingStage[VideoBatch, VideoBatch]):
    """Add the mean of the vectors of a list of pictures; null where there is none.

    Args:
        model: Folder of a vision model, or an id on the hub.
        frames_field: Column with lists of JPEG files.
        column: Where the vectors go.
        normalize: Scale them to length one.
        discard: Columns that are of no use any more.
        settings: How the model is loaded and fed.
    """

    model: str
    frames_field: str
    column: str = "embedding"
    normalize: bool = True
    discard: tuple[str, ...] = ()
    settings: ImageEncoderSettings = field(default=ImageEncoderSettings())

    name = "video.embed"
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._encoder: ImageEncoder | None = None
        self._threads_before: int | None = None

    def inputs(self) -> Columns:
        return [self.frames_field]

    def outputs(self) -> Columns:
        return [self.column]

    def columns_after(self, columns: frozenset[str]) -> frozenset[str]:
        """Return the columns behind this stage."""
        return columns - set(self.discard) | {self.column}

    def setup(self, worker: WorkerInfo) -> None:
        """Load the model."""
        quieten_ffmpeg()
        self._threads_before = limit_threads(self.resources.cpus)
        gpu_allowed = may_use_gpu(self.resources, worker)
        self._encoder = ImageEncoder.load(self.model, self.settings, stage=self.name, gpu_allowed=gpu_allowed)

    def teardown(self) -> None:
        """Let go of the model."""
        self._encoder = None
        if self._threads_before is not None:
            restore_threads(self._threads_before)
            self._threads_before = None

    def process(self, task: VideoBatch) -> VideoBatch | None:
        """Add the vectors; a row with a picture that cannot be decoded is quarantined."""
        assert self._encoder is not None, "setup loads the model"
        outcomes = [_pixels(files) for files in task.series(self.frames_field).to_list()]
        batch, pictures = keep_readable(task, outcomes, error_type="UnreadableFrame")
        if task.num_rows and not pictures:
            return None
        vectors = self._means(pictures, self._encoder)
        kind = pa.list_(pa.float32(), self._encoder.width)
        batch = batch.with_column(self.column, pa.array(vectors, kind))
        return batch.with_data(batch.data.drop_columns(list(self.discard)))

    def _means(
        self, pictures: Sequence[list[NDArray[np.uint8]] | None], encoder: ImageEncoder
    ) -> list[NDArray[np.float32] | None]:
        """Return the mean vector of each list; all pictures go through the model together."""
        everything = encoder.encode([each for some in pictures for each in some or ()])
        means: list[NDArray[np.float32] | None] = []
        begin = 0
        for some in pictures:
            count = len(some or ())
            mean = everything[begin : begin + count].mean(axis=0) if count else None
            begin += count
            if mean is not None and self.normalize:
                mean = mean / max(float(np.linalg.norm(mean)), 1e-12)
            means.append(None if mean is None else mean.astype(np.float32))
        return means


def _pixels(files: Sequence[bytes | None] | None) -> list[NDArray[np.uint8]] | DataError | None:
    try:
        return None if files is None else [decode_jpeg(each) for each in files if each is not None]
    except (OSError, ValueError, IndexError) as error:  # what PyAV raises for bytes that are no JPEG file
        return DataError(f"a frame cannot be decoded: {error}")
