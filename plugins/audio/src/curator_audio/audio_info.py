"""Ask an audio file what it holds, without decoding a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

import soundfile

from curator_audio.sound.decoding import unreadable
from curator_core.errors import DataError

__all__ = ["EXTENSIONS", "AudioInfo", "probe_audio"]

EXTENSIONS = (".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aiff", ".aif", ".au", ".caf", ".w64", ".rf64")
"""What files in a folder are taken for audio: those libsndfile can decode."""


@dataclass(frozen=True)
class AudioInfo:
    """What an audio file says about itself.

    Args:
        duration_s: Seconds of sound.
        sample_rate: Samples per second, in each channel.
        channels: Number of channels.
        format: libsndfile's name of the format: ``WAV``, ``FLAC``, ``OGG``, …
    """

    duration_s: float
    sample_rate: int
    channels: int
    format: str


def probe_audio(file: BinaryIO) -> AudioInfo:
    """Return what an open audio file says about itself.

    Raises:
        DataError: The file is not audio of a known format, or its header is damaged.
    """
    try:
        with soundfile.SoundFile(file) as sound:
            if sound.samplerate <= 0 or sound.channels <= 0:
                raise DataError("the file cannot be opened as audio: its header gives no sample rate or channels")
            return AudioInfo(sound.frames / sound.samplerate, sound.samplerate, sound.channels, sound.format)
    except (soundfile.SoundFileError, RuntimeError, ValueError, TypeError) as error:
        raise unreadable(file, error) from error
