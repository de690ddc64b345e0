"""Tell whether a file is whole where its decoder does not: torn files are played as shorter ones."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from curator_audio.sound.formats import behind_id3
from curator_core.sdk import DataError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

__all__ = ["check_whole"]

_HEADER_BYTES: Final = 27
_ADTS_BYTES: Final = 7
_LAST_PAGE: Final = 4
_ALL_ONES: Final = 0xFFFFFFFF
_MIRRORED: Final = bytes(int(f"{value:08b}"[::-1], 2) for value in range(256))


def check_whole(file: BinaryIO, kind: str) -> None:
    """Refuse a file that is shorter than it says (WAV, MP4, Matroska, ASF), Ogg and AAC files with gaps.

    Args:
        file: The file; its position stays where it is, because the decoder relies on it.
        kind: Name of the format. Others than these are left to their decoders.

    Raises:
        DataError: The file is torn or damaged.
    """
    check = _CHECKS.get(kind)
    if check is not None:
        position = file.tell()
        file.seek(0)
        check(file)
        file.seek(position)


def _check_wav(file: BinaryIO) -> None:
    """Compare the size declared before the samples with the actual size."""
    if file.read(12)[:4] != b"RIFF":
        return
    while True:
        header = file.read(8)
        if len(header) < 8:  # noqa: PLR2004 - a name and a size
            return  # the decoder has found samples or refused the file
        size = int.from_bytes(header[4:], "little")
        start = file.tell()
        if header[:4] == b"data":
            there = file.seek(0, 2) - start
            # Programs that write to a pipe do not know the size and put the largest one, or none, there.
            if size not in (0, _ALL_ONES) and size < 0x7FFFF000 and size > there:  # noqa: PLR2004
                raise DataError(f"the file is torn: {there:,} bytes of samples are left of {size:,}")
            return
        file.seek(start + size + size % 2)


def _check_mp4(file: BinaryIO) -> None:
    """Compare the sizes of the boxes with the actual size."""
    end = file.seek(0, 2)
    start = 0
    while start < end:
        file.seek(start)
        header = file.read(16)
        size = int.from_bytes(header[:4], "big")
        if size == 1:  # a longer number follows the name
            size = int.from_bytes(header[8:], "big")
        if size == 0:  # the last box, of whatever size
            return
        _check_end("box", start, start + max(size, 8), end)
        start += max(size, 8)


def _check_matroska(file: BinaryIO) -> None:
    """Compare the size of the segment, which holds all but the header, with the actual size."""
    end = file.seek(0, 2)
    start = 0
    while start < end:
        file.seek(start)
        header = file.read(12)
        body, size = _ebml_size(header)
        if size is None:  # programs that write to a pipe do not know the size
            return
        _check_end("element", start, start + body + size, end)
        start += body + size


def _ebml_size(header: bytes) -> tuple[int, int | None]:
    """Return where the body of an element begins, and how long it is, where that is known."""
    name_bytes = 9 - header[0].bit_length() if header[0] else 8
    first = header[name_bytes] if len(header) > name_bytes else 0
    size_bytes = 9 - first.bit_length() if first else 8
    value = int.from_bytes(header[name_bytes : name_bytes + size_bytes], "big")
    ones = (1 << 7 * size_bytes) - 1
    return name_bytes + size_bytes, None if value & ones == ones else value & ones


def _check_asf(file: BinaryIO) -> None:
    """Compare the sizes of the objects with the actual size."""
    end = file.seek(0, 2)
    start = 0
    while start < end:
        file.seek(start)
        size = int.from_bytes(file.read(24)[16:], "little")
        if size < 24:  # noqa: PLR2004 - less than its header: written to a pipe
            return
        _check_end("object", start, start + size, end)
        start += size


def _check_adts(file: BinaryIO) -> None:
    """Walk through the frames of an AAC stream, each of which declares its length."""
    end = file.seek(0, 2)
    start = behind_id3(file)
    while start < end:
        file.seek(start)
        header = file.read(_ADTS_BYTES)
        if header.startswith((b"TAG", b"ID3", b"APETAGEX")):
            return
        size = int.from_bytes(header[3:6], "big") >> 5 & 0x1FFF
        if header[:1] != b"\xff" or header[1] & 0xF6 != 0xF0 or size < _ADTS_BYTES:  # noqa: PLR2004 - the sync word
            raise DataError(f"the file is damaged at byte {start:,}: there is no AAC frame")
        _check_end("frame", start, start + size, end)
        start += size


def _check_end(what: str, start: int, needed: int, end: int) -> None:
    if needed > end:
        raise DataError(f"the file is torn: the {what} at byte {start:,} lacks {needed - end:,} bytes")


def _check_ogg(file: BinaryIO) -> None:
    """Walk through the pages of an Ogg stream: each has a checksum and a number, and the last one says so."""
    numbers: dict[bytes, int] = {}
    open_streams: set[bytes] = set()
    position = 0
    while header := file.read(_HEADER_BYTES):
        if len(header) < _HEADER_BYTES or not header.startswith(b"OggS"):
            if not open_streams and numbers:  # tags of other programs behind the last page
                return
            raise DataError(f"the file is damaged at byte {position:,}: there is no Ogg page")
        lengths = file.read(header[26])
        body = file.read(sum(lengths))
        if len(lengths) < header[26] or len(body) < sum(lengths):
            raise DataError(f"the file is torn: the Ogg page at byte {position:,} is not complete")
        if _checksum(header[:22] + bytes(4) + header[26:] + lengths + body) != int.from_bytes(header[22:26], "little"):
            raise DataError(f"the file is damaged: the checksum of the Ogg page at byte {position:,} is wrong")
        stream, number = header[14:18], int.from_bytes(header[18:22], "little")
        if number != numbers.get(stream, number - 1) + 1:
            raise DataError(f"the file is damaged: Ogg pages are missing before byte {position:,}")
        numbers[stream] = number
        (open_streams.discard if header[5] & _LAST_PAGE else open_streams.add)(stream)
        position += _HEADER_BYTES + len(lengths) + len(body)
    if open_streams:
        raise DataError("the file is torn: the last Ogg page is missing")


def _checksum(page: bytes) -> int:
    """Return the checksum of Ogg: zlib's with the bits of every byte mirrored, and without its inversions."""
    mirrored = zlib.crc32(page.translate(_MIRRORED), _ALL_ONES) ^ _ALL_ONES
    return int.from_bytes(mirrored.to_bytes(4, "little").translate(_MIRRORED), "big")


_CHECKS: Final[dict[str, Callable[[BinaryIO], None]]] = {
    "WAV": _check_wav,
    "OGG": _check_ogg,
    "AAC": _check_adts,
    "MP4": _check_mp4,
    "MATROSKA": _check_matroska,
    "WEBM": _check_matroska,
    "ASF": _check_asf,
}
