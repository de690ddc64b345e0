"""The rows of a table as lines of JSON, in which a null is left out: what a record did not have is not in its line."""

from __future__ import annotations

import io
import json
from itertools import chain, groupby
from typing import IO, Any, cast

import numpy as np
import orjson
import polars as pl
import pyarrow as pa

from curator_table.json.line_index import index_lines
from curator_table.memory_claims import inner_types

__all__ = ["inner_arrays", "is_json", "write_rows"]

_PART_BYTES = 16 * 2**20
_PART_ROWS = 1024
"""Rows that are made into lines at a time: few, so that memory is used again."""


def is_json(kind: pa.DataType) -> bool:
    """Whether a column keeps JSON text, of which the values are what the text says."""
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


def _lines(table: pa.Table, plain: list[bool], *, write_nulls: bool) -> bytes:
    names = table.column_names
    rows: list[list[bytes | memoryview]]
    groups = [(is_plain, list(group)) for is_plain, group in groupby(range(len(names)), key=plain.__getitem__)]
    if plain[0]:  # columns without nulls stay together, and are not copied more often than needed
        rows = [[beginning] for beginning in _open_lines(table.select(groups.pop(0)[1]))]
    else:
        rows = [[b"{"] for _ in range(table.num_rows)]
    for is_plain, group in groups:
        if is_plain:
            for row, member in zip(rows, _members(table.select(group)), strict=True):
                row.append(member)
            continue
        for index in group:
            column = table.column(index)
            if write_nulls or column.null_count < len(column):
                places = range(len(rows)) if write_nulls else np.flatnonzero(column.is_valid().to_numpy()).tolist()
                for place, member in zip(places, _sparse_members(names[index], column, write_nulls), strict=True):
                    rows[place].append(member)
    for row in rows:
        if row[0] == b"{" and len(row) > 1:
            row[1] = row[1][1:]  # no comma before the first
        row.append(b"}\n")
    return b"".join(chain.from_iterable(rows))


def _sparse_members(name: str, column: Any, write_nulls: bool) -> list[bytes]:  # noqa: FBT001 - private
    """Return ``,"name":value`` for every value of a column; for nulls only where it keeps JSON text."""
    key = b",%b:" % orjson.dumps(name)
    if is_json(column.type):
        texts = column.cast(pa.string())
        texts = texts.fill_null("null") if write_nulls else texts.drop_null()
        return [key + _checked(text) for text in texts.to_pylist()]
    values = column.drop_null()
    if _is_simple(column.type):  # polars takes a millisecond for a column, however few values it has
        return [key + orjson.dumps(value) for value in values.to_pylist()]
    members = _members(pa.table({name: values}))
    return members if _is_dense(values) else [_without_nulls(each) if b"null" in each else each for each in members]


def _members(table: pa.Table) -> list[bytes]:
    """Return what stands between the braces of every row, after a comma."""
    return [b"," + line[1:] for line in _open_lines(table)]


def _open_lines(table: pa.Table) -> list[memoryview]:
    """Return the line of every row without the brace that ends it."""
    buffer = io.BytesIO()
    _write_plain(table, buffer)
    lines = index_lines(buffer.getvalue())
    text = buffer.getbuffer()
    return [text[start:end] for start, end in zip(lines.starts.tolist(), (lines.ends - 1).tolist(), strict=True)]


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
    """Leave the null fields of objects out of ``,"name":value``; null items of lists stay."""
    return b",%b" % orjson.dumps(_filled(orjson.loads(b"{%b}" % member[1:])))[1:-1]


def _filled(value: Any) -> Any:
    if value.__class__ is dict:
        return {key: _filled(each) for key, each in value.items() if each is not None}
    return [_filled(each) for each in value] if value.__class__ is list else value


def _checked(text: str) -> bytes:
    """Return JSON text on one line; a text that is none, from a file that is wrong about itself, becomes a string."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return orjson.dumps(text)
    if "\n" in text or "\r" in text:
        text = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    return text.encode()
