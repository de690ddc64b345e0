"""Refuse files whose schema no later stage could work with."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa

from curator_core.sdk import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["check_column_names", "check_schema"]


def check_column_names(names: Sequence[str], path: str) -> None:
    """Refuse a file in which two columns share a name: every later stage would pick one of them at random.

    Raises:
        DataError: Names the columns.
    """
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(
            f"several columns are called {', '.join(map(repr, twice))}",
            source=path,
            fix="rename the columns in the file",
        )


def check_schema(schema: pa.Schema, path: str) -> None:
    """Refuse a schema with a name, or a time zone, that is not text, and as :func:`check_column_names` does.

    Raises:
        DataError: It has an unusable schema; the message says why.
    """
    try:
        names = [field.name for field in schema]
        for field in schema:
            _decode_names(field.type)
    except UnicodeDecodeError as error:
        raise DataError(f"the schema is corrupt: {error}", source=path) from error
    check_column_names(names, path)


def _decode_names(kind: pa.DataType) -> None:
    """Ask for every text in a type; one that is not UTF-8 raises here, and not in some later stage."""
    if pa.types.is_timestamp(kind):
        _ = kind.tz
    elif pa.types.is_dictionary(kind):
        _decode_names(kind.value_type)
    elif pa.types.is_nested(kind):
        for index in range(kind.num_fields):
            _ = kind.field(index).name
            _decode_names(kind.field(index).type)
