"""Make columns of given types from blocks of JSON lines, and report the records that do not fit them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from curator_core.sdk import own_name
from curator_table.json.columns import EXACT_FLOAT, json_text
from curator_table.json.fast_parser import cut_by_memory, parse_typed
from curator_table.json.records import BadLines, decode_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.sdk import Limits
    from curator_table.json.line_index import LineIndex
    from curator_table.json.records import Problem
    from curator_table.lines import Block

__all__ = ["TypedParser", "misfit"]

_INT64 = range(-(2**63), 2**63)
_UINT64 = range(2**64)
_KINDS: dict[type, str] = {
    str: "a string",
    dict: "an object",
    list: "an array",
    int: "an integer",
    float: "a float",
    bool: "a boolean",
}


class TypedParser:
    """Parse blocks of a file whose columns have types.

    Args:
        types: Types of the columns of the run, under their names in the file.
        columns: Columns that are wanted, under their names in the table; all, where None. Others are not checked.
        path: The file.
        limits: Caps against hostile files.
    """

    def __init__(self, types: pa.Schema, columns: Sequence[str] | None, path: str, limits: Limits) -> None:
        self._types = types
        self._known = frozenset(types.names)
        self._columns = None if columns is None else frozenset(columns)
        self._wanted = [
            field for field in types if columns is None or own_name(field.name, taken=types.names) in columns
        ]
        self._has_text = any(_is_json(field.type) for field in types)
        self._path = path
        self._limits = limits

    def parse(self, block: Block, lines: LineIndex, *, max_bytes: int) -> Iterator[tuple[pa.Table, Any]]:
        """Yield the records of a block in tables of at most ``max_bytes``, with the starts of their lines."""
        bad = BadLines(block, self._path)
        is_simple = not self._has_text and int((lines.ends - lines.starts).max()) <= self._limits.max_record_bytes
        for part, fits in cut_by_memory(self._types, block.data, lines, max_bytes=max_bytes):
            if not fits:
                bad.add(int(part.starts[0]), int(part.ends[0]), _too_wide(max_bytes))
                continue
            table = parse_typed(block.data, part, self._types) if is_simple else None
            if table is not None:
                yield table, part.starts
                continue
            records, kept = self._decode(block, part, bad)
            if records:
                yield self._table(records), part.starts[kept]
        bad.close()

    def _decode(self, block: Block, lines: LineIndex, bad: BadLines) -> tuple[list[dict[str, Any]], list[int]]:
        records: list[dict[str, Any]] = []
        kept: list[int] = []
        for index, (start, end) in enumerate(zip(lines.starts.tolist(), lines.ends.tolist(), strict=True)):
            record, problem = decode_record(block.data[start:end], self._limits)
            problem = problem or self._problem(record)
            if problem is None:
                records.append(record)
                kept.append(index)
            else:
                bad.add(start, end, problem)
        return records, kept

    def _problem(self, record: dict[str, Any]) -> Problem | None:
        if not self._known.issuperset(record):
            unknown = [key for key in record if key not in self._known]
            wanted = unknown if self._columns is None else [key for key in unknown if key in self._columns]
            if wanted:
                return self._unknown(wanted[0])
        for field in self._wanted:
            found = misfit(record.get(field.name), field.type)
            if found is not None:
                path, what = found
                return "WrongType", (
                    f"column {field.name + path!r} is {_name(field.type)} in this run, and here it is {what}; "
                    f"schema: {{{field.name}: json}} on the reader keeps values of every kind"
                )
        return None

    def _unknown(self, key: str) -> Problem:
        if len(self._known) >= self._limits.max_columns:
            return "TooManyColumns", (
                f"the key {key!r} is beyond the first {self._limits.max_columns:,}; raise max_columns if the keys are "
                "genuine, or name the columns you need"
            )
        return "UnknownColumn", (
            f"the key {key!r} was in none of the records that were looked at before the run; give its type on the "
            f"reader, for example schema: {{{key}: json}}, or name the columns you need with columns: […]"
        )

    def _table(self, records: list[dict[str, Any]]) -> pa.Table:
        arrays = []
        for field in self._wanted:
            values = [record.get(field.name) for record in records]
            if _is_json(field.type):
                texts = [None if value is None else json_text(value) for value in values]
                arrays.append(pa.array(texts, pa.string()).cast(field.type))
            else:
                arrays.append(pa.array(values, field.type))
        if not arrays:  # Arrow takes the number of rows from the columns
            return pa.table({"": np.zeros(len(records), dtype=np.int8)}).select([])
        return pa.Table.from_arrays(arrays, names=[field.name for field in self._wanted])


def _too_wide(max_bytes: int) -> Problem:
    return "TooManyColumns", (
        f"the objects in the record's lists have so many different keys that it would take more than {max_bytes:,} "
        "bytes; give the column the type json with schema: {column: json}"
    )


def misfit(value: Any, kind: pa.DataType) -> tuple[str, str] | None:
    """Return the path and the kind of the first part of a decoded value that does not fit a type; None if all fit.

    >>> misfit({"a": [1, "x"]}, pa.struct([("a", pa.list_(pa.int64()))]))
    ('.a[]', 'a string')
    """
    if value is None or _is_json(kind):
        return None
    found = _KINDS[type(value)]
    if pa.types.is_struct(kind) and found == "an object":
        return _object_misfit(value, kind)
    if pa.types.is_list(kind) and found == "an array":
        misfits = (misfit(each, kind.value_type) for each in value)
        path, what = next((each for each in misfits if each is not None), ("", ""))
        return (f"[]{path}", what) if what else None
    if type(value) is int:
        return _integer_misfit(value, kind)
    fits = {"a string": pa.types.is_string, "a float": pa.types.is_float64, "a boolean": pa.types.is_boolean}
    return None if found in fits and fits[found](kind) else ("", found)


def _object_misfit(value: dict[str, Any], kind: pa.DataType) -> tuple[str, str] | None:
    for name, each in value.items():
        index = kind.get_field_index(name)
        if index < 0:
            return f".{name}", "a new field"
        found = misfit(each, kind.field(index).type)
        if found is not None:
            return f".{name}{found[0]}", found[1]
    return None


def _integer_misfit(value: int, kind: pa.DataType) -> tuple[str, str] | None:
    if pa.types.is_float64(kind):
        return None if -EXACT_FLOAT <= value <= EXACT_FLOAT else ("", "an integer that no float holds exactly")
    if not pa.types.is_int64(kind) and not pa.types.is_uint64(kind):
        return "", "an integer"
    if value in (_INT64 if pa.types.is_int64(kind) else _UINT64):
        return None
    return "", "an integer that it does not hold"


def _is_json(kind: pa.DataType) -> bool:
    return isinstance(kind, pa.BaseExtensionType)


def _name(kind: pa.DataType) -> str:
    return "json" if _is_json(kind) else str(kind)
