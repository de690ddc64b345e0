"""Build Arrow columns from decoded JSON records that do not agree on their types, losing nothing.

Values of one field that share a type get that type. Integers mixed with floats become floats when every integer is
exact as a float. Any other mixture becomes text: strings stay as they are, other values become their JSON text.
"""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "CELL_BYTES",
    "EXACT_FLOAT",
    "MAX_NESTING",
    "Shape",
    "columns_from_records",
    "is_too_deep",
    "json_text",
    "nesting",
    "shape_of",
]

EXACT_FLOAT = 2**53
"""Integers beyond this are not all representable as floats."""

MAX_NESTING = 64
"""Deepest nesting of a JSON record. Arrow, Parquet and polars recurse over types; none is safe at thousands."""

CELL_BYTES = 9
"""Bytes of a place for a value, filled or not: a number or an offset, and whether it is null."""

_INT64 = range(-(2**63), 2**63)


class Shape(NamedTuple):
    """How large the columns of some records are."""

    fields: int
    """Columns, and fields of objects in them."""
    cells: int
    """Places for values: every object, also one in a list, has one for every field of its siblings."""


def shape_of(records: Sequence[dict[str, Any]]) -> Shape:
    """Measure the columns that records would make, in time and memory that grow with the records only.

    >>> shape_of([{"a": 1}, {"b": [{"c": 1}, {"d": 2}]}])
    Shape(fields=4, cells=8)
    """
    keys = _keys(records)
    fields, cells = len(keys), len(keys) * len(records)
    nested: dict[str, list[Any]] = {}
    for record in records:
        for key, value in record.items():
            if value.__class__ is dict or value.__class__ is list:
                nested.setdefault(key, []).append(value)
    for values in nested.values():
        inner = shape_of(_objects_in(values))
        fields, cells = fields + inner.fields, cells + inner.cells
    return Shape(fields, cells)


def columns_from_records(
    records: Sequence[dict[str, Any]], *, max_columns: int = 1000, max_bytes: int = 2**26
) -> dict[str, pa.Array]:
    """Return one column per key, in the order in which keys first appear; a missing key is null.

    Objects with keys for more than ``max_columns`` columns, nested fields included, or for more than ``max_bytes``,
    mostly of nulls, are treated as dictionaries, not records: they stay JSON text.

    >>> columns_from_records([{"a": 1}, {"a": "x", "b": 2}])["a"].to_pylist()
    ['1', 'x']
    """
    keys = _keys(records)
    fields_left = max_columns - len(keys)
    cells_left = max_bytes // CELL_BYTES
    columns: dict[str, pa.Array] = {}
    for key in keys:
        values = [record.get(key) for record in records]
        shape = shape_of(_objects_in([value for value in values if value.__class__ in (dict, list)]))
        if shape.fields > fields_left or shape.cells > cells_left:
            columns[key] = _text(values)
            continue
        fields_left -= shape.fields
        cells_left -= shape.cells
        columns[key] = _column(values)
    return columns


def json_text(value: Any) -> str:
    """Return a decoded value as compact JSON, integers of any size included.

    >>> json_text({"a": [2**70]})
    '{"a":[1180591620717411303424]}'
    """
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # an integer beyond 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def nesting(value: Any) -> int:
    """Return how many objects and arrays deep a decoded value goes, without recursion.

    >>> nesting({"a": [1]})
    2
    """
    depth = 0
    level = [value]
    while level := [each for each in level if isinstance(each, (dict, list))]:
        depth += 1
        level = list(chain.from_iterable(each.values() if isinstance(each, dict) else each for each in level))
    return depth


def is_too_deep(line: bytes, value: Any) -> bool:
    """Return whether a decoded line nests beyond :data:`MAX_NESTING`; most lines have too few brackets for it."""
    return line.count(b"[") + line.count(b"{") > MAX_NESTING and nesting(value) > MAX_NESTING


def _objects_in(values: list[Any]) -> list[dict[str, Any]]:
    """Return the objects among values, and in lists of any depth among them."""
    objects: list[dict[str, Any]] = []
    while values:
        objects += [value for value in values if value.__class__ is dict]
        values = list(chain.from_iterable(value for value in values if value.__class__ is list))
    return objects


def _keys(records: Iterable[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(records)))


def _column(values: list[Any]) -> pa.Array:
    kinds = set(map(type, values)) - {type(None)}
    if not kinds:
        return pa.nulls(len(values))
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds <= {int, float}:
        return _numbers(values, kinds)
    if kinds == {dict}:
        return _struct(values)
    return _list(values) if kinds == {list} else _text(values)


def _numbers(values: list[Any], kinds: set[type]) -> pa.Array:
    integers = [value for value in values if type(value) is int]
    if kinds == {int} and min(integers) in _INT64 and max(integers) in _INT64:
        return pa.array(values, pa.int64())
    if float in kinds and all(-EXACT_FLOAT <= value <= EXACT_FLOAT for value in integers):
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return _text(values)


def _struct(values: list[Any]) -> pa.Array:
    records = [value or {} for value in values]
    keys = _keys(records)
    if not keys:
        return pa.array(values, pa.struct([]))
    missing = pa.array([value is None for value in values], pa.bool_())
    children = [_column([record.get(key) for record in records]) for key in keys]
    return pa.StructArray.from_arrays(children, names=keys, mask=missing)


def _list(values: list[Any]) -> pa.Array:
    lengths = np.fromiter((len(value or ()) for value in values), dtype=np.int32, count=len(values))
    offsets = np.concatenate([np.zeros(1, dtype=np.int32), np.cumsum(lengths, dtype=np.int32)])
    items = _column(list(chain.from_iterable(value or () for value in values)))
    missing = pa.array([value is None for value in values], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(offsets), items, mask=missing)


def _text(values: list[Any]) -> pa.Array:
    texts = [value if value is None or type(value) is str else json_text(value) for value in values]
    return pa.array(texts, pa.string())
