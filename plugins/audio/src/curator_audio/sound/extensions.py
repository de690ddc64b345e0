"""What a file with some content should be called."""

from __future__ import annotations

from typing import Final

__all__ = ["audio_extension"]

_STARTS: Final = {
    b"RIFF": "wav",
    b"RIFX": "wav",
    b"RF64": "wav",
    b"fLaC": "flac",
    b"OggS": "ogg",
    b"FORM": "aiff",
    b".snd": "au",
    b"caff": "caf",
    b"riff": "w64",
}


def audio_extension(head: bytes) -> str:
    """Return the extension for encoded audio that begins with some bytes; ``mp3`` for what has no mark of its own.

    >>> audio_extension(b"fLaC...."), audio_extension(b"ID3....")
    ('flac', 'mp3')
    """
    return _STARTS.get(bytes(head[:4]), "mp3")
