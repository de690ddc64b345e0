"""The detector of nudity that comes with the package nudenet: pixels in, a score per label out."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from curator_core.sdk import MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["EXPLICIT_LABELS", "LABELS", "NudityModel"]

LABELS = (
    "female_genitalia_covered", "face_female", "buttocks_exposed", "female_breast_exposed",
    "female_genitalia_exposed", "male_breast_exposed", "anus_exposed", "feet_exposed", "belly_covered",
    "feet_covered", "armpits_covered", "armpits_exposed", "face_male", "belly_exposed", "male_genitalia_exposed",
    "anus_covered", "female_breast_covered", "buttocks_covered",
)  # fmt: skip
"""The labels of the model of nudenet 3.4, in its order."""

EXPLICIT_LABELS = (
    "buttocks_exposed", "female_breast_exposed", "female_genitalia_exposed", "anus_exposed", "male_genitalia_exposed",
)  # fmt: skip

INPUT_SIDE = 320
_BOX_NUMBERS = 4


class NudityModel:
    """The weights in the package, run by onnxruntime; the package itself, which needs OpenCV, is not imported.

    Args:
        stage: Name of the stage, for messages.
        threads: How many threads to use.
    """

    def __init__(self, *, stage: str, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(
            str(_weights(stage)), options, providers=["CPUExecutionProvider"]
        )
        self._input = self._session.get_inputs()[0].name

    def scores(self, images: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        """Return, for each image, the highest score of every label of :data:`LABELS` anywhere in it."""
        blob = np.stack([prepared(image) for image in images])
        (output,) = self._session.run(None, {self._input: blob})
        scores: NDArray[np.float32] = np.asarray(output, np.float32)[:, _BOX_NUMBERS:].max(axis=2)
        return scores


def prepared(image: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return an image as the model takes it: padded with black to a square, scaled, blue first."""
    square = max(image.shape[:2])
    padded = np.zeros((square, square, 3), np.uint8)
    padded[: image.shape[0], : image.shape[1]] = image
    small = Image.fromarray(padded).resize((INPUT_SIDE, INPUT_SIDE), Image.Resampling.BILINEAR, reducing_gap=2.0)
    planes: NDArray[np.float32] = np.asarray(small, np.float32).transpose(2, 0, 1)[::-1] / np.float32(255)
    return planes


def _weights(stage: str) -> Path:
    package = importlib.util.find_spec("nudenet")
    folders = [Path(each) for each in (package.submodule_search_locations or ())] if package else []
    found = next((folder / "320n.onnx" for folder in folders if (folder / "320n.onnx").exists()), None)
    if found is None:
        raise MissingPackageError(stage, package="nudenet", pip='"curator-image[nsfw]"')
    return found
