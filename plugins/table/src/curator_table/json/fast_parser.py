"""Parse a block of JSON lines with Arrow, and decline if its result might differ from the text.

Arrow's parser is the fastest of those compared in ``benchmarks/io.py`` and runs without the GIL, but it accepts things
it should not and guesses things it should not: two objects on a line, objects across lines, ``NaN``, invalid UTF-8,
integers rounded to floats, strings turned into timestamps, and a crash on deep nesting. Each is ruled out here, before
or after parsing; a declined block is parsed record by record instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from curator_table.json.columns import CELL_BYTES, EXACT_FLOAT, MAX_NESTING, is_too_deep, shape_of
from curator_table.json.line_index import LineIndex
from curator_table.memory_claims import count_fields
from curator_table.utf8_check import is_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["FastParser", "cut_by_memory", "parse_typed"]

T = TypeVar("T")

_PROBE_RECORDS = 256
_PROBE_BYTES = 2**20
_SAFE_BRACKETS = 8192  # Arrow recurses over nested values: 10,000 levels were safe on 8 MiB of stack, 100,000 crashed


class FastParser:
    """Parse blocks of one file.

    Arrow makes a column for any key it meets, and memory for it in every row. So the columns and their types are
    learned from some records of the block; where others turn up, all records are counted before Arrow may add columns.

    Args:
        max_columns: Maximum number of columns of a table, nested fields included.
    """

    def __init__(self, max_columns: int) -> None:
        self._max_columns = max_columns
        self._order: dict[str, None] = {}

    def parse(self, block: bytes, lines: LineIndex, *, max_bytes: int) -> pa.Table | None:
        """Return the records of a block, or None where only a record-by-record look can be trusted.

        Args:
            block: The text.
            lines: Where its records are.
            max_bytes: Maximum memory for a table.
        """
        if not lines.all_objects or not is_utf8(block) or not _is_shallow(block, lines):
            return None
        chosen = _spread(block, lines)
        learned = self._inferred(b"\n".join(chosen), chosen, max_bytes)
        if learned is None or _max_bytes(learned.schema, block, lines) > max_bytes:
            return None
        try:
            table = _read(block, _without_dates(learned.schema))
        except pa.ArrowInvalid:
            every = [block[start:end] for start, end in zip(lines.starts, lines.ends, strict=True)]
            table = self._inferred(block, every, max_bytes)
            if table is None:
                return None
            if table.schema != _without_dates(table.schema):
                table = _read(block, _without_dates(table.schema))
        if table.num_rows != len(lines) or not all(map(_is_faithful, table.columns)):
            return None
        return table.select(list(self.in_order(dict.fromkeys(table.column_names))))

    def in_order(self, columns: Mapping[str, T]) -> dict[str, T]:
        """Sort columns by their first appearance in the file."""
        self._order |= dict.fromkeys(columns)
        return {name: columns[name] for name in self._order if name in columns}

    def _inferred(self, block: bytes, lines: Sequence[bytes], max_bytes: int) -> pa.Table | None:
        """Let Arrow find the columns of a block, once its lines are known not to have too many."""
        try:
            records = [orjson.loads(line) for line in lines]
        except orjson.JSONDecodeError:
            return None
        if any(map(is_too_deep, lines, records)):  # before anything below recurses over them
            return None
        shape = shape_of(records)
        if shape.fields > self._max_columns or shape.cells * CELL_BYTES > max_bytes:
            return None
        try:
            return _read(block)
        except pa.ArrowInvalid:
            return None


def cut_by_memory(
    types: pa.Schema, block: bytes, lines: LineIndex, *, max_bytes: int
) -> Iterator[tuple[LineIndex, bool]]:
    """Yield the lines of a block in parts whose columns fit into memory, and for each whether they do.

    A record with many objects in a list, each of which has a place for the fields of all, may not fit on its own.
    """
    waiting = [lines]
    while waiting:
        part = waiting.pop()
        text = block if part is lines else block[part.starts[0] : part.ends[-1]]
        fits = _max_bytes(types, text, part) <= max_bytes
        if fits or len(part) == 1:
            yield part, fits
        else:
            middle = len(part) // 2
            halves = (slice(middle, None), slice(middle))
            waiting += [LineIndex(part.starts[half], part.ends[half], part.all_objects) for half in halves]


def parse_typed(block: bytes, lines: LineIndex, types: pa.Schema) -> pa.Table | None:
    """Return records of a block in columns of these types, or None where a record-by-record look is needed."""
    if not lines.all_objects:
        return None
    first, last = int(lines.starts[0]), int(lines.ends[-1])
    text = block if len(block) - (last - first) <= 1 else block[first:last]
    lines = LineIndex(lines.starts - first, lines.ends - first, all_objects=True) if first else lines
    if not is_utf8(text) or not _is_shallow(text, lines):
        return None
    try:
        table = _read(text, types)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    return table if table.num_rows == len(lines) and all(map(_is_faithful, table.columns)) else None


def _spread(block: bytes, lines: LineIndex) -> list[bytes]:
    """Choose lines all over the block."""
    mean_bytes = max(1, len(block) // len(lines))
    count = min(len(lines), _PROBE_RECORDS, max(1, _PROBE_BYTES // mean_bytes))
    chosen = np.linspace(0, len(lines) - 1, count).astype(np.int64)
    return [block[start:end] for start, end in zip(lines.starts[chosen], lines.ends[chosen], strict=True)]


def _read(block: bytes, schema: pa.Schema | None = None) -> pa.Table:
    strictly = None
    if schema is not None:  # one without columns is false, and the strictest of all
        strictly = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    table = pj.read_json(
        pa.BufferReader(block),
        read_options=pj.ReadOptions(use_threads=False, block_size=len(block) + 1),
        parse_options=strictly,
    )
    table.validate()  # lists of nothing but nulls come out malformed
    return table


def _max_bytes(schema: pa.Schema, block: bytes, lines: LineIndex) -> int:
    """Return the maximum bytes of the places for values, filled or not."""
    in_lists = any(_has_objects_in_lists(field.type) for field in schema)
    return count_fields(schema.types) * (block.count(b"{") if in_lists else len(lines)) * CELL_BYTES


def _is_shallow(block: bytes, lines: LineIndex) -> bool:
    """Rule out nesting that would exhaust the stack. Only a line with very many brackets can have it."""
    for index in np.flatnonzero(lines.ends - lines.starts > 2 * _SAFE_BRACKETS).tolist():
        line = block[lines.starts[index] : lines.ends[index]]
        if line.count(b"[") + line.count(b"{") > _SAFE_BRACKETS:
            try:
                orjson.loads(line)  # has its own limit, well below dangerous depths
            except orjson.JSONDecodeError:
                return False
    return True


def _is_faithful(column: Any) -> bool:
    return all(_array_is_faithful(chunk, MAX_NESTING) for chunk in column.chunks)


def _array_is_faithful(array: Any, levels: int) -> bool:
    """Whether the numbers equal those of the text, and the nesting is within bounds."""
    kind = array.type
    if pa.types.is_floating(kind):
        # NaN and infinity are no JSON; large values may have been integers that were rounded.
        within = pc.less(pc.abs(array), float(EXACT_FLOAT))
        return pc.all(within, skip_nulls=True).as_py() is not False
    if pa.types.is_struct(kind):
        return levels > 1 and all(_array_is_faithful(array.field(i), levels - 1) for i in range(kind.num_fields))
    if pa.types.is_list(kind):
        return levels > 1 and _array_is_faithful(array.values, levels - 1)
    return True


def _has_objects_in_lists(kind: pa.DataType, *, in_list: bool = False) -> bool:
    if pa.types.is_struct(kind):
        return in_list or any(_has_objects_in_lists(kind.field(i).type) for i in range(kind.num_fields))
    return bool(pa.types.is_list(kind)) and _has_objects_in_lists(kind.value_type, in_list=True)


def _without_dates(schema: pa.Schema) -> pa.Schema:
    return pa.schema([(field.name, _as_text(field.type)) for field in schema])


def _as_text(kind: pa.DataType) -> pa.DataType:
    """Return the type with text for timestamps: Arrow takes strings that look like dates for such."""
    if pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_as_text(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(kind.field(i).name, _as_text(kind.field(i).type)) for i in range(kind.num_fields)])
    return kind
