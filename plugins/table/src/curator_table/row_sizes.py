"""Measure the values that rows refer to, and cut tables by their size once every row holds its values.

In a dictionary, a run, a view or a list view, rows refer to values: a text of a megabyte takes only a few bytes more
for every row that has it. Arrow's size of such a column says nothing about its size once a stage decodes it or a writer
writes it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curator_table.memory_claims import inner_types

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["has_references", "has_views", "parts", "referred_bytes"]

_BLOCK_VALUES = 2**20
"""Values of lists measured at a time: measuring takes some 24 bytes for each, far more than a boolean."""

_VIEW_BYTES = 16


def parts(table: pa.Table, batch_bytes: int, *, held_bytes: int = 0) -> Iterator[tuple[pa.Table, int]]:
    """Yield a table in parts of about ``batch_bytes``, one row at least, and the size of each part.

    Args:
        table: Rows.
        batch_bytes: Size of a part.
        held_bytes: Bytes of every row besides the values that it refers to.
    """
    sizes = np.full(table.num_rows, held_bytes, dtype=np.int64)
    for column in table.columns:
        if has_references(column.type) and column.num_chunks:
            sizes += np.concatenate([referred_bytes(chunk) for chunk in column.chunks])
    ends = np.cumsum(sizes)
    start = 0
    while start < table.num_rows:
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + batch_bytes, side="right")))
        whole = stop - start == table.num_rows
        yield table if whole else _cut(table, start, stop), int(ends[stop - 1] - before)
        start = stop


def _cut(table: pa.Table, start: int, stop: int) -> pa.Table:
    """Return some rows with only their own values in lists: a cast decodes all values of a list array."""
    part = table.slice(start, stop - start)
    for index, field in enumerate(table.schema):
        if pa.types.is_nested(field.type) and has_references(field.type):
            # Arrow returns a single array as it is, and copies two.
            copies = [pa.concat_arrays([chunk, chunk.slice(0, 0)]) for chunk in part.column(index).chunks]
            part = part.set_column(index, field, pa.chunked_array(copies, field.type))
    return part


def has_references(kind: pa.DataType) -> bool:
    """Whether arrays of a type may refer to one value many times.

    >>> has_references(pa.list_(pa.string())), has_references(pa.list_(pa.dictionary(pa.int8(), pa.string())))
    (False, True)
    """
    is_coded = pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind) or pa.types.is_union(kind)
    return is_coded or has_views(kind) or any(map(has_references, inner_types(kind)))


def has_views(kind: pa.DataType) -> bool:
    """Whether a type is, or has inside, a view of text or a list view."""
    return _is_view(kind) or _is_list_view(kind) or any(map(has_views, inner_types(kind)))


def referred_bytes(array: Any, *, is_referred: bool = False) -> NDArray[np.int64]:
    """Return the size of the values that every row of an array refers to, counted once per reference.

    >>> referred_bytes(pa.DictionaryArray.from_arrays(pa.array([0, 0, 1]), pa.array(["four", ""]))).tolist()
    [8, 8, 4]

    Args:
        array: Rows, or the values of rows.
        is_referred: Whether its rows are referred to, so that the values that they hold count as well.
    """
    kind = array.type
    if not is_referred and not has_references(kind):
        return np.zeros(len(array), dtype=np.int64)
    if pa.types.is_dictionary(kind):
        return _at(referred_bytes(array.dictionary, is_referred=True), array.indices)
    if pa.types.is_run_end_encoded(kind):
        rows = np.arange(array.offset, array.offset + len(array))
        runs = np.searchsorted(array.run_ends.to_numpy(), rows, side="right")
        return referred_bytes(array.values, is_referred=True)[runs]
    if isinstance(array, pa.ExtensionArray):
        return referred_bytes(array.storage, is_referred=is_referred)
    return _nested_bytes(array, is_referred=is_referred) if pa.types.is_nested(kind) else _plain_bytes(array)


def _nested_bytes(array: Any, *, is_referred: bool) -> NDArray[np.int64]:
    kind = array.type
    if pa.types.is_union(kind):
        return _union_bytes(array)
    if pa.types.is_struct(kind):
        fields = (referred_bytes(array.field(index), is_referred=is_referred) for index in range(kind.num_fields))
        return functools.reduce(np.add, fields, np.zeros(len(array), dtype=np.int64))
    if _is_list_view(kind):
        return _lists_bytes(array.values, _numbers(array.offsets), _numbers(array.sizes), is_referred=True)
    if pa.types.is_fixed_size_list(kind):
        first = np.arange(array.offset, array.offset + len(array)) * kind.list_size
        counts = np.full(len(array), kind.list_size, dtype=np.int64)
    else:
        offsets = _numbers(array.offsets)
        first, counts = offsets[:-1], np.diff(offsets)
    return _lists_bytes(array.values, first, counts, is_referred=is_referred)


def _plain_bytes(array: Any) -> NDArray[np.int64]:
    """Return the bytes of values that have no others inside."""
    kind = array.type
    if pa.types.is_null(kind):
        return np.zeros(len(array), dtype=np.int64)
    if _is_view(kind):
        views = np.frombuffer(array.buffers()[1] or b"", dtype=np.int32)[:: _VIEW_BYTES // 4]
        lengths: NDArray[np.int64] = views[array.offset : array.offset + len(array)].astype(np.int64)
        lengths[array.is_null().to_numpy(zero_copy_only=False)] = 0
        return lengths
    try:
        return np.full(len(array), -(-kind.bit_width // 8), dtype=np.int64)
    except ValueError:  # of varying length: an offset and the text
        return 4 + _numbers(pc.fill_null(pc.binary_length(array), 0))


def _lists_bytes(
    values: Any, first: NDArray[np.int64], counts: NDArray[np.int64], *, is_referred: bool
) -> NDArray[np.int64]:
    """Return the bytes of lists, each of which is a range of values."""
    positions = np.concatenate([first, first + counts])
    begin, end = (int(positions.min()), int(positions.max())) if len(positions) else (0, 0)
    before = np.zeros(len(positions), dtype=np.int64)  # bytes of all values before a position
    total = 0
    for start in range(begin, end, _BLOCK_VALUES):
        stop = min(start + _BLOCK_VALUES, end)
        sums = total + np.cumsum(referred_bytes(values.slice(start, stop - start), is_referred=is_referred))
        inside = (positions > start) & (positions <= stop)
        before[inside] = sums[positions[inside] - start - 1]
        total = int(sums[-1])
    return before[len(first) :] - before[: len(first)]


def _union_bytes(array: Any) -> NDArray[np.int64]:
    rows = slice(array.offset, array.offset + len(array))
    codes = np.frombuffer(array.buffers()[1] or b"", dtype=np.int8)[rows]
    positions = np.arange(len(array), dtype=np.int32)
    if array.type.mode == "dense":
        positions = np.frombuffer(array.buffers()[2] or b"", dtype=np.int32)[rows]
    sizes = np.zeros(len(array), dtype=np.int64)
    for index, code in enumerate(array.type.type_codes):
        chosen = codes == code
        sizes[chosen] = referred_bytes(array.field(index), is_referred=True)[positions[chosen]]
    return sizes


def _at(sizes: NDArray[np.int64], indices: Any) -> NDArray[np.int64]:
    if not len(sizes):
        return np.zeros(len(indices), dtype=np.int64)
    found: NDArray[np.int64] = sizes[pc.fill_null(indices, 0).to_numpy(zero_copy_only=False)]
    return found * indices.is_valid().to_numpy(zero_copy_only=False) if indices.null_count else found


def _numbers(array: Any) -> NDArray[np.int64]:
    numbers: NDArray[np.int64] = array.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def _is_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(kind) or pa.types.is_binary_view(kind))


def _is_list_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind))
