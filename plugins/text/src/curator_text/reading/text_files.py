"""Read plain text files: a document per file, paragraph or line."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from curator_core.sdk import (
    COMPRESSED_EXTENSIONS,
    ROW_COLUMN,
    SOURCE_COLUMN,
    BadRecord,
    ConfigError,
    DataError,
    FileReader,
    Limits,
    ListFiles,
    report,
)
from curator_table import PAYLOAD_BYTES as _PAYLOAD_BYTES
from curator_table import check_content, line_blocks
from curator_text.batch import DocumentBatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from curator_core.sdk import Columns, FileSlice

__all__ = ["ReadText"]

Per = Literal["file", "paragraph", "line"]
Errors = Literal["quarantine", "replace"]

TEXT_EXTENSIONS = (".txt", ".text", ".md", ".rst")
_BOM = codecs.BOM_UTF8
_CHUNK_BYTES = 2**20


@dataclass
class ReadText(FileReader):
    """Read plain text files, plain or compressed: a document per file, per paragraph or per line.

    Small files are grouped into one unit of work; large ones are cut into pieces where a document is a line. Empty
    files are empty documents; blank lines and paragraphs are skipped. ``_row`` is the byte at which a document begins.
    Text that cannot be decoded is quarantined: the file, the paragraph or the line, while the others come out.

    >>> [stage.name for stage in ReadText("books", per="paragraph").decompose()]
    ['text.read_text.files', 'text.read_text']

    Args:
        per: Unit of a document: ``file``, ``paragraph`` (separated by blank lines) or ``line``.
        text_column: Column for the text.
        encoding: Encoding of the files; a byte order mark of UTF-8 is taken off.
        errors: ``quarantine`` text that is not in that encoding, or ``replace`` invalid bytes with U+FFFD.
        extensions: Extensions looked for in folders; ``.txt``, ``.text``, ``.md`` and ``.rst`` unless given.
        max_file_bytes: A larger file is quarantined where a document is a file.
        max_record_bytes: A longer line or paragraph is quarantined.
        max_expansion: Decompressed bytes allowed per byte of a compressed file, against decompression bombs.
        verify: Check compressed files to their end before the first row comes out.
    """

    per: Per = field(default="file", kw_only=True)
    text_column: str = field(default="text", kw_only=True)
    encoding: str = field(default="utf-8", kw_only=True)
    errors: Errors = field(default="quarantine", kw_only=True)
    extensions: list[str] | None = field(default=None, kw_only=True)
    max_file_bytes: int = field(default=Limits().max_file_bytes, kw_only=True)
    max_record_bytes: int = field(default=Limits().max_record_bytes, kw_only=True)
    max_expansion: int = field(default=Limits().max_expansion, kw_only=True)
    verify: bool = field(default=True, kw_only=True)

    name = "text.read_text"
    batch_type = DocumentBatch
    has_fixed_columns: ClassVar[bool] = True

    def __post_init__(self) -> None:
        try:
            codecs.lookup(self.encoding)
            keeps_newlines = "a\n".encode(self.encoding) == b"a\n"
        except LookupError as error:
            raise ConfigError(
                f"stage {self.name!r}: unknown encoding {self.encoding!r}", fix="use a name that Python knows: latin-1"
            ) from error
        if self.per != "file" and not keeps_newlines:
            raise ConfigError(
                f"stage {self.name!r}: lines cannot be found in {self.encoding} without decoding all of it",
                fix="convert the files to UTF-8, or read them per file",
            )

    @property
    def looked_for(self) -> list[str] | None:
        inner = self.extensions if self.extensions is not None else TEXT_EXTENSIONS
        return [each + outer for each in inner for outer in ("", *COMPRESSED_EXTENSIONS)]

    def listing(self) -> ListFiles:
        return self.listed_by(ListFiles, splittable=self.per == "line")

    def outputs(self) -> Columns:
        return [self.text_column, SOURCE_COLUMN, ROW_COLUMN]

    def read_slice(self, piece: FileSlice) -> Iterator[pa.Table]:
        if self.per == "file":
            return self._whole_file(piece)
        return self._lines(piece) if self.per == "line" else self._paragraphs(piece)

    def _whole_file(self, piece: FileSlice) -> Iterator[pa.Table]:
        from curator_text.reading.text_spans import undecodable

        data = self._content(piece)
        try:
            text = data.removeprefix(_BOM).decode(self.encoding, "replace" if self.errors == "replace" else "strict")
        except UnicodeDecodeError as error:
            check_content(data, piece.path, f"{self.encoding} text")
            report().bad_record(undecodable(error, piece.path, 0, data))
            return
        yield self._table([text], piece, [0])

    def _content(self, piece: FileSlice) -> bytes:
        max_bytes = self.max_file_bytes
        parts: list[bytes] = []
        size = 0
        with self.open(piece) as file:
            while size <= max_bytes and (chunk := file.read(_CHUNK_BYTES)):
                parts.append(chunk)
                size += len(chunk)
        if size > max_bytes:
            raise DataError(
                f"the file is larger than {max_bytes:,} bytes; raise max_file_bytes, or read it per paragraph or line",
                source=piece.path,
            )
        return b"".join(parts)

    def _lines(self, piece: FileSlice) -> Iterator[pa.Table]:
        from curator_text.reading.text_spans import line_spans

        for block in line_blocks(piece, block_bytes=self.block_bytes, limits=self.limits):
            data, offset = _after_bom(block.data, block.offset)
            yield from self._documents(data, line_spans(data), piece, offset)

    def _paragraphs(self, piece: FileSlice) -> Iterator[pa.Table]:
        from curator_text.reading.text_spans import paragraph_spans

        held, held_at = b"", 0  # a paragraph that may continue in the next block, and where it begins
        for block in line_blocks(piece, block_bytes=self.block_bytes, limits=self.limits):
            if held and held_at + len(held) != block.offset:  # a line that is too long was left out in between
                yield from self._documents(held, paragraph_spans(held), piece, held_at)
                held = b""
            data, offset = _after_bom(held + block.data, block.offset - len(held))
            starts, ends = paragraph_spans(data)
            if not len(starts):
                held = b""
                continue
            yield from self._documents(data, (starts[:-1], ends[:-1]), piece, offset)
            held, held_at = data[int(starts[-1]) :], offset + int(starts[-1])
            if len(held) > self.max_record_bytes:  # the rest of it is a paragraph of its own
                self._report_long(piece, held_at, held)
                held = b""
        if held:
            yield from self._documents(held, paragraph_spans(held), piece, held_at)

    def _documents(self, data: bytes, spans: Any, piece: FileSlice, offset: int) -> Iterator[pa.Table]:
        from curator_table import is_utf8
        from curator_text.reading.text_spans import decode_spans

        if offset == 0 and not is_utf8(data):
            check_content(data, piece.path, f"{self.encoding} text")
        texts, rows = decode_spans(
            data,
            self._short_spans(data, spans, piece, offset),
            path=piece.path,
            offset=offset,
            encoding=self.encoding,
            replace=self.errors == "replace",
        )
        if len(texts):
            yield self._table(texts, piece, rows)

    def _short_spans(self, data: bytes, spans: Any, piece: FileSlice, offset: int) -> Any:
        starts, ends = spans
        fits = ends - starts <= self.max_record_bytes
        for start in starts[~fits].tolist():
            self._report_long(piece, offset + start, data[start:])
        return starts[fits], ends[fits]

    def _report_long(self, piece: FileSlice, offset: int, data: bytes) -> None:
        message = f"the {self.per} is longer than {self.max_record_bytes:,} bytes; raise max_record_bytes"
        report().bad_record(BadRecord(message, piece.path, offset, "RecordTooLong", data[:_PAYLOAD_BYTES]))

    def _table(self, texts: Any, piece: FileSlice, rows: Any) -> pa.Table:
        import pyarrow as pa

        from curator_core.sdk import with_provenance

        column = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string())
        return with_provenance(pa.table({self.text_column: column}), piece.path, rows)


def _after_bom(data: bytes, offset: int) -> tuple[bytes, int]:
    if offset == 0 and data.startswith(_BOM):
        return data[len(_BOM) :], len(_BOM)
    return data, offset
