"""Drop images that are too small, or too large to decode safely, by their headers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.sdk import ConfigError, Verdict
from curator_image.header_filter import HeaderFilter
from curator_image.headers import MAX_PIXELS

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SizeFilter"]


@dataclass
class SizeFilter(HeaderFilter):
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
        min_width: Minimum number of pixels in a row.
        min_height: Minimum number of rows of pixels.
        max_pixels: Maximum number of pixels in all; None for no limit.
        bytes_column: Column with the encoded images.
    """

    min_width: int = 200
    min_height: int = 200
    max_pixels: int | None = MAX_PIXELS

    name = "image.size_filter"

    def __post_init__(self) -> None:
        if self.max_pixels is not None and self.min_width * self.min_height > self.max_pixels:
            raise ConfigError(
                f"image.size_filter: min_width={self.min_width} times min_height={self.min_height} is more than "
                f"max_pixels={self.max_pixels}, so nothing would be kept"
            )

    def judge_headers(self, width: pl.Series, height: pl.Series) -> Verdict:
        pixels = width * height
        reasons = {"too_narrow": width < self.min_width, "too_low": height < self.min_height}
        if self.max_pixels is not None:
            reasons["too_many_pixels"] = pixels > self.max_pixels
        return Verdict(pixels, reasons)
