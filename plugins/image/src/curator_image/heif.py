"""HEIC and HEIF, the formats of phones, with pillow-heif where it is installed.

Its opener is called by itself: registering it would change what Pillow reads in the whole process.
"""

from __future__ import annotations

import functools
import importlib
import io
import math
import re
import struct
from typing import TYPE_CHECKING, Any

from curator_core.sdk import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    from PIL import Image

__all__ = ["HEIF", "coded_size", "is_heif", "open_heif"]

HEIF = "HEIF"
"""Pillow's name of the format, for all extensions (``.heic``, ``.heif``, ``.hif``)."""

_MAX_BRANDS_BYTES = 256
_SIZES = re.compile(rb"ispe\0{4}(.{8})", re.DOTALL)
_HEVC_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"})
_ANY_BRANDS = frozenset({b"mif1", b"msf1"})
_AV1_BRANDS = frozenset({b"avif", b"avis"})


def is_heif(data: bytes | pa.Buffer) -> bool:
    """Return whether a file says that it is HEIF, and not AVIF, which Pillow reads.

    >>> is_heif(bytes([0, 0, 0, 20]) + b"ftypmif1" + bytes(4) + b"heic"), is_heif(b"RIFF")
    (True, False)
    """
    start = bytes(memoryview(data)[:_MAX_BRANDS_BYTES])
    if start[4:8] != b"ftyp":
        return False
    box = start[: int.from_bytes(start[:4], "big")]
    brands = {box[8:12], *(box[at : at + 4] for at in range(16, len(box), 4))}
    return bool(brands & _HEVC_BRANDS or (brands & _ANY_BRANDS and not brands & _AV1_BRANDS))


def coded_size(data: bytes | pa.Buffer) -> tuple[int, int]:
    """Return width and height of the largest picture in a file, of which it may show a small part only.

    Any ``ispe`` in the file's first box of metadata counts: those of tiles and thumbnails are smaller than the
    picture's.
    """
    view = memoryview(data).cast("B")
    position, box = 0, b""
    while not box and position + 8 <= len(view):
        size, kind = struct.unpack_from(">I4s", view, position)
        if size == 1 and position + 16 <= len(view):  # it is too large for its place, and stands behind the kind
            (size,) = struct.unpack_from(">Q", view, position + 8)
        if kind == b"meta":
            box = bytes(view[position : position + size] if size else view[position:])
        position += max(size, 8)
    claims = [struct.unpack(">II", found) for found in _SIZES.findall(box)] or [(1, 1)]
    width, height = max(claims, key=math.prod)
    return width, height


def open_heif(data: bytes | pa.Buffer) -> Image.Image:
    """Return an image whose pixels are not decoded yet, upright. No more will be decoded than its ``ispe`` claims.

    Raises:
        DataError: Its header is damaged, or pillow-heif is not installed.
    """
    factory = _factory()
    if factory is None:
        raise DataError(
            "the image is HEIC or HEIF, which needs the package 'pillow-heif': pip install 'curator-image[heif]'"
        )
    try:
        image: Image.Image = factory(io.BytesIO(data), "")
    except Exception as error:  # damaged files make the parser raise errors of any type
        raise DataError(f"the image header is damaged: {type(error).__name__}: {error}") from error
    return image


@functools.cache
def _factory() -> Any:
    """Return the function that opens a file, or None if it is not installed: its wheels are under the GPL."""
    try:
        return importlib.import_module("pillow_heif").HeifImageFile
    except ImportError:
        return None
