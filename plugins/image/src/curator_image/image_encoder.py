"""Make vectors of pictures with any vision model of transformers, from CLIP to ConvNeXt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_core.sdk import StageError, find_model_folder, quiet_transformers
from curator_image.image_tower import load_image_tower

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from curator_core.sdk import LoadSettings
    from curator_image.image_tower import ImageTower

__all__ = ["ImageEncoder"]


@dataclass(frozen=True)
class _NothingAllowed:
    allow_pickle: bool = False
    trust_remote_code: bool = False


class ImageEncoder:
    """A vision model, with the preparation of pictures that it was trained with.

    A ``ModelStage`` loads one, and shows it pictures::

        def load(self, device):
            return ImageEncoder.load(self.model, stage=self.name)

        def predict(self, model, rows):
            return model.encode(rows)  # pictures: (480, 640, 3) of uint8, for example

    Args:
        tower: The model, whose ``module`` may be put on another device.
        processor: Resizes, crops and scales pictures: an image processor of transformers.
        normalize: Scale vectors to length one.
        stage: Name of the stage, for messages.
    """

    def __init__(self, tower: ImageTower, processor: Any, *, normalize: bool, stage: str) -> None:
        self.module = tower.module.eval().requires_grad_(requires_grad=False)
        self._tower = tower
        self._processor = processor
        self._normalize = normalize
        self._stage = stage
        self.width = int(self.encode([np.zeros(_BLANK_SHAPE, np.uint8)]).shape[1])
        """How many numbers come out per picture."""

    @classmethod
    def load(
        cls, model: str, settings: LoadSettings | None = None, *, stage: str, normalize: bool = False
    ) -> ImageEncoder:
        """Load a model: the part that looks at pictures, where it has others.

        Args:
            model: Folder with ``config.json``, ``model.safetensors`` and ``preprocessor_config.json``, or an id on the
                hub.
            settings: Settings for loading, such as the stage itself; neither pickles nor code of the model unless
                given.
            stage: Name of the stage, for messages.
            normalize: Scale vectors to length one.

        Raises:
            StageError: The files are missing, of the wrong kind, incomplete, or would run code.
        """
        settings = settings or _NothingAllowed()
        folder = find_model_folder(
            model, stage=stage, allow_pickle=settings.allow_pickle, trust_remote_code=settings.trust_remote_code
        )
        processor = _load_processor(folder, settings, stage=stage)
        tower = load_image_tower(folder, settings, stage=stage)
        return cls(tower, processor, normalize=normalize, stage=stage)

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
        import torch

        for image in images:
            if image.ndim != len(_BLANK_SHAPE) or image.shape[-1] != _BLANK_SHAPE[-1] or image.dtype != np.uint8:
                raise StageError(
                    f"{self._stage}: a picture must be height by width by 3 of uint8, got {image.shape} of "
                    f"{image.dtype}"
                )
        if not images:
            return np.empty((0, self.width), np.float32)
        pixels = self._processor(images=list(images), return_tensors="np", input_data_format="channels_last")
        values = torch.from_numpy(np.ascontiguousarray(pixels["pixel_values"], dtype=np.float32))
        with torch.inference_mode():
            vectors = self._tower(values.to(next(self.module.parameters()).device)).float()
            if self._normalize:
                vectors = torch.nn.functional.normalize(vectors, dim=1)
        numbers: NDArray[np.float32] = vectors.cpu().numpy()
        return numbers


_BLANK_SHAPE = (64, 64, 3)


def _load_processor(folder: Path, settings: LoadSettings, *, stage: str) -> Any:
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
