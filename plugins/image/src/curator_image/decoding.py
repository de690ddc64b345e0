"""Decode images: what everybody sees, no larger than needed.

Whatever the format, pixels are those that a viewer shows on white paper: of several frames the first, turned as EXIF
data says, transparency over white, palettes and CMYK as colours, 16 bits and floats scaled to 8.
"""

from __future__ import annotations

import functools
import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from PIL import Image, ImageCms

from curator_core.sdk import DataError
from curator_image.common_headers import read_jpeg_frame
from curator_image.headers import MAX_PIXELS, check_pixels, image_values, open_image, read_header
from curator_image.heif import HEIF, coded_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from curator_core.sdk import TableBatch
    from curator_image.headers import ImageHeader

__all__ = ["decode_grey", "decode_rgb", "decoded_images"]

Mode = Literal["L", "RGB"]

_MAX_SCANS = 200
"""Scans of a progressive JPEG. Encoders make about ten; thousands of them over a large image take minutes to decode."""

_MAX_SKIPPED = 8
"""Largest factor by which a JPEG can be made smaller while it is decoded."""

_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}  # fmt: skip


def decode_grey(data: bytes | pa.Buffer, *, side: int, max_pixels: int | None = MAX_PIXELS) -> Image.Image:
    """Return a grey image, halved as often as its shorter side keeps ``side`` pixels.

    Args:
        data: The encoded image.
        side: Pixels of the shorter side that are enough: it has fewer than twice as many.
        max_pixels: An image that claims more is refused.

    Raises:
        DataError: It cannot be decoded, or claims too many pixels.
    """
    return _decode(data, "L", side, max_pixels)


def decode_rgb(
    data: bytes | pa.Buffer, *, side: int | None = None, max_pixels: int | None = MAX_PIXELS
) -> NDArray[np.uint8]:
    """Return the pixels of an image: height by width by red, green and blue.

    Args:
        data: The encoded image.
        side: Pixels of the shorter side that are enough, as in :func:`decode_grey`; all, where None.
        max_pixels: An image that claims more is refused.

    Raises:
        DataError: It cannot be decoded, or claims too many pixels.
    """
    return np.asarray(_decode(data, "RGB", side, max_pixels))


def decoded_images(
    batch: TableBatch, bytes_column: str, *, side: int | None, max_pixels: int | None
) -> Iterator[NDArray[np.uint8] | DataError | None]:
    """Yield the pixels of each row's image as :func:`decode_rgb` returns them; None without one, and errors."""
    for value in image_values(batch, bytes_column):
        try:
            yield decode_rgb(value.as_buffer(), side=side, max_pixels=max_pixels) if value.is_valid else None
        except DataError as error:  # noqa: PERF203 - each image is tried
            yield error


def _decode(data: bytes | pa.Buffer, mode: Mode, side: int | None, max_pixels: int | None) -> Image.Image:
    header = read_header(data)
    check_pixels(header, max_pixels)
    if header.format == HEIF:
        width, height = coded_size(data)
        check_pixels(replace(header, width=width, height=height), max_pixels)
    factor = 1
    while side is not None and min(header.width, header.height) >= side * factor * 2:
        factor *= 2
    try:
        if header.format == "JPEG" and header.mode != "CMYK":
            return _decode_jpeg(data, header, mode, factor)
        image = _decode_any(data, header, mode)
        return image.reduce(factor) if factor > 1 else image
    except DataError:
        raise
    except Exception as error:  # damaged files make the decoders raise errors of any type
        raise DataError(f"the pixels cannot be decoded: {type(error).__name__}: {error}") from error


