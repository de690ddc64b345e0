"""Give every row its identity: the file it came from and its record number or byte offset in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from curator_core.authoring.tasks import ROW_COLUMN, SOURCE_COLUMN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["PROVENANCE_COLUMNS", "own_name", "with_provenance"]

PROVENANCE_COLUMNS = (SOURCE_COLUMN, ROW_COLUMN)


def with_provenance(table: pa.Table, path: str, rows: Any, columns: Sequence[str] | None = None) -> pa.Table:
    """Select columns and add ``_source`` and ``_row``.

    Columns of those names that the file itself has (written with ``keep_provenance``) come out as ``_source_in_file``
    and ``_row_in_file``: the provenance of a row is always the file that this run read it from, and nothing is lost.

    >>> import pyarrow as pa
    >>> with_provenance(pa.table({"text": ["a", "b"]}), "a.txt", [0, 2])["_row"].to_pylist()
    [0, 2]

    Args:
        table: Rows as the file has them.
        path: The file.
        rows: Record number or byte offset of every row (anything numpy takes).
        columns: Columns to keep, in this order; one that the file lacks is null. All, where None.
    """
    names = [own_name(name, taken=table.column_names) for name in table.column_names]
    arrays = list(table.columns)
    if columns is not None:
        have = dict(zip(names, arrays, strict=True))
        names = [name for name in columns if name not in PROVENANCE_COLUMNS]
        arrays = [have[name] if name in have else pa.nulls(table.num_rows) for name in names]
    positions = _as_arrow(np.ascontiguousarray(rows, dtype=np.int64), pa.int64())
    zeros = _as_arrow(np.zeros(len(positions), dtype=np.int32), pa.int32())
    source = pa.DictionaryArray.from_arrays(zeros, _one_string(path))
    return pa.Table.from_arrays([*arrays, source, positions], names=[*names, *PROVENANCE_COLUMNS])


def _as_arrow(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Return the array as Arrow sees it. ``pa.array`` would import pandas to look at it, a quarter of a second."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _one_string(value: str) -> pa.StringArray:
    data = value.encode()
    ends = np.array([0, len(data)], dtype=np.int32)
    return pa.StringArray.from_buffers(1, pa.py_buffer(ends), pa.py_buffer(data))


def own_name(name: str, *, taken: Sequence[str] = ()) -> str:
    """Return what a column of the file is called in the output.

    >>> own_name("text"), own_name("_row")
    ('text', '_row_in_file')
    """
    if name not in PROVENANCE_COLUMNS:
        return name
    name = f"{name}_in_file"
    while name in taken:
        name += "_"
    return name
