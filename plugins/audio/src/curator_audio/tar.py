"""Read recordings from tar archives as rows, and write them to tar archives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from curator_audio.batch import AudioBatch
from curator_audio.sound.formats import EXTENSIONS, audio_extension
from curator_audio.sound.source import OFFSET_COLUMN, BufferFile
from curator_core.sdk import FileReader, FileWriter, Limits, keys_of_rows
from curator_table import SAMPLE_COLUMNS, TarLimits, TarSamples, check_members, sample_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.sdk import Columns, TableBatch

__all__ = ["ReadTar", "WriteTar"]

_SAMPLES = TarSamples("recording", media=tuple(extension.lstrip(".") for extension in EXTENSIONS))


@dataclass
class ReadTar(FileReader):
    """Read tar archives of recordings (WebDataset shards), a sample a row, without extracting anything.

    A row has the sample's ``key``, the recording as ``bytes``, untouched, with its ``extension``; the text beside it as
    ``text``, the keys of its ``json`` as columns, other members as binary columns. An archive that is damaged gives
    what can be read, and a record of the rest. Recordings are not looked into here; the stages that decode them do.

    >>> [stage.name for stage in ReadTar("shards").decompose()]
    ['audio.read_tar.files', 'audio.read_tar']

    Args:
        paths: Archives, folders, globs or URLs; ``.tar``, also compressed (``.gz``, ``.zst``, ``.bz2``, ``.xz``).
        text_column: Column for ``txt`` members.
        max_member_bytes: A larger member is quarantined.
        max_members: Most members of one archive.
        max_expansion: Decompressed bytes allowed per byte of a compressed archive, against decompression bombs.
        verify: Check compressed archives to their end before the first row comes out (see :class:`Decompressor`).
    """

    text_column: str = field(default="text", kw_only=True)
    max_member_bytes: int = field(default=TarLimits().max_member_bytes, kw_only=True)
    max_members: int = field(default=TarLimits().max_members, kw_only=True)
    max_expansion: int = field(default=Limits().max_expansion, kw_only=True)
    verify: bool = field(default=True, kw_only=True)

    name = "audio.read_tar"
    table_format = _SAMPLES
    batch_type = AudioBatch

    def outputs(self) -> Columns:
        return SAMPLE_COLUMNS


@dataclass
class WriteTar(FileWriter):
    """Write every batch to a tar archive (a WebDataset shard) named after its task, the recordings untouched.

    A row becomes ``KEY.flac`` (with the extension of what its bytes are), ``KEY.txt`` of its text, further binary
    columns under their own names, and ``KEY.json`` with the other columns. The key of a row that is a part of a
    recording (``offset_s``) ends with where it begins, in milliseconds. The same rows give the same archive. A row
    whose key cannot be the name of a member, or is that of a row before it, is quarantined.

    >>> WriteTar("out").file_name("3f2a/0")
    'part-3f2a-0.tar'

    Args:
        key_column: Column with the keys. Where there is none, the paths in ``uri`` below the folder of ``_source``; of
            a file elsewhere its base name and eight digits.
        bytes_column: Column with the encoded audio.
        extension_column: Column with their extensions; where there is none, the bytes tell.
        text_column: Column that becomes the ``txt`` member, where there is one.
        members: Columns that become members, with their extensions, in place of the choice above: text, binary, or
            numbers as text.
        json_columns: Columns for the ``json`` member, null ones left out; all others that hold no binary, where None.
        max_file_bytes: Begin another archive when one has grown to this size.
        compression: Compress archives. Only WAV files shrink.
    """

    key_column: str = field(default="key", kw_only=True)
    bytes_column: str = field(default="bytes", kw_only=True)
    extension_column: str = field(default="extension", kw_only=True)
    text_column: str = field(default="text", kw_only=True)
    members: dict[str, str] | None = field(default=None, kw_only=True)
    json_columns: list[str] | None = field(default=None, kw_only=True)
    max_file_bytes: int | None = field(default=None, kw_only=True)
    compression: Literal["gz", "zst"] | None = field(default=None, kw_only=True)

    name = "audio.write_tar"
    table_format = _SAMPLES

    def __post_init__(self) -> None:
        super().__post_init__()
        check_members(self.name, self.members)

    def inputs(self) -> Columns:
        return [self.bytes_column]

    def parts(self, task: TableBatch) -> Iterator[Any]:
        return sample_parts(self, self._with_keys(self._with_extensions(task)), default_extension="wav")

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
