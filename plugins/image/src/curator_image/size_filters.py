"""Drop images by the size that their headers tell: too small, too large to decode safely, too long for their width."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from curator_core.sdk import ConfigError, Filter, Verdict, check_range
from curator_image.headers import MAX_PIXELS, ignore_pillow_warnings, read_headers

if TYPE_CHECKING:
    from curator_core.sdk import Columns, TableBatch, WorkerInfo

__all__ = ["AspectFilter", "SizeFilter"]


@dataclass
class SizeFilter(Filter):
    """Keep images of at least ``min_width`` by ``min_height`` and at most ``max_pixels``; no pixel is decoded.

    Width and height are those of the upright image, as EXIF data says. An unreadable image is quarantined. The score is
    the number of pixels. The smallest size follows DataComp's basic filter (Gadre et al. 2023), which asks for 200
    pixels on the shorter side.

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
        bytes_column: Column with the encoded images.
    """

    min_width: int = 200
    min_height: int = 200
    max_pixels: int | None = MAX_PIXELS
    bytes_column: str = field(default="bytes", kw_only=True)

    name = "image.size_filter"

    def __post_init__(self) -> None:
        if self.max_pixels is not None and self.min_width * self.min_height > self.max_pixels:
            raise ConfigError(
                f"image.size_filter: min_width={self.min_width} times min_height={self.min_height} is more than "
                f"max_pixels={self.max_pixels}, so nothing would be kept"
            )

    def inputs(self) -> Columns:
        return [self.bytes_column]

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        ignore_pillow_warnings()

    def prepare_rows(self, task: TableBatch) -> TableBatch:
        return read_headers(task, self.bytes_column)[0]

    def judge(self, batch: TableBatch) -> Verdict:
        width, height = _sizes(batch, self.bytes_column)
        pixels = width * height
        reasons = {"too_narrow": width < self.min_width, "too_low": height < self.min_height}
        if self.max_pixels is not None:
            reasons["too_many_pixels"] = pixels > self.max_pixels
        return Verdict(pixels, reasons)


@dataclass
class AspectFilter(Filter):
    """Keep images whose width divided by their height is within limits; no pixel is decoded.

    The score is that ratio, of the upright image: a photo that EXIF data turns counts as it is shown. The limits follow
    DataComp's basic filter (Gadre et al. 2023): the longer side at most three times the shorter one. An unreadable
    image is quarantined.

    >>> from io import BytesIO
    >>> from PIL import Image
    >>> from curator_image import ImageBatch
    >>> file = BytesIO()
    >>> Image.new("RGB", (400, 100)).save(file, "PNG")
    >>> batch = ImageBatch(data={"bytes": [file.getvalue()]})
    >>> AspectFilter().process(batch) is None, AspectFilter(max_ratio=4).process(batch).num_rows
    (True, 1)

    Args:
        min_ratio: Least width divided by height.
        max_ratio: Most width divided by height.
        bytes_column: Column with the encoded images.
    """

    min_ratio: float = 1 / 3
    max_ratio: float = 3.0
    bytes_column: str = field(default="bytes", kw_only=True)

    name = "image.aspect_filter"

    def __post_init__(self) -> None:
        check_range(self.name, min_ratio=self.min_ratio, max_ratio=self.max_ratio)
        if self.min_ratio < 0:
            raise ConfigError(f"{self.name}: min_ratio must not be negative, got {self.min_ratio}")

    def inputs(self) -> Columns:
        return [self.bytes_column]

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        ignore_pillow_warnings()

    def prepare_rows(self, task: TableBatch) -> TableBatch:
        return read_headers(task, self.bytes_column)[0]

    def judge(self, batch: TableBatch) -> Verdict:
        width, height = _sizes(batch, self.bytes_column)
        ratio = width.cast(pl.Float64) / height
        return Verdict.between(ratio, self.min_ratio, self.max_ratio, below="too_tall", above="too_wide")


def _sizes(batch: TableBatch, bytes_column: str) -> tuple[pl.Series, pl.Series]:
    """Return the widths and heights of images whose headers can all be read; null where there are no bytes."""
    _, headers = read_headers(batch, bytes_column)
    return headers["width"].cast(pl.Int64), headers["height"].cast(pl.Int64)
