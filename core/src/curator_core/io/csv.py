"""Read and write CSV. All columns are text: CSV has no types, and a guess would turn the id 007 into 7."""

from __future__ import annotations

import csv as python_csv
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv

from curator_core.errors import DataError
from curator_core.io.atomic import atomic_output
from curator_core.io.compression import Decompressor, compression_of, open_compressed
from curator_core.io.filesystems import is_transient, open_slice
from curator_core.io.jsonl_writer import json_ready, json_texts
from curator_core.io.limits import DEFAULT_BLOCK_BYTES, Limits
from curator_core.io.line_blocks import PAYLOAD_BYTES
from curator_core.io.provenance import check_column_names, own_name, with_provenance
from curator_core.recording import BadRecord, current

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.tasks import FileSlice

__all__ = ["read_csv", "sniff_csv", "write_csv"]

_HEADER_BYTES = 2**20
_MAX_BLOCK_BYTES = 2**31 - 2**16  # Arrow counts a block's bytes in 32 bits


def read_csv(
    piece: FileSlice,
    *,
    columns: Sequence[str] | None = None,
    batch_bytes: int = DEFAULT_BLOCK_BYTES,
    limits: Limits | None = None,
) -> Iterator[pa.Table]:
    """Yield the rows of a CSV file with a header, as text columns, in tables of about ``batch_bytes``.

    Every table has ``_source`` (the path) and ``_row`` (record number; the first after the header is 0). An empty
    field is null, a quoted empty field the empty string. A row with too many or too few fields, or with bytes that
    are not UTF-8, is reported as a bad record; the others come out. Where a compressed file is torn, or a row is longer
    than a block, what comes before does.

    Raises:
        DataError: The header cannot be read.
    """
    limits = limits or Limits()
    header = _header(piece, limits)
    if not header:
        return
    with open_slice(piece) as file:
        stream = _Stream(file, piece.path, limits)
        records = _Records(piece.path, header)
        for table, rows, is_last in _mark_last(records.tables(stream, batch_bytes)):
            # The last row before a tear may have been cut anywhere, even at a line break inside quotes.
            count = table.num_rows - 1 if is_last and stream.tear is not None else table.num_rows
            if count:
                text, kept = _as_text(table.slice(0, count), rows[:count], piece.path)
                yield with_provenance(text, piece.path, kept, columns)
        if stream.tear is not None:
            records.report("TornFile", stream.tear.message.removeprefix(f"{piece.path}: "))


def write_csv(table: pa.Table, path: str) -> int:
    """Write CSV with a header; compressed when the extension says so. Lists and objects become their JSON text.

    Returns:
        The bytes written.
    """
    table = json_ready(table)
    for index, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            table = table.set_column(index, field.name, json_texts(table.column(index)))
        elif pa.types.is_dictionary(field.type):
            table = table.set_column(index, field.name, table.column(index).cast(field.type.value_type))
    with atomic_output(path) as file:
        with open_compressed(file, path) as stream:
            pcsv.write_csv(table, stream)
        return file.tell()


def sniff_csv(piece: FileSlice) -> list[str]:
    """Return the columns named in the header."""
    header = _header(piece, Limits())
    return [own_name(name, taken=header) for name in header]


class _Stream(io.RawIOBase):
    """The text of the file; ends at a tear instead of raising, so that the rows before it can be parsed."""

    def __init__(self, file: Any, path: str, limits: Limits) -> None:
        self._source = Decompressor(file, path, limits) if compression_of(path) else file
        self.tear: DataError | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        try:
            data: bytes = self._source.read(size)
        except DataError as error:
            self.tear = error
            return b""
        return data


