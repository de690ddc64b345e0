"""Make tables of the samples of tar archives: media as bytes, sidecars as columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import orjson
import pyarrow as pa

from curator_core.sdk import PROVENANCE_COLUMNS, BadRecord, DataError, report, with_provenance
from curator_table.json.columns import MAX_NESTING, columns_from_records, is_too_deep

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from curator_table.tar.archive_bytes import ArchiveBytes, Part
    from curator_table.tar.samples import TarSample

__all__ = ["SampleLayout", "sample_tables"]

MAX_COLUMNS = 1000
"""Columns that the sidecars of one table may make; a sample that would add more is reported."""

_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True)
class SampleLayout:
    """Which member of a sample becomes which column.

    The first member whose extension is one of ``media`` becomes ``bytes``, with its ``extension``. The keys of a
    ``json`` object become columns, ``txt`` the column named here, ``cls`` an integer column ``cls``. Any other member
    becomes a binary column of the name of its extension.

    Args:
        media: Extensions of the media files of samples, in lower case and without a dot.
        noun: Name of these media files in messages.
        text_column: Column of ``txt`` members.
    """

    media: frozenset[str]
    noun: str = "media file"
    text_column: str = "text"

    fixed: ClassVar[tuple[str, ...]] = ("key", "bytes", "extension")
    """Columns that every table has."""


@dataclass(slots=True)
class _Row:
    """A sample, taken apart."""

    key: str
    start: int
    media: Part
    extension: str
    values: dict[str, Any] = field(default_factory=dict)
    binary: dict[str, Part] = field(default_factory=dict)


def sample_tables(
    samples: Iterable[TarSample], archive: ArchiveBytes, path: str, layout: SampleLayout, *, batch_bytes: int
) -> Iterator[pa.Table]:
    """Yield tables of about ``batch_bytes``, with ``_source`` and ``_row`` (where the sample begins in the archive).

    A sample without media, or with a sidecar that cannot be read, is reported.
    """
    rows: list[_Row] = []
    names: set[str] = set()
    held_bytes = 0
    for sample in samples:
        try:
            row = _take_apart(sample, archive, layout)
            _check_columns(row, names)
        except DataError as error:
            message = f"sample {sample.key!r}: {error.message}"
            report().bad_record(BadRecord(message, path, sample.start, "UnreadableSample"))
            continue
        if rows and held_bytes + sample.size_bytes > batch_bytes:
            yield _table(rows, archive, path)
            rows, names, held_bytes = [], set(), 0
        rows.append(row)
        names.update(row.values, row.binary)
        held_bytes += sample.size_bytes
    if rows:
        yield _table(rows, archive, path)


def _take_apart(sample: TarSample, archive: ArchiveBytes, layout: SampleLayout) -> _Row:
    extension = next((each for each in sample.parts if each in layout.media or each.lower() in layout.media), None)
    if extension is None:
        raise DataError(f"there is no {layout.noun} among its members: {', '.join(sample.parts)}")
    row = _Row(sample.key, sample.start, sample.parts[extension], extension)
    for name, part in sample.parts.items():
        if name == extension:
            continue
        kind = name.lower()
        if kind == "json":
            _add(row.values, _object(archive.read_part(part)), layout)
        elif kind == "txt":
            _add(row.values, {layout.text_column: _text(archive.read_part(part), name)}, layout)
        elif kind == "cls":
            _add(row.values, {"cls": _class_number(archive.read_part(part))}, layout)
        else:
            row.binary[_free_name(name, row.values, layout)] = part
    return row


def _check_columns(row: _Row, names: set[str]) -> None:
    if len(names | row.values.keys() | row.binary.keys()) > MAX_COLUMNS:
        raise DataError(f"the sidecars of it and its neighbours have more than {MAX_COLUMNS:,} different keys")


def _add(values: dict[str, Any], new: dict[str, Any], layout: SampleLayout) -> None:
    for name, value in new.items():
        values[_free_name(name, values, layout)] = value


def _free_name(name: str, taken: Container[str], layout: SampleLayout) -> str:
    """Return a name for a column that no other has: sidecars may use any."""
    if name not in taken and name not in layout.fixed and name not in PROVENANCE_COLUMNS:
        return name
    name = f"{name}_in_sidecar"
    while name in taken:
        name += "_"
    return name


def _object(content: memoryview) -> dict[str, Any]:
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise DataError(f"the json is not valid: {error}") from error
    if is_too_deep(bytes(content), value):
        raise DataError(f"the json nests more than {MAX_NESTING} levels deep")
    return value if isinstance(value, dict) else {"json": value}


def _text(content: memoryview, name: str) -> str:
    try:
        return str(content, "utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"the {name} is not UTF-8: {error}") from error


def _class_number(content: memoryview) -> int:
    digits = bytes(content[:64]).strip()
    try:
        number = int(digits)
    except ValueError as error:
        raise DataError(f"the cls is not a whole number: {digits!r}") from error
    if number not in _INT64:
        raise DataError(f"the cls does not fit into 64 bits: {number}")
    return number


def _table(rows: Sequence[_Row], archive: ArchiveBytes, path: str) -> pa.Table:
    columns: dict[str, Any] = {"key": pa.array([row.key for row in rows], pa.string())}
    columns |= columns_from_records([row.values for row in rows])
    for name in dict.fromkeys(name for row in rows for name in row.binary):
        columns.setdefault(name, _binary([row.binary.get(name) for row in rows], archive))
    columns["bytes"] = _binary([row.media for row in rows], archive)
    columns["extension"] = pa.array([row.extension for row in rows], pa.string())
    return with_provenance(pa.table(columns), path, [row.start for row in rows])


def _binary(parts: Sequence[Part | None], archive: ArchiveBytes) -> pa.Array:
    """Bring the parts into one column, each copied once."""
    lengths = np.fromiter((0 if part is None else len(part) for part in parts), np.int64, len(parts))
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    data = pa.allocate_buffer(int(offsets[-1]))  # from Arrow's pool, which uses memory again
    target = memoryview(data).cast("B")
    for part, begin, end in zip(parts, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        if part is not None:
            archive.copy_part(part, target[begin:end])
    validity = None
    if any(part is None for part in parts):
        present = np.fromiter((part is not None for part in parts), np.bool_, len(parts))
        validity = pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.Array.from_buffers(pa.large_binary(), len(parts), [validity, pa.py_buffer(offsets), data])
