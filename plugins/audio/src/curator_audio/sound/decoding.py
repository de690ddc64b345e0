"""Decode recordings, in blocks, so that what a file claims never decides how much memory is taken."""

from __future__ import annotations

import itertools
import math
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import soundfile
import soxr

from curator_audio.sound.foreign_formats import HEAD_BYTES, foreign_format
from curator_audio.sound.integrity import check_whole
from curator_core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO, TypeAlias

    from numpy.typing import NDArray

    from curator_audio.sound.limits import AudioLimits

    Samples: TypeAlias = NDArray[np.float32]

__all__ = ["SPEECH_RATE", "Span", "blocks_of", "decode_mono", "mixed", "open_sound", "resampled", "unreadable"]

SPEECH_RATE: Final = 16_000
"""Sample rate at which speech is looked at: that of the models, and all filters share one decoding at it."""

_BLOCK_SAMPLES: Final = 2**20
_TOLERANCE_S: Final = 0.1
_FLOATS: Final = frozenset({"FLOAT", "DOUBLE"})


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a recording.

    Args:
        start_s: Where it begins, in seconds.
        end_s: Where it ends; None for the end of the recording.
    """

    start_s: float = 0.0
    end_s: float | None = None

    def frames(self, sound: Any) -> tuple[int, int]:
        """Return its first frame in an open recording, and the first one behind it.

        Raises:
            DataError: It is not inside the recording.
        """
        self.check(sound.frames / sound.samplerate)
        start = round(self.start_s * sound.samplerate)
        end = sound.frames if self.end_s is None else round(self.end_s * sound.samplerate)
        return min(start, sound.frames), min(end, sound.frames)

    def check(self, duration_s: float) -> None:
        """Refuse a span that is not inside a recording, but for a tenth of a second: manifests have rounded numbers.

        Raises:
            DataError: Says what is asked for and what there is.
        """
        end = duration_s if self.end_s is None else self.end_s
        if not 0 <= self.start_s <= end <= duration_s + _TOLERANCE_S:
            raise DataError(f"{self.start_s:g} to {end:g} s is not inside the {duration_s:g} s of the recording")


@contextmanager
def open_sound(file: BinaryIO, limits: AudioLimits, *, span: Span | None = None) -> Iterator[Any]:
    """Open a recording, checked against the limits; a whole one also for being whole.

    Raises:
        DataError: It is not audio of a known format, is damaged, or claims to be beyond a limit; also raised for what
            goes wrong inside the block.
    """
    file.seek(0)
    try:
        with soundfile.SoundFile(file) as sound:
            start, end = (span or Span()).frames(sound)
            limits.check(frames=end - start, rate=sound.samplerate, channels=sound.channels)
            if span is None:
                check_whole(file, sound.format)
            else:
                sound.seek(start)
            yield sound
    except DataError:
        raise
    except (soundfile.SoundFileError, RuntimeError, ValueError, TypeError) as error:
        raise unreadable(file, error) from error


def blocks_of(sound: Any, limits: AudioLimits, *, span: Span | None = None) -> Iterator[Samples]:
    """Yield the samples of an open recording, (frames, channels) from -1 to 1, a few megabytes at a time.

    Samples of float formats beyond that range are clipped.

    Raises:
        DataError: The recording is shorter than it says, longer than the limit, or holds what is not a number.
    """
    start, end = (span or Span()).frames(sound)
    most = math.ceil(limits.max_duration_s * sound.samplerate)
    step = max(1, _BLOCK_SAMPLES // sound.channels)
    done = 0
    while done < end - start:
        wanted = min(step, end - start - done)
        block = sound.read(wanted, dtype="float32", always_2d=True)
        done += len(block)
        if len(block) < wanted:  # also where an MP3 file goes on behind a break, with sound of another format
            raise DataError(f"the file is damaged: {done:,} samples can be decoded of {end - start:,}")
        if done > most:
            limits.check(frames=done, rate=sound.samplerate, channels=sound.channels)
        if not np.isfinite(block.sum(dtype=np.float64)):
            raise DataError("the recording holds samples that are not numbers (NaN or infinite)")
        yield np.clip(block, -1, 1, out=block) if sound.subtype in _FLOATS else block


def decode_mono(file: BinaryIO, rate: int, limits: AudioLimits, *, span: Span | None = None) -> Samples:
    """Return a recording as one channel, the mean of all, at a sample rate.

    >>> import io
    >>> from curator_audio.sound.limits import AudioLimits
    >>> recording = io.BytesIO()
    >>> soundfile.write(recording, np.zeros((8_000, 2)), 8_000, format="FLAC")
    >>> decode_mono(recording, 16_000, AudioLimits()).shape
    (16000,)

    Raises:
        DataError: The recording cannot be decoded.
    """
    with open_sound(file, limits, span=span) as sound:
        blocks: Iterator[Samples] = map(mixed, blocks_of(sound, limits, span=span))
        if sound.samplerate != rate:
            blocks = resampled(blocks, sound.samplerate, rate)
        pieces = list(blocks)
    return pieces[0] if len(pieces) == 1 else np.concatenate([np.zeros(0, np.float32), *pieces])


def mixed(block: Samples) -> Samples:
    """Return one channel, the mean of all in a block. ``mean(axis=1)`` takes longer than decoding and resampling.

    >>> mixed(np.array([[0.5, 0.0], [-1.0, 1.0]], np.float32)).tolist()
    [0.25, 0.0]
    """
    first, *others = block.T
    total: Samples = first if not others else first.copy()
    for channel in others:
        total += channel
    if others:
        total *= np.float32(1 / block.shape[1])
    return total


def resampled(blocks: Iterator[Samples], rate: int, new_rate: int) -> Iterator[Samples]:
    """Yield blocks of samples, of one or of several channels, at another sample rate."""
    first = next(blocks, None)
    if first is None:
        return
    second = next(blocks, None)
    if second is None:  # most recordings are one block, for which the stream would only be dearer
        yield soxr.resample(first, rate, new_rate)
        return
    stream = soxr.ResampleStream(rate, new_rate, 1 if first.ndim == 1 else first.shape[1], dtype="float32")
    yield stream.resample_chunk(first)
    for block in itertools.chain([second], blocks):
        yield stream.resample_chunk(block)
    yield stream.resample_chunk(first[:0], last=True)


def unreadable(file: BinaryIO, error: Exception) -> DataError:
    """Return the error to report for a file that libsndfile refused."""
    try:
        file.seek(0)
        foreign = foreign_format(file.read(HEAD_BYTES))
    except (OSError, ValueError):
        foreign = None
    if foreign is not None:
        return DataError(
            f"{foreign} files cannot be opened as audio here; convert them to FLAC or WAV first, or read them with "
            "video.read and take the sound with video.extract_audio"
        )
    reason = getattr(error, "error_string", None) or error
    return DataError(f"the file cannot be opened as audio: {reason}")
