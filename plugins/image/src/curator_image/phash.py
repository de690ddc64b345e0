"""Add a perceptual hash, which hardly changes when an image is scaled or encoded again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from curator_core.sdk import ProcessingStage, TableBatch
from curator_image.headers import MAX_PIXELS, ignore_pillow_warnings
from curator_image.looks import THUMBNAIL_SIDE, look_at_images

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_core.sdk import Columns, WorkerInfo

__all__ = ["Phash", "perceptual_hashes"]

_FREQUENCIES = 8


@dataclass
class Phash(ProcessingStage[TableBatch, TableBatch]):
    """Add the 64-bit perceptual hash of each image; copies that were scaled or encoded again differ in few bits.

    The hash says which of the 64 lowest frequencies of the image, made small and grey, are above their median (Zauner
    2010). ``dedup.perceptual`` removes rows whose hashes are near one another. An image that cannot be decoded is
    quarantined; a row without bytes gets a null. Images of a single colour all have the same hash.

    >>> from io import BytesIO
    >>> from PIL import Image
    >>> from curator_image import ImageBatch
    >>> def encoded(size, kind):
    ...     file = BytesIO()
    ...     Image.linear_gradient("L").resize(size).save(file, kind)
    ...     return file.getvalue()
    >>> batch = ImageBatch(data={"bytes": [encoded((640, 480), "PNG"), encoded((320, 240), "JPEG")]})
    >>> original, copy = Phash().process(batch).data["phash"].to_pylist()
    >>> (original ^ copy).bit_count() <= 4
    True

    Args:
        column: Column to add.
        bytes_column: Column with the encoded images.
        max_pixels: An image that claims more is quarantined, from its header; None for no limit.
    """

    column: str = "phash"
    bytes_column: str = "bytes"
    max_pixels: int | None = MAX_PIXELS

    name = "image.phash"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return [self.bytes_column]

    def outputs(self) -> Columns:
        return [self.column]

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002
        ignore_pillow_warnings()

    def process(self, task: TableBatch) -> TableBatch | None:
        batch, looks = look_at_images(task, self.bytes_column, max_pixels=self.max_pixels)
        if task.num_rows and not batch.num_rows:
            return None
        thumbnails = looks["thumbnail"]
        hashes = np.zeros(len(looks), np.uint64)
        is_there = thumbnails.is_not_null().to_numpy()
        pixels = np.frombuffer(b"".join(thumbnails.drop_nulls().to_list()), np.uint8)
        hashes[is_there] = perceptual_hashes(pixels.reshape(-1, THUMBNAIL_SIDE, THUMBNAIL_SIDE))
        values = pl.select(pl.when(pl.Series(is_there)).then(pl.Series(hashes))).to_series()
        return batch.with_column(self.column, values)


def perceptual_hashes(thumbnails: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the hashes of grey images of 32 by 32 pixels.

    >>> perceptual_hashes(np.zeros((1, 32, 32), np.uint8)).tolist()
    [0]
    """
    basis = _cosines()
    # Rounded, so that values that differ from zero only in the last bits count as zero on every machine.
    low = np.round(basis @ thumbnails.astype(np.float64) @ basis.T, 6).reshape(-1, _FREQUENCIES**2)
    bits = low > np.median(low, axis=1, keepdims=True)
    hashes: NDArray[np.uint64] = np.packbits(bits, axis=1, bitorder="little").view("<u8").reshape(-1).astype(np.uint64)
    return hashes


def _cosines() -> NDArray[np.float64]:
    """Return the lowest rows of the discrete cosine transform of type II."""
    frequency, place = np.arange(_FREQUENCIES)[:, None], np.arange(THUMBNAIL_SIDE)[None]
    cosines: NDArray[np.float64] = np.cos(np.pi * frequency * (2 * place + 1) / (2 * THUMBNAIL_SIDE))
    return cosines
