"""Drop recordings that are silent, mostly silent, or too quiet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from curator_audio.sound.decoding import SPEECH_RATE, Channel, check_channel
from curator_audio.sound.limits import AudioLimits
from curator_audio.sound.samples import mono_samples
from curator_audio.sound.source import AudioSource
from curator_core.sdk import (
    BYTES_COLUMN,
    ConfigError,
    DataError,
    Filter,
    Verdict,
    add_attributes,
    check_allowed_locations,
    keep_readable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator_audio.sound.opening import Samples
    from curator_core.sdk import Columns, TableBatch

__all__ = ["Loudness", "SilenceFilter", "measure_loudness"]

_MIN_AMPLITUDE = 1e-6  # -120 dBFS: the level of a recording of zeros, instead of minus infinity
_COLUMNS: Mapping[str, pa.DataType] = {"silence_fraction": pa.float64(), "level_dbfs": pa.float64()}


@dataclass(frozen=True, slots=True)
class Loudness:
    """How loud a recording is.

    Args:
        silence_fraction: Fraction of its frames whose level is below the threshold.
        level_dbfs: Level of all of it, in dB relative to full scale.
    """

    silence_fraction: float
    level_dbfs: float


def measure_loudness(samples: Samples, *, threshold_dbfs: float, frame_samples: int) -> Loudness | None:
    """Measure a recording in frames; None where it has no samples. The last frame may be shorter.

    >>> measure_loudness(np.zeros(100, np.float32), threshold_dbfs=-50, frame_samples=10)
    Loudness(silence_fraction=1.0, level_dbfs=-120.0)
    """
    if not len(samples):
        return None
    starts = np.arange(0, len(samples), frame_samples)
    power = np.add.reduceat(np.square(samples), starts, dtype=np.float64)
    lengths = np.diff(starts, append=len(samples))
    silent = power < lengths * 10 ** (threshold_dbfs / 10)
    level = max(np.sqrt(power.sum() / len(samples)), _MIN_AMPLITUDE)
    return Loudness(float(lengths[silent].sum() / len(samples)), float(20 * np.log10(level)))


@dataclass
class SilenceFilter(Filter):
    """Keep recordings that are loud enough for long enough; add ``silence_fraction`` and ``level_dbfs``.

    The sound is looked at as one channel at 16 kHz, in frames of ``frame_s``: a frame is silent when its level (root
    mean square) is below ``threshold_dbfs``. A file that cannot be decoded is quarantined; a row without sound, or with
    a recording of no samples, is dropped as a missing value.

    >>> SilenceFilter(max_silence_fraction=0.5).outputs()
    ['silence_fraction', 'level_dbfs']

    Args:
        max_silence_fraction: Largest fraction of silence to keep.
        min_level_dbfs: Minimum level of the whole recording to keep; any, where None.
        threshold_dbfs: Level below which a frame is silent.
        frame_s: Length of a frame in seconds.
        channel: Which channel is heard: ``mean`` of all, ``left``, ``right``, or a number, counted from 0.
        bytes_column: Column with the encoded audio; None to open the files.
        uri_column: Column with the paths or URLs of the files, where they are opened.
        max_duration_s: A longer recording is quarantined.
        allowed_locations: Folders or URL prefixes whose files rows may name, beside the place they were read from.
    """

    max_silence_fraction: float = 0.9
    min_level_dbfs: float | None = None
    threshold_dbfs: float = -50.0
    frame_s: float = 0.02
    channel: Channel = "mean"
    bytes_column: str | None = BYTES_COLUMN
    uri_column: str = "uri"
    max_duration_s: float = AudioLimits().max_duration_s
    allowed_locations: list[str] | None = None

    name = "audio.silence_filter"

    def __post_init__(self) -> None:
        check_allowed_locations(self.name, self.allowed_locations)
        check_channel(self.name, self.channel)
        if not 0 <= self.max_silence_fraction <= 1:
            raise ConfigError(
                f"{self.name}: max_silence_fraction must be between 0 and 1, got {self.max_silence_fraction}",
                fix="write 25 % as 0.25",
            )
        if self.frame_s * SPEECH_RATE < 1:
            raise ConfigError(f"{self.name}: frame_s={self.frame_s} is shorter than a sample")

    def inputs(self) -> Columns:
        return [self._source.column]

    def outputs(self) -> Columns:
        return [*_COLUMNS, *super().outputs()]

    def prepare_rows(self, task: TableBatch) -> TableBatch:
        outcomes = [self._measure(samples) for samples in mono_samples(task, self._source)]
        batch, found = keep_readable(task, outcomes, error_type="UnreadableAudio")
        return add_attributes(batch, found, _COLUMNS)

    def judge(self, batch: TableBatch) -> Verdict:
        fraction, level = batch.series("silence_fraction"), batch.series("level_dbfs")
        reasons = {"too_silent": fraction > self.max_silence_fraction}
        if self.min_level_dbfs is not None:
            reasons["too_quiet"] = level < self.min_level_dbfs
        return Verdict(fraction, reasons)

    @property
    def _source(self) -> AudioSource:
        limits = AudioLimits(max_duration_s=self.max_duration_s)
        return AudioSource(self.bytes_column, self.uri_column, limits, self.allowed_locations, self.channel)

    def _measure(self, samples: Samples | DataError | None) -> Loudness | DataError | None:
        if samples is None or isinstance(samples, DataError):
            return samples
        frame_samples = round(self.frame_s * SPEECH_RATE)
        return measure_loudness(samples, threshold_dbfs=self.threshold_dbfs, frame_samples=frame_samples)
