"""Measure an image on one scaled grey decode: sharpness, brightness and entropy, and a small copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from PIL import Image

from curator_core.sdk import DataError, derived
from curator_image.decoding import decode_grey
from curator_image.headers import image_values, quarantine_unreadable

if TYPE_CHECKING:
    import pyarrow as pa

    from curator_core.sdk import TableBatch

__all__ = ["LOOK_SIDE", "THUMBNAIL_SIDE", "look_at", "look_at_images"]

LOOK_SIDE = 160
"""Pixels that the shorter side of the grey image that is looked at has at least, and less than twice as many.

So measures hardly depend on the resolution, and of most JPEG files only a part has to be decoded.
"""

THUMBNAIL_SIDE = 32
"""Side of the small copy, from which perceptual hashes are made."""

_SCHEMA = {
    "sharpness": pl.Float32,
    "brightness": pl.Float32,
    "entropy": pl.Float32,
    "thumbnail": pl.Binary,
    "error": pl.String,
}


def look_at_images(batch: TableBatch, bytes_column: str, *, max_pixels: int | None) -> tuple[TableBatch, pl.DataFrame]:
    """Return the batch without its unreadable images, and the measures of the others; null where there are no bytes.

    Consecutive stages of a step decode an image once: the measures of the first follow the rows to the next.

    Args:
        batch: The rows.
        bytes_column: Column with the encoded images.
        max_pixels: An image that claims more counts as unreadable; no limit, where None.
    """
    values = image_values(batch, bytes_column)
    frame = derived(batch.data, bytes_column, ("image.look", max_pixels), lambda: _frame(values, max_pixels))
    return quarantine_unreadable(batch, frame)


def _frame(values: pa.ChunkedArray, max_pixels: int | None) -> pl.DataFrame:
    rows = [_attempt(value, max_pixels) for value in values]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _attempt(value: pa.Scalar, max_pixels: int | None) -> tuple[Any, ...]:
    if not value.is_valid:
        return (None, None, None, None, None)
    try:
        return (*look_at(decode_grey(value.as_buffer(), side=LOOK_SIDE, max_pixels=max_pixels)), None)
    except DataError as error:
        return (None, None, None, None, error.message)


def look_at(image: Image.Image) -> tuple[float, float, float, bytes]:
    """Return sharpness, brightness, entropy and a small copy of a grey image.

    >>> sharpness, brightness, entropy, thumbnail = look_at(Image.new("L", (64, 64), 255))
    >>> sharpness, brightness, entropy, len(thumbnail)
    (0.0, 1.0, 0.0, 1024)
    """
    counts = np.asarray(image.histogram(), np.float64)
    shares = counts[counts > 0] / counts.sum()
    brightness = float(counts @ np.arange(256)) / float(counts.sum()) / 255
    thumbnail = image.resize((THUMBNAIL_SIDE, THUMBNAIL_SIDE), Image.Resampling.BILINEAR)
    return _sharpness(image), brightness, max(0.0, float(-shares @ np.log2(shares))), thumbnail.tobytes()


def _sharpness(image: Image.Image) -> float:
    """Return the variance of the Laplacian (Pech-Pacheco et al. 2000): how much neighbours differ from a pixel."""
    pixels = np.asarray(image, np.int16)
    if min(pixels.shape) < 3:  # noqa: PLR2004 - a pixel and its neighbours
        return 0.0
    edges = pixels[1:-1, 1:-1] * np.int16(4)
    for neighbours in (pixels[:-2, 1:-1], pixels[2:, 1:-1], pixels[1:-1, :-2], pixels[1:-1, 2:]):
        edges -= neighbours
    values = edges.reshape(-1).astype(np.float32)
    return float(values @ values) / len(values) - float(values.mean()) ** 2
