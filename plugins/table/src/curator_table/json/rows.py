"""The rows of a table as lines of JSON without nulls: a key that a record did not have is not in its line."""

from __future__ import annotations

import io
import json
from itertools import groupby
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np
import orjson
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from curator_table.json.line_index import newlines
from curator_table.memory_claims import inner_types

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["inner_arrays", "is_json", "write_rows"]

_PART_BYTES = 16 * 2**20
_PART_ROWS = 8192
"""Bytes converted to lines at a time, so that memory is reused, and their minimum number of rows."""
_RARE = 50
"""A column with at most one value in this many rows is sparse, and is converted in Python, value by value."""
_FEW_VALUES = 1000
"""Polars takes a millisecond for a column, however few values it has."""


def is_json(kind: pa.DataType) -> bool:
    """Whether a column keeps JSON text, whose parsed content is the value."""
    return isinstance(kind, pa.JsonType)


def write_rows(table: pa.Table, stream: IO[bytes], *, write_nulls: bool) -> None:
    r"""Write one line per row.

    >>> stream = io.BytesIO()
    >>> write_rows(pa.table({"a": [1, None], "b": [{"c": None}, {"c": 2}]}), stream, write_nulls=False)
    >>> stream.getvalue()
    b'{"a":1,"b":{}}\n{"b":{"c":2}}\n'

    Args:
        table: Rows whose columns have types that JSON has, or keep JSON text.
        stream: Where to write.
        write_nulls: Write nulls, too.
    """
    if not write_nulls:
        table = table.select([each for each, column in enumerate(table.columns) if column.null_count < len(column)])
    if not table.num_columns:  # polars cannot count rows without columns
        stream.write(b"{}\n" * table.num_rows)
        return
    is_plain = _is_typed if write_nulls else _is_dense
    plain = list(map(is_plain, table.columns))
    if all(plain):
        _write_plain(table, stream)
        return
    rows = max(_PART_ROWS, _PART_BYTES * table.num_rows // max(1, table.nbytes))
    for start in range(0, table.num_rows, rows):
        stream.write(_lines(table.slice(start, rows), plain, write_nulls=write_nulls))


def _write_plain(table: pa.Table, stream: IO[bytes]) -> None:
    """Write one line per row, with every column; null is ``null``."""
    if "" in table.column_names:  # which polars gives another name
        frame = pl.DataFrame({name: pl.Series(table.column(name)) for name in table.column_names})
    else:
        frame = cast("pl.DataFrame", pl.from_arrow(table))
    frame.write_ndjson(stream)


def _lines(table: pa.Table, plain: list[bool], *, write_nulls: bool) -> pa.Buffer:
    """Return a line per row: the texts of its members, of which those that are null are skipped, joined by Arrow."""
    pieces: list[Any] = [_text(b"{")]
    is_begun = np.zeros(table.num_rows, dtype=bool)
    for members, is_there in _groups(table, plain, write_nulls=write_nulls):
        pieces += [pc.if_else(pa.array(is_begun & is_there), _text(b","), _text(None)), members]
        is_begun |= is_there
    lines = pc.binary_join_element_wise(*pieces, _text(b"}\n"), _text(b""), null_handling="skip")
    return lines.buffers()[2]


def _groups(table: pa.Table, plain: list[bool], *, write_nulls: bool) -> Iterator[tuple[Any, NDArray[np.bool_]]]:
    """Yield texts of one or several members, ``"name":value``, for every row or null, and which rows have them."""
    few = table.num_rows // _RARE

    def kind(index: int) -> tuple[str, int]:
        if plain[index]:
            return "plain", 0
        column = table.column(index)
        return ("rare", 0) if not write_nulls and len(column) - column.null_count <= few else ("own", index)

    for (name, _), indexes in groupby(range(table.num_columns), key=kind):
        group = table.select(list(indexes))
        if name == "plain":
            yield _members(group), np.ones(table.num_rows, dtype=bool)
            continue
        if name == "rare":
            members, is_there = _rare_members(group)
        else:
            members, is_there = _own_members(group.column_names[0], group.column(0), write_nulls=write_nulls)
        if not is_there.all():
            members = members.take(pa.array(np.cumsum(is_there) - 1, mask=~is_there))
        yield members, is_there


def _rare_members(table: pa.Table) -> tuple[Any, NDArray[np.bool_]]:
    """Return the members of the rows that have any, and which these are: many columns with few values each."""
    rows: list[list[bytes]] = [[] for _ in range(table.num_rows)]
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count < len(column):
            members, is_there = _own_members(name, column, write_nulls=False)
            for place, member in zip(np.flatnonzero(is_there).tolist(), members.to_pylist(), strict=True):
                rows[place].append(member)
    return pa.array([b",".join(row) for row in rows if row], pa.large_binary()), np.array(list(map(bool, rows)))


def _own_members(name: str, column: Any, *, write_nulls: bool) -> tuple[Any, NDArray[np.bool_]]:
    """Return the member of the rows that have it, and which these are: all, if nulls are written."""
    key = orjson.dumps(name) + b":"
    if is_json(column.type):
        column = column.cast(pa.string())
        column = column.fill_null("null") if write_nulls else column
        texts = [key + _checked(text) for text in column.drop_null().to_pylist()]
        return pa.array(texts, pa.large_binary()), column.is_valid().to_numpy()
    is_there = column.is_valid().to_numpy()
    values = column.drop_null()
    if len(values) < _FEW_VALUES and _is_simple(values.type):
        return pa.array([key + orjson.dumps(value) for value in values.to_pylist()], pa.large_binary()), is_there
    members = _members(pa.table({name: values}))
    if not _is_dense(values):
        texts = [_without_nulls(each) if b"null" in each else each for each in members.to_pylist()]
        members = pa.array(texts, pa.large_binary())
    return members, is_there


def _text(value: bytes | None) -> Any:
    return pa.scalar(value, pa.large_binary())


def _members(table: pa.Table) -> Any:
    """Return the text between the braces of every row."""
    buffer = io.BytesIO()
    _write_plain(table, buffer)
    text = buffer.getvalue()
    ends = newlines(text) + 1
    offsets = pa.py_buffer(np.concatenate((np.zeros(1, np.int64), ends)))
    lines = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(ends), [None, offsets, pa.py_buffer(text)])
    return pc.binary_slice(lines, len(b"{"), -len(b"}\n"))


