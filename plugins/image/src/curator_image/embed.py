"""Add a vector per image, made by a vision model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from curator_core.sdk import ConfigError, ModelStage, Precision
from curator_image.decoding import decoded_images
from curator_image.headers import MAX_PIXELS, ignore_pillow_warnings
from curator_image.image_encoder import ImageEncoder

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from curator_core.sdk import Columns, DataError, TableBatch

__all__ = ["Embed"]


@dataclass
class Embed(ModelStage):
    """Add the vector that a model makes of each image, as a fixed-size list of 32-bit floats.

    Any vision model of transformers will do. Of a model of pictures and texts (CLIP, SigLIP, BLIP) these are the
    vectors that it compares with texts; of others (DINOv2, ViT, ConvNeXt) their pooled output, else the vector of the
    class token, else the mean over the image. Large images are decoded in two to four times the size that the model
    takes. ``dedup.semantic`` removes rows whose vectors are near one another. An image that cannot be decoded is
    quarantined; a row without bytes gets a null.

    >>> Embed("openai/clip-vit-base-patch32").outputs()
    ['embedding']

    Args:
        model: Folder with ``config.json``, ``model.safetensors`` and ``preprocessor_config.json``, or an id on the
            Hugging Face hub.
        column: Column to add.
        bytes_column: Column with the encoded images.
        normalize: Scale vectors to length one.
        model_batch_size: Maximum number of images per call of the model.
        max_pixels: An image that claims more is quarantined, from its header; None for no limit.
        device: ``auto`` (a GPU where the worker has one), ``cpu``, ``cuda``, ``mps``.
        precision: Arithmetic on CUDA: ``float32``, ``bfloat16``, ``float16`` or the better of the last two; elsewhere
            always ``float32``.
        allow_pickle: Load weights that are not safetensors. Such files can run code.
        trust_remote_code: Run Python code that comes with the model.
    """

    model: str
    column: str = "embedding"
    bytes_column: str = "bytes"
    normalize: bool = False
    model_batch_size: int = 32
    max_pixels: int | None = MAX_PIXELS
    device: str = "auto"
    precision: Precision = "auto"
    allow_pickle: bool = False
    trust_remote_code: bool = False

    name = "image.embed"
    unreadable: ClassVar[str] = "UnreadableImage"

    def __post_init__(self) -> None:
        if self.model_batch_size < 1:
            raise ConfigError(f"{self.name}: model_batch_size must be at least 1, got {self.model_batch_size}")

    def inputs(self) -> Columns:
        return [self.bytes_column]

    def outputs(self) -> Columns:
        return [self.column]

    def weights(self) -> str:
        return self.model

    def load(self, device: str) -> ImageEncoder:  # noqa: ARG002 - it is put there afterwards
        ignore_pillow_warnings()
        return ImageEncoder.load(self.model, self, stage=self.name, normalize=self.normalize)

    def output_types(self, model: ImageEncoder) -> dict[str, pa.DataType]:
        return {self.column: pa.list_(pa.float32(), model.width)}

    def prepare(self, model: ImageEncoder, batch: TableBatch) -> Iterator[NDArray[np.uint8] | DataError | None]:
        side = 2 * model.picture_side if model.picture_side else None
        return decoded_images(batch, self.bytes_column, side=side, max_pixels=self.max_pixels)

    def predict(self, model: ImageEncoder, rows: list[NDArray[np.uint8]]) -> NDArray[np.float32]:
        return model.encode(rows)
