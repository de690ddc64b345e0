"""Write rows as samples of tar archives (WebDataset shards)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from curator_core.sdk import (
    ROW_COLUMN,
    SOURCE_COLUMN,
    BadRecord,
    ConfigError,
    DataError,
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
    from collections.abc import Iterator, Mapping, Sequence

    from curator_core.sdk import TableBatch

__all__ = ["check_members", "sample_parts", "write_archive"]

Sample = tuple[str, list[tuple[str, Any]]]
"""A key, and the content of its members by extension."""


class SampleWriter(Protocol):
    """The parameters of a writer of samples."""

    key_column: str
    bytes_column: str
    extension_column: str
    text_column: str
    members: dict[str, str] | None
    json_columns: list[str] | None
    max_file_bytes: int | None


def check_members(stage_name: str, members: Mapping[str, str] | None) -> None:
    """Refuse members that no reader would find.

    Raises:
        ConfigError: An extension cannot be that of a member.
    """
    try:
        for extension in (members or {}).values():
            check_extension(extension)
    except DataError as error:
        raise ConfigError(f"stage {stage_name!r}: {error.message}") from error


def sample_parts(stage: SampleWriter, task: TableBatch, *, default_extension: str) -> Iterator[list[Sample]]:
    """Yield the samples of a batch, an archive for each list; rows that cannot be written are quarantined.

    Args:
        stage: The writer.
        task: The rows.
        default_extension: Extension of media files where no column tells it.
    """
    part: list[Sample] = []
    part_bytes = 0
    for sample in _samples(stage, task, default_extension):
        size = sum(padded(len(content)) + 512 for _, content in sample[1])
        if part and stage.max_file_bytes is not None and part_bytes + size > stage.max_file_bytes:
            yield part
            part, part_bytes = [], 0
        part.append(sample)
        part_bytes += size
    if part:
        yield part


def _samples(stage: SampleWriter, task: TableBatch, default_extension: str) -> Iterator[Sample]:
    task.check_column(stage.bytes_column)
    members = _members(stage, task)
    for name in (*members, *(stage.json_columns or ())):
        task.check_column(name)
    keys = keys_of_rows(task, key_column=stage.key_column)
    extensions = _extensions(stage, task, default_extension)
    columns = [(extension, _contents(task, name)) for name, extension in members.items()]
    media = _contents(task, stage.bytes_column)
    sidecars = _sidecars(stage, task, members)
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


def _extensions(stage: SampleWriter, task: TableBatch, default: str) -> list[str]:
    if stage.extension_column in task.columns:
        found = task.data.column(stage.extension_column).to_pylist()
    elif "uri" in task.columns:
        found = [extension_of_uri(uri) for uri in task.data.column("uri").to_pylist()]
    else:
        found = [None] * task.num_rows
    return [each or default for each in found]


def _members(stage: SampleWriter, task: TableBatch) -> dict[str, str]:
    """Return the extensions of columns that become members: as given, or what the readers make columns of."""
    if stage.members is not None:
        return stage.members
    kinds = {each.name: each.type for each in task.data.schema}
    apart = (stage.key_column, stage.bytes_column, stage.extension_column, SOURCE_COLUMN, ROW_COLUMN)
    members = {name: name for name, kind in kinds.items() if name not in apart and _is_binary(kind)}
    if stage.text_column in kinds and _is_text(kinds[stage.text_column]):
        members[stage.text_column] = "txt"
    if "cls" in kinds and pa.types.is_integer(kinds["cls"]):
        members["cls"] = "cls"
    return members


def _sidecars(stage: SampleWriter, task: TableBatch, members: Mapping[str, str]) -> list[bytes] | None:
    names = stage.json_columns
    if names is None:
        apart = {stage.key_column, stage.bytes_column, stage.extension_column, *members, SOURCE_COLUMN, ROW_COLUMN}
        names = [each.name for each in task.data.schema if each.name not in apart and not _is_binary(each.type)]
    return _json_objects(task.data.select(names)) if names else None


def write_archive(samples: Sequence[Sample], path: str) -> int:
    """Write samples to an archive; the same samples give the same bytes, of which the number is returned."""
    with atomic_output(path) as file:
        with open_compressed(file, path) as stream:
            for key, parts in samples:
                for extension, content in parts:
                    size = len(content)
                    stream.write(member_header(f"{key}.{extension}", size))
                    stream.write(content)
                    if size % 512:
                        stream.write(bytes(padded(size) - size))
            stream.write(end_of_archive())
        return file.tell()


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