def _is_simple(kind: pa.DataType) -> bool:
    """Whether orjson has the same text for the values of a type as polars."""
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(is_text or pa.types.is_integer(kind) or pa.types.is_float64(kind) or pa.types.is_boolean(kind))


def _is_typed(column: Any) -> bool:
    return not is_json(column.type)


def _is_dense(column: Any) -> bool:
    """Whether every row has a value, and every object in it all of its fields."""
    is_whole = not is_json(column.type) and not column.null_count
    return is_whole and not (_has_objects(column.type) and any(map(_lacks_fields, column.chunks)))


def _has_objects(kind: pa.DataType) -> bool:
    return bool(pa.types.is_struct(kind)) or any(map(_has_objects, inner_types(kind)))


def _lacks_fields(array: Any) -> bool:
    is_object = pa.types.is_struct(array.type) or pa.types.is_map(array.type)
    return any((is_object and each.null_count) or _lacks_fields(each) for each in inner_arrays(array))


def inner_arrays(array: Any) -> list[Any]:
    """Return the fields of objects, the keys and values of maps, or the items of lists; none of other values."""
    kind = array.type
    if not pa.types.is_nested(kind):
        return []
    if pa.types.is_struct(kind):
        return [array.field(index) for index in range(kind.num_fields)]
    return [array.keys, array.items] if pa.types.is_map(kind) else [array.flatten()]


def _without_nulls(member: bytes) -> bytes:
    """Leave the null fields of objects out of ``"name":value``; null items of lists stay."""
    return orjson.dumps(_filled(orjson.loads(b"{%b}" % member)))[1:-1]


def _filled(value: Any) -> Any:
    if value.__class__ is dict:
        return {key: _filled(each) for key, each in value.items() if each is not None}
    return [_filled(each) for each in value] if value.__class__ is list else value


def _checked(text: str) -> bytes:
    """Return JSON text on one line; invalid JSON, from a file with a wrong schema, becomes a string."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return orjson.dumps(text)
    if "\n" in text or "\r" in text:
        text = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    return text.encode()
