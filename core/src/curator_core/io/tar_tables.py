"""Make tables of the samples of tar archives: media as bytes, sidecars as columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa

from curator_core.errors import DataError
from curator_core.io.json_columns import columns_from_records, nesting
from curator_core.io.limits import MAX_NESTING
from curator_core.io.provenance import PROVENANCE_COLUMNS, with_provenance
from curator_core.recording import BadRecord, current

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from curator_core.io.tar_samples import TarSample

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
        media: Extensions, in lower case and without a dot, of what samples are about.
        noun: What that is, for messages.
        text_column: Column of ``txt`` members.
    """

    media: frozenset[str]
    noun: str = "media file"
    text_column: str = "text"

    @property
    def fixed(self) -> tuple[str, ...]:
        """Columns that every table has."""
        return ("key", "bytes", "extension")


@dataclass(slots=True)
class _Row:
    """A sample, taken apart."""

    key: str
    start: int
    media: memoryview
    extension: str
    values: dict[str, Any] = field(default_factory=dict)
    binary: dict[str, memoryview] = field(default_factory=dict)


def sample_tables(
    samples: Iterable[TarSample], path: str, layout: SampleLayout, *, batch_bytes: int
) -> Iterator[pa.Table]:
    """Yield tables of about ``batch_bytes``, with ``_source`` and ``_row`` (where the sample begins in the archive).

    A sample without media, or with a sidecar that cannot be read, is reported.
    """
    rows: list[_Row] = []
    names: set[str] = set()
    held_bytes = 0
    for sample in samples:
        try:
            row = _take_apart(sample, layout)
            _check_columns(row, names)
        except DataError as error:
            message = f"sample {sample.key!r}: {error.message}"
            current().bad_record(BadRecord(message, path, sample.start, "UnreadableSample"))
            continue
        if rows and held_bytes + sample.size_bytes > batch_bytes:
            yield _table(rows, path)
            rows, names, held_bytes = [], set(), 0
        rows.append(row)
        names.update(row.values, row.binary)
        held_bytes += sample.size_bytes
    if rows:
        yield _table(rows, path)


def _take_apart(sample: TarSample, layout: SampleLayout) -> _Row:
    extension = next((each for each in sample.parts if each.lower() in layout.media), None)
    if extension is None:
        raise DataError(f"there is no {layout.noun} among its members: {', '.join(sample.parts)}")
    row = _Row(sample.key, sample.start, sample.parts[extension], extension)
    for name, content in sample.parts.items():
        if name == extension:
            continue
        kind = name.lower()
        if kind == "json":
            _add(row.values, _object(content), layout)
        elif kind == "txt":
            _add(row.values, {layout.text_column: _text(content, name)}, layout)
        elif kind == "cls":
            _add(row.values, {"cls": _class_number(content)}, layout)
        else:
            row.binary[_free_name(name, (*layout.fixed, *row.values))] = content
    return row


def _check_columns(row: _Row, names: set[str]) -> None:
    if len(names | row.values.keys() | row.binary.keys()) > MAX_COLUMNS:
        raise DataError(f"the sidecars of it and its neighbours have more than {MAX_COLUMNS:,} different keys")


def _add(values: dict[str, Any], new: dict[str, Any], layout: SampleLayout) -> None:
    for name, value in new.items():
        values[_free_name(name, (*layout.fixed, *values))] = value


def _free_name(name: str, taken: Sequence[str]) -> str:
    """Return a name for a column that no other has: sidecars may use any."""
    if name not in taken and name not in PROVENANCE_COLUMNS:
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
    if nesting(value) > MAX_NESTING:
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


def _table(rows: Sequence[_Row], path: str) -> pa.Table:
    columns: dict[str, Any] = {"key": pa.array([row.key for row in rows], pa.string())}
    columns |= columns_from_records([row.values for row in rows])
    for name in dict.fromkeys(name for row in rows for name in row.binary):
        columns.setdefault(name, _binary([row.binary.get(name) for row in rows]))
    columns["bytes"] = _binary([row.media for row in rows])
    columns["extension"] = pa.array([row.extension for row in rows], pa.string())
    return with_provenance(pa.table(columns), path, [row.start for row in rows])


def _binary(values: Sequence[memoryview | None]) -> pa.Array:
    """Copy the values into one column, once."""
    lengths = np.fromiter((0 if value is None else len(value) for value in values), np.int64, len(values))
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    data = bytearray(int(offsets[-1]))
    target = memoryview(data)
    for value, begin, end in zip(values, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        if value is not None:
            target[begin:end] = value
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    if any(value is None for value in values):
        present = np.fromiter((value is not None for value in values), np.bool_, len(values))
        buffers[0] = pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.Array.from_buffers(pa.large_binary(), len(values), buffers)
