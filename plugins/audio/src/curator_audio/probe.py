"""Add the declared properties of audio files as columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from curator_audio.audio_info import probe_audio
from curator_audio.sound.source import BufferFile
from curator_core.sdk import DataError, ProcessingStage, TableBatch, add_attributes, keep_readable, row_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import BinaryIO, TypeAlias

    from curator_audio.audio_info import AudioInfo
    from curator_core.sdk import Columns

    Outcome: TypeAlias = AudioInfo | DataError | None

__all__ = ["AUDIO_COLUMNS", "Probe"]

AUDIO_COLUMNS: Mapping[str, pa.DataType] = {
    "duration_s": pa.float64(),
    "sample_rate": pa.int32(),
    "channels": pa.int32(),
    "format": pa.string(),
}


@dataclass
class Probe(ProcessingStage[TableBatch, TableBatch]):
    """Add duration, sample rate, channels and format of each recording; no sample is decoded.

    A file that cannot be opened is quarantined; a row without a path (or bytes) gets nulls.

    Args:
        uri_column: Column with the paths or URLs of the files.
        bytes_column: Column with their content, where it has been read; None to open the files.
    """

    uri_column: str = "uri"
    bytes_column: str | None = None

    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return [self.bytes_column or self.uri_column]

    def outputs(self) -> Columns:
        return list(AUDIO_COLUMNS)

    def process(self, task: TableBatch) -> TableBatch | None:
        outcomes = self._probe_bytes(task) if self.bytes_column else self._probe_files(task)
        batch, infos = keep_readable(task, outcomes, error_type="UnreadableAudio")
        if task.num_rows and not infos:
            return None
        return add_attributes(batch, infos, AUDIO_COLUMNS)

    def _probe_bytes(self, task: TableBatch) -> list[Outcome]:
        return [
            _attempt(partial(BufferFile, value.as_buffer())) if value.is_valid else None
            for value in task.data.column(self.bytes_column)
        ]

    def _probe_files(self, task: TableBatch) -> list[Outcome]:
        return [None if file is None else _attempt(file.open) for file in row_files(task, self.uri_column)]


def _attempt(open_file: Callable[[], BinaryIO]) -> Outcome:
    try:
        with open_file() as file:
            return probe_audio(file)
    except DataError as error:
        return error
