"""Detect the format of a file by its first bytes: its extension, and the library that decodes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import BinaryIO

__all__ = ["EXTENSIONS", "FileFormat", "audio_extension", "behind_id3", "file_format"]

EXTENSIONS: Final = (
    *(".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aiff", ".aif", ".au", ".caf", ".w64", ".rf64"),
    *(".m4a", ".m4b", ".aac", ".mka", ".webm", ".weba", ".wma", ".amr", ".awb"),
)
"""Extensions of audio files in folders. ``.mp4``, ``.mkv`` and the like are not among them: most are videos."""

_HEAD_BYTES: Final = 64
_ID3_BYTES: Final = 10
_ID3_FOOTER: Final = 0x10
_ADTS_MASK, _ADTS_SYNC = 0xF6, 0xF0  # MPEG-2 or -4, and layer 0, which only AAC has
_TAGS_FOR_FFMPEG: Final = frozenset({0x0055, 0x00FF, 0x028F})
"""Codecs in WAV files that libsndfile does not know: MP3, AAC, G.722."""


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of files.

    Args:
        name: Its name, for the column ``format``.
        extension: How such files should be called, without the dot.
        demuxer: FFmpeg's name of it, where libsndfile cannot read it.
    """

    name: str
    extension: str
    demuxer: str | None = None


_STARTS: Final = {
    b"RIFF": FileFormat("WAV", "wav"),
    b"RIFX": FileFormat("WAV", "wav"),
    b"RF64": FileFormat("RF64", "wav"),
    b"fLaC": FileFormat("FLAC", "flac"),
    b"OggS": FileFormat("OGG", "ogg"),
    b"FORM": FileFormat("AIFF", "aiff"),
    b".snd": FileFormat("AU", "au"),
    b"caff": FileFormat("CAF", "caf"),
    b"riff": FileFormat("W64", "w64"),
    b"#!AMR-WB": FileFormat("AMR", "awb", "amr"),
    b"#!AMR": FileFormat("AMR", "amr", "amr"),
    b"\x30\x26\xb2\x75\x8e\x66\xcf\x11": FileFormat("ASF", "wma", "asf"),
}
_MP3: Final = FileFormat("MP3", "mp3")


def file_format(file: BinaryIO) -> FileFormat | None:
    r"""Return the format of an open file by its content; None where it has no known mark.

    >>> import io
    >>> file_format(io.BytesIO(b"\x00\x00\x00\x20ftypM4A \x00\x00"))
    FileFormat(name='MP4', extension='m4a', demuxer='mov')
    """
    start = behind_id3(file)
    file.seek(start)
    head = file.read(_HEAD_BYTES)
    if head[4:8] == b"ftyp":
        return FileFormat("MP4", "m4a", "mov")
    if head.startswith(b"\x1aE\xdf\xa3"):
        name, extension = ("WEBM", "webm") if b"webm" in head else ("MATROSKA", "mka")
        return FileFormat(name, extension, "matroska")
    if len(head) > 1 and head[0] == 0xFF and head[1] & _ADTS_MASK == _ADTS_SYNC:  # noqa: PLR2004 - the sync word
        return FileFormat("AAC", "aac", "aac")
    found = next((each for mark, each in _STARTS.items() if head.startswith(mark)), _MP3 if start else None)
    if head.startswith(b"RIFF") and _wav_tag(file, start) in _TAGS_FOR_FFMPEG:
        return FileFormat("WAV", "wav", "wav")
    return found


def audio_extension(file: BinaryIO) -> str:
    """Return the extension for encoded audio; ``mp3`` for formats without a mark.

    >>> import io
    >>> audio_extension(io.BytesIO(b"fLaC....")), audio_extension(io.BytesIO(b"ID3...."))
    ('flac', 'mp3')
    """
    return (file_format(file) or _MP3).extension


def behind_id3(file: BinaryIO, start: int = 0) -> int:
    r"""Return where the file continues behind the ID3 tags at a place, its beginning unless given.

    >>> import io
    >>> behind_id3(io.BytesIO(b"ID3\x04\x00\x00\x00\x00\x00\x05....."))
    15
    """
    while True:
        file.seek(start)
        tag = file.read(_ID3_BYTES)
        if len(tag) < _ID3_BYTES or not tag.startswith(b"ID3"):
            return start
        size = sum((byte & 0x7F) << shift for byte, shift in zip(tag[6:], (21, 14, 7, 0), strict=True))
        start += _ID3_BYTES + size + (_ID3_BYTES if tag[5] & _ID3_FOOTER else 0)


def _wav_tag(file: BinaryIO, start: int) -> int | None:
    """Return the number of the codec in a WAV file."""
    position = start + 12
    while True:
        file.seek(position)
        header = file.read(10)
        if len(header) < 10:  # noqa: PLR2004 - a name, a size and the tag
            return None
        if header[:4] == b"fmt ":
            return int.from_bytes(header[8:], "little")
        size = int.from_bytes(header[4:8], "little")
        position += 8 + size + size % 2
