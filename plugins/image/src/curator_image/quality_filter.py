"""Drop images that are blurred, too dark, too bright, or show nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.sdk import Filter, Verdict, check_range
from curator_image.headers import MAX_PIXELS, ignore_pillow_warnings
from curator_image.looks import look_at_images

if TYPE_CHECKING:
    from curator_core.sdk import Columns, TableBatch, WorkerInfo

__all__ = ["QualityFilter"]


@dataclass
class QualityFilter(Filter):
    """Keep images that are sharp, neither dark nor glaring, and show something.

    All is measured on a grey copy, halved as often as its shorter side keeps 160 pixels; a JPEG is decoded in about
    that size. Sharpness, which is the score, is the variance of the Laplacian of that copy: about 0 for a plane, some
    tens for a blurred photo, hundreds to thousands for a sharp one. An image that cannot be decoded is quarantined.
    With ``tag`` all measures become columns: ``quality_filter_sharpness``, ``…_brightness`` and ``…_entropy``.

    >>> from io import BytesIO
    >>> from PIL import Image
    >>> from curator_image import ImageBatch
    >>> file = BytesIO()
    >>> Image.new("RGB", (300, 300), "navy").save(file, "JPEG")
    >>> QualityFilter().process(ImageBatch(data={"bytes": [file.getvalue()]})) is None
    True

    Args:
        min_sharpness: Minimum variance of the Laplacian; None for no limit.
        min_brightness: Minimum mean brightness, from 0 (black) to 1 (white).
        max_brightness: Maximum mean brightness.
        min_entropy: Minimum entropy of the grey values, in bits: 0 for a single grey, 8 at most.
        bytes_column: Column with the encoded images.
        max_pixels: An image that claims more is quarantined, from its header; None for no limit.
    """

    min_sharpness: float | None = 20.0
    min_brightness: float | None = 0.05
    max_brightness: float | None = 0.97
    min_entropy: float | None = 1.0
    bytes_column: str = "bytes"
    max_pixels: int | None = MAX_PIXELS

    name = "image.quality_filter"

    def __post_init__(self) -> None:
        check_range(self.name, min_brightness=self.min_brightness, max_brightness=self.max_brightness)

    def inputs(self) -> Columns:
        return [self.bytes_column]

    def outputs(self) -> Columns:
        return [*self.tag_columns, *self._measure_columns().values()] if self.tag else []

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002
        ignore_pillow_warnings()

    def prepare_rows(self, task: TableBatch) -> TableBatch:
        batch, looks = look_at_images(task, self.bytes_column, max_pixels=self.max_pixels)
        for measure, column in self._measure_columns().items() if self.tag else ():
            batch = batch.with_column(column, looks[measure])
        return batch

    def _measure_columns(self) -> dict[str, str]:
        short = self.name.rpartition(".")[2]
        return {measure: f"{short}_{measure}" for measure in ("sharpness", "brightness", "entropy")}

    def judge(self, batch: TableBatch) -> Verdict:
        """Judge images that can all be decoded."""
        _, looks = look_at_images(batch, self.bytes_column, max_pixels=self.max_pixels)
        sharpness, brightness = looks["sharpness"], looks["brightness"]
        reasons = {}
        if self.min_entropy is not None:
            reasons["low_entropy"] = looks["entropy"] < self.min_entropy
        if self.min_brightness is not None:
            reasons["too_dark"] = brightness < self.min_brightness
        if self.max_brightness is not None:
            reasons["too_bright"] = brightness > self.max_brightness
        if self.min_sharpness is not None:
            reasons["blurred"] = sharpness < self.min_sharpness
        return Verdict(sharpness, reasons)
