"""Read and write CSV. All columns are text: CSV has no types, and a guess would turn the id 007 into 7."""

from __future__ import annotations

import csv as python_csv
import dataclasses
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from curator_core.sdk import (
    DEFAULT_BLOCK_BYTES,
    BadRecord,
    DataError,
    Limits,
    atomic_output,
    is_transient,
    open_compressed,
    open_slice,
    own_name,
    report,
    with_provenance,
)
from curator_table.csv.csv_text import CsvText
from curator_table.foreign_content import check_content, check_not_json_lines
from curator_table.json.rows import is_json
from curator_table.json.writer import json_ready, json_texts
from curator_table.lines import PAYLOAD_BYTES
from curator_table.memory_claims import check_width
from curator_table.types.schema_checks import check_column_names
from curator_table.utf8_check import INVALID_MARK, unmark_invalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.sdk import FileSlice

__all__ = ["look_csv", "read_csv", "write_csv"]

_HEADER_BYTES = 2**20
_BAD_RECORDS_PER_TABLE = 1000
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
    check_width([pa.string()] * len(header), piece.path, limits)
    with open_slice(piece) as file:
        text = CsvText(file, piece, limits)
        records = _Records(piece.path, header)
        for table, rows, is_last in _mark_last(records.tables(text, batch_bytes)):
            valid, kept = table, rows
            if is_last and table.num_rows and text.tear is not None:
                # It may have been cut anywhere, even at a line break inside quotes.
                valid, kept = table.slice(0, table.num_rows - 1), rows[:-1]
                records.go_back_to(int(rows[-1]))
            elif is_last and text.quotes % 2 and _spans_lines(table):
                valid, kept = table.slice(0, table.num_rows - 1), rows[:-1]
                message = "a quotation that begins in this row is never closed: the rest of the file is in it"
                report().bad_record(
                    BadRecord(message, piece.path, int(rows[-1]), "UnclosedQuotation", _payload(table, -1))
                )
            if text.has_invalid:
                valid, kept = _without_invalid(valid, kept, piece.path)
            if len(kept):
                yield with_provenance(valid, piece.path, kept, columns)
        if text.tear is not None:
            records.report(text.tear.error_type, text.tear.message.removeprefix(f"{piece.path}: "))


def write_csv(table: pa.Table, path: str) -> int:
    """Write CSV with a header; compressed when the extension says so. Lists and objects become their JSON text.

    Returns:
        The bytes written.
    """
    table = json_ready(table)
    for index, field in enumerate(table.schema):
        if is_json(field.type):
            table = table.set_column(index, field.name, table.column(index).cast(pa.string()))
        elif pa.types.is_nested(field.type):
            table = table.set_column(index, field.name, json_texts(table.column(index)))
        elif pa.types.is_dictionary(field.type):
            table = table.set_column(index, field.name, table.column(index).cast(field.type.value_type))
    with atomic_output(path) as file:
        with open_compressed(file, path) as stream:
            pcsv.write_csv(table, stream)
        return file.tell()


def look_csv(piece: FileSlice, *, max_bytes: int, limits: Limits) -> dict[str, pa.DataType]:  # noqa: ARG001 - a header has a limit
    """Return the columns named in the header."""
    header = _header(piece, limits)
    return {own_name(name, taken=header): pa.string() for name in header}


