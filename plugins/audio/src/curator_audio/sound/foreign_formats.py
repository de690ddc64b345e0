"""Recognise audio that libsndfile cannot decode, to say what to do about it."""

from __future__ import annotations

from typing import Final

__all__ = ["HEAD_BYTES", "foreign_format"]

HEAD_BYTES: Final = 16
"""How much of a file :func:`foreign_format` looks at."""

_ADTS_SYNC: Final = (0xF0, 0xF6)  # MPEG-2 or -4, and layer 0, which only AAC has


def foreign_format(head: bytes) -> str | None:
    r"""Return the name of a format by its first bytes, where it is one of sound that libsndfile does not know.

    >>> foreign_format(b"\x00\x00\x00\x20ftypM4A \x00\x00")
    'MP4 or M4A'
    >>> foreign_format(b"RIFF\x24\x00\x00\x00WAVE") is None
    True
    """
    if head[4:8] == b"ftyp":
        return "MP4 or M4A"
    if head.startswith(b"\x1aE\xdf\xa3"):
        return "Matroska or WebM"
    if head.startswith(b"\x30\x26\xb2\x75\x8e\x66\xcf\x11"):
        return "Windows Media"
    if head.startswith(b"#!AMR"):
        return "AMR"
    is_adts = len(head) > 1 and head[0] == 0xFF and head[1] & _ADTS_SYNC[1] == _ADTS_SYNC[0]  # noqa: PLR2004
    return "AAC" if is_adts or head.startswith(b"ADIF") else None
