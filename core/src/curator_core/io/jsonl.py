"""Read JSON lines into Arrow tables, fast where the records agree, carefully where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from curator_core.io.foreign_content import check_content
from curator_core.io.json_columns import columns_from_records, nesting
from curator_core.io.json_fast import FastParser
from curator_core.io.json_lines import index_lines
from curator_core.io.jsonl_writer import write_jsonl
from curator_core.io.limits import DEFAULT_BLOCK_BYTES, MAX_NESTING, Limits
from curator_core.io.line_blocks import PAYLOAD_BYTES, Block, line_blocks, too_long
from curator_core.io.provenance import own_name, with_provenance
from curator_core.recording import BadRecord, current

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from curator_core.io.json_lines import LineIndex
    from curator_core.tasks import FileSlice

__all__ = ["read_jsonl", "sniff_jsonl", "write_jsonl"]

_BOM = b"\xef\xbb\xbf"
_BAD_RECORDS_PER_BLOCK = 1000
_SNIFF_BYTES = 4 * 2**20
_SNIFF_RECORDS = 64


def read_jsonl(
    piece: FileSlice,
    *,
    columns: Sequence[str] | None = None,
    batch_bytes: int = DEFAULT_BLOCK_BYTES,
    limits: Limits | None = None,
) -> Iterator[pa.Table]:
    """Yield the records that start in a slice of a JSON lines file, one table per ``batch_bytes`` of text.

    Every table has ``_source`` (the path) and ``_row`` (byte offset of the record's line, in the decompressed file).
    Blank lines are skipped; CRLF and a byte order mark at the start of the file are tolerated. A line that is not one
    JSON object in UTF-8, is too long or nests more than 64 levels is reported as a bad record; the others come out.

    Types are found per table, from all of its records: null, bool, int64, double, string, list and struct. A missing
    key is null. Strings stay strings even when they look like dates. Integers mixed with floats become doubles when
    all are exact; any other mixture, also deep inside lists and objects, becomes text (strings as they are, other
    values as JSON), as do integers beyond 64 bits signed and objects with more than a thousand distinct keys. So the
    type of a column depends on how the file is sliced only where its records disagree, or where it is null in a whole
    slice. Of keys that appear twice in an object the last counts.

    Args:
        piece: The file, or a byte range of it.
        columns: Columns to keep; all, where None.
        batch_bytes: Decompressed bytes per table.
        limits: Caps against hostile files.
    """
    limits = limits or Limits()
    parser = FastParser()
    for block in line_blocks(piece, block_bytes=batch_bytes, limits=limits):
        data, offset = block.data, block.offset
        if offset == 0 and not data.startswith(b"{"):
            if b"\n{" not in data:  # else some lines are records, whatever the file begins with
                check_content(data, piece.path, "JSON lines")
            if data.startswith(_BOM):
                data, offset = data[len(_BOM) :], len(_BOM)
        table, starts = _parse(Block(data, offset), piece.path, parser, limits)
        if len(starts):
            yield with_provenance(table, piece.path, starts + offset, columns)


def sniff_jsonl(piece: FileSlice) -> list[str]:
    """Return the columns of the first records of a file."""
    limits = Limits(max_record_bytes=_SNIFF_BYTES, verify=False)
    blocks = line_blocks(piece, block_bytes=_SNIFF_BYTES, limits=limits)
    block = next(blocks, None)
    blocks.close()  # type: ignore[attr-defined]
    if block is None:
        return []
    names: dict[str, None] = {}
    for line in block.data.removeprefix(_BOM).split(b"\n")[:_SNIFF_RECORDS]:
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(record, dict):
            names |= dict.fromkeys(record)
    return [own_name(name) for name in names]


def _parse(block: Block, path: str, parser: FastParser, limits: Limits) -> tuple[pa.Table, np.ndarray[Any, Any]]:
    lines = index_lines(block.data)
    if not len(lines):
        return None, lines.starts
    fits = int((lines.ends - lines.starts).max()) <= limits.max_record_bytes
    table = parser.parse(block.data, lines) if fits else None
    if table is not None:
        return table, lines.starts
    records, kept = _decode_each(block, lines, path, limits)
    names_and_columns = parser.in_order(columns_from_records(records))
    table = pa.table(names_and_columns) if names_and_columns else pa.table({})
    return table, lines.starts[kept]


def _decode_each(block: Block, lines: LineIndex, path: str, limits: Limits) -> tuple[list[dict[str, Any]], list[int]]:
    """Decode line by line; return the good records and their indices, and report the others."""
    records: list[dict[str, Any]] = []
    kept: list[int] = []
    bad = 0
    for index, (start, end) in enumerate(zip(lines.starts.tolist(), lines.ends.tolist(), strict=True)):
        record, problem = _decode(block.data[start:end], limits)
        if problem is None:
            records.append(record)
            kept.append(index)
            continue
        bad += 1
        if bad <= _BAD_RECORDS_PER_BLOCK:
            payload = block.data[start : min(end, start + PAYLOAD_BYTES)]
            current().bad_record(BadRecord(problem[1], path, block.offset + start, problem[0], payload))
        last_bad = block.offset + start
    if bad > _BAD_RECORDS_PER_BLOCK:  # a file that is not JSON lines at all must not fill the memory with reports
        more = bad - _BAD_RECORDS_PER_BLOCK
        message = f"{more:,} more bad lines up to byte {last_bad:,}; is this file JSON lines?"
        current().bad_record(BadRecord(message, path, last_bad, "InvalidJson", rows=more))
    return records, kept


def _decode(line: bytes, limits: Limits) -> tuple[Any, tuple[str, str] | None]:
    """Return the record, or the class and description of what is wrong with it."""
    if len(line) > limits.max_record_bytes:
        return None, ("RecordTooLong", too_long(limits))
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return None, ("InvalidJson", f"not valid JSON: {error}")
    if not isinstance(value, dict):
        return None, ("NotAnObject", f"a record must be a JSON object, this is {type(value).__name__}")
    if line.count(b"[") + line.count(b"{") > MAX_NESTING and nesting(value) > MAX_NESTING:
        return None, ("NestedTooDeep", f"the record nests more than {MAX_NESTING} levels deep")
    return value, None