class _Records:
    """Parse a file and number its records, those left out as invalid included."""

    def __init__(self, path: str, header: list[str]) -> None:
        self._path = path
        self._types = dict.fromkeys(header, pa.string())
        self._invalid: list[int] = []
        self._unreported: list[BadRecord] = []
        self._beyond = 0
        self._last_beyond = 0
        self._next = 0

    def tables(self, text: CsvText, batch_bytes: int) -> Iterator[tuple[pa.Table, Any]]:
        """Yield tables of text columns and the number of every row in the file."""
        try:
            reader = pcsv.open_csv(
                text,
                read_options=pcsv.ReadOptions(use_threads=False, block_size=min(batch_bytes, _MAX_BLOCK_BYTES)),
                parse_options=pcsv.ParseOptions(newlines_in_values=True, invalid_row_handler=self._skip),
                convert_options=pcsv.ConvertOptions(
                    column_types=self._types,
                    check_utf8=False,  # CsvText lets nothing else through
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
            if text.tear is None:  # otherwise the end of the stream is expected, and reported as such
                advice = "; raise block_bytes if a row is that long" if "straddles" in str(error) else ""
                self.report("CorruptCsv", f"the rest of the file cannot be read: {error}{advice}")
        self._report_invalid()

    def report(self, error_type: str, message: str) -> None:
        report().bad_record(BadRecord(message, self._path, self._next, error_type=error_type))

    def go_back_to(self, row: int) -> None:
        """Let the next report be about a row that was left out."""
        self._next = row

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
        payload = unmark_invalid(row.text.encode())[:PAYLOAD_BYTES]
        if len(self._unreported) < _BAD_RECORDS_PER_TABLE:
            self._unreported.append(BadRecord(message, self._path, number, "WrongFieldCount", payload))
        else:  # a file that is not CSV at all must not fill the memory with reports
            self._beyond += 1
            self._last_beyond = number
        return "skip"

    def _report_invalid(self) -> None:
        # Arrow calls _skip from a thread of its own, which has no recording to talk to.
        reports, self._unreported = self._unreported, []
        for record in reports:
            report().bad_record(record)
        if self._beyond:
            message = f"{self._beyond:,} more rows with another number of fields than the header; is this file CSV?"
            report().bad_record(BadRecord(message, self._path, self._last_beyond, error_type="WrongFieldCount"))
            self._beyond = 0


def _header(piece: FileSlice, limits: Limits) -> list[str]:
    with open_slice(piece) as file:
        text = CsvText(file, piece, dataclasses.replace(limits, verify=False))
        beginning = text.read(_HEADER_BYTES)
    if text.has_invalid or b"\0" in beginning:  # a header may well begin with PAR1
        check_content(unmark_invalid(beginning[:_HEADER_BYTES]), piece.path, "CSV")
    else:
        check_not_json_lines(beginning, piece.path, "CSV")
    # Marks and a cut at the end do no harm beyond the header.
    decoded = beginning.decode("utf-8-sig", errors="ignore")
    try:
        header = next((row for row in python_csv.reader(io.StringIO(decoded, newline="")) if row), [])
    except python_csv.Error as error:
        raise DataError(f"the header cannot be read: {error}", source=piece.path) from error
    if any(INVALID_MARK in name for name in header):
        raise DataError("the header is not UTF-8", source=piece.path, fix="convert the file to UTF-8")
    if not header and text.tear is not None:
        raise text.tear
    check_column_names(header, piece.path)
    return header


def _mark_last(tables: Iterator[tuple[pa.Table, Any]]) -> Iterator[tuple[pa.Table, Any, bool]]:
    held = next(tables, None)
    for following in tables:
        assert held is not None
        yield (*held, False)
        held = following
    if held is not None:
        yield (*held, True)


def _without_invalid(table: pa.Table, rows: Any, path: str) -> tuple[pa.Table, Any]:
    """Leave out and report rows that are not UTF-8."""
    invalid = np.zeros(table.num_rows, dtype=bool)
    for column in table.columns:
        marked = pc.fill_null(pc.match_substring(column, INVALID_MARK), fill_value=False)
        invalid |= marked.to_numpy(zero_copy_only=False) if table.num_rows else False
    for index in np.flatnonzero(invalid).tolist():
        payload = _payload(table, index)
        report().bad_record(BadRecord("the row is not UTF-8", path, int(rows[index]), "InvalidUtf8", payload))
    return table.filter(pa.array(~invalid)), rows[~invalid]


def _spans_lines(table: pa.Table) -> bool:
    """Whether the last row has a line break in a field."""
    return bool(table.num_rows) and any("\n" in (column[-1].as_py() or "") for column in table.columns)


def _payload(table: pa.Table, index: int) -> bytes:
    fields = [column[index].as_py() or "" for column in table.columns]
    return unmark_invalid(",".join(fields).encode())[:PAYLOAD_BYTES]
