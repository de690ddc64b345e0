"""Read the properties of an audio file, without decoding a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from curator_audio.sound.opening import opened

__all__ = ["AudioInfo", "probe_audio"]


@dataclass(frozen=True)
class AudioInfo:
    """The declared properties of an audio file.

    Args:
        duration_s: Seconds of sound.
        sample_rate: Samples per second, in each channel.
        channels: Number of channels.
        format: Name of the file's format: ``WAV``, ``FLAC``, ``OGG``, ``MP3``, ``MP4``, ``WEBM``, …
    """

    duration_s: float
    sample_rate: int
    channels: int
    format: str


def probe_audio(file: BinaryIO) -> AudioInfo:
    """Return the declared properties of an open audio file.

    The frames of a file that does not declare its length, such as an MP3 file without a header, are counted.

    Raises:
        DataError: The file is not audio of a known format, or its header is damaged.
    """
    with opened(file) as sound:
        return AudioInfo(sound.frames / sound.samplerate, sound.samplerate, sound.channels, sound.format)
