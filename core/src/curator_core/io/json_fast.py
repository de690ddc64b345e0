"""Parse a block of JSON lines with Arrow, and decline whenever its result might differ from what the text says.

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

from curator_core.io.json_columns import EXACT_FLOAT, MAX_FIELDS
from curator_core.io.limits import MAX_NESTING
from curator_core.io.utf8_check import is_utf8

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator_core.io.json_lines import LineIndex

__all__ = ["FastParser"]

T = TypeVar("T")

_PROBE_RECORDS = 64
_SAFE_BRACKETS = 8192  # Arrow recurses over nested values: 10,000 levels were safe on 8 MiB of stack, 100,000 crashed


class FastParser:
    """Parse blocks of one file; what one block teaches about the columns serves the next."""

    def __init__(self) -> None:
        self._dates_as_text: dict[str, pa.DataType] = {}
        self._order: dict[str, None] = {}
        self._growing = False

    def parse(self, block: bytes, lines: LineIndex) -> pa.Table | None:
        """Return the records of a block, or None where only a record-by-record look can be trusted."""
        if not lines.all_objects or not is_utf8(block) or not _is_shallow(block, lines):
            return None
        if not self._order:
            self._probe(block, lines)
        if self._growing:
            return None
        table = self._parse_without_dates(block)
        if table is None or table.num_rows != len(lines) or not all(map(_is_faithful, table.columns)):
            return None
        return table.select(list(self.in_order(dict.fromkeys(table.column_names))))

    def in_order(self, columns: Mapping[str, T]) -> dict[str, T]:
        """Sort columns by their first appearance in the file."""
        self._order |= dict.fromkeys(columns)
        return {name: columns[name] for name in self._order if name in columns}

    def _probe(self, block: bytes, lines: LineIndex) -> None:
        """Learn the columns from the first records: their order, which hold dates, whether keys are open-ended."""
        count = min(_PROBE_RECORDS, len(lines))
        half = self._parse_without_dates(block[: lines.ends[count // 2]])
        whole = self._parse_without_dates(block[: lines.ends[count - 1]])
        if half is None or whole is None:
            return
        before, after = _count_fields(half.schema), _count_fields(whole.schema)
        self._growing = after > MAX_FIELDS or (after > _PROBE_RECORDS and after > before + before // 2)

    def _parse_without_dates(self, block: bytes) -> pa.Table | None:
        """Parse with inferred types, again where strings that look like dates were taken for timestamps."""
        for _ in range(3):
            try:
                table = _read(block, self._dates_as_text)
            except pa.ArrowInvalid:
                if not self._dates_as_text:
                    return None
                self._dates_as_text = {}  # a column that held dates so far may hold something else here
                continue
            dates = {field.name: _as_text(field.type) for field in table.schema if _has_dates(field.type)}
            if not dates:
                return table
            self.in_order(dict.fromkeys(table.column_names))
            self._dates_as_text |= dates
        return None


def _read(block: bytes, types: Mapping[str, pa.DataType]) -> pa.Table:
    table = pj.read_json(
        pa.BufferReader(block),
        read_options=pj.ReadOptions(use_threads=False, block_size=len(block) + 1),
        parse_options=pj.ParseOptions(explicit_schema=pa.schema(list(types.items()))) if types else None,
    )
    table.validate()  # lists of nothing but nulls come out malformed
    return table


def _is_shallow(block: bytes, lines: LineIndex) -> bool:
    """Rule out nesting that would exhaust the stack. Only a line with very many brackets can have it."""
    for index in np.flatnonzero(lines.ends - lines.starts > 2 * _SAFE_BRACKETS).tolist():
        line = block[lines.starts[index] : lines.ends[index]]
        if line.count(b"[") + line.count(b"{") > _SAFE_BRACKETS:
            try:
                orjson.loads(line)  # has a limit of its own, well below what is dangerous
            except orjson.JSONDecodeError:
                return False
    return True


def _is_faithful(column: Any) -> bool:
    return all(_array_is_faithful(chunk, MAX_NESTING) for chunk in column.chunks)


def _array_is_faithful(array: Any, levels: int) -> bool:
    """Whether the numbers are what the text said, and the nesting is within bounds."""
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


def _has_dates(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind) or pa.types.is_list(kind):
        return any(_has_dates(kind.field(i).type) for i in range(kind.num_fields))
    return bool(pa.types.is_timestamp(kind))


def _as_text(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_as_text(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(kind.field(i).name, _as_text(kind.field(i).type)) for i in range(kind.num_fields)])
    return kind


def _count_fields(kind: Any) -> int:
    """Count the fields of a schema or type, nested ones included."""
    fields = kind if isinstance(kind, pa.Schema) else [kind.field(i) for i in range(kind.num_fields)]
    return sum(1 + _count_fields(field.type) for field in fields)
