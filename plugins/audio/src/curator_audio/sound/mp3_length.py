"""Tell whether an MP3 file declares its length. Where it does not, libsndfile guesses from the size of a frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curator_audio.sound.formats import behind_id3

if TYPE_CHECKING:
    from typing import BinaryIO

__all__ = ["states_length"]

_SEARCHED_BYTES: Final = 2**16
_HEADER_BYTES: Final = 4
_OLD_TAG_BYTES: Final = 128
_FRAMES, _BYTES = 1, 2  # flags of the fields that follow the mark
_SIDE_BYTES: Final = {(True, True): 17, (True, False): 32, (False, True): 9, (False, False): 17}
"""Bytes between the header of a frame and the mark, by MPEG-1 and mono."""


@dataclass(frozen=True, slots=True)
class _Header:
    """The fields in the four bytes before a frame of layer III."""

    kind: tuple[int, int]
    is_mpeg1: bool
    is_mono: bool

    @property
    def mark_at(self) -> int:
        return _HEADER_BYTES + _SIDE_BYTES[self.is_mpeg1, self.is_mono]


def states_length(file: BinaryIO) -> bool:
    """Return whether an MP3 file has a header (``Xing`` or ``Info``) that counts its frames, and ends where it says.

    If another file was appended, frames continue behind the end.

    Args:
        file: The file; its position changes.
    """
    start = behind_id3(file)
    file.seek(start)
    head = file.read(_SEARCHED_BYTES)
    at = next((at for at in range(len(head) - _HEADER_BYTES) if _header(head, at) is not None), None)
    if at is None:
        return False
    header = _header(head, at)
    assert header is not None
    mark = at + header.mark_at
    if head[mark : mark + 4] not in (b"Xing", b"Info"):
        return False
    flags, frames, size = (int.from_bytes(head[mark + begin : mark + begin + 4], "big") for begin in (4, 8, 12))
    if not flags & _FRAMES or not frames:
        return False
    if not flags & _BYTES:
        return True
    end = start + at + size
    file.seek(end)
    if file.read(3) == b"TAG":  # the older kind of ID3
        end += _OLD_TAG_BYTES
    file.seek(behind_id3(file, end))
    behind = _header(file.read(_HEADER_BYTES), 0)
    return behind is None or behind.kind != header.kind


def _header(data: bytes, at: int) -> _Header | None:
    """Return the header of a frame of layer III at a place, or None."""
    if len(data) < at + _HEADER_BYTES or data[at] != 0xFF or data[at + 1] & 0xE6 != 0xE2:  # noqa: PLR2004 - sync, layer
        return None
    version, bit_rate, rate = data[at + 1] >> 3 & 3, data[at + 2] >> 4, data[at + 2] >> 2 & 3
    if version == 1 or bit_rate in (0, 15) or rate == 3:  # noqa: PLR2004 - values that no frame has
        return None
    return _Header((version, rate), is_mpeg1=version == 3, is_mono=data[at + 3] >> 6 == 3)  # noqa: PLR2004 - marks
