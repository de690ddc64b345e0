"""Decode recordings in blocks, so that memory never depends on the length that a file declares."""

from __future__ import annotations

import itertools
import math
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
import soxr

from curator_audio.sound.integrity import check_whole
from curator_audio.sound.opening import opened
from curator_core.sdk import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from curator_audio.sound.limits import AudioLimits
    from curator_audio.sound.opening import Samples, Sound

__all__ = [
    "SPEECH_RATE",
    "Channel",
    "Span",
    "blocks_of",
    "check_channel",
    "decode_mono",
    "joined",
    "mono_blocks",
    "one_channel",
    "open_sound",
    "resampled",
]

Channel: TypeAlias = Literal["mean", "left", "right"] | int
"""Which channel is heard: the mean of all, or one by its name or number, counted from 0."""

SPEECH_RATE: Final = 16_000
"""Sample rate at which speech is looked at: that of the models, and all filters share one decoding at it."""

_BLOCK_SAMPLES: Final = 2**20
_TOLERANCE_S: Final = 0.1
_NUMBERS: Final = {"left": 0, "right": 1}


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a recording.

    Args:
        start_s: Where it begins, in seconds.
        end_s: Where it ends; None for the end of the recording.
    """

    start_s: float = 0.0
    end_s: float | None = None

    def frames(self, sound: Sound) -> tuple[int, int | None]:
        """Return its first frame in an open recording, and the first one behind it; None where that is the end.

        Raises:
            DataError: It is not inside the recording.
        """
        self.check(sound.frames / sound.samplerate)
        end = None if self.end_s is None else round(self.end_s * sound.samplerate)
        return round(self.start_s * sound.samplerate), end

    def check(self, duration_s: float) -> None:
        """Refuse a span that is not inside a recording, but for a tenth of a second: manifests have rounded numbers.

        Raises:
            DataError: The span is not inside the recording.
        """
        end = duration_s if self.end_s is None else self.end_s
        if not 0 <= self.start_s <= end <= duration_s + _TOLERANCE_S:
            raise DataError(f"{self.start_s:g} to {end:g} s is not inside the {duration_s:g} s of the recording")


@contextmanager
def open_sound(file: BinaryIO, limits: AudioLimits, *, span: Span | None = None) -> Iterator[Sound]:
    """Open a recording, checked against the limits; a whole one also for being whole.

    Raises:
        DataError: It is not audio of a known format, is damaged, or declares more than a limit allows; also raised for
            errors inside the block.
    """
    with opened(file) as sound:
        start, end = (span or Span()).frames(sound)
        frames = (sound.frames if end is None else end) - start
        limits.check(frames=frames, rate=sound.samplerate, channels=sound.channels)
        if span is None:
            check_whole(file, sound.format)
        yield sound


def blocks_of(sound: Sound, limits: AudioLimits, *, span: Span | None = None) -> Iterator[Samples]:
    """Yield the samples of an open recording, (frames, channels) from -1 to 1, a few megabytes at a time.

    Decoding reads the actual samples, independent of the declared length. Samples of float formats beyond that range
    are clipped.

    Raises:
        DataError: The recording is shorter than declared, longer than the limit, or holds values that are not numbers.
    """
    start, end = (span or Span()).frames(sound)
    max_frames = math.ceil(limits.max_duration_s * sound.samplerate)
    step = max(1, _BLOCK_SAMPLES // sound.channels)
    done = 0
    if span is not None:
        sound.seek(start)
    while end is None or done < end - start:
        wanted = step if end is None else min(step, end - start - done)
        block = sound.read(wanted)
        done += len(block)
        if done > max_frames:
            limits.check(frames=done, rate=sound.samplerate, channels=sound.channels)
        if not np.isfinite(block.sum(dtype=np.float64)):
            raise DataError("the recording holds samples that are not numbers (NaN or infinite)")
        if len(block):
            yield np.clip(block, -1, 1, out=block) if sound.is_float else block
        if len(block) < wanted:
            return


def mono_blocks(
    file: BinaryIO, rate: int, limits: AudioLimits, *, span: Span | None = None, channel: Channel = "mean"
) -> Iterator[Samples]:
    """Yield a recording as one channel at a sample rate, a few megabytes at a time.

    Raises:
        DataError: The recording cannot be decoded, or has no such channel.
    """
    with open_sound(file, limits, span=span) as sound:
        blocks = (one_channel(block, channel) for block in blocks_of(sound, limits, span=span))
        yield from blocks if sound.samplerate == rate else resampled(blocks, sound.samplerate, rate)


def decode_mono(
    file: BinaryIO, rate: int, limits: AudioLimits, *, span: Span | None = None, channel: Channel = "mean"
) -> Samples:
    """Return a recording as one channel at a sample rate.

    >>> import io
    >>> import soundfile
    >>> from curator_audio.sound.limits import AudioLimits
    >>> recording = io.BytesIO()
    >>> soundfile.write(recording, np.zeros((8_000, 2)), 8_000, format="FLAC")
    >>> decode_mono(recording, 16_000, AudioLimits()).shape
    (16000,)

    Raises:
        DataError: The recording cannot be decoded, or has no such channel.
    """
    return joined(list(mono_blocks(file, rate, limits, span=span, channel=channel)))


def joined(blocks: Sequence[Samples]) -> Samples:
    """Return blocks of one channel as one."""
    return blocks[0] if len(blocks) == 1 else np.concatenate([np.zeros(0, np.float32), *blocks])


def check_channel(stage: str, channel: Channel) -> None:
    """Refuse the number of a channel that no recording has.

    Raises:
        ConfigError: It is negative.
    """
    if isinstance(channel, int) and channel < 0:
        raise ConfigError(f"{stage}: channel must be at least 0, got {channel}", fix="channels are counted from 0")


def one_channel(block: Samples, channel: Channel = "mean") -> Samples:
    """Return one channel of a block, or the mean of all. ``mean(axis=1)`` takes longer than decoding and resampling.

    >>> block = np.array([[0.5, 0.0], [-1.0, 1.0]], np.float32)
    >>> one_channel(block).tolist(), one_channel(block, "right").tolist()
    ([0.25, 0.0], [0.0, 1.0])

    Raises:
        DataError: The recording has no such channel.
    """
    first, *others = block.T
    if channel != "mean":
        number = _NUMBERS[channel] if isinstance(channel, str) else channel
        if number >= len(block.T):
            raise DataError(f"there is no channel {channel!r} (counted from 0): the recording has {len(block.T)}")
        return np.ascontiguousarray(block[:, number])
    total: Samples = first if not others else first.copy()
    for each in others:
        total += each
    if others:
        total *= np.float32(1 / block.shape[1])
    return total


def resampled(blocks: Iterator[Samples], rate: int, new_rate: int) -> Iterator[Samples]:
    """Yield blocks of samples, of one or of several channels, at another sample rate."""
    first = next(blocks, None)
    if first is None:
        return
    second = next(blocks, None)
    if second is None:  # most recordings are one block, for which a stream would only cost more
        yield soxr.resample(first, rate, new_rate)
        return
    stream = soxr.ResampleStream(rate, new_rate, 1 if first.ndim == 1 else first.shape[1], dtype="float32")
    yield stream.resample_chunk(first)
    for block in itertools.chain([second], blocks):
        yield stream.resample_chunk(block)
    yield stream.resample_chunk(first[:0], last=True)
