"""Encode samples as files in memory."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Literal, TypeAlias

import soundfile

from curator_audio.sound.decoding import blocks_of
from curator_audio.sound.opening import opened
from curator_core.sdk import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from curator_audio.audio_info import AudioInfo
    from curator_audio.sound.decoding import Span
    from curator_audio.sound.limits import AudioLimits
    from curator_audio.sound.opening import Samples
    from curator_audio.sound.source import Clip

__all__ = ["AudioFormat", "Subtype", "cut", "encode", "fits_flac"]

AudioFormat: TypeAlias = Literal["wav", "flac"]
Subtype: TypeAlias = Literal["PCM_16", "PCM_24", "FLOAT"]

_FLAC_CHANNELS = 8
_FLAC_RATE = 655_350


def encode(
    blocks: Iterable[Samples], *, rate: int, channels: int, file_format: AudioFormat, subtype: Subtype = "PCM_16"
) -> tuple[bytes, int]:
    """Return an encoded file, and the number of its frames.

    >>> import numpy as np
    >>> content, frames = encode([np.zeros((80, 1), np.float32)], rate=8_000, channels=1, file_format="wav")
    >>> content[:4], frames
    (b'RIFF', 80)

    Raises:
        DataError: The format cannot hold so many channels, or such a sample rate.
    """
    if file_format == "flac" and not (channels <= _FLAC_CHANNELS and rate <= _FLAC_RATE):
        raise DataError(
            f"FLAC holds {_FLAC_CHANNELS} channels and {_FLAC_RATE:,} Hz at most, not {channels} and {rate:,}; use WAV"
        )
    buffer = io.BytesIO()
    frames = 0
    with soundfile.SoundFile(
        buffer, "w", samplerate=rate, channels=channels, format=file_format.upper(), subtype=subtype
    ) as sound:
        for block in blocks:
            sound.write(block)
            frames += len(block)
    return buffer.getvalue(), frames


def fits_flac(info: AudioInfo) -> bool:
    """Return whether FLAC can hold a recording as it is."""
    return info.channels <= _FLAC_CHANNELS and info.sample_rate <= _FLAC_RATE


def cut(clip: Clip, spans: Iterable[Span], limits: AudioLimits, *, file_format: AudioFormat) -> Iterator[bytes]:
    """Yield parts of a recording as files of their own, with its sample rate and channels.

    They have 16 bits a sample, or 24 where the recording has more than 16. Parts in order are cut in one go, and each
    only when it is asked for.

    Raises:
        DataError: The recording cannot be decoded, a span is not inside it, or it is longer than the limit.
    """
    with clip.open() as file, opened(file) as sound:
        for span in spans:
            start, end = span.frames(sound)
            frames = (sound.frames if end is None else end) - start
            limits.check(frames=frames, rate=sound.samplerate, channels=sound.channels)
            content, _ = encode(
                blocks_of(sound, limits, span=span),
                rate=sound.samplerate,
                channels=sound.channels,
                file_format=file_format,
                subtype="PCM_24" if sound.is_wide else "PCM_16",
            )
            yield content