def _decode_jpeg(data: bytes | pa.Buffer, header: ImageHeader, mode: Mode, factor: int) -> Image.Image:
    view = memoryview(data).cast("B")  # Arrow says that its bytes are signed
    frame = read_jpeg_frame(view)
    assert frame is not None, "who read the header has seen it"
    is_progressive = frame[3]
    if is_progressive and bytes(view).count(b"\xff\xda") > _MAX_SCANS:
        raise DataError(f"the JPEG has more than {_MAX_SCANS} scans, to make decoding it slow")
    # The inverse transform can leave out what would be scaled away.
    skipped = min(factor, _MAX_SKIPPED)
    width, height = header.stored_size
    turbo = _turbo_jpeg()
    if turbo is None:
        image = _pillow_jpeg(data, mode, (width // skipped, height // skipped))
    else:
        image = _turbo_decoded(turbo, view, mode, (-(-width // skipped), -(-height // skipped)))
    return _upright(image.reduce(factor // skipped) if factor > skipped else image, header)


@functools.cache
def _turbo_jpeg() -> Any:
    """Return simplejpeg, or None where it is not installed.

    It is an optional dependency, because it has no wheels for some platforms (musl, as in Alpine Linux). Pillow decodes
    to the same pixels with the same library below, more slowly, and passes over some kinds of damage.
    """
    try:
        return importlib.import_module("simplejpeg")
    except ImportError:
        return None


def _turbo_decoded(turbo: Any, view: memoryview, mode: Mode, size: tuple[int, int]) -> Image.Image:
    options = {"colorspace": "GRAY" if mode == "L" else "RGB", "min_width": size[0], "min_height": size[1]}
    try:
        pixels = turbo.decode_jpeg(view, **options)
    except ValueError as error:
        # Some cameras leave bytes in front of the end of the file, behind the last pixel: no harm is done.
        if "extraneous bytes before marker 0xd9" not in str(error):
            raise
        pixels = turbo.decode_jpeg(view, **options, strict=False)
    return Image.fromarray(pixels[..., 0] if mode == "L" else pixels)


def _pillow_jpeg(data: bytes | pa.Buffer, mode: Mode, size: tuple[int, int]) -> Image.Image:
    with open_image(data) as image:
        image.draft(mode, size)
        decoded: Image.Image = image.convert(mode)
        return decoded


def _decode_any(data: bytes | pa.Buffer, header: ImageHeader, mode: Mode) -> Image.Image:
    with open_image(data) as image:
        if image.size != header.stored_size:
            raise DataError(f"the image has {image.width} by {image.height} pixels and claims others")
        image.load()  # which turns a TIFF by itself
        return _upright(_flat(image, mode), header)


def _upright(image: Image.Image, header: ImageHeader) -> Image.Image:
    return image.transpose(_TURNS[header.orientation]) if header.orientation in _TURNS else image


def _flat(image: Image.Image, mode: Mode) -> Image.Image:
    """Return an image as grey or colours, without transparency."""
    if image.mode in ("F", "I") or image.mode.startswith("I;"):
        return Image.fromarray(_as_bytes(np.asarray(image))).convert(mode)
    if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        colours = image.convert("RGBA")
        paper = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(paper, colours).convert(mode)
    if image.mode == "LAB":  # Pillow converts it by a profile only
        image = ImageCms.applyTransform(image, _lab_to_rgb()) or image
    if mode == "L" and image.mode in ("P", "CMYK"):  # not by way of a grey palette, which rounds twice
        return image.convert("RGB").convert("L")
    return image.convert(mode)


@functools.cache
def _lab_to_rgb() -> ImageCms.ImageCmsTransform:
    profiles = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
    return ImageCms.buildTransformFromOpenProfiles(*profiles, "LAB", "RGB")


def _as_bytes(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Scale 16 bits to 8 by their upper half, and anything else by its range."""
    if values.dtype == np.uint16:
        return (values >> 8).astype(np.uint8)
    numbers = np.nan_to_num(values.astype(np.float32), posinf=0, neginf=0)
    low, high = float(numbers.min()), float(numbers.max())
    if values.dtype.kind in "iu" and low >= 0 and high < 2**16:
        return (numbers.astype(np.uint16) >> 8).astype(np.uint8)
    return ((numbers - low) * (255 / (high - low) if high > low else 0)).astype(np.uint8)
