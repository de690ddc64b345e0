"""Write Arrow tables as JSON lines, with a defined text for the types that JSON lacks."""

from __future__ import annotations

import io
from typing import IO, Any, cast

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from curator_core.sdk import atomic_output, open_compressed, report
from curator_table.json.rows import inner_arrays, write_rows
from curator_table.memory_claims import inner_types

__all__ = ["json_ready", "json_texts", "write_jsonl"]


def write_jsonl(table: pa.Table, path: str, *, write_nulls: bool = False) -> int:
    """Write one JSON object per row; compressed when the extension is ``.gz``, ``.zst``, ``.bz2`` or ``.xz``.

    Binary becomes base64 text; dates, times and durations ISO 8601 text; decimals text; NaN and infinities, which JSON
    does not have, null, which is counted; a map an object. A column that keeps JSON text becomes the parsed value.

    Args:
        table: The rows.
        path: The file.
        write_nulls: Write nulls, so that every row has every column. Otherwise they are left out, in objects inside
            columns as well: Arrow cannot tell a key that a record did not have from one that was null.

    Returns:
        The bytes written.
    """
    ready = json_ready(table)
    unwritten = sum(_not_finite(chunk) for column in ready.columns for chunk in column.chunks)
    if unwritten:
        report().count(**{"NaN or infinity written as null": unwritten})
    with atomic_output(path) as file:
        with open_compressed(file, path) as stream:
            write_rows(ready, cast("IO[bytes]", stream), write_nulls=write_nulls)
        return file.tell()


def json_ready(table: pa.Table) -> pa.Table:
    """Replace the columns whose types have no direct form in JSON by text; share the others."""
    columns = [
        pa.chunked_array([_array(chunk) for chunk in column.chunks], type=_type(column.type))
        if _type(column.type) != column.type
        else column
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, names=table.column_names) if columns else table


def json_texts(column: Any) -> Any:
    """Return the values of a :func:`json_ready` column as the texts they have in a JSON lines file; null is null."""
    buffer = io.BytesIO()
    pl.DataFrame({"v": pl.Series(column)}).write_ndjson(buffer)
    before, after = len(b'{"v":'), len(b"}")
    texts = [line[before:-after] for line in buffer.getvalue().splitlines()]
    return pa.array(texts, pa.binary(), mask=pc.is_null(column).to_numpy()).cast(pa.string())


def _not_finite(array: Any) -> int:
    """Count the numbers that JSON has not, in lists and objects as well."""
    if pa.types.is_floating(array.type):
        return int(len(array) - array.null_count - (pc.sum(pc.is_finite(array)).as_py() or 0))
    return sum(map(_not_finite, inner_arrays(array))) if _holds_floats(array.type) else 0


def _holds_floats(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind)) or any(map(_holds_floats, inner_types(kind)))


def _type(kind: pa.DataType) -> pa.DataType:
    """Return the type that represents ``kind`` in JSON."""
    if _is_binary(kind) or pa.types.is_timestamp(kind):
        return pa.large_string()
    if pa.types.is_dictionary(kind):
        plain = _type(kind.value_type)
        return kind if plain == kind.value_type else plain
    return _nested_type(kind) if pa.types.is_nested(kind) else kind


def _nested_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([kind.field(i).with_type(_type(kind.field(i).type)) for i in range(kind.num_fields)])
    if pa.types.is_map(kind):
        return pa.map_(_type(kind.key_type), _type(kind.item_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_type(kind.value_type), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(_type(kind.value_type))
    if pa.types.is_list(kind):
        return pa.list_(_type(kind.value_type))
    return kind


def _is_binary(kind: pa.DataType) -> bool:
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(test(kind) for test in tests)


def _array(array: Any) -> Any:
    """Convert an array to the type that :func:`_type` names."""
    kind = array.type
    target = _type(kind)
    if target == kind:
        return array
    if _is_binary(kind):
        series = pl.Series(array.cast(pa.large_binary()))
        return series.bin.encode("base64").to_arrow().cast(target)
    if pa.types.is_timestamp(kind):
        return pl.Series(array).dt.to_string("iso:strict").to_arrow().cast(target)
    if pa.types.is_dictionary(kind):
        return _array(array.dictionary_decode())
    missing = pc.is_null(array)
    if pa.types.is_struct(kind):
        children = [_array(pc.struct_field(array, [i])) for i in range(kind.num_fields)]
        return pa.StructArray.from_arrays(children, fields=list(target), mask=missing)
    return _list_like(array, target, missing)


def _list_like(array: Any, target: pa.DataType, missing: Any) -> Any:
    """Convert the items of a list, large list, fixed size list or map."""
    if pa.types.is_fixed_size_list(target):
        values = array.values.slice(array.offset * target.list_size, len(array) * target.list_size)
        return pa.FixedSizeListArray.from_arrays(_array(values), type=target, mask=missing)
    if pa.types.is_map(array.type):
        fields = [("key", array.type.key_type), ("value", array.type.item_type)]
        array = array.cast(pa.list_(pa.struct(fields)))
    # Flattening leaves out values behind nulls and slices, so the offsets are recomputed.
    lengths = pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64())
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(lengths)])
    items = array.flatten()
    if pa.types.is_map(target):
        keys, values = (_array(pc.struct_field(items, [index])) for index in (0, 1))
        return pa.MapArray.from_arrays(offsets.cast(pa.int32()), keys, values, type=target, mask=missing)
    if pa.types.is_large_list(target):
        return pa.LargeListArray.from_arrays(offsets, _array(items), type=target, mask=missing)
    return pa.ListArray.from_arrays(offsets.cast(pa.int32()), _array(items), type=target, mask=missing)
