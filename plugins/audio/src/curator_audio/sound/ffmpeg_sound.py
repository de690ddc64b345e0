"""Decode recordings that libsndfile cannot, with FFmpeg (PyAV): from an open file, in a format that is known before."""

from __future__ import annotations

import io
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import av
import numpy as np

from curator_audio.sound.formats import behind_id3
from curator_audio.sound.timeline import Timeline, samples_in
from curator_core.sdk import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from av.audio.frame import AudioFrame
    from av.audio.stream import AudioStream
    from av.container import InputContainer
    from av.packet import Packet

    from curator_audio.sound.formats import FileFormat
    from curator_audio.sound.opening import Samples

__all__ = ["open_ffmpeg"]

_MAX_STREAMS: Final = 64
_PREROLL_S: Final = 1.0
"""Seconds decoded before a part of a recording: most codecs, AMR above all, depend on the sound before."""
_OPUS_SAMPLES: Final = 120
"""The number of samples in a packet of Opus is a multiple of this: 2.5 ms."""
_MAX_MULTIPLES: Final = {"opus": 48, "aac": 2, "mp3": 1}
"""How many such parts a packet may hold: 120 ms of Opus; AAC has two at the doubled sample rate of HE-AAC."""
_COUNTING: Final = frozenset({"mp3", "aac", "amr"})
"""Demuxers that make time stamps by counting samples, and find any of them again."""
_FAR_AWAY: Final = 2**60
_MISSING_S: Final = 0.1
"""How much less than expected may be decoded, where the length is not exact."""
_ERRORS: Final = (av.FFmpegError, ValueError, UnicodeError, OverflowError)
_WIDE_BYTES: Final = 3


@contextmanager
def open_ffmpeg(file: BinaryIO, kind: FileFormat) -> Iterator[_FfmpegSound]:
    """Open the first sound track of a recording, and always close it.

    FFmpeg gets an open file and the format that its first bytes name, so that it looks for no other and opens none.

    Args:
        file: The file.
        kind: Its format.

    Raises:
        DataError: It cannot be opened or decoded, or holds no sound; also raised for errors inside the block.
    """
    _quieten()
    sound = None
    try:
        sound = _FfmpegSound(file, kind)
        yield sound
    except _ERRORS as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        what = "cannot be opened as audio" if sound is None else "is damaged"
        raise DataError(f"the file {what}: {reason}") from error
    finally:
        if sound is not None:
            sound.close()


