"""Read web pages from WARC files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from curator_core.sdk import (
    ROW_COLUMN,
    SOURCE_COLUMN,
    BadRecord,
    ConfigError,
    FileReader,
    Limits,
    compression_of,
    open_slice,
    report,
)
from curator_text.batch import DocumentBatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from curator_core.sdk import Columns, Compression, FileSlice
    from curator_text.reading.warc_framing import BrokenRecord, RawRecord
    from curator_text.reading.warc_members import Damage, Member
    from curator_text.reading.warc_records import PageRow

__all__ = ["ReadWarc"]

WARC_EXTENSIONS = (".warc", ".warc.gz", ".warc.zst")
WARC_COLUMNS = ("html", "url", "date", "content_type", "warc_id", "status")
WARC_TYPES = ("response", "resource", "conversion", "request", "metadata", "revisit", "warcinfo", "continuation")
PAGE_TYPES = ("text/html", "application/xhtml+xml")
_SIGNATURES: tuple[tuple[bytes, Compression], ...] = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"))
_MAX_PROBLEMS = 1000


@dataclass
class ReadWarc(FileReader):
    """Read web pages from WARC files, plain or compressed (``.gz``, ``.zst``).

    The columns are ``html`` (text, decoded by the charset that the server or the page declares, or that its bytes look
    like), ``url``, ``date``, ``content_type``, ``warc_id`` and ``status``; HTTP transfer and content encodings are
    undone. ``_row`` is the byte at which the record's member begins in the file, as an index of the archive has it; for
    records that share a member, their number in it is added.

    A file is read as one unit of work, in tables of ``block_bytes``: where a record begins in the middle of a file
    cannot be known for sure, because archives contain archives. A damaged record is quarantined with its place, and
    reading continues at the next one that can be found: every byte of a gzip member was checked before its record
    comes out; plain files and zstd are checked by the digests of the records, where they have them.

    >>> [stage.name for stage in ReadWarc("crawl/*.warc.gz").decompose()]
    ['text.read_warc.files', 'text.read_warc']

    Args:
        record_types: WARC types to read: ``response``, ``resource``, ``conversion``, ….
        mime_types: Content types to read, as the server declares them; all, where empty.
        raw: Give out ``html`` as bytes, as the server sent it.
        block_bytes: Size of a unit of work of small files, and of a table.
        max_record_bytes: A longer record, or a page that expands to more, is quarantined.
        max_expansion: Decompressed bytes allowed per compressed byte of a record, against decompression bombs.
        verify: Check the digests of records in files whose compression has no checksums.
    """

    record_types: list[str] = field(default_factory=lambda: ["response"], kw_only=True)
    mime_types: list[str] = field(default_factory=lambda: list(PAGE_TYPES), kw_only=True)
    raw: bool = field(default=False, kw_only=True)
    max_record_bytes: int = field(default=Limits().max_record_bytes, kw_only=True)
    max_expansion: int = field(default=Limits().max_expansion, kw_only=True)
    verify: bool = field(default=True, kw_only=True)

    name = "text.read_warc"
    extensions = WARC_EXTENSIONS
    batch_type = DocumentBatch
    has_fixed_columns: ClassVar[bool] = True

    def __post_init__(self) -> None:
        unknown = [each for each in self.record_types if each.lower() not in WARC_TYPES]
        if unknown or not self.record_types:
            raise ConfigError(
                f"stage {self.name!r}: record_types={self.record_types!r}", fix=f"choose from {', '.join(WARC_TYPES)}"
            )

    def outputs(self) -> Columns:
        return [*WARC_COLUMNS, SOURCE_COLUMN, ROW_COLUMN]

    def read_slice(self, piece: FileSlice) -> Iterator[pa.Table]:
        from curator_text.reading.warc_records import RecordError, RecordUnpacker

        unpacker = RecordUnpacker(
            record_types=frozenset(each.lower() for each in self.record_types),
            mime_types=frozenset(each.lower() for each in self.mime_types),
            raw=self.raw,
            max_record_bytes=self.max_record_bytes,
        )
        rows: list[tuple[int, PageRow]] = []
        held_bytes = problems = 0
        for place, record, is_checked in self._records(piece):
            problem = None
            if hasattr(record, "message"):
                problem = BadRecord(record.message, piece.path, place, record.error_type, _payload(record))
            else:
                try:
                    row = unpacker.unpack(record, check_digest=self.verify and not is_checked)
                except RecordError as error:
                    problem = BadRecord(str(error), piece.path, place, error.error_type, record.header[:256])
            if problem is not None:
                report().bad_record(problem)
                problems += 1
                if problems == _MAX_PROBLEMS:  # looking for the next record again and again could take for ever
                    message = f"{problems:,} records are damaged; the file is given up here"
                    report().bad_record(BadRecord(message, piece.path, place, "CorruptWarc"))
                    break
                continue
            if row is None:
                continue
            rows.append((place, row))
            held_bytes += len(row.html)
            if held_bytes >= self.block_bytes:
                yield self._table(rows, piece)
                rows, held_bytes = [], 0
        if rows:
            yield self._table(rows, piece)

    def _records(self, piece: FileSlice) -> Iterator[tuple[int, Any, bool]]:
        """Yield the place of each record, the record or its error, and whether a checksum covers it."""
        from curator_text.reading.warc_framing import framed_records
        from curator_text.reading.warc_members import Damage, members

        max_bytes = self.max_record_bytes
        with open_slice(piece) as file:
            beginning = file.read(8)
            file.seek(0)
            kind = _compression(beginning, piece.path)
            if kind is None:
                for found in framed_records(file, max_record_bytes=max_bytes, resync=True):
                    yield found.offset, found, False
                return
            for member in members(file, kind, self.limits):
                if isinstance(member, Damage):
                    yield member.offset, member, False
                    continue
                records = framed_records(member.stream, max_record_bytes=max_bytes, resync=False)
                for number, found in enumerate(records):
                    if number >= member.size:  # the places of records would meet those of the next member
                        message = "the member has more records than bytes: a decompression bomb?"
                        yield member.offset, Damage(member.offset, message, "DecompressionBomb"), False
                        break
                    yield member.offset + number, found, kind == "gzip"

    def _table(self, rows: Sequence[tuple[int, PageRow]], piece: FileSlice) -> pa.Table:
        import pyarrow as pa

        from curator_core.sdk import with_provenance

        kinds = {"html": pa.large_binary() if self.raw else pa.large_string(), "status": pa.int32()}
        columns = {
            name: pa.array([getattr(row, name) for _, row in rows], kinds.get(name, pa.string()))
            for name in WARC_COLUMNS
        }
        return with_provenance(pa.table(columns), piece.path, [place for place, _ in rows])


def _compression(beginning: bytes, path: str) -> Compression | None:
    """Tell by the first bytes, because extensions of archives are often wrong; by the extension where they are odd."""
    if beginning[1:4] == b"\x2a\x4d\x18":
        return "zstd"  # a skippable frame, which holds a dictionary
    found = next((kind for signature, kind in _SIGNATURES if beginning.startswith(signature)), None)
    if found is not None or beginning.startswith(b"WARC/"):
        return found
    named = compression_of(path)
    return named if named in ("gzip", "zstd") else None


def _payload(problem: BrokenRecord | Damage | RawRecord | Member) -> bytes | None:
    return getattr(problem, "beginning", b"") or None
