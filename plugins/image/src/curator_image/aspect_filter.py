"""Drop images that are too long for their width, by their headers."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from curator_core.sdk import ConfigError, Verdict, check_range
from curator_image.header_filter import HeaderFilter

__all__ = ["AspectFilter"]


@dataclass
class AspectFilter(HeaderFilter):
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
        min_ratio: Minimum width divided by height.
        max_ratio: Maximum width divided by height.
        bytes_column: Column with the encoded images.
    """

    min_ratio: float = 1 / 3
    max_ratio: float = 3.0

    name = "image.aspect_filter"

    def __post_init__(self) -> None:
        check_range(self.name, min_ratio=self.min_ratio, max_ratio=self.max_ratio)
        if self.min_ratio < 0:
            raise ConfigError(f"{self.name}: min_ratio must not be negative, got {self.min_ratio}")

    def judge_headers(self, width: pl.Series, height: pl.Series) -> Verdict:
        ratio = width.cast(pl.Float64) / height
        return Verdict.between(ratio, self.min_ratio, self.max_ratio, below="too_tall", above="too_wide")
