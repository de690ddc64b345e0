"""Make vectors of pictures with any vision model of transformers, from CLIP to ConvNeXt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_core.sdk import (
    ConfigError,
    StageError,
    autocast_for,
    choose_device,
    find_model_folder,
    quiet_transformers,
)
from curator_image.image_tower import load_image_tower

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import torch
    from numpy.typing import NDArray

    from curator_core.sdk import Precision
    from curator_image.image_tower import ImageTower

__all__ = ["ImageEncoder", "ImageEncoderSettings"]


@dataclass(frozen=True)
class ImageEncoderSettings:
    """How a vision model is loaded and fed.

    Args:
        device: ``auto``, or a device of torch.
        precision: Arithmetic on CUDA; elsewhere always ``float32``.
        model_batch_size: Most pictures in one call of the model.
        normalize: Scale vectors to length one.
        allow_pickle: Load weights that are pickles.
        trust_remote_code: Run Python code that comes with the model.
    """

    device: str = "auto"
    precision: Precision = "auto"
    model_batch_size: int = 32
    normalize: bool = False
    allow_pickle: bool = False
    trust_remote_code: bool = False

    def check(self, stage: str) -> None:
        """Refuse a size that cannot be meant.

        Raises:
            ConfigError: It is less than one.
        """
        if self.model_batch_size < 1:
            raise ConfigError(f"{stage}: model_batch_size must be at least 1, got {self.model_batch_size}")


class ImageEncoder:
    """A vision model on its device, with the preparation of pictures that it was trained with.

    Made by :meth:`load`, in the ``setup`` of a stage::

        def setup(self, worker):
            self._encoder = ImageEncoder.load(self.model, stage=self.name)
            self._encoder.encode([np.zeros((480, 640, 3), np.uint8)]).shape  # (1, 512)

    Args:
        tower: The model.
        processor: Resizes, crops and scales pictures: an image processor of transformers.
        settings: How the model is fed.
        stage: Name of the stage, for messages.
        gpu_allowed: Whether it may choose a GPU where the device is ``auto``.
    """

    def __init__(
        self,
        tower: ImageTower,
        processor: Any,
        settings: ImageEncoderSettings,
        *,
        stage: str,
        gpu_allowed: bool = True,
    ) -> None:
        self._tower = tower
        self._processor = processor
        self._settings = settings
        self._stage = stage
        self._device = choose_device(settings.device, stage=stage, gpu_allowed=gpu_allowed)
        tower.module.eval().requires_grad_(requires_grad=False).to(self._device)
        blank = np.zeros((1, *_BLANK_SHAPE), np.uint8)
        self.width = int(self._forward(self._prepared(list(blank))).shape[1])
        """How many numbers come out per picture."""

    @classmethod
    def load(
        cls, model: str, settings: ImageEncoderSettings | None = None, *, stage: str, gpu_allowed: bool = True
    ) -> ImageEncoder:
        """Load a model: the part that looks at pictures, where it has others.

        Args:
            model: Folder with ``config.json``, ``model.safetensors`` and ``preprocessor_config.json``, or an id on the
                hub.
            settings: How it is loaded and fed.
            stage: Name of the stage, for messages.
            gpu_allowed: Whether it may choose a GPU where the device is ``auto``.

        Raises:
            StageError: The files are missing, of the wrong kind, incomplete, or would run code.
        """
        settings = settings or ImageEncoderSettings()
        folder = find_model_folder(
            model, stage=stage, allow_pickle=settings.allow_pickle, trust_remote_code=settings.trust_remote_code
        )
        processor = _load_processor(folder, settings, stage=stage)
        tower = load_image_tower(folder, settings, stage=stage)
        return cls(tower, processor, settings, stage=stage, gpu_allowed=gpu_allowed)

    @property
    def picture_side(self) -> int | None:
        """The side, in pixels, that pictures are scaled to; None where the model takes any size.

        Whoever decodes may leave out detail far beyond it.
        """
        size = getattr(self._processor, "size", None)
        sides = [int(each) for each in dict(size or {}).values() if each]
        return max(sides) if sides else None

    def encode(self, images: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        """Return one vector per picture.

        Args:
            images: Pictures of any size: height by width by red, green and blue.

        Raises:
            StageError: A picture has another shape or type.
        """
        for image in images:
            if image.ndim != len(_BLANK_SHAPE) or image.shape[-1] != _BLANK_SHAPE[-1] or image.dtype != np.uint8:
                raise StageError(
                    f"{self._stage}: a picture must be height by width by 3 of uint8, got {image.shape} of "
                    f"{image.dtype}"
                )
        vectors = np.empty((len(images), self.width), np.float32)
        for begin in range(0, len(images), self._settings.model_batch_size):
            batch = images[begin : begin + self._settings.model_batch_size]
            vectors[begin : begin + len(batch)] = self._forward(self._prepared(batch))
        return vectors

    def _prepared(self, images: Sequence[NDArray[np.uint8]]) -> torch.Tensor:
        import torch

        pixels = self._processor(images=list(images), return_tensors="np", input_data_format="channels_last")
        return torch.from_numpy(np.ascontiguousarray(pixels["pixel_values"], dtype=np.float32))

    def _forward(self, pixels: torch.Tensor) -> NDArray[np.float32]:
        import torch

        try:
            with torch.inference_mode(), autocast_for(self._device, self._settings.precision):
                vectors = self._tower(pixels.to(self._device)).float()
                if self._settings.normalize:
                    vectors = torch.nn.functional.normalize(vectors, dim=1)
                numbers: NDArray[np.float32] = vectors.cpu().numpy()
        except torch.OutOfMemoryError:
            if len(pixels) == 1:
                raise
        else:
            return numbers
        torch.cuda.empty_cache()  # outside of the handler, which keeps the failed call's tensors alive
        return np.concatenate([self._forward(half) for half in torch.tensor_split(pixels, 2)])


_BLANK_SHAPE = (64, 64, 3)


def _load_processor(folder: Path, settings: ImageEncoderSettings, *, stage: str) -> Any:
    """Load the image processor that works on arrays and Pillow: the other kind needs torchvision."""
    try:
        from transformers import AutoImageProcessor

        with quiet_transformers():
            return AutoImageProcessor.from_pretrained(
                str(folder), backend="pil", local_files_only=True, trust_remote_code=settings.trust_remote_code
            )
    except Exception as error:  # the library raises OSError, ValueError, ImportError and more for bad folders
        raise StageError(
            f"{stage}: {folder} does not say how pictures are prepared: {type(error).__name__}: {error}",
            fix="give a folder with preprocessor_config.json, as save_pretrained of an image processor writes it",
        ) from error
