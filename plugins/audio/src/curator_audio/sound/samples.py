"""The samples of a batch, decoded once for all filters of a step.

The first stage that asks decodes a row; the next ones find its samples as long as they run in the same process on what
is left of the same batch, and as long as there is room. Samples that do not fit are decoded again.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

import polars as pl

from curator_audio.sound.decoding import SPEECH_RATE, joined, mono_blocks
from curator_core.sdk import DataError, RowFile, derived

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_audio.sound.opening import Samples
    from curator_audio.sound.source import AudioSource, Clip
    from curator_core.sdk import TableBatch

__all__ = ["RETAINED_BYTES", "mono_samples", "streamed_samples"]

RETAINED_BYTES: Final = 256 * 2**20
"""Maximum number of samples that a process keeps for later stages."""
_STREAMED_BYTES: Final = 64 * 2**20
"""Maximum number of samples that are kept of a recording that is heard in blocks: 17 minutes at 16 kHz."""


def mono_samples(
    batch: TableBatch, source: AudioSource, *, rate: int = SPEECH_RATE
) -> Iterator[Samples | DataError | None]:
    """Yield each row's samples, as one channel; None where it has no sound, and the error where it is unreadable."""
    for clip, row in _rows(batch, source, rate):
        yield None if clip is None else _samples_of(clip, row, source, rate)


def streamed_samples(
    batch: TableBatch, source: AudioSource, *, rate: int = SPEECH_RATE
) -> Iterator[Iterator[Samples] | None]:
    """Yield each row's samples, as one channel, in blocks; None where it has no sound.

    The blocks raise a DataError where the row is unreadable. However long a recording is, few of them are held.
    """
    for clip, row in _rows(batch, source, rate):
        yield None if clip is None else _streamed(clip, row, source, rate)


class _Row:
    """The cached state of a row: which sound it is, and its samples while there is room for them."""

    __slots__ = ("__weakref__", "origin", "samples")

    def __init__(self) -> None:
        self.origin: object = None
        self.samples: Samples | None = None


class _Room:
    """The memory for samples: rows are kept until they are collected with their table, or displaced by later ones."""

    def __init__(self, size_bytes: int) -> None:
        self._size_bytes = size_bytes
        self._used_bytes = 0
        self._rows: OrderedDict[int, tuple[weakref.ref[_Row], int]] = OrderedDict()
        self._lock = threading.RLock()  # a row may be collected, and forgotten, while another is kept

    def keep(self, row: _Row, origin: object, samples: Samples) -> None:
        if samples.nbytes > self._size_bytes:
            return
        number = id(row)
        with self._lock:
            self._forget(number)
            row.origin, row.samples = origin, samples
            self._rows[number] = (weakref.ref(row, lambda _: self._forget(number)), samples.nbytes)
            self._used_bytes += samples.nbytes
            while self._used_bytes > self._size_bytes:
                oldest = next(iter(self._rows))
                displaced = self._rows[oldest][0]()
                if displaced is not None:
                    displaced.samples = None
                self._forget(oldest)

    def _forget(self, number: int) -> None:
        with self._lock:
            _, size_bytes = self._rows.pop(number, (None, 0))
            self._used_bytes -= size_bytes


_room = _Room(RETAINED_BYTES)


def _empty_rows(count: int) -> pl.DataFrame:
    return pl.DataFrame({"row": pl.Series([_Row() for _ in range(count)], dtype=pl.Object)})


def _rows(batch: TableBatch, source: AudioSource, rate: int) -> Iterator[tuple[Clip | None, _Row]]:
    clips = source.clips(batch)
    key = ("audio.samples", rate, source.bytes_column is None, source.limits, source.channel)
    rows = derived(batch.data, source.column, key, lambda: _empty_rows(len(clips)))["row"]
    return zip(clips, rows, strict=True)


def _samples_of(clip: Clip, row: _Row, source: AudioSource, rate: int) -> Samples | DataError:
    try:
        samples = joined(list(_streamed(clip, row, source, rate, retains=False)))
    except DataError as error:
        return error
    _keep(clip, row, samples)
    return samples


def _streamed(clip: Clip, row: _Row, source: AudioSource, rate: int, *, retains: bool = True) -> Iterator[Samples]:
    """Yield the samples of a row that are known, or decode them, and keep them unless they are too many."""
    known = row.samples
    if known is not None and row.origin == _origin(clip):
        yield known
        return
    held: list[Samples] = []
    held_bytes = 0
    with clip.open() as file:
        for block in mono_blocks(file, rate, source.limits, span=clip.span, channel=source.channel):
            held_bytes += block.nbytes
            if retains and held_bytes <= _STREAMED_BYTES:
                held.append(block)
            else:
                held.clear()
            yield block
    if held:
        _keep(clip, row, joined(held))


def _keep(clip: Clip, row: _Row, samples: Samples) -> None:
    if row.samples is not samples:
        samples.flags.writeable = False  # it is shared with the stages behind this one
        _room.keep(row, _origin(clip), samples)


def _origin(clip: Clip) -> object:
    return (clip.content if isinstance(clip.content, RowFile) else None, clip.span)
