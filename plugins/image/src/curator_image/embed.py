"""Add a vector per image, made by a vision model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from curator_core.sdk import (
    Precision,
    ProcessingStage,
    TableBatch,
    check_model_name,
    find_model_folder,
    limit_threads,
    may_use_gpu,
    restore_threads,
)
from curator_image.decoded_rows import compute_of_pixels
from curator_image.headers import MAX_PIXELS, ignore_pillow_warnings
from curator_image.image_encoder import ImageEncoder, ImageEncoderSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import Columns, NodeInfo, WorkerInfo

__all__ = ["Embed"]


@dataclass
class Embed(ProcessingStage[TableBatch, TableBatch]):
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
        bytes_field: Column with the encoded images.
        normalize: Scale vectors to length one.
        model_batch_size: Most images in one call of the model.
        max_pixels: An image that claims more is quarantined, from its header; None for no limit.
        device: ``auto`` (a GPU where the worker has one), ``cpu``, ``cuda``, ``mps``.
        precision: Arithmetic on CUDA: ``float32``, ``bfloat16``, ``float16`` or the better of the last two; elsewhere
            always ``float32``.
        allow_pickle: Load weights that are not safetensors. Such files can run code.
        trust_remote_code: Run Python code that comes with the model.
    """

    model: str
    column: str = "embedding"
    bytes_field: str = "bytes"
    normalize: bool = False
    model_batch_size: int = 32
    max_pixels: int | None = MAX_PIXELS
    device: str = "auto"
    precision: Precision = "auto"
    allow_pickle: bool = False
    trust_remote_code: bool = False

    name = "image.embed"
    fuse = False  # every worker has the weights in memory, so there are only as many as the model needs
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._settings().check(self.name)

    def inputs(self) -> Columns:
        return [self.bytes_field]

    def outputs(self) -> Columns:
        return [self.column]

    def preflight(self) -> Sequence[str] | None:
        check_model_name(self.name, self.model)
        return None

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002
        find_model_folder(
            self.model, stage=self.name, allow_pickle=self.allow_pickle, trust_remote_code=self.trust_remote_code
        )

    def setup(self, worker: WorkerInfo) -> None:
        ignore_pillow_warnings()
        self._threads = limit_threads(self.resources.cpus)
        self._encoder = ImageEncoder.load(
            self.model, self._settings(), stage=self.name, gpu_allowed=may_use_gpu(self.resources, worker)
        )

    def teardown(self) -> None:
        if self.__dict__.pop("_encoder", None) is not None:
            restore_threads(self._threads)

    def process(self, task: TableBatch) -> TableBatch | None:
        encoder = self._encoder
        batch, vectors, has_image = compute_of_pixels(
            task,
            self.bytes_field,
            encoder.encode,
            at_a_time=self.model_batch_size,
            side=2 * encoder.picture_side if encoder.picture_side else None,
            max_pixels=self.max_pixels,
        )
        if task.num_rows and not batch.num_rows:
            return None
        rows = np.zeros((batch.num_rows, encoder.width), np.float32)
        if vectors is not None:
            rows[has_image] = vectors
        mask = None if has_image.all() else pa.array(~has_image)
        column = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), encoder.width, mask=mask)
        return batch.with_column(self.column, column)

    def _settings(self) -> ImageEncoderSettings:
        return ImageEncoderSettings(
            device=self.device,
            precision=self.precision,
            model_batch_size=self.model_batch_size,
            normalize=self.normalize,
            allow_pickle=self.allow_pickle,
            trust_remote_code=self.trust_remote_code,
        )
