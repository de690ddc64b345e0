"""Read the headers of JPEG, PNG and WebP, in microseconds; unusual headers are left to Pillow."""
# ruff: noqa: PLR2004 - file formats are made of numbers

from __future__ import annotations

import struct
import zlib

from curator_core.sdk import DataError

__all__ = ["JpegFrame", "read_common_header", "read_jpeg_frame", "read_orientation"]

_PNG_MODES = {
    (0, 1): "1", (0, 2): "L", (0, 4): "L", (0, 8): "L", (0, 16): "I;16",
    (2, 8): "RGB", (2, 16): "RGB", (3, 1): "P", (3, 2): "P", (3, 4): "P", (3, 8): "P",
    (4, 8): "LA", (4, 16): "LA", (6, 8): "RGBA", (6, 16): "RGBA",
}  # fmt: skip
_JPEG_MODES = {1: "L", 3: "RGB", 4: "CMYK"}
_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_PROGRESSIVE_MARKERS = frozenset({0xC2, 0xC6, 0xCA, 0xCE})
_MAX_SEGMENTS = 1000
_MAX_CHUNKS = 1_000_000
_ORIENTATION_TAG = 0x0112

CommonHeader = tuple[int, int, str, str, int]
JpegFrame = tuple[int, int, int, bool, int]
"""Width, height, number of components, whether it is progressive, and its EXIF orientation."""


def read_common_header(data: memoryview) -> CommonHeader | None:
    """Return width, height, format, mode and EXIF orientation; None where Pillow has to look.

    Raises:
        DataError: It is one of these formats, and damaged.
    """
    start = bytes(data[:30])
    if start.startswith(b"\xff\xd8\xff"):
        frame = read_jpeg_frame(data)
        return None if frame is None else (frame[0], frame[1], "JPEG", _JPEG_MODES[frame[2]], frame[4])
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return _png(data)
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return _webp(start, data)
    return None


def read_orientation(data: memoryview) -> int:
    """Return the EXIF orientation of a PNG or WebP, also from behind the pixels; 1 where there is none."""
    start = bytes(data[:12])
    if start.startswith(b"\x89PNG"):
        exif = _chunk(data, 8, b"eXIf", order=">", name_first=False, trailer=4)
    elif start[:4] == b"RIFF" and start[8:] == b"WEBP":
        exif = _chunk(data, 12, b"EXIF", order="<", name_first=True, trailer=0)
    else:
        return 1
    return _orientation(exif.removeprefix(b"Exif\0\0")) or 1


def _chunk(data: memoryview, position: int, wanted: bytes, *, order: str, name_first: bool, trailer: int) -> bytes:
    """Return the content of a chunk; nothing where there is none before the file ends or is damaged."""
    for _ in range(_MAX_CHUNKS):
        head = bytes(data[position : position + 8])
        if len(head) < 8:
            break
        name, length = (head[:4], head[4:]) if name_first else (head[4:], head[:4])
        size = struct.unpack(f"{order}I", length)[0]
        if name == wanted:
            return bytes(data[position + 8 : position + 8 + size])
        position += 8 + size + trailer + (size % 2 if name_first else 0)  # those of RIFF are padded
    return b""


def _png(data: memoryview) -> CommonHeader | None:
    chunk = bytes(data[8:33])
    if len(chunk) < 25 or chunk[:8] != b"\0\0\0\rIHDR":  # length, name, 13 bytes and a checksum
        raise DataError("the image header is damaged: a PNG without its first chunk")
    width, height, depth, colour = struct.unpack_from(">IIBB", chunk, 8)
    if zlib.crc32(chunk[4:21]) != int.from_bytes(chunk[21:25], "big"):
        raise DataError("the image header is damaged: the checksum of the PNG header does not fit")
    mode = _PNG_MODES.get((colour, depth))
    return None if mode is None else (width, height, "PNG", mode, read_orientation(data))


def _webp(start: bytes, data: memoryview) -> CommonHeader | None:
    if int.from_bytes(start[4:8], "little") + 8 > len(data) + 1:  # the last byte may be missing padding
        raise DataError("the image header is damaged: the WebP file is shorter than it says")
    kind, body = start[12:16], start[20:30]
    if kind == b"VP8X" and len(body) == 10:  # flags, width and height
        width, height = (int.from_bytes(body[at : at + 3], "little") + 1 for at in (4, 7))
        orientation = read_orientation(data) if body[0] & 0x08 else 1
        return width, height, "WEBP", "RGBA" if body[0] & 0x10 else "RGB", orientation
    if kind == b"VP8 " and body[3:6] == b"\x9d\x01\x2a" and len(body) == 10:
        width, height = struct.unpack_from("<HH", body, 6)
        return width & 0x3FFF, height & 0x3FFF, "WEBP", "RGB", 1
    return None  # lossless: whether there is transparency is only known to the decoder


def read_jpeg_frame(data: memoryview) -> JpegFrame | None:
    """Return the header that the segments before the pixels of a JPEG give; None where Pillow is needed.

    Raises:
        DataError: They are damaged.
    """
    position, orientation = 2, 1
    for _ in range(_MAX_SEGMENTS):
        head = bytes(data[position : position + 4])
        if len(head) < 4 or head[0] != 0xFF:  # a marker and a length
            raise DataError("the image header is damaged: the JPEG has no frame")
        marker = head[1]
        if marker == 0xFF:  # filler
            position += 1
            continue
        length = head[2] << 8 | head[3]
        if marker in _FRAME_MARKERS:
            frame = bytes(data[position + 4 : position + 10])
            if len(frame) < 6:  # precision, height, width and components
                raise DataError("the image header is damaged: the JPEG ends in its header")
            depth, height, width, components = struct.unpack(">BHHB", frame)
            is_usual = depth == 8 and components in _JPEG_MODES
            return (width, height, components, marker in _PROGRESSIVE_MARKERS, orientation) if is_usual else None
        if marker in (0xD8, 0xD9, 0xDA) or length < 2:  # the length counts itself
            raise DataError("the image header is damaged: the JPEG has no frame")
        if marker == 0xE1 and bytes(data[position + 4 : position + 10]) == b"Exif\0\0":
            orientation = _orientation(bytes(data[position + 10 : position + 2 + length])) or orientation
        if marker == 0xE2 and bytes(data[position + 4 : position + 8]) == b"MPF\0":  # several pictures
            return None
        position += 2 + length
    raise DataError(f"the image header is damaged: the JPEG has more than {_MAX_SEGMENTS:,} segments")


def _orientation(exif: bytes) -> int | None:
    """Return how a camera was held, from the first directory of EXIF data; None where it does not say."""
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(exif[:4])
    if order is None or len(exif) < 10:
        return None
    (start,) = struct.unpack_from(f"{order}I", exif, 4)
    if start + 2 > len(exif):
        return None
    (count,) = struct.unpack_from(f"{order}H", exif, start)
    for entry in range(start + 2, min(start + 2 + 12 * count, len(exif) - 11), 12):
        tag, kind, _, value = struct.unpack_from(f"{order}HHIH", exif, entry)
        if tag == _ORIENTATION_TAG and kind == 3:  # a short number
            return value if 1 <= value <= 8 else None
    return None
