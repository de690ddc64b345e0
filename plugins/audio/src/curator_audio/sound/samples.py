"""The samples of a batch, decoded once for all filters of a step.

The first stage that asks decodes a row; the next ones find its samples as long as they run in the same process on what
is left of the same batch, and as long as there is room. What does not fit is decoded again.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

import polars as pl

from curator_audio.sound.decoding import SPEECH_RATE, decode_mono
from curator_core.derived import derived
from curator_core.errors import DataError
from curator_core.io.row_files import RowFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_audio.sound.decoding import Samples
    from curator_audio.sound.source import AudioSource, Clip
    from curator_core.tasks import TableBatch

__all__ = ["RETAINED_BYTES", "mono_samples"]

RETAINED_BYTES: Final = 256 * 2**20
"""Most samples that a process keeps for later stages."""


def mono_samples(
    batch: TableBatch, source: AudioSource, *, rate: int = SPEECH_RATE
) -> Iterator[Samples | DataError | None]:
    """Yield each row's samples, as one channel; None where it has no sound, and the error where it is unreadable."""
    clips = source.clips(batch)
    key = ("audio.samples", rate, source.bytes_field is None, source.limits)
    rows = derived(batch.data, source.column, key, lambda: _empty_rows(len(clips)))["row"]
    for clip, row in zip(clips, rows, strict=True):
        yield None if clip is None else _samples_of(clip, row, source, rate)


class _Row:
    """What is kept of a row: which sound it is, and its samples while there is room for them."""

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


def _samples_of(clip: Clip, row: _Row, source: AudioSource, rate: int) -> Samples | DataError:
    origin = (clip.content if isinstance(clip.content, RowFile) else None, clip.span)
    samples = row.samples
    if samples is not None and row.origin == origin:
        return samples
    try:
        with clip.open() as file:
            samples = decode_mono(file, rate, source.limits, span=clip.span)
    except DataError as error:
        return error
    samples.flags.writeable = False  # it is shared with the stages behind this one
    _room.keep(row, origin, samples)
    return samples
