"""Turn the sampled frames of each clip into one vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from curator_core.sdk import DataError, ModelStage, Precision
from curator_image import ImageEncoder
from curator_video.frame_jpeg import decode_jpeg
from curator_video.opening import quieten_ffmpeg

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from curator_core.sdk import Columns, TableBatch

__all__ = ["EmbedFrames"]


@dataclass
class EmbedFrames(ModelStage):
    """Add the mean of the vectors of a list of pictures; null where there is none.

    Args:
        model: Folder of a vision model, or an id on the hub.
        frames_column: Column with lists of JPEG files.
        column: Where the vectors go.
        normalize: Scale them to length one.
        discard: Columns that are of no use any more.
        model_batch_size: Maximum number of frames per call of the model.
        device: ``auto``, or a device of torch.
        precision: Arithmetic on CUDA.
        allow_pickle: Load weights that are pickles.
        trust_remote_code: Run Python code that comes with the model.
    """

    model: str
    frames_column: str
    column: str = "embedding"
    normalize: bool = True
    discard: tuple[str, ...] = ()
    model_batch_size: int = 32
    device: str = "auto"
    precision: Precision = "auto"
    allow_pickle: bool = False
    trust_remote_code: bool = False

    name = "video.embed"
    unreadable: ClassVar[str] = "UnreadableFrame"

    def inputs(self) -> Columns:
        return [self.frames_column]

    def outputs(self) -> Columns:
        return [self.column]

    def columns_after(self, columns: frozenset[str]) -> frozenset[str]:
        """Return the columns behind this stage."""
        return columns - set(self.discard) | {self.column}

    def weights(self) -> str:
        return self.model

    def load(self, device: str) -> ImageEncoder:  # noqa: ARG002 - it is put there afterwards
        quieten_ffmpeg()
        return ImageEncoder.load(self.model, self, stage=self.name)

    def output_types(self, model: ImageEncoder) -> dict[str, pa.DataType]:
        return {self.column: pa.list_(pa.float32(), model.width)}

    def prepare(self, model: ImageEncoder, batch: TableBatch) -> Iterator[list[NDArray[np.uint8]] | DataError | None]:  # noqa: ARG002
        for files in batch.series(self.frames_column).to_list():
            yield _pixels(files) or None

    def predict(self, model: ImageEncoder, rows: list[list[NDArray[np.uint8]]]) -> NDArray[np.float32]:
        pictures, size = [each for some in rows for each in some], self.model_batch_size
        vectors = np.concatenate([model.encode(pictures[at : at + size]) for at in range(0, len(pictures), size)])
        ends = np.cumsum([len(some) for some in rows])
        means = np.stack([some.mean(axis=0) for some in np.split(vectors, ends[:-1])])
        if self.normalize:
            means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
        return means

    def complete(self, batch: TableBatch) -> TableBatch:
        return batch.with_data(batch.data.drop_columns(list(self.discard)))


def _pixels(files: Sequence[bytes | None] | None) -> list[NDArray[np.uint8]] | DataError | None:
    try:
        return None if files is None else [decode_jpeg(each) for each in files if each is not None]
    except (OSError, ValueError, IndexError) as error:  # what PyAV raises for bytes that are no JPEG file
        return DataError(f"a frame cannot be decoded: {error}")
