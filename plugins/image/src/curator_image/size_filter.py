"""Drop images that are too small, or too large to decode safely, by their headers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from curator_core.errors import ConfigError
from curator_core.filter import Filter, Verdict
from curator_image.headers import ignore_pillow_warnings, read_headers

if TYPE_CHECKING:
    from curator_core.stage import Columns, WorkerInfo
    from curator_core.tasks import TableBatch

__all__ = ["SizeFilter"]

PILLOW_PIXEL_LIMIT = 89_478_485
"""Pillow's own limit (``Image.MAX_IMAGE_PIXELS``): a quarter of a gigabyte when decoded to RGB."""

_WIDTH, _HEIGHT = "_header_width", "_header_height"


@dataclass
class SizeFilter(Filter):
    """Keep images of at least ``min_width`` by ``min_height`` and at most ``max_pixels``; no pixel is decoded.

    An unreadable image is quarantined. The score is the number of pixels. The smallest size follows DataComp's basic
    filter (Gadre et al. 2023), which asks for 200 pixels on the shorter side.

    >>> from io import BytesIO
    >>> from PIL import Image
    >>> from curator_image import ImageBatch
    >>> file = BytesIO()
    >>> Image.new("RGB", (40, 30)).save(file, "PNG")
    >>> batch = ImageBatch(data={"bytes": [file.getvalue()]})
    >>> SizeFilter(min_width=10, min_height=10).process(batch).num_rows
    1
    >>> SizeFilter().process(batch) is None
    True

    Args:
        min_width: Fewest pixels in a row.
        min_height: Fewest rows of pixels.
        max_pixels: Most pixels in all; None for no limit.
        bytes_field: Column with the encoded images.
    """

    min_width: int = 200
    min_height: int = 200
    max_pixels: int | None = PILLOW_PIXEL_LIMIT
    bytes_field: str = "bytes"

    name = "image.size_filter"
    thread_safe: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.max_pixels is not None and self.min_width * self.min_height > self.max_pixels:
            raise ConfigError(
                f"image.size_filter: min_width={self.min_width} times min_height={self.min_height} is more than "
                f"max_pixels={self.max_pixels}, so nothing would be kept"
            )

    def inputs(self) -> Columns:
        return [self.bytes_field]

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002
        ignore_pillow_warnings()

    def process(self, task: TableBatch) -> TableBatch | None:
        # The sizes ride along as columns for the time of the judgement: unreadable rows must leave before it, because
        # they are quarantined and not dropped, and reading the headers a second time would double the cost.
        batch, headers = read_headers(task, self.bytes_field)
        if task.num_rows and not batch.num_rows:
            return None
        for name, attribute in ((_WIDTH, "width"), (_HEIGHT, "height")):
            sizes = pl.Series(name, [getattr(header, attribute, None) for header in headers], dtype=pl.Int64)
            batch = batch.with_column(name, sizes)
        judged = super().process(batch)
        return None if judged is None else judged.with_data(judged.data.drop_columns([_WIDTH, _HEIGHT]))

    def judge(self, batch: TableBatch) -> Verdict:
        width, height = batch.series(_WIDTH), batch.series(_HEIGHT)
        pixels = width * height
        reasons = {"too_narrow": width < self.min_width, "too_low": height < self.min_height}
        if self.max_pixels is not None:
            reasons["too_many_pixels"] = pixels > self.max_pixels
        return Verdict(pixels, reasons)