class _Records:
    """Parse a file and number its records, those left out as invalid included."""

    def __init__(self, path: str, header: list[str]) -> None:
        self._path = path
        self._types = dict.fromkeys(header, pa.binary())
        self._invalid: list[int] = []
        self._unreported: list[BadRecord] = []
        self._next = 0

    def tables(self, stream: _Stream, batch_bytes: int) -> Iterator[tuple[pa.Table, Any]]:
        """Yield tables of binary columns and the number of every row in the file."""
        try:
            reader = pcsv.open_csv(
                stream,
                read_options=pcsv.ReadOptions(use_threads=False, block_size=min(batch_bytes, _MAX_BLOCK_BYTES)),
                parse_options=pcsv.ParseOptions(newlines_in_values=True, invalid_row_handler=self._skip),
                convert_options=pcsv.ConvertOptions(
                    column_types=self._types,
                    check_utf8=False,
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
            for batch in reader:
                self._report_invalid()
                yield pa.Table.from_batches([batch]), self._number(batch.num_rows)
        except (pa.ArrowException, OSError) as error:
            if is_transient(error):
                raise
            self.report("CorruptCsv", f"the rest of the file cannot be read: {error}")
        self._report_invalid()

    def report(self, error_type: str, message: str) -> None:
        current().bad_record(BadRecord(message, self._path, self._next, error_type=error_type))

    def _number(self, count: int) -> Any:
        # Arrow reads ahead, so rows that come after this table may already be known to be invalid.
        candidates = np.arange(self._next, self._next + count + len(self._invalid))
        numbers = candidates[~np.isin(candidates, self._invalid)][:count]
        if count:
            self._next = int(numbers[-1]) + 1
            self._invalid = [row for row in self._invalid if row >= self._next]
        return numbers

    def _skip(self, row: Any) -> str:
        number = row.number - 2  # Arrow counts from one and counts the header
        self._invalid.append(number)
        message = f"the row has {row.actual_columns} fields, the header {row.expected_columns}"
        payload = row.text[:PAYLOAD_BYTES]
        self._unreported.append(BadRecord(message, self._path, number, "WrongFieldCount", payload))
        return "skip"

    def _report_invalid(self) -> None:
        # Arrow calls _skip from a thread of its own, which has no recording to talk to.
        reports, self._unreported = self._unreported, []
        for report in reports:
            current().bad_record(report)


def _header(piece: FileSlice, limits: Limits) -> list[str]:
    with open_slice(piece) as file:
        stream = _Stream(file, piece.path, limits)
        beginning = stream.read(_HEADER_BYTES)
    try:
        text = beginning.decode("utf-8-sig", errors="ignore" if len(beginning) == _HEADER_BYTES else "strict")
        rows = (row for row in python_csv.reader(io.StringIO(text, newline=""), strict=False) if row)
        header = next(rows, [])
    except (UnicodeDecodeError, python_csv.Error) as error:
        header = _header_bytes(beginning, piece.path, error)
    if not header and stream.tear is not None:
        raise stream.tear
    check_column_names(header, piece.path)
    return header


def _header_bytes(beginning: bytes, path: str, error: Exception) -> list[str]:
    """Read the header alone, since a bad byte in a later row must not cost the whole file."""
    try:
        line = beginning.partition(b"\n")[0].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"the header is not UTF-8: {error}", source=path, fix="convert the file to UTF-8") from error
    return next(python_csv.reader([line.rstrip("\r")]), [])


def _mark_last(tables: Iterator[tuple[pa.Table, Any]]) -> Iterator[tuple[pa.Table, Any, bool]]:
    held = next(tables, None)
    for following in tables:
        assert held is not None
        yield (*held, False)
        held = following
    if held is not None:
        yield (*held, True)


def _as_text(table: pa.Table, rows: Any, path: str) -> tuple[pa.Table, Any]:
    """Turn binary columns into text, leaving out and reporting rows that are not UTF-8."""
    try:
        return table.cast(pa.schema([(name, pa.string()) for name in table.column_names])), rows
    except pa.ArrowInvalid:
        valid = np.ones(table.num_rows, dtype=bool)
        for column in table.columns:
            valid &= np.fromiter((_is_utf8(value.as_py()) for value in column), dtype=bool, count=table.num_rows)
        for index in np.flatnonzero(~valid).tolist():
            payload = b",".join(column[index].as_py() or b"" for column in table.columns)[:PAYLOAD_BYTES]
            current().bad_record(BadRecord("the row is not UTF-8", path, int(rows[index]), "InvalidUtf8", payload))
        return _as_text(table.filter(pa.array(valid)), rows[valid], path)


def _is_utf8(value: bytes | None) -> bool:
    try:
        _ = value is None or value.decode()
    except UnicodeDecodeError:
        return False
    return True
