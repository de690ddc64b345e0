"""Write manifests of speech corpora, with the audio files or with references to them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from curator_audio.audio_info import probe_audio
from curator_audio.sound.formats import audio_extension
from curator_audio.sound.source import DURATION_COLUMN, OFFSET_COLUMN, BufferFile
from curator_core.sdk import (
    BYTES_COLUMN,
    PROVENANCE_COLUMNS,
    SIZE_COLUMN,
    DataError,
    FileWriter,
    atomic_output,
    check_allowed_locations,
    keep_readable,
    row_files,
)
from curator_table import write_jsonl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import Columns, FileGroupTask, RowFile, TableBatch

__all__ = ["WriteManifest"]


@dataclass(frozen=True, slots=True)
class _Line:
    """The manifest entry for the sound of a row."""

    audio_filepath: str
    duration: float
    offset: float | None = None


@dataclass
class WriteManifest(FileWriter):
    """Write a manifest in the style of NeMo for each batch: JSON lines with ``audio_filepath`` and ``duration``.

    With ``audio="files"``, the bytes of every row are written untouched to a file beside the manifest, which names it;
    with ``audio="references"``, the manifest names the files where they are, with an ``offset`` where a row is a part
    of its file. All other columns that hold no binary are written as they are. Files are named after the task, each is
    there whole or not at all, and the manifest appears after the files it names: a repeated task replaces its own
    files. A row without sound, or with bytes that are not audio, is quarantined.

    >>> WriteManifest("out", columns=["text"]).inputs()
    ['bytes', 'text']

    Args:
        path: Output folder or URL; created where missing.
        audio: ``files`` or ``references``.
        columns: Other columns to write, in this order; all that hold no binary, where None.
        keep_provenance: Also write ``_source`` and ``_row``.
        bytes_column: Column with the encoded audio, for ``files``.
        uri_column: Column with the paths or URLs of the files, for ``references``.
        allowed_locations: Folders or URL prefixes whose files rows may name, beside the place they were read from.
    """

    audio: Literal["files", "references"] = field(default="files", kw_only=True)
    columns: list[str] | None = field(default=None, kw_only=True)
    keep_provenance: bool = field(default=False, kw_only=True)
    bytes_column: str = field(default=BYTES_COLUMN, kw_only=True)
    uri_column: str = field(default="uri", kw_only=True)
    allowed_locations: list[str] | None = field(default=None, kw_only=True)

    name = "audio.write_manifest"
    extension = ".jsonl"

    def __post_init__(self) -> None:
        check_allowed_locations(self.name, self.allowed_locations)

    def inputs(self) -> Columns:
        return [self.bytes_column if self.audio == "files" else self.uri_column, *(self.columns or ())]

    def process(self, task: TableBatch) -> FileGroupTask | None:
        """Write the files of a batch, then its manifest; return them, or None where there is nothing to write."""
        sizes: dict[str, int] = {}
        outcomes = self._written_files(task, sizes) if self.audio == "files" else self._references(task)
        batch, lines = keep_readable(task, outcomes, error_type="UnreadableAudio")
        if not lines:
            return None
        path = self.file_path(self.file_name(task.task_id))
        sizes = {path: write_jsonl(self._table(batch, lines), path), **sizes}
        return self.written(task, sizes, rows=len(lines))

    def _written_files(self, task: TableBatch, sizes: dict[str, int]) -> list[_Line | DataError]:
        task.check_column(self.bytes_column)
        return [
            self._write(
                value.as_buffer() if value.is_valid else None, self.file_name(task.task_id, f".{index:06}"), sizes
            )
            for index, value in enumerate(task.data.column(self.bytes_column))
        ]

    def _write(self, content: pa.Buffer | None, stem: str, sizes: dict[str, int]) -> _Line | DataError:
        if content is None:
            return DataError("the row has no sound")
        try:
            info = probe_audio(BufferFile(content))
        except DataError as error:
            return error
        name = f"{stem}.{audio_extension(BufferFile(content))}"
        with atomic_output(self.file_path(name)) as file:
            file.write(content)
        sizes[self.file_path(name)] = content.size
        return _Line(name, info.duration_s)

    def _references(self, task: TableBatch) -> list[_Line | DataError]:
        files = row_files(task, self.uri_column, self.allowed_locations)
        offsets, durations = (
            task.data.column(name).to_pylist() if name in task.columns else [None] * task.num_rows
            for name in (OFFSET_COLUMN, DURATION_COLUMN)
        )
        return [_refer(*each) for each in zip(files, offsets, durations, strict=True)]

    def _table(self, batch: TableBatch, lines: Sequence[_Line]) -> pa.Table:
        own = {"audio_filepath": pa.string(), "duration": pa.float64()}
        if any(line.offset is not None for line in lines):
            own["offset"] = pa.float64()
        columns = {name: pa.array([getattr(line, name) for line in lines], kind) for name, kind in own.items()}
        for name in self.columns if self.columns is not None else self._others(batch):
            if name not in columns:
                columns[name] = batch.data.column(name)
        if self.keep_provenance:
            columns |= {name: batch.data.column(name) for name in PROVENANCE_COLUMNS if name in batch.columns}
        return pa.table(columns)

    def _others(self, batch: TableBatch) -> list[str]:
        told = {self.bytes_column, self.uri_column, OFFSET_COLUMN, DURATION_COLUMN, SIZE_COLUMN, *PROVENANCE_COLUMNS}
        return [each.name for each in batch.data.schema if each.name not in told and not _is_binary(each.type)]


def _refer(source: RowFile | None, offset: float | None, duration: float | None) -> _Line | DataError:
    if source is None:
        return DataError("the row names no file")
    try:
        location = source.location().path
        if duration is None:
            with source.open() as file:
                duration = probe_audio(file).duration_s - (offset or 0.0)
    except DataError as error:
        return error
    # The manifest may be anywhere, so a path must not depend on where the run was started.
    return _Line(location if "://" in location else os.path.abspath(location), duration, offset)  # noqa: PTH100


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind))
