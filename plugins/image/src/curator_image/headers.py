"""Read the header of an encoded image: size, format and mode, without decoding a pixel."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
from PIL import ExifTags, Image

from curator_core.sdk import BadRecord, DataError, StageError, derived, report
from curator_image.common_headers import read_common_header, read_orientation
from curator_image.heif import is_heif, open_heif

if TYPE_CHECKING:
    from curator_core.sdk import TableBatch

__all__ = [
    "FORMATS",
    "MAX_PIXELS",
    "ImageHeader",
    "check_pixels",
    "ignore_pillow_warnings",
    "image_values",
    "open_image",
    "quarantine_unreadable",
    "read_header",
    "read_headers",
]

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "JPEG2000")
"""Formats that are recognised, beside HEIF. Pillow knows many more, some of which run an interpreter (EPS) or follow
links."""

MAX_PIXELS = 89_478_485
"""Pillow's own limit (``Image.MAX_IMAGE_PIXELS``): a quarter of a gigabyte when decoded to RGB."""

MAX_SIDE_PIXELS = 2**31 - 1
"""Longest side that any of the formats allows (PNG's limit); more can only be damage."""

_ON_ITS_SIDE = range(5, 9)
"""EXIF orientations that exchange width and height."""

_PREFIX_BYTES = 16
"""Number of bytes that Pillow passes to a format's test of its magic number."""

_SCHEMA = {"width": pl.Int32, "height": pl.Int32, "format": pl.String, "mode": pl.String, "error": pl.String}


@dataclass(frozen=True)
class ImageHeader:
    """The declared properties of an image.

    Args:
        width: Pixels in a row of the upright image: as it is shown, which EXIF data may say is not as it is stored.
        height: Rows of pixels of the upright image.
        format: Pillow's name of the format: one of :data:`FORMATS`, ``HEIF``, or ``MPO``, a JPEG of several pictures.
        mode: Pillow's name of the pixel type: ``RGB``, ``L``, ``RGBA``, …
        orientation: How the stored pixels are turned and mirrored, as EXIF says: 1 for not at all.
    """

    width: int
    height: int
    format: str
    mode: str
    orientation: int = 1

    @property
    def stored_size(self) -> tuple[int, int]:
        """Width and height of the pixels as they are stored."""
        return (self.height, self.width) if self.orientation in _ON_ITS_SIDE else (self.width, self.height)


def read_header(data: bytes | pa.Buffer) -> ImageHeader:
    """Return the header of an encoded image.

    The common formats are read here, in a few microseconds; Pillow, which looks at more of the file, reads the others.

    Raises:
        DataError: The bytes are not an image of a known format, or its header is damaged.
    """
    found = read_common_header(memoryview(data))
    if found is None:
        with open_image(data) as image:
            found = (image.width, image.height, image.format or "", image.mode, _orientation(image, data))
    width, height, file_format, mode, orientation = found
    if orientation in _ON_ITS_SIDE:
        width, height = height, width
    header = ImageHeader(width, height, file_format, mode, orientation)
    if not (0 < header.width <= MAX_SIDE_PIXELS and 0 < header.height <= MAX_SIDE_PIXELS):
        raise DataError(f"the image header is damaged: it claims {header.width} by {header.height} pixels")
    return header


def _orientation(image: Image.Image, data: bytes | pa.Buffer) -> int:
    """Return the EXIF orientation of an image that is not decoded; 1 where there is none, and for a TIFF.

    Pillow turns a TIFF by itself when it is decoded, tells its upright size, and decodes a PNG to find EXIF data.
    """
    if image.format == "TIFF":
        return 1
    if image.format in ("PNG", "WEBP"):
        return read_orientation(memoryview(data))
    try:
        found: Any = image.getexif().get(ExifTags.Base.Orientation)
    except Exception:  # noqa: BLE001 - damaged metadata of a sound picture may raise anything
        return 1
    return int(found) if found in range(1, 9) else 1


def open_image(data: bytes | pa.Buffer) -> Image.Image:
    """Return an image whose pixels are not decoded yet.

    Any size is accepted: ``Image.open`` would warn about, or refuse, large images, and do so through settings of the
    whole process.

    Raises:
        DataError: The bytes are not an image of a known format, or its header is damaged.
    """
    if is_heif(data):
        return open_heif(data)
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
            return factory(file, "")
        except Exception as error:  # noqa: BLE001 - damaged files make the format parsers raise errors of any type
            damage = error
    if damage is not None:
        raise DataError(f"the image header is damaged: {type(damage).__name__}: {damage}") from damage
    raise DataError("not an image of a known format" if prefix else "the image is empty")


def check_pixels(header: ImageHeader, max_pixels: int | None) -> None:
    """Refuse an image that claims too many pixels, before any memory is spent on them.

    Raises:
        DataError: It does.
    """
    if max_pixels is not None and header.width * header.height > max_pixels:
        raise DataError(
            f"the image claims {header.width:,} by {header.height:,} pixels, more than {max_pixels:,}; "
            "raise max_pixels if it is genuine"
        )


def read_headers(
    batch: TableBatch, bytes_column: str, *, max_pixels: int | None = None
) -> tuple[TableBatch, pl.DataFrame]:
    """Return the batch without its unreadable images, and the headers of the others; null where there are no bytes.

    Unreadable images are reported for quarantine, with the file and row they came from. Stages behind one another in a
    step read a header once.

    Args:
        batch: The rows.
        bytes_column: Column with the encoded images.
        max_pixels: An image that claims more counts as unreadable; no limit, where None.
    """
    values = image_values(batch, bytes_column)
    frame = derived(batch.data, bytes_column, ("image.header", max_pixels), lambda: _frame(values, max_pixels))
    return quarantine_unreadable(batch, frame)


def image_values(batch: TableBatch, bytes_column: str) -> pa.ChunkedArray:
    """Return the column with the encoded images.

    Raises:
        StageError: It holds something else.
    """
    batch.check_column(bytes_column)
    kind = batch.data.schema.field(bytes_column).type
    if not (pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_null(kind)):
        raise StageError(
            f"column {bytes_column!r} holds {kind}, but encoded images (binary) were expected",
            fix="name the column that holds the images, e.g. bytes_column: jpg",
        )
    return batch.data.column(bytes_column)


def quarantine_unreadable(batch: TableBatch, frame: pl.DataFrame) -> tuple[TableBatch, pl.DataFrame]:
    """Report the rows that have an ``error``; return the others, with their headers."""
    errors = frame["error"]
    if errors.null_count() == len(errors):
        return batch, frame
    for index in errors.is_not_null().arg_true().to_list():
        source, row = batch.row_source(index)
        report().bad_record(BadRecord(errors[index], source=source, row=row, error_type="UnreadableImage"))
    is_readable = errors.is_null()
    return batch.with_rows(is_readable), frame.filter(is_readable)


def _frame(values: pa.ChunkedArray, max_pixels: int | None) -> pl.DataFrame:
    rows = [_attempt(value, max_pixels) for value in values]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _attempt(value: pa.Scalar, max_pixels: int | None) -> tuple[Any, ...]:
    if not value.is_valid:
        return (None, None, None, None, None)
    try:
        header = read_header(value.as_buffer())
        check_pixels(header, max_pixels)
    except DataError as error:
        return (None, None, None, None, error.message)
    return (header.width, header.height, header.format, header.mode, None)


def ignore_pillow_warnings() -> None:
    """Keep Pillow from warning about oddities of single files; to be called when a worker starts."""
    warnings.filterwarnings("ignore", module=r"PIL\.")
