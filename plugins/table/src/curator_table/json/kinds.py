"""Find the types of columns from decoded JSON records: count the kinds of their values, then choose.

Counts add up in any order, so the types do not depend on the order of the files.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from curator_table.json.columns import EXACT_FLOAT
from curator_table.memory_claims import count_fields, inner_types

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Kinds", "choose_columns", "choose_type", "count_kinds", "disagreements", "has_empty_object", "merge_kinds"]

_MAX_INT64 = 2**63 - 1
_VAST = 2.0**63
_MANY_FIELDS, _SPARSE_FACTOR = 50, 10
_NAMES: dict[type, str] = {
    str: "string",
    dict: "object",
    list: "array",
    int: "integer",
    float: "float",
    bool: "boolean",
}
_RANKS = ("string", "object", "array", "number", "boolean")
"""Which kind a column has where two are equally frequent."""


@dataclass(slots=True)
class Kinds:
    """How many values of each kind a column has, or a field of objects, or the items of lists.

    Args:
        counts: Values by kind. Integers count once more as ``negative``, ``above_int64`` or ``inexact`` (as floats),
            floats as ``vast`` where they may be integers of more than 64 bits, which a fast parser rounds.
        fields: The fields of objects, in the order in which they first appear.
        items: The items of lists.
    """

    counts: Counter[str] = field(default_factory=Counter)
    fields: dict[str, Kinds] = field(default_factory=dict)
    items: Kinds | None = None


def count_kinds(values: Sequence[Any], *, max_fields: int) -> Kinds:
    """Count the kinds of decoded values, without nulls.

    Args:
        values: As a JSON parser gives them.
        max_fields: Maximum number of fields of an object that are counted separately, and one more.
    """
    by_type = Counter(map(type, values))
    del by_type[type(None)]
    kinds = Kinds(Counter({_NAMES[kind]: count for kind, count in by_type.items()}))
    if int in by_type:
        integers = [value for value in values if type(value) is int]
        refined = {
            "negative": sum(value < 0 for value in integers),
            "above_int64": sum(value > _MAX_INT64 for value in integers),
            "inexact": sum(not -EXACT_FLOAT <= value <= EXACT_FLOAT for value in integers),
        }
        kinds.counts.update({name: count for name, count in refined.items() if count})
    if float in by_type:
        vast = sum(abs(value) >= _VAST for value in values if type(value) is float)
        kinds.counts.update({"vast": vast} if vast else {})
    if dict in by_type:
        by_key: dict[str, list[Any]] = {}
        for value in values:
            if type(value) is dict:
                for key, inner in value.items():
                    by_key.setdefault(key, []).append(inner)
        kept = list(by_key)[: max_fields + 1]
        kinds.fields = {key: count_kinds(by_key[key], max_fields=max_fields) for key in kept}
    if list in by_type:
        items = list(chain.from_iterable(value for value in values if type(value) is list))
        kinds.items = count_kinds(items, max_fields=max_fields)
    return kinds


def merge_kinds(first: Kinds, second: Kinds, *, max_fields: int) -> Kinds:
    """Add up two counts; fields of the first come first.

    Args:
        first: Counts of some values.
        second: Counts of others.
        max_fields: Maximum number of fields of an object that are counted separately, and one more.
    """
    fields = {
        name: merge_kinds(kinds, second.fields[name], max_fields=max_fields) if name in second.fields else kinds
        for name, kinds in first.fields.items()
    }
    for name, kinds in second.fields.items():
        if len(fields) > max_fields:
            break
        fields.setdefault(name, kinds)
    items = first.items or second.items
    if first.items is not None and second.items is not None:
        items = merge_kinds(first.items, second.items, max_fields=max_fields)
    return Kinds(first.counts + second.counts, fields, items)


def choose_type(kinds: Kinds) -> pa.DataType:
    """Return the type of most of the values.

    >>> choose_type(count_kinds([1, None, 2.5], max_fields=9)), choose_type(count_kinds(["a", 1, "b"], max_fields=9))
    (DataType(double), DataType(string))
    """
    counts = _by_group(kinds)
    if not counts:
        return pa.null()
    chosen = max(counts, key=lambda group: (counts[group], -_RANKS.index(group)))
    if chosen == "object":
        return pa.struct([(name, choose_type(inner)) for name, inner in kinds.fields.items()])
    if chosen == "array":
        return pa.list_(pa.null() if kinds.items is None else choose_type(kinds.items))
    if chosen == "number":
        return _number_type(kinds.counts)
    return pa.string() if chosen == "string" else pa.bool_()


def choose_columns(records: Kinds, *, max_columns: int) -> dict[str, pa.DataType]:
    """Return the types of the columns of records, of the first ``max_columns`` of them.

    Three kinds of objects are treated as dictionaries, not records, and their column keeps JSON text: objects without
    any field, which Parquet cannot store; objects with keys for more columns than that, nested fields included; and
    objects in lists that each have few of many keys.
    """
    names = list(records.fields)[:max_columns]
    room = max_columns - len(names)
    columns: dict[str, pa.DataType] = {}
    for name in names:
        kind = choose_type(records.fields[name])
        nested = count_fields([kind]) - 1
        if nested > room or has_empty_object(kind) or _is_sparse(records.fields[name]):
            kind = pa.json_(pa.string())
        else:
            room -= nested
        columns[name] = kind
    return columns


def disagreements(kinds: Kinds, path: str = "") -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the columns and fields whose values are of several kinds, with their counts, the most frequent first.

    >>> list(disagreements(count_kinds([{"a": [1, "x", 2.5]}], max_fields=9)))
    [('a[]', {'number': 2, 'string': 1})]
    """
    counts = _by_group(kinds)
    if len(counts) > 1:
        yield path, dict(sorted(counts.items(), key=lambda each: (-each[1], _RANKS.index(each[0]))))
    for name, inner in kinds.fields.items():
        yield from disagreements(inner, f"{path}.{name}" if path else name)
    if kinds.items is not None:
        yield from disagreements(kinds.items, f"{path}[]")


def _is_sparse(kinds: Kinds, *, in_list: bool = False) -> bool:
    """Whether objects in lists have few of the keys that there are: each has a place for all of them."""
    if in_list and len(kinds.fields) > _MANY_FIELDS:
        filled = sum(sum(_by_group(each).values()) for each in kinds.fields.values())
        if kinds.counts["object"] * len(kinds.fields) > _SPARSE_FACTOR * filled:
            return True
    inner = kinds.items is not None and _is_sparse(kinds.items, in_list=True)
    return inner or any(_is_sparse(each, in_list=in_list) for each in kinds.fields.values())


def _by_group(kinds: Kinds) -> dict[str, int]:
    counts = kinds.counts
    numbers = counts["integer"] + counts["float"]
    return {group: count for group in _RANKS if (count := numbers if group == "number" else counts[group])}


def _number_type(counts: Counter[str]) -> pa.DataType:
    """Return the type that holds most of some numbers exactly."""
    floats = counts["float"] - (counts["vast"] if counts["integer"] else 0)
    if floats and floats >= counts["inexact"]:
        return pa.float64()
    return pa.uint64() if counts["above_int64"] > counts["negative"] else pa.int64()


def has_empty_object(kind: pa.DataType) -> bool:
    """Whether values of a type have objects that never have a field."""
    return bool(pa.types.is_struct(kind) and not kind.num_fields) or any(map(has_empty_object, inner_types(kind)))
