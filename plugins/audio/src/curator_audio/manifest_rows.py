"""Turn rows of a manifest into rows of sound: find the files, look into them, read them if asked to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl
import pyarrow as pa

from curator_audio.audio_info import probe_audio
from curator_audio.probe import AUDIO_COLUMNS
from curator_audio.sound.decoding import Span
from curator_audio.sound.encoding import cut, fits_flac
from curator_audio.sound.limits import AudioLimits
from curator_audio.sound.source import OFFSET_COLUMN, Clip
from curator_core.sdk import (
    BYTES_COLUMN,
    DEFAULT_BLOCK_BYTES,
    SIZE_COLUMN,
    SOURCE_COLUMN,
    URI_COLUMN,
    DataError,
    Limits,
    LocationError,
    ProcessingStage,
    RowFile,
    TableBatch,
    add_attributes,
    keep_readable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curator_audio.audio_info import AudioInfo
    from curator_core.sdk import Columns

__all__ = ["ManifestRows"]

_REFERENCE: Mapping[str, pa.DataType] = {URI_COLUMN: pa.string(), OFFSET_COLUMN: pa.float64(), **AUDIO_COLUMNS}
_CONTENT: Mapping[str, pa.DataType] = {BYTES_COLUMN: pa.large_binary(), SIZE_COLUMN: pa.int64()}


@dataclass(frozen=True, slots=True)
class _Found:
    """A row of the manifest, with its file."""

    uri: str
    offset_s: float | None
    duration_s: float
    sample_rate: int
    channels: int
    format: str
    bytes: bytes | None
    size_bytes: int | None


@dataclass
class ManifestRows(ProcessingStage[TableBatch, TableBatch]):
    """Replace the file columns of a manifest by the place and the properties of each file.

    Args:
        path_column: Column with the path of the file.
        duration_column: Column with the seconds that the row lasts.
        offset_column: Column with the seconds at which the row begins in its file.
        with_bytes: Read the files, and cut the parts out of them.
        batch_bytes: Size of a table with content.
        max_file_bytes: With ``with_bytes``, a larger file is quarantined.
        allowed_locations: Folders or URL prefixes whose files lines may name, beside the place of the manifest.
    """

    path_column: str = "audio_filepath"
    duration_column: str = "duration"
    offset_column: str = "offset"
    with_bytes: bool = field(default=False, kw_only=True)
    batch_bytes: int = field(default=DEFAULT_BLOCK_BYTES, kw_only=True)
    max_file_bytes: int = field(default=Limits().max_file_bytes, kw_only=True)
    allowed_locations: list[str] | None = field(default=None, kw_only=True)

    thread_safe: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return [self.path_column]

    def outputs(self) -> Columns:
        return [*_REFERENCE, *(_CONTENT if self.with_bytes else ())]

    def columns_after(self, columns: frozenset[str]) -> frozenset[str]:
        own = {self.path_column, self.duration_column, self.offset_column}
        return (columns - own) | frozenset(self.outputs())  # type: ignore[arg-type]  # a list of names

    def process(self, task: TableBatch) -> Iterator[TableBatch]:
        """Yield the rows whose files can be opened, up to ``batch_bytes`` of content in a table."""
        outcomes: list[_Found | DataError] = []
        held_bytes = start = 0
        for index, outcome in enumerate(self._rows(task)):
            size = len(outcome.bytes or b"") if isinstance(outcome, _Found) else 0
            if held_bytes and held_bytes + size > self.batch_bytes:
                yield from self._batch(task, start, outcomes)
                outcomes, held_bytes, start = [], 0, index
            outcomes.append(outcome)
            held_bytes += size
        if outcomes:
            yield from self._batch(task, start, outcomes)

    def _batch(self, task: TableBatch, start: int, outcomes: list[_Found | DataError]) -> Iterator[TableBatch]:
        rows = task.with_data(task.data.slice(start, len(outcomes)))
        batch, found = keep_readable(rows, outcomes, error_type="UnreadableAudio")
        if not found:
            return
        own = [self.path_column, self.duration_column, self.offset_column]
        batch = batch.with_data(batch.data.drop_columns([name for name in own if name in batch.columns]))
        yield add_attributes(batch, found, {**_REFERENCE, **(_CONTENT if self.with_bytes else {})})

    def _rows(self, task: TableBatch) -> Iterator[_Found | DataError]:
        opener = _Opener()
        paths = _values(task, self.path_column, pl.String)
        spans = zip(
            _values(task, self.offset_column, pl.Float64), _values(task, self.duration_column, pl.Float64), strict=True
        )
        manifests = _values(task, SOURCE_COLUMN, pl.String)
        for path, span, manifest in zip(paths, spans, manifests, strict=True):
            yield self._attempt(path, span, manifest, opener)

    def _attempt(self, path: Any, span: tuple[Any, Any], manifest: str | None, opener: _Opener) -> _Found | DataError:
        for value in (path, *span):
            if isinstance(value, DataError):
                return value
        if not path:
            return DataError(f"the row has no {self.path_column!r}")
        try:
            return self._find(RowFile(path, manifest, tuple(self.allowed_locations or ())), *span, opener)
        except DataError as error:
            return error

    def _find(self, file: RowFile, offset: float | None, duration: float | None, opener: _Opener) -> _Found:
        uri = file.location().path
        try:
            info = opener.info(file)
            if offset is None:
                span, seconds = None, info.duration_s
            else:
                seconds = info.duration_s - offset if duration is None else duration
                span = Span(offset, offset + seconds)
                span.check(info.duration_s)
            content = self._content(file, span, info) if self.with_bytes else None
        except LocationError:
            raise
        except DataError as error:
            raise DataError(f"{uri}: {error.message.removeprefix(f'{uri}: ')}") from error
        size = None if content is None else len(content)
        return _Found(uri, offset, seconds, info.sample_rate, info.channels, info.format, content, size)

    def _content(self, source: RowFile, span: Span | None, info: AudioInfo) -> bytes:
        if span is not None:
            (content,) = cut(Clip(source), [span], AudioLimits(), file_format="flac" if fits_flac(info) else "wav")
            return content
        with source.open() as file:
            content = file.read(self.max_file_bytes + 1)
        if len(content) > self.max_file_bytes:
            raise DataError(f"the file is larger than max_file_bytes={self.max_file_bytes:,}")
        return content


class _Opener:
    """Look into files, once for neighbouring rows of the same file."""

    def __init__(self) -> None:
        self._last: tuple[RowFile, AudioInfo] | None = None

    def info(self, source: RowFile) -> AudioInfo:
        if self._last is None or self._last[0] != source:
            with source.open() as file:
                self._last = (source, probe_audio(file))
        return self._last[1]


def _values(task: TableBatch, name: str, kind: Any) -> list[Any]:
    """Return a column's values as a type: an error for a value of another type, None for a missing one."""
    if name not in task.columns:
        return [None] * task.num_rows
    series = task.series(name)
    cast = series.cast(kind, strict=False)
    wrong = cast.is_null() & series.is_not_null()
    return [DataError(f"{name!r} is {series[index]!r}") if wrong[index] else value for index, value in enumerate(cast)]
