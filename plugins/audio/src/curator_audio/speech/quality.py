"""Rate the quality of speech, and drop recordings of low quality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from curator_audio.sound.decoding import Channel, check_channel
from curator_audio.sound.limits import AudioLimits
from curator_audio.sound.samples import mono_samples
from curator_audio.sound.source import AudioSource
from curator_audio.speech.dnsmos import Dnsmos
from curator_core.sdk import BYTES_COLUMN, ConfigError, Filter, ModelStage, Verdict, check_allowed_locations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curator_audio.sound.opening import Samples
    from curator_core.sdk import Columns, DataError, TableBatch

__all__ = ["Quality"]

_SCORES: Mapping[str, pa.DataType] = dict.fromkeys(
    ("mos_signal", "mos_background", "mos_overall", "mos_p808"), pa.float64()
)


@dataclass
class Quality(ModelStage, Filter):
    """Add the ratings of the speech that DNSMOS predicts, and drop recordings below a score.

    The columns ``mos_signal``, ``mos_background``, ``mos_overall`` (P.835) and ``mos_p808`` are mean opinion scores
    from 1 to 5. The networks hear 9 s at a time and take half a second of a CPU for it; a shorter recording is repeated
    to fill that, a longer one is rated every ``hop_s``. Recordings of 9 s and more get the scores that the package
    speechmos gives them, shorter ones nearly those. A file that cannot be decoded is quarantined. A row without sound,
    or with a recording of no samples, gets nulls, and is dropped as a missing value where a score is asked for.

    >>> Quality(min_overall=3.0).outputs()
    ['mos_signal', 'mos_background', 'mos_overall', 'mos_p808']

    Args:
        min_overall: Minimum ``mos_overall`` to keep.
        min_signal: Minimum ``mos_signal`` to keep.
        min_background: Minimum ``mos_background`` to keep.
        min_p808: Minimum ``mos_p808`` to keep.
        hop_s: Seconds between the windows of a recording that are rated; their mean counts.
        channel: Which channel is heard: ``mean`` of all, ``left``, ``right``, or a number, counted from 0.
        bytes_column: Column with the encoded audio; None to open the files.
        uri_column: Column with the paths or URLs of the files, where they are opened.
        max_duration_s: A longer recording is quarantined.
        allowed_locations: Folders or URL prefixes whose files rows may name, beside the place they were read from.
    """

    min_overall: float | None = None
    min_signal: float | None = None
    min_background: float | None = None
    min_p808: float | None = None
    hop_s: float = 1.0
    channel: Channel = "mean"
    bytes_column: str | None = BYTES_COLUMN
    uri_column: str = "uri"
    max_duration_s: float = AudioLimits().max_duration_s
    allowed_locations: list[str] | None = None

    name = "audio.quality"
    model_batch_size = 1  # a recording at a time
    fuse = True  # stages behind one another decode a recording once
    uses_torch = False
    unreadable: ClassVar[str] = "UnreadableAudio"
    options: ClassVar[tuple[str, ...]] = Filter.options
    thread_safe: ClassVar[bool] = False  # its networks use several threads by themselves

    def __post_init__(self) -> None:
        check_allowed_locations(self.name, self.allowed_locations)
        check_channel(self.name, self.channel)
        if self.hop_s <= 0:
            raise ConfigError(f"{self.name}: hop_s={self.hop_s} is not positive")

    def inputs(self) -> Columns:
        return [self._source.column]

    def outputs(self) -> Columns:
        return [*_SCORES, *super().outputs()]

    def load(self, device: str) -> Dnsmos:  # noqa: ARG002 - it runs on CPUs
        return Dnsmos(stage=self.name, threads=self.resources.cpus)

    def output_types(self, model: Dnsmos) -> Mapping[str, pa.DataType]:  # noqa: ARG002
        return _SCORES

    def prepare(self, model: Dnsmos, batch: TableBatch) -> Iterator[Samples | DataError | None]:  # noqa: ARG002
        return mono_samples(batch, self._source)

    def predict(self, model: Dnsmos, rows: list[Samples]) -> dict[str, list[float | None]]:
        found = [model.score(samples, hop_s=self.hop_s) for samples in rows]
        return {name: [getattr(each, name, None) for each in found] for name in _SCORES}

    def complete(self, batch: TableBatch) -> TableBatch | None:
        return self.apply(batch, self.judge(batch))

    def judge(self, batch: TableBatch) -> Verdict:
        score = batch.series("mos_overall")
        if not self._limits:  # without limits, no value can be missing
            return Verdict(score.fill_null(0.0))
        return Verdict(score, {f"low_{name}": batch.series(name) < least for name, least in self._limits.items()})

    @property
    def _limits(self) -> dict[str, float]:
        asked = zip(_SCORES, (self.min_signal, self.min_background, self.min_overall, self.min_p808), strict=True)
        return {name: least for name, least in asked if least is not None}

    @property
    def _source(self) -> AudioSource:
        limits = AudioLimits(max_duration_s=self.max_duration_s)
        return AudioSource(self.bytes_column, self.uri_column, limits, self.allowed_locations, self.channel)
