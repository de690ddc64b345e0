"""Open a recording with the library that reads it to its end: libsndfile, or FFmpeg for other formats."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

import soundfile

from curator_audio.sound.formats import FileFormat, file_format
from curator_audio.sound.mp3_length import states_length
from curator_core.sdk import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Samples: TypeAlias = NDArray[np.float32]

__all__ = ["Sound", "opened"]

_FLOATS: Final = frozenset({"FLOAT", "DOUBLE"})
_WIDE: Final = frozenset({"PCM_24", "PCM_32", *_FLOATS})
_MP3: Final = FileFormat("MP3", "mp3", "mp3")


class Sound(Protocol):
    """An open recording, at its first sample."""

    @property
    def samplerate(self) -> int:
        """Samples per second, in each channel."""

    @property
    def channels(self) -> int:
        """Number of channels."""

    @property
    def frames(self) -> int:
        """Samples in each channel. It may be some milliseconds off where only decoding tells; reading is exact."""

    @property
    def format(self) -> str:
        """Name of the file's format, such as ``WAV``, ``FLAC`` or ``MP4``."""

    @property
    def is_float(self) -> bool:
        """Whether samples may be beyond full scale."""

    @property
    def is_wide(self) -> bool:
        """Whether samples have more than 16 bits, without loss."""

    def seek(self, frame: int) -> None:
        """Go to a sample."""

    def read(self, frames: int) -> Samples:
        """Return the next samples, (frames, channels); fewer at the end of the recording only.

        Raises:
            DataError: The file is damaged.
        """


@contextmanager
def opened(file: BinaryIO) -> Iterator[Sound]:
    """Open a recording.

    Raises:
        DataError: It is not audio of a known format, or is damaged; also raised for errors inside the block.
    """
    kind = file_format(file)
    if kind is None or kind.demuxer is None:
        try:
            file.seek(0)
            with soundfile.SoundFile(file) as sound:
                if not _guesses(sound, file):
                    yield _SndfileSound(sound)
                    return
        except DataError:
            raise
        except (soundfile.SoundFileError, RuntimeError, ValueError, TypeError) as error:
            reason = getattr(error, "error_string", None) or error
            raise DataError(f"the file cannot be opened as audio: {reason}") from error
        kind = _MP3
    from curator_audio.sound.ffmpeg_sound import open_ffmpeg  # FFmpeg is only loaded for files that need it

    with open_ffmpeg(file, kind) as other:
        yield other


def _guesses(sound: soundfile.SoundFile, file: BinaryIO) -> bool:
    """Return whether libsndfile only guesses how long a recording is, and would not decode beyond that."""
    if sound.format != "MP3":
        return False
    position = file.tell()
    is_guess = not states_length(file)
    file.seek(position)
    return is_guess


class _SndfileSound:
    """A recording that libsndfile reads.

    Args:
        sound: The open file.
    """

    def __init__(self, sound: soundfile.SoundFile) -> None:
        if sound.samplerate <= 0 or sound.channels <= 0:
            raise DataError("the file cannot be opened as audio: its header gives no sample rate or channels")
        self._sound = sound
        self.samplerate: int = sound.samplerate
        self.channels: int = sound.channels
        self.frames: int = sound.frames
        self.format: str = sound.format
        self.is_float = sound.subtype in _FLOATS
        self.is_wide = sound.subtype in _WIDE
        self._position = 0

    def seek(self, frame: int) -> None:
        self._position = min(frame, self.frames)
        self._sound.seek(self._position)

    def read(self, frames: int) -> Samples:
        wanted = min(frames, self.frames - self._position)
        block: Samples = self._sound.read(wanted, dtype="float32", always_2d=True)
        self._position += len(block)
        if len(block) < wanted:  # also where an MP3 file continues behind a break, with sound of another format
            raise DataError(f"the file is damaged: {self._position:,} samples can be decoded of {self.frames:,}")
        return block