def _quieten() -> None:
    """Log to the terminal by FFmpeg's own means, and fatal errors only: PyAV's takes the GIL from FFmpeg's threads."""
    av.logging.restore_default_callback()
    av.logging.set_libav_level(av.logging.FATAL)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A packet, and where its samples lie.

    Args:
        packet: The packet.
        start: Its first sample; None where only decoding tells.
        count: Its samples.
        heard: How many of them are no padding.
        is_last: Whether no other follows.
    """

    packet: Packet[AudioStream]
    start: int | None = None
    count: int = 0
    heard: int = 0
    is_last: bool = False


class _FfmpegSound:
    """The first sound track of a recording.

    Its first sample is the first that the file means to be heard: the delay of the encoder is left out, and so is the
    padding at the end. Where time stamps jump, there is silence.

    Args:
        file: The file.
        kind: Its format.

    Raises:
        DataError: It holds no sound, or sound in an unknown codec.
    """

    def __init__(self, file: BinaryIO, kind: FileFormat) -> None:
        self._file, self._kind = file, kind
        self._position: int
        self._held: tuple[int, Samples] | None
        self._pieces: Iterator[tuple[int, Samples]]
        self._zero: int | None = None
        self._start()
        context = self._stream.codec_context
        self.samplerate: int = context.sample_rate
        self.channels: int = context.channels
        self.format = kind.name
        self.is_float = context.format.name.startswith(("flt", "dbl"))
        self.is_wide = bool(context.codec.lossless and context.format.bytes >= _WIDE_BYTES)
        self.frames = self._count()

    def close(self) -> None:
        self._container.close()

    def seek(self, frame: int) -> None:
        begin = frame - round(_PREROLL_S * self.samplerate)
        is_far = not self._position <= frame <= self._position + 2 * _PREROLL_S * self.samplerate
        if is_far and begin > 0 and self._can_seek:
            self._start_from(begin)
        elif frame < self._position:
            self._restart()
        self._position = frame

    def read(self, frames: int) -> Samples:
        parts = [np.zeros((0, self.channels), np.float32)]
        end = self._position + frames
        while self._position < end:
            piece = self._held or next(self._pieces, None)
            if piece is None:
                self._check_end()
                break
            self._held = None
            start, samples = piece
            if start > self._position:  # a jump in the time stamps
                parts.append(np.zeros((min(start, end) - self._position, self.channels), np.float32))
                self._held = piece
            else:
                parts.append(samples[self._position - start : end - start])
                if start + len(samples) > end:
                    self._held = piece
            self._position += len(parts[-1])
        return np.concatenate(parts)

    def _start(self) -> None:
        """Open the file at its beginning."""
        self._file.seek(0)
        self._container: InputContainer = av.open(
            self._file,
            mode="r",
            format=self._kind.demuxer,
            options={"protocol_whitelist": "none"},
            metadata_errors="replace",
        )
        try:
            self._stream = _sound_track(self._container)
        except DataError:
            self.close()
            raise
        self._per_unit = (self._stream.time_base or Fraction(1, av.time_base)) * self._stream.codec_context.sample_rate
        self._position, self._held = 0, None
        self._pieces = self._decoded()

    def _restart(self) -> None:
        self.close()
        self._start()

    def _start_from(self, frame: int) -> None:
        """Go to a packet at or before a sample."""
        if self._zero is None:
            self._restart()
            next((placed for placed in self._placed() if self._zero is not None), None)
        zero = self._zero or 0
        self._container.seek(int((frame + zero) / self._per_unit), stream=self._stream, backward=True)
        self._held = None
        self._pieces = self._decoded(zero=zero)

    @property
    def _can_seek(self) -> bool:
        """Whether the time stamp of a packet tells to the sample where it lies, wherever reading begins."""
        return self._kind.demuxer in _COUNTING or (self._kind.demuxer == "mov" and self._has_exact_times)

    def _count(self) -> int:
        """Return the number of samples, counted without decoding: by the last packet, where its time tells."""
        end = 0
        for placed in self._placed(decodes=False):
            end = max(end, (placed.start or 0) + placed.heard)
            if self._can_seek and self._zero is not None:
                break
        if self._can_seek and self._zero is not None:
            with suppress(av.FFmpegError):  # the last packet can only be reached through all others
                self._container.seek(_FAR_AWAY, stream=self._stream, backward=True)
            for placed in self._placed(zero=self._zero, decodes=False):
                end = max(end, (placed.start or 0) + placed.heard)
        self._restart()
        return end

    def _check_end(self) -> None:
        if self._position < self.frames - _MISSING_S * self.samplerate:
            raise DataError(f"the file is damaged: {self._position:,} samples can be decoded of {self.frames:,}")

    def _decoded(self, *, zero: int | None = None) -> Iterator[tuple[int, Samples]]:
        """Yield pieces of sound with their places, in order, from a little before the position on."""
        timeline = Timeline(self._per_unit)
        is_midway = zero is not None
        for placed in self._placed(zero=zero):
            begin = self._position - round(_PREROLL_S * self.samplerate)
            if placed.start is None:
                for frame in self._frames(placed):
                    samples = self._samples(frame)
                    yield from self._wanted(timeline.place(frame.pts, len(samples)), samples)
            elif placed.start + placed.count <= begin:
                is_midway = True
            else:
                end = placed.start + placed.count
                is_lead_in = is_midway and end <= self._position
                parts = [self._samples(frame) for frame in self._frames(placed, is_lead_in=is_lead_in)]
                if parts and end > 0:
                    samples = parts[0] if len(parts) == 1 else np.concatenate(parts)
                    # FFmpeg has cut off what lies before the first sample, but not always what lies behind the last.
                    samples = samples[-end:] if placed.start < 0 else samples
                    start = max(placed.start, 0)
                    if placed.heard < placed.count or placed.is_last:
                        samples = samples[: max(0, placed.start + placed.heard - start)]
                    yield from self._wanted(start, samples)

    def _wanted(self, start: int, samples: Samples) -> Iterator[tuple[int, Samples]]:
        if start + len(samples) > self._position:
            yield start, samples

    def _frames(self, placed: _Placed, *, is_lead_in: bool = False) -> list[AudioFrame]:
        """Decode a packet. One before the wanted sound may fail: earlier packets that it depends on are missing."""
        try:
            return _without_tag(placed.packet).decode() if self._kind.demuxer == "mp3" else placed.packet.decode()
        except av.FFmpegError:
            if is_lead_in:
                return []
            raise

    def _samples(self, frame: AudioFrame) -> Samples:
        """Return the samples of a frame, (frames, channels).

        Raises:
            DataError: The sample rate or the channels are not those at the beginning of the file.
        """
        if frame.sample_rate != self.samplerate or frame.layout.nb_channels != self.channels:
            raise DataError(
                f"the file changes to {frame.sample_rate:,} Hz and {frame.layout.nb_channels} channels, from "
                f"{self.samplerate:,} and {self.channels}"
            )
        values: Any = frame.to_ndarray()
        values = values.T if frame.format.is_planar else values.reshape(-1, self.channels)
        if values.dtype.kind == "f":
            return np.asarray(values, np.float32)
        zero = 128 if values.dtype == np.uint8 else 0
        return np.asarray((values.astype(np.float32) - zero) / 2 ** (8 * values.itemsize - 1), np.float32)

    def _placed(self, *, zero: int | None = None, decodes: bool = True) -> Iterator[_Placed]:
        """Yield the packets with their places; without those where each packet must be decoded to know them.

        Args:
            zero: Where the recording begins on the scale of time stamps, where reading does not begin there.
            decodes: Whether they are going to be decoded. Otherwise, places are as exact as time stamps are.

        Raises:
            DataError: A packet is damaged.
        """
        quantum = self._quantum()
        timeline = None if zero is None else Timeline(self._per_unit, zero=zero)
        delay = count = 0
        last: _Placed | None = None
        for packet in self._container.demux(self._stream):
            if packet.is_corrupt:
                raise DataError("a packet of the file is damaged or cut off")
            if not packet.size or (quantum is None and decodes):
                if last is not None:
                    yield self._shortened(last)
                    last = None
                yield _Placed(packet)
                continue
            if last is not None:
                yield last
                last = None
            skipped, unheard = _skipped(packet)
            last_count, count = count, self._length(packet, quantum or 1)
            if unheard:  # of the last packet, some formats only give the duration of what is heard
                count = max(count, last_count)
            if timeline is None:
                delay = max(delay, skipped)
                if packet.is_discard:  # the beginning lies further on, and this is decoded for what follows only
                    delay = max(0, delay - count)
                    yield _Placed(packet, -count, count)
                    continue
                timeline = Timeline(self._per_unit, start=-delay)
            if packet.is_discard:
                yield _Placed(packet, timeline.end)
                continue
            last = _Placed(packet, timeline.place(packet.pts, count), count, count - unheard)
            self._zero = timeline.zero if self._zero is None else self._zero

    def _shortened(self, last: _Placed) -> _Placed:
        """Return the last packet without its padding, where the file gives the exact duration of the sound."""
        heard = self._samples_in(last.packet.duration or 0)
        if self._has_exact_times and 0 < heard <= last.count:
            return replace(last, heard=min(last.heard, heard), is_last=True)
        return last

    def _quantum(self) -> int | None:
        """Return the number that the samples in a packet are a multiple of; None where only decoding shows it."""
        context = self._stream.codec_context
        if context.codec.canonical_name == "opus":
            return _OPUS_SAMPLES
        return context.frame_size or (1 if self._has_exact_times else None)

    def _length(self, packet: Packet[AudioStream], quantum: int) -> int:
        """Return the samples in a packet; its duration may also hold a gap behind it."""
        multiple = (2 * self._samples_in(packet.duration or 0) + quantum) // (2 * quantum)
        max_multiple = _MAX_MULTIPLES.get(self._stream.codec_context.codec.canonical_name)
        return quantum * (1 if max_multiple is not None and multiple > max_multiple else max(1, multiple))

    @property
    def _has_exact_times(self) -> bool:
        """Whether time stamps count samples."""
        return self._per_unit.denominator == 1

    def _samples_in(self, units: int) -> int:
        return samples_in(units, self._per_unit)


def _sound_track(container: InputContainer) -> AudioStream:
    """Return the first sound track."""
    if len(container.streams) > _MAX_STREAMS:
        raise DataError(f"the file has {len(container.streams)} streams, more than {_MAX_STREAMS}")
    if not container.streams.audio:
        raise DataError("the file has no sound track")
    stream = container.streams.audio[0]
    if stream.codec_context is None or stream.codec_context.sample_rate <= 0:
        raise DataError("the sound track has an unknown codec, or no sample rate")
    if stream.codec_context.codec.canonical_name == "flac":
        stream.codec_context.options = {"err_detect": "crccheck+explode"}  # the one codec here that has checksums
    return stream


def _skipped(packet: Packet[AudioStream]) -> tuple[int, int]:
    """Return how many samples at the beginning of a packet, and of those behind it, and at its end are not heard."""
    if not packet.has_sidedata("skip_samples"):
        return 0, 0
    data = bytes(packet.get_sidedata("skip_samples"))
    return int.from_bytes(data[:4], "little"), int.from_bytes(data[4:8], "little")


def _without_tag(packet: Packet[AudioStream]) -> Packet[AudioStream]:
    """Return a packet without the ID3 tag that another file, appended to the first, begins with."""
    if not packet.size or bytes(memoryview(packet)[:3]) != b"ID3":
        return packet
    content = bytes(packet)
    bare: Packet[Any] = av.Packet(content[behind_id3(io.BytesIO(content)) :])
    bare.stream, bare.pts, bare.dts = packet.stream, packet.pts, packet.dts
    return bare
