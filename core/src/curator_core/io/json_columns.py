"""Build Arrow columns from decoded JSON records that do not agree on their types, losing nothing.

Values of one field that share a type get that type. Integers mixed with floats become floats when every integer is
exact as a float. Any other mixture becomes text: strings stay as they are, other values become their JSON text.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["EXACT_FLOAT", "MAX_FIELDS", "columns_from_records", "nesting"]

EXACT_FLOAT = 2**53
"""Integers beyond this are not all representable as floats."""

MAX_FIELDS = 1000
"""An object with more distinct keys than this in one block is a dictionary, not a record: it stays JSON text.

As a struct it would need a column per key, most of them null: memory would grow with rows times keys.
"""

_INT64 = range(-(2**63), 2**63)


def columns_from_records(records: Sequence[dict[str, Any]]) -> dict[str, pa.Array]:
    """Return one column per key, in the order in which keys first appear; a missing key is null.

    >>> columns_from_records([{"a": 1}, {"a": "x", "b": 2}])["a"].to_pylist()
    ['1', 'x']
    """
    return {key: _column([record.get(key) for record in records]) for key in _keys(records)}


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
    if len(keys) > MAX_FIELDS:
        return _text(values)
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
    texts = [value if value is None or type(value) is str else orjson.dumps(value).decode() for value in values]
    return pa.array(texts, pa.string())
