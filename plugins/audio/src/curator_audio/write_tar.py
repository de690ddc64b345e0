"""Write recordings to tar archives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from curator_audio.sound.formats import audio_extension
from curator_audio.sound.source import OFFSET_COLUMN, BufferFile
from curator_core.sdk import keys_of_rows
from curator_table import TarWriter

if TYPE_CHECKING:
    from curator_core.sdk import FileGroupTask, TableBatch

__all__ = ["WriteTar"]


@dataclass
class WriteTar(TarWriter):
    """Write every batch to a tar archive (a WebDataset shard) named after its task, the recordings untouched.

    A row becomes ``KEY.flac`` (with the extension of its format), ``KEY.txt`` of its text, further binary
    columns under their own names, and ``KEY.json`` with the other columns. The key of a row that is a part of a
    recording (``offset_s``) ends with where it begins, in milliseconds. The same rows give the same archive. A row
    whose key cannot be the name of a member, or is that of a row before it, is quarantined.

    >>> WriteTar("out").file_name("3f2a/0")
    'part-3f2a-0.tar'

    Args:
        bytes_column: Column with the encoded audio.
        extension_column: Column with their extensions; where there is none, the bytes tell.
        compression: Compress archives. Only WAV files shrink.
    """

    name = "audio.write_tar"
    default_extension: ClassVar[str] = "wav"

    def process(self, task: TableBatch) -> FileGroupTask | None:
        """Write a batch; return its files, or None where it has no rows that can be written."""
        return super().process(self._with_keys(self._with_extensions(task)))

    def _with_extensions(self, task: TableBatch) -> TableBatch:
        task.check_column(self.bytes_column)
        kind = task.data.schema.field(self.bytes_column).type
        if self.extension_column in task.columns or pa.types.is_null(kind):
            return task
        found = [
            audio_extension(BufferFile(value.as_buffer())) if value.is_valid else None
            for value in task.data.column(self.bytes_column)
        ]
        return task.with_column(self.extension_column, pa.array(found, pa.string()))

    def _with_keys(self, task: TableBatch) -> TableBatch:
        """Give the parts of a recording keys of their own."""
        if OFFSET_COLUMN not in task.columns:
            return task
        offsets = task.data.column(OFFSET_COLUMN).to_pylist()
        keys = keys_of_rows(task, key_column=self.key_column)
        apart = [
            key if offset is None or key is None else f"{key}-{round(1000 * offset):08}"
            for key, offset in zip(keys, offsets, strict=True)
        ]
        return task.with_column(self.key_column, pa.array(apart, pa.string()))
