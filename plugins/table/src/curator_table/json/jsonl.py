"""Read JSON lines into Arrow tables, fast where the records agree, carefully where they do not."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from curator_core.sdk import DEFAULT_BLOCK_BYTES, Limits, compression_of, with_provenance
from curator_table.foreign_content import check_content, check_not_csv
from curator_table.json.columns import CELL_BYTES, columns_from_records, is_too_deep, shape_of
from curator_table.json.fast_parser import FastParser
from curator_table.json.kinds import Kinds, count_kinds, merge_kinds
from curator_table.json.line_index import index_lines
from curator_table.json.records import BadLines, decode_record
from curator_table.json.typed_parser import TypedParser
from curator_table.json.writer import write_jsonl
from curator_table.lines import Block, line_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.sdk import FileSlice
    from curator_table.json.line_index import LineIndex
    from curator_table.json.records import Problem

__all__ = ["look_jsonl", "read_jsonl", "write_jsonl"]

_BOM = b"\xef\xbb\xbf"
_LOOK_RECORD_BYTES = 4 * 2**20
_LOOK_PLACES = 8
_TABLE_EXPANSION = 4  # memory that a table may take per byte of text, before its records are put into several


def read_jsonl(
    piece: FileSlice,
    *,
    columns: Sequence[str] | None = None,
    batch_bytes: int = DEFAULT_BLOCK_BYTES,
    limits: Limits | None = None,
    types: pa.Schema | None = None,
) -> Iterator[pa.Table]:
    """Yield the records that start in a slice of a JSON lines file, one table per ``batch_bytes`` of text.

    Every table has ``_source`` (the path) and ``_row`` (byte offset of the record's line, in the decompressed file).
    Blank lines are skipped; CRLF and a byte order mark at the start of the file are tolerated. A line that is not one
    JSON object in UTF-8, has a key twice, is too long, nests more than 64 levels or has keys beyond ``max_columns`` is
    reported as a bad record; the others come out. Where few of many keys are in each record, a block becomes several
    tables.

    With ``types``, every table has these columns, and a record with another key, or a value that is not exactly of its
    column's type, is a bad record. Integers up to 2**53 are exact as floats.

    Without, types are found per table, from all of its records: null, bool, int64, double, string, list and struct. A
    missing key is null. Strings stay strings even when they look like dates. Integers mixed with floats become doubles
    when all are exact; any other mixture, also deep inside lists and objects, becomes text (strings as they are, other
    values as JSON), as do integers beyond 64 bits signed and objects whose keys exceed ``max_columns``. So the
    type of a column depends on how the file is sliced only where its records disagree, or where it is null in a whole
    slice.

    Args:
        piece: The file, or a byte range of it.
        columns: Columns to keep; all, where None.
        batch_bytes: Decompressed bytes per table.
        limits: Caps against hostile files.
        types: Types of the columns, under their names in the file.
    """
    limits = limits or Limits()
    parser = FastParser(limits.max_columns) if types is None else TypedParser(types, columns, piece.path, limits)
    for block in line_blocks(piece, block_bytes=batch_bytes, limits=limits):
        data, offset = block.data, block.offset
        if offset == 0 and not data.startswith(b"{"):
            if b"\n{" not in data:  # otherwise some lines are records, even if the first is not
                check_content(data, piece.path, "JSON lines")
                check_not_csv(data, piece.path)
            if data.startswith(_BOM):
                data, offset = data[len(_BOM) :], len(_BOM)
        for table, starts in _parse(Block(data, offset), piece.path, parser, limits):
            yield with_provenance(table, piece.path, starts + offset, columns)


def look_jsonl(piece: FileSlice, *, max_bytes: int, limits: Limits) -> Kinds:
    """Count the kinds of the values of some records of a file.

    Args:
        piece: The file.
        max_bytes: How much of it is read: all, where it has no more, else as much from several places.
        limits: ``max_columns`` limits the number of different keys.
    """
    kinds = Kinds()
    limits = replace(limits, max_record_bytes=min(limits.max_record_bytes, _LOOK_RECORD_BYTES), verify=False)
    for part, part_bytes in _looked_at(piece, max_bytes):
        with closing(line_blocks(part, block_bytes=part_bytes, limits=limits)) as blocks:  # type: ignore[type-var]
            block = next(blocks, None)
        records = [] if block is None else _records(block.data.removeprefix(_BOM))
        found = count_kinds(records, max_fields=limits.max_columns)
        kinds = merge_kinds(kinds, found, max_fields=limits.max_columns)
    return kinds


def _looked_at(piece: FileSlice, max_bytes: int) -> Iterator[tuple[FileSlice, int]]:
    """Yield parts of a file at equal distances; a compressed file can only be read from its beginning."""
    size = piece.file_bytes
    if size is None or size <= max_bytes or compression_of(piece.path) is not None:
        yield piece, max_bytes
        return
    for place in range(_LOOK_PLACES):
        start = place * size // _LOOK_PLACES
        yield replace(piece, start=start, end=start + max_bytes // _LOOK_PLACES), max_bytes


def _records(data: bytes) -> list[dict[str, Any]]:
    """Return the records of some lines, without those that reading will report."""
    lines = data.rstrip().split(b"\n")
    try:
        decoded = orjson.loads(b"[%b]" % b",".join(lines))  # half the time of one by one
    except orjson.JSONDecodeError:
        decoded = []
    if len(decoded) != len(lines):
        decoded = [_decoded(line) for line in lines]
    pairs = zip(lines, decoded, strict=True)
    return [record for line, record in pairs if isinstance(record, dict) and not is_too_deep(line, record)]


def _decoded(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _parse(block: Block, path: str, parser: FastParser | TypedParser, limits: Limits) -> Iterator[tuple[pa.Table, Any]]:
    """Yield the records of a block in tables, with the starts of their lines."""
    lines = index_lines(block.data)
    if not len(lines):
        return
    max_bytes = max(limits.expansion_floor_bytes, _TABLE_EXPANSION * len(block.data))
    if isinstance(parser, TypedParser):
        yield from parser.parse(block, lines, max_bytes=max_bytes)
        return
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
    bad = BadLines(block, path)
    for index, (start, end) in enumerate(zip(lines.starts.tolist(), lines.ends.tolist(), strict=True)):
        record, problem = decode_record(block.data[start:end], limits)
        if problem is None and not names.issuperset(record):
            problem = _too_many_columns(names, record, limits)
        if problem is None:
            records.append(record)
            kept.append(index)
        else:
            bad.add(start, end, problem)
    bad.close()
    return records, kept


def _too_many_columns(names: set[str], record: dict[str, Any], limits: Limits) -> Problem | None:
    """Add the keys of a record to those of its block, where they fit."""
    new = record.keys() - names
    if len(names) + len(new) > limits.max_columns:
        return "TooManyColumns", (
            f"the record has {len(new):,} keys that the records before it have not, and its block would have more than "
            f"{limits.max_columns:,} columns; raise max_columns if the keys are genuine"
        )
    names |= new
    return None
