"""The one type of a column whose files have several: the narrowest that holds the values of all. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["TypeConflictError", "union_columns", "union_type"]

_UNITS = ("s", "ms", "us", "ns")
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_BINARIES = (
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
)
_LISTS = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
)  # not list views: Arrow makes invalid arrays of them
_MAX_BITS = 64


class TypeConflictError(ValueError):
    """No type holds the values of both."""


def union_columns(first: Mapping[str, pa.DataType], second: Mapping[str, pa.DataType]) -> dict[str, pa.DataType]:
    """Return the columns of both, those of the first one first.

    Raises:
        TypeConflictError: Names the column.
    """
    columns = dict(first)
    for name, kind in second.items():
        try:
            columns[name] = union_type(columns[name], kind) if name in columns else kind
        except TypeConflictError as error:  # noqa: PERF203 - it ends the loop
            raise TypeConflictError(f"column {name!r}: {error}") from error
    return columns


def union_type(first: pa.DataType, second: pa.DataType) -> pa.DataType:
    """Return the type of a column that is ``first`` in one file and ``second`` in another.

    Null gives way to any type, a dictionary to the type of its values, a narrow number to a wide one, a coarse time to
    a fine one; objects have the fields of both. Whether all values fit is found out when they are read: not every
    integer of 64 bits is a float or a signed integer.

    >>> union_type(pa.int32(), pa.uint32()), union_type(pa.int64(), pa.float32()), union_type(pa.null(), pa.string())
    (DataType(int64), DataType(double), DataType(string))

    Raises:
        TypeConflictError: There is none.
    """
    if first.equals(second):
        return first
    if pa.types.is_null(first) or pa.types.is_null(second):
        return second if pa.types.is_null(first) else first
    if pa.types.is_dictionary(first) or pa.types.is_dictionary(second):
        return union_type(_decoded(first), _decoded(second))
    for applies, union in _RULES:
        if applies(first) and applies(second):
            return union(first, second)
    raise _conflict(first, second)


def _conflict(first: pa.DataType, second: pa.DataType) -> TypeConflictError:
    return TypeConflictError(f"it is {first} in one file and {second} in another")


def _decoded(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_any(tests: tuple[Callable[[pa.DataType], bool], ...]) -> Callable[[pa.DataType], bool]:
    return lambda kind: any(test(kind) for test in tests)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _numbers(first: pa.DataType, second: pa.DataType) -> pa.DataType:
    floats = [kind for kind in (first, second) if pa.types.is_floating(kind)]
    integers = [kind for kind in (first, second) if pa.types.is_integer(kind)]
    if floats:
        return pa.float64() if integers else max(floats, key=lambda kind: kind.bit_width)
    signed = [kind for kind in integers if pa.types.is_signed_integer(kind)]
    if len(signed) == 1:
        (unsigned,) = (kind for kind in integers if pa.types.is_unsigned_integer(kind))
        bits = min(_MAX_BITS, max(signed[0].bit_width, 2 * unsigned.bit_width))
        return {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[bits]
    return max(integers, key=lambda kind: kind.bit_width)


def _finer(make: Callable[..., pa.DataType]) -> Callable[[pa.DataType, pa.DataType], pa.DataType]:
    return lambda first, second: make(max(first.unit, second.unit, key=_UNITS.index))


def _timestamps(first: pa.DataType, second: pa.DataType) -> pa.DataType:
    if (first.tz is None) != (second.tz is None):
        raise _conflict(first, second)
    unit = max(first.unit, second.unit, key=_UNITS.index)
    return pa.timestamp(unit, first.tz if first.tz == second.tz else "UTC")


def _times(first: pa.DataType, second: pa.DataType) -> pa.DataType:
    unit = max(first.unit, second.unit, key=_UNITS.index)
    return pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)


def _lists(first: pa.DataType, second: pa.DataType) -> pa.DataType:
    items = union_type(first.value_type, second.value_type)
    sizes = {kind.list_size if pa.types.is_fixed_size_list(kind) else None for kind in (first, second)}
    if None not in sizes and len(sizes) == 1:
        return pa.list_(items, sizes.pop())
    is_large = pa.types.is_large_list(first) or pa.types.is_large_list(second)
    return pa.large_list(items) if is_large else pa.list_(items)


def _structs(first: pa.DataType, second: pa.DataType) -> pa.DataType:
    return pa.struct(list(union_columns(_fields(first), _fields(second)).items()))


def _fields(kind: pa.DataType) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in kind}


def _maps(first: pa.DataType, second: pa.DataType) -> pa.DataType:
    return pa.map_(union_type(first.key_type, second.key_type), union_type(first.item_type, second.item_type))


_RULES: tuple[tuple[Callable[[Any], bool], Callable[[Any, Any], pa.DataType]], ...] = (
    (_is_number, _numbers),
    (_is_any(_TEXTS), lambda _first, _second: pa.large_string()),
    (_is_any(_BINARIES), lambda _first, _second: pa.large_binary()),
    (_is_any(_LISTS), _lists),
    (pa.types.is_struct, _structs),
    (pa.types.is_map, _maps),
    (pa.types.is_timestamp, _timestamps),
    (pa.types.is_time, _times),
    (pa.types.is_duration, _finer(pa.duration)),
    (pa.types.is_date, lambda _first, _second: pa.date64()),
)
