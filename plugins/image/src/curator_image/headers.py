"""Read the header of an encoded image: size, format and mode, without decoding a pixel."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from PIL import Image

from curator_core.errors import DataError, StageError
from curator_core.row_outcomes import keep_readable

if TYPE_CHECKING:
    from curator_core.tasks import TableBatch

__all__ = ["FORMATS", "ImageHeader", "ignore_pillow_warnings", "read_header", "read_headers"]

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "JPEG2000")
"""Formats that are recognised. Pillow knows many more, some of which run an interpreter (EPS) or follow links."""

MAX_SIDE_PIXELS = 2**31 - 1
"""Longest side that any of the formats allows (PNG's limit); more can only be damage."""

_PREFIX_BYTES = 16
"""What Pillow shows to a format's test of its magic number."""


@dataclass(frozen=True)
class ImageHeader:
    """What an image says about itself.

    Args:
        width: Pixels in a row.
        height: Rows of pixels.
        format: Pillow's name of the format, one of :data:`FORMATS`, or ``MPO`` for a JPEG of several pictures.
        mode: Pillow's name of the pixel type: ``RGB``, ``L``, ``RGBA``, …
    """

    width: int
    height: int
    format: str
    mode: str


def read_header(data: bytes | pa.Buffer) -> ImageHeader:
    """Return the header of an encoded image.

    Any size is accepted, because no pixel is decoded: ``Image.open`` would warn about, or refuse, large images, and do
    so through settings of the whole process.

    Raises:
        DataError: The bytes are not an image of a known format, or its header is damaged.
    """
    Image.init()
    file = pa.BufferReader(data)
    prefix = file.read(_PREFIX_BYTES)
    damage: Exception | None = None
    for name in FORMATS:
        factory, accepts = Image.OPEN.get(name, (None, None))
        if factory is None or not prefix or (accepts and accepts(prefix) is not True):
            continue
        file.seek(0)
        try:
            with factory(file, "") as image:
                header = ImageHeader(image.width, image.height, image.format or name, image.mode)
        except Exception as error:  # noqa: BLE001 - damaged files make the format parsers raise errors of any type
            damage = error
        else:
            return _checked(header)
    if damage is not None:
        raise DataError(f"the image header is damaged: {type(damage).__name__}: {damage}") from damage
    raise DataError("not an image of a known format" if prefix else "the image is empty")


def _checked(header: ImageHeader) -> ImageHeader:
    if not (0 < header.width <= MAX_SIDE_PIXELS and 0 < header.height <= MAX_SIDE_PIXELS):
        raise DataError(f"the image header is damaged: it claims {header.width} by {header.height} pixels")
    return header


def read_headers(
    batch: TableBatch, bytes_field: str, *, max_pixels: int | None = None
) -> tuple[TableBatch, list[ImageHeader | None]]:
    """Return the batch without its unreadable images, and the headers of the others; None where there are no bytes.

    Unreadable images are reported for quarantine, with the file and row they came from.

    Args:
        batch: The rows.
        bytes_field: Column with the encoded images.
        max_pixels: An image that claims more counts as unreadable; no limit, where None.
    """
    batch.check_column(bytes_field)
    kind = batch.data.schema.field(bytes_field).type
    if not (pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_null(kind)):
        raise StageError(
            f"column {bytes_field!r} holds {kind}, but encoded images (binary) were expected",
            fix="name the column that holds the images, e.g. bytes_field: jpg",
        )
    outcomes = [_attempt(value, max_pixels) for value in batch.data.column(bytes_field)]
    return keep_readable(batch, outcomes, error_type="UnreadableImage")


def _attempt(value: pa.Scalar, max_pixels: int | None) -> ImageHeader | DataError | None:
    try:
        header = read_header(value.as_buffer()) if value.is_valid else None
    except DataError as error:
        return error
    if header is not None and max_pixels is not None and header.width * header.height > max_pixels:
        return DataError(
            f"the image claims {header.width:,} by {header.height:,} pixels, more than {max_pixels:,}; "
            "raise max_pixels if it is genuine"
        )
    return header


def ignore_pillow_warnings() -> None:
    """Keep Pillow from warning about oddities of single files; to be called when a worker starts."""
    warnings.filterwarnings("ignore", module=r"PIL\.")
