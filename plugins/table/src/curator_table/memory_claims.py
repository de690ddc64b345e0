"""Distinguish a machine that is short of memory from a file that declares absurd sizes, and refuse such files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa

from curator_core.sdk import DataError, Limits, StreamError, is_transient

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ROW_BYTES", "DecodedBytes", "check_width", "count_fields", "inner_types", "is_data_error"]

ROW_BYTES = 12
"""Minimum bytes of a row: its ``_row``, and its reference to ``_source``."""

_ALLOCATION = re.compile(r"of size (\d+) failed")


def is_data_error(error: BaseException, *, file_bytes: int | None, limits: Limits | None = None) -> bool:
    """Whether an error of Arrow is about the file, so that repeating the call would not help.

    An allocation that fails is about the file where it is larger than anything a file of that size may expand to: a
    damaged length field asks for exabytes.

    >>> is_data_error(MemoryError("malloc of size 288230376151711744 failed"), file_bytes=1000)
    True
    >>> is_data_error(MemoryError("malloc of size 4096 failed"), file_bytes=1000)
    False
    """
    if not is_transient(error):
        return True
    claim = _ALLOCATION.search(str(error)) if isinstance(error, MemoryError) else None
    limits = limits or Limits()
    return claim is not None and int(claim[1]) > limits.allowed_bytes(file_bytes or 0)


class DecodedBytes:
    """Count the decoded bytes of a file of columns, and stop if they are out of proportion to its size.

    A run of one value, a dictionary or a column of nulls takes a few bytes in a file for any number of rows.

    Args:
        path: The file.
        file_bytes: Its size.
        limits: Caps against hostile files.
    """

    def __init__(self, path: str, file_bytes: int, limits: Limits | None) -> None:
        limits = limits or Limits()
        self._path = path
        self._max_expansion = limits.max_expansion
        self._allowed = limits.allowed_bytes(file_bytes)
        self._decoded = 0

    @property
    def left(self) -> int:
        """Bytes that may still be decoded."""
        return max(0, self._allowed - self._decoded)

    def check(self, claimed: int) -> None:
        """Refuse bytes that would exceed the limit together with those decoded so far, before memory is allocated.

        Raises:
            StreamError: It is a bomb.
        """
        if self._decoded + claimed > self._allowed:
            raise StreamError(
                f"it decodes to {self._decoded + claimed:,} bytes or more, where a file of its size may have "
                f"{self._allowed:,}: a decompression bomb? raise max_expansion ({self._max_expansion:,}) if the file "
                "is genuine",
                error_type="DecompressionBomb",
                source=self._path,
            )

    def add(self, decoded: int) -> None:
        """Count decoded bytes.

        Raises:
            StreamError: It is a bomb.
        """
        self.check(decoded)
        self._decoded += decoded


def count_fields(kinds: Iterable[pa.DataType]) -> int:
    """Count columns, the fields of objects in them included.

    >>> count_fields([pa.int64(), pa.struct([("a", pa.int64()), ("b", pa.list_(pa.int64()))])])
    4
    """
    count = 0
    for kind in kinds:
        inner = inner_types(kind)
        is_object = pa.types.is_struct(kind) or pa.types.is_union(kind)
        count += 1 + count_fields(inner) - (0 if is_object else len(inner))
    return count


def inner_types(kind: pa.DataType) -> list[pa.DataType]:
    """Return the types of the values that make up one of this type.

    >>> inner_types(pa.dictionary(pa.int8(), pa.string()))
    [DataType(string)]
    """
    if isinstance(kind, pa.BaseExtensionType):
        return [kind.storage_type]
    if pa.types.is_dictionary(kind):
        return [kind.value_type]
    return [kind.field(index).type for index in range(kind.num_fields)]


def check_width(kinds: Iterable[pa.DataType], path: str, limits: Limits | None) -> None:
    """Refuse a file with too many columns.

    Raises:
        DataError: It has more than ``max_columns``.
    """
    limits = limits or Limits()
    count = count_fields(kinds)
    if count > limits.max_columns:
        raise DataError(
            f"it has {count:,} columns, nested fields included; at most {limits.max_columns:,} are read",
            source=path,
            fix="name the columns you need, or raise max_columns",
        )
