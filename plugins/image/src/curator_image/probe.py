"""Add the properties in an image's header as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from curator_core.sdk import ProcessingStage, TableBatch
from curator_image.headers import ignore_pillow_warnings, read_headers

if TYPE_CHECKING:
    from curator_core.sdk import Columns, WorkerInfo

__all__ = ["Probe"]

MAX_PIXELS = 10**9
"""More than any camera or scanner makes in one piece; decoded to RGB it takes three gigabytes."""

HEADER_COLUMNS = ("width", "height", "format", "mode")


@dataclass
class Probe(ProcessingStage[TableBatch, TableBatch]):
    """Add ``width``, ``height``, ``format`` and ``mode`` from the header of each image; no pixel is decoded.

    Width and height are those of the upright image, as EXIF data says. An unreadable image, or one that claims more
    than ``max_pixels``, is quarantined; a row without bytes gets nulls.

    >>> from io import BytesIO
    >>> from PIL import Image
    >>> from curator_image import ImageBatch
    >>> file = BytesIO()
    >>> Image.new("RGB", (4, 3)).save(file, "PNG")
    >>> batch = Probe().process(ImageBatch(data={"bytes": [file.getvalue()]}))
    >>> batch.data.drop_columns("bytes").to_pylist()
    [{'width': 4, 'height': 3, 'format': 'PNG', 'mode': 'RGB'}]

    Args:
        bytes_column: Column with the encoded images.
        max_pixels: Maximum number of pixels that an image may claim; None for no limit. A later stage that decodes a
            larger one would need gigabytes for it, and a header of thirty bytes can claim anything.
    """

    bytes_column: str = "bytes"
    max_pixels: int | None = MAX_PIXELS

    name = "image.probe"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return [self.bytes_column]

    def outputs(self) -> Columns:
        return list(HEADER_COLUMNS)

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002
        ignore_pillow_warnings()

    def process(self, task: TableBatch) -> TableBatch | None:
        batch, headers = read_headers(task, self.bytes_column, max_pixels=self.max_pixels)
        if task.num_rows and not batch.num_rows:
            return None
        for name in HEADER_COLUMNS:
            batch = batch.with_column(name, headers[name])
        return batch
