"""Read JSON lines into Arrow tables, fast where the records agree, carefully where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from curator_core.io.foreign_content import check_content, check_not_csv
from curator_core.io.json_columns import CELL_BYTES, columns_from_records, is_too_deep, shape_of
from curator_core.io.json_fast import FastParser
from curator_core.io.json_lines import index_lines
from curator_core.io.jsonl_writer import write_jsonl
from curator_core.io.limits import DEFAULT_BLOCK_BYTES, MAX_NESTING, Limits
from curator_core.io.line_blocks import PAYLOAD_BYTES, Block, line_blocks, too_long
from curator_core.io.provenance import own_name, with_provenance
from curator_core.recording import BadRecord, current

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.io.json_lines import LineIndex
    from curator_core.tasks import FileSlice

__all__ = ["read_jsonl", "sniff_jsonl", "write_jsonl"]

_BOM = b"\xef\xbb\xbf"
_BAD_RECORDS_PER_BLOCK = 1000
_SNIFF_BYTES = 4 * 2**20
_SNIFF_RECORDS = 64
_TABLE_EXPANSION = 4  # memory that a table may take per byte of text, before its records are put into several


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
    JSON object in UTF-8, is too long, nests more than 64 levels or has keys beyond ``max_columns`` is reported as a bad
    record; the others come out. Where few of many keys are in each record, a block becomes several tables.

    Types are found per table, from all of its records: null, bool, int64, double, string, list and struct. A missing
    key is null. Strings stay strings even when they look like dates. Integers mixed with floats become doubles when
    all are exact; any other mixture, also deep inside lists and objects, becomes text (strings as they are, other
    values as JSON), as do integers beyond 64 bits signed and objects whose keys exceed ``max_columns``. So the
    type of a column depends on how the file is sliced only where its records disagree, or where it is null in a whole
    slice. Of keys that appear twice in an object the last counts.

    Args:
        piece: The file, or a byte range of it.
        columns: Columns to keep; all, where None.
        batch_bytes: Decompressed bytes per table.
        limits: Caps against hostile files.
    """
    limits = limits or Limits()
    parser = FastParser(limits.max_columns)
    for block in line_blocks(piece, block_bytes=batch_bytes, limits=limits):
        data, offset = block.data, block.offset
        if offset == 0 and not data.startswith(b"{"):
            if b"\n{" not in data:  # else some lines are records, whatever the file begins with
                check_content(data, piece.path, "JSON lines")
                check_not_csv(data, piece.path)
            if data.startswith(_BOM):
                data, offset = data[len(_BOM) :], len(_BOM)
        for table, starts in _parse(Block(data, offset), piece.path, parser, limits):
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


def _parse(block: Block, path: str, parser: FastParser, limits: Limits) -> Iterator[tuple[pa.Table, Any]]:
    """Yield the records of a block in tables, with the starts of their lines."""
    lines = index_lines(block.data)
    if not len(lines):
        return
    max_bytes = max(limits.expansion_floor_bytes, _TABLE_EXPANSION * len(block.data))
    fits = int((lines.ends - lines.starts).max()) <= limits.max_record_bytes
    table = parser.parse(block.data, lines, max_bytes=max_bytes) if fits else None
    if table is not None:
        yield table, lines.starts
        return
    records, kept = _decode_each(block, lines, path, limits)
    for start, stop in _parts(records, max_bytes):
        columns = columns_from_records(records[start:stop], max_columns=limits.max_columns, max_bytes=max_bytes)
        table = pa.table(parser.in_order(columns)) if columns else pa.table({})
        yield table, lines.starts[kept[start:stop]]


def _parts(records: list[dict[str, Any]], max_bytes: int) -> Iterator[tuple[int, int]]:
    """Halve the records until the places for their values, most of them empty, fit into memory."""
    waiting = [(0, len(records))] if records else []
    while waiting:
        start, stop = waiting.pop()
        if stop - start > 1 and shape_of(records[start:stop]).cells * CELL_BYTES > max_bytes:
            middle = (start + stop) // 2
            waiting += [(middle, stop), (start, middle)]
        else:
            yield start, stop


def _decode_each(block: Block, lines: LineIndex, path: str, limits: Limits) -> tuple[list[dict[str, Any]], list[int]]:
    """Decode line by line; return the good records and their indices, and report the others."""
    records: list[dict[str, Any]] = []
    kept: list[int] = []
    names: set[str] = set()
    bad: dict[str, int] = {}
    for index, (start, end) in enumerate(zip(lines.starts.tolist(), lines.ends.tolist(), strict=True)):
        record, problem = _decode(block.data[start:end], limits)
        if problem is None and not names.issuperset(record):
            problem = _too_many_columns(names, record, limits)
        if problem is None:
            records.append(record)
            kept.append(index)
            continue
        error_type, message = problem
        bad[error_type] = bad.get(error_type, 0) + 1
        last_bad = block.offset + start
        if bad[error_type] <= _BAD_RECORDS_PER_BLOCK:
            payload = block.data[start : min(end, start + PAYLOAD_BYTES)]
            current().bad_record(BadRecord(message, path, last_bad, error_type, payload))
    for error_type, count in bad.items():
        if count > _BAD_RECORDS_PER_BLOCK:  # a file that is not JSON lines at all must not fill the memory with reports
            more = count - _BAD_RECORDS_PER_BLOCK
            message = f"{more:,} more bad lines up to byte {last_bad:,}; is this file JSON lines?"
            current().bad_record(BadRecord(message, path, last_bad, error_type, rows=more))
    return records, kept


def _too_many_columns(names: set[str], record: dict[str, Any], limits: Limits) -> tuple[str, str] | None:
    """Add the keys of a record to those of its block, where they fit."""
    new = record.keys() - names
    if len(names) + len(new) > limits.max_columns:
        return "TooManyColumns", (
            f"the record has {len(new):,} keys that the records before it have not, and its block would have more than "
            f"{limits.max_columns:,} columns; raise max_columns if the keys are genuine"
        )
    names |= new
    return None


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
    if is_too_deep(line, value):
        return None, ("NestedTooDeep", f"the record nests more than {MAX_NESTING} levels deep")
    return value, None
