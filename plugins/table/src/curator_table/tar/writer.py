"""Write rows as samples of tar archives (WebDataset shards)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Literal

import pyarrow as pa

from curator_core.sdk import (
    ROW_COLUMN,
    SOURCE_COLUMN,
    BadRecord,
    ConfigError,
    DataError,
    FileWriter,
    StageError,
    atomic_output,
    extension_of_uri,
    keys_of_rows,
    open_compressed,
    report,
)
from curator_table.json.rows import is_json
from curator_table.json.writer import json_ready
from curator_table.tar.headers import end_of_archive, member_header, padded
from curator_table.tar.member_names import check_extension, checked_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from curator_core.sdk import Columns, FileGroupTask, TableBatch

__all__ = ["TarWriter"]

Sample = tuple[str, list[tuple[str, Any]]]
"""A key, and the content of its members by extension."""


@dataclass
class TarWriter(FileWriter):
    """Base of stages that write tar archives of samples: one archive per batch, whole or not there at all.

    A row becomes the members ``KEY.EXTENSION``: its bytes untouched, its text as ``txt``, its class as ``cls``, further
    binary columns under their own names, and a ``KEY.json`` with the other columns. The same rows give the same
    archive, byte for byte. A row whose key cannot be the name of a member, or is that of a row before it, is
    quarantined. ``image.read_tar`` and its kin, and the webdataset package, read the rows back.

    Args:
        key_column: Column with the keys. Where there is none, the paths in ``uri`` below the folder of ``_source``; of
            a file elsewhere its base name and eight digits.
        bytes_column: Column with the media files.
        extension_column: Column with their extensions; where there is none, that of ``uri``, else the default.
        text_column: Column that becomes the ``txt`` member, where there is one.
        members: Columns that become members, with their extensions, in place of the choice above: text, binary, or
            numbers as text.
        json_columns: Columns for the ``json`` member, null ones left out; all others that hold no binary, where None.
        max_file_bytes: Begin another archive when one has grown to this size.
        compression: Compress archives. Media files hardly shrink.
    """

    key_column: str = field(default="key", kw_only=True)
    bytes_column: str = field(default="bytes", kw_only=True)
    extension_column: str = field(default="extension", kw_only=True)
    text_column: str = field(default="text", kw_only=True)
    members: dict[str, str] | None = field(default=None, kw_only=True)
    json_columns: list[str] | None = field(default=None, kw_only=True)
    max_file_bytes: int | None = field(default=None, kw_only=True)
    compression: Literal["gz", "zst"] | None = field(default=None, kw_only=True)

    default_extension: ClassVar[str] = "bin"

    def __post_init__(self) -> None:
        self.extension = f".tar.{self.compression}" if self.compression else ".tar"
        if self.max_file_bytes is not None and self.max_file_bytes <= 0:
            raise ConfigError(f"stage {self.name!r}: max_file_bytes must be positive, got {self.max_file_bytes}")
        try:
            for extension in (self.members or {}).values():
                check_extension(extension)
        except DataError as error:
            raise ConfigError(f"stage {self.name!r}: {error.message}") from error

    def inputs(self) -> Columns:
        return [self.bytes_column]

    def process(self, task: TableBatch) -> FileGroupTask | None:
        """Write a batch; return its files, or None where it has no rows that can be written."""
        parts = list(self._parts(self._samples(task)))
        sizes = {}
        for number, samples in enumerate(parts):
            suffix = f".{number:04}{self.extension}" if len(parts) > 1 else None
            path = self.file_path(self.file_name(task.task_id, suffix))
            with atomic_output(path) as file:
                with open_compressed(file, path) as stream:
                    _write(stream, samples)
                sizes[path] = file.tell()
        return self.written(task, sizes, rows=sum(map(len, parts))) if parts else None

    def output_extensions(self) -> tuple[str, ...]:
        return (".tar", ".tar.gz", ".tar.zst")

    def _samples(self, task: TableBatch) -> Iterator[Sample]:
        task.check_column(self.bytes_column)
        members = self._members(task)
        for name in (*members, *(self.json_columns or ())):
            task.check_column(name)
        keys, extensions = self._keys(task), self._extensions(task)
        columns = [(extension, _contents(task, name)) for name, extension in members.items()]
        media = _contents(task, self.bytes_column)
        sidecars = self._sidecars(task, members)
        seen: set[str] = set()
        for index, (wanted, extension) in enumerate(zip(keys, extensions, strict=True)):
            try:
                key = checked_key(wanted, seen)
                check_extension(extension)
            except DataError as error:
                source, row = task.row_source(index)
                report().bad_record(BadRecord(error.message, source, row, "UnusableKey"))
                continue
            seen.add(key)
            parts = [(extension, media[index]), *((name, values[index]) for name, values in columns)]
            if sidecars is not None:
                parts.append(("json", sidecars[index]))
            yield key, [(name, content) for name, content in parts if content is not None]

    def _parts(self, samples: Iterable[Sample]) -> Iterator[list[Sample]]:
        part: list[Sample] = []
        part_bytes = 0
        for sample in samples:
            size = sum(padded(len(content)) + 512 for _, content in sample[1])
            if part and self.max_file_bytes is not None and part_bytes + size > self.max_file_bytes:
                yield part
                part, part_bytes = [], 0
            part.append(sample)
            part_bytes += size
        if part:
            yield part

    def _keys(self, task: TableBatch) -> list[str | None]:
        return keys_of_rows(task, key_column=self.key_column)

    def _extensions(self, task: TableBatch) -> list[str]:
        if self.extension_column in task.columns:
            found = task.data.column(self.extension_column).to_pylist()
        elif "uri" in task.columns:
            found = [extension_of_uri(uri) for uri in task.data.column("uri").to_pylist()]
        else:
            found = [None] * task.num_rows
        return [each or self.default_extension for each in found]

    def _members(self, task: TableBatch) -> dict[str, str]:
        """Return the extensions of columns that become members: as given, or those that readers make columns of."""
        if self.members is not None:
            return self.members
        kinds = {each.name: each.type for each in task.data.schema}
        apart = (self.key_column, self.bytes_column, self.extension_column, SOURCE_COLUMN, ROW_COLUMN)
        members = {name: name for name, kind in kinds.items() if name not in apart and _is_binary(kind)}
        if self.text_column in kinds and _is_text(kinds[self.text_column]):
            members[self.text_column] = "txt"
        if "cls" in kinds and pa.types.is_integer(kinds["cls"]):
            members["cls"] = "cls"
        return members

    def _sidecars(self, task: TableBatch, members: Mapping[str, str]) -> list[bytes] | None:
        names = self.json_columns
        if names is None:
            apart = {self.key_column, self.bytes_column, self.extension_column, *members, SOURCE_COLUMN, ROW_COLUMN}
            names = [each.name for each in task.data.schema if each.name not in apart and not _is_binary(each.type)]
        return _json_objects(task.data.select(names)) if names else None


def _write(stream: BinaryIO, samples: Sequence[Sample]) -> None:
    for key, parts in samples:
        for extension, content in parts:
            size = len(content)
            stream.write(member_header(f"{key}.{extension}", size))
            stream.write(content)
            if size % 512:
                stream.write(bytes(padded(size) - size))
    stream.write(end_of_archive())


def _contents(task: TableBatch, name: str) -> list[Any]:
    """Return the values of a column as bytes; null stays None."""
    column = task.data.column(name)
    kind = column.type
    if pa.types.is_null(kind):
        return [None] * task.num_rows
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = kind.value_type
    if _is_binary(kind):
        return [memoryview(value.as_buffer()) if value.is_valid else None for value in column]
    if pa.types.is_nested(kind):
        raise StageError(
            f"column {name!r} holds {kind}, which cannot be a member of a tar archive",
            fix="leave it to the json member, or make text of it",
        )
    return [None if value is None else value.encode() for value in column.cast(pa.string()).to_pylist()]


def _json_objects(table: pa.Table) -> list[bytes]:
    import orjson

    table = json_ready(table)
    texts = [field.name for field in table.schema if is_json(field.type)]
    rows = table.to_pylist()
    for name in texts:
        for row in rows:
            row[name] = None if row[name] is None else orjson.Fragment(row[name])
    return [
        orjson.dumps({name: value for name, value in row.items() if value is not None}, default=str) for row in rows
    ]


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
