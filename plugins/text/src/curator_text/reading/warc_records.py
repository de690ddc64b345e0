"""Turn WARC records into rows: HTTP responses are unpacked, pages decoded, everything else left out."""

from __future__ import annotations

import base64
import hashlib
import warnings
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from curator_text.extraction.charset import decode_html

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator_text.reading.warc_framing import RawRecord

__all__ = ["PageRow", "RecordError", "RecordUnpacker"]

_HTTP_TYPES = ("application/http",)
_CHUNK_BYTES = 2**16
_DIGESTS = {"sha1": (hashlib.sha1, 20), "sha256": (hashlib.sha256, 32), "md5": (hashlib.md5, 16)}
_BASE32_ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")


class RecordError(Exception):
    """A record cannot be used.

    Args:
        message: The error.
        error_type: ``CorruptWarc`` or ``RecordTooLong``.
    """

    def __init__(self, message: str, error_type: str = "CorruptWarc") -> None:
        super().__init__(message)
        self.error_type = error_type


@dataclass(frozen=True, slots=True)
class PageRow:
    """The row of a record."""

    html: str | bytes
    url: str | None
    date: str | None
    content_type: str | None
    warc_id: str | None
    status: int | None


@dataclass(frozen=True)
class RecordUnpacker:
    """Make rows of records.

    Args:
        record_types: WARC types to take.
        mime_types: Content types to take; all, where empty.
        raw: Give out bytes in place of decoded text.
        max_record_bytes: Maximum number of bytes of a page, once its HTTP encodings are undone.
    """

    record_types: frozenset[str]
    mime_types: frozenset[str]
    raw: bool
    max_record_bytes: int

    def unpack(self, record: RawRecord, *, check_digest: bool) -> PageRow | None:
        """Return the row of a record, or None for one of an unwanted type.

        Args:
            record: The record.
            check_digest: Compare the content with its digest, where the record has one.

        Raises:
            RecordError: The record is corrupt or too long.
        """
        fields = record.fields()
        if fields.get("warc-type", "").lower() not in self.record_types:
            return None
        if check_digest:
            _check_digest(record.content, fields.get("warc-block-digest"))
        declared = fields.get("content-type")
        if _essence(declared) in _HTTP_TYPES:
            return self._http(record, fields)
        if not self._wants(declared):
            return None
        return self._row(record.content, fields, declared, None)

    def _http(self, record: RawRecord, fields: Mapping[str, str]) -> PageRow | None:
        if fields["warc-type"].lower() == "response" and not record.content.startswith(b"HTTP/"):
            raise RecordError("the record holds no HTTP response")
        response = _parse_http(record, "none")
        content_type = response.http_headers.get("Content-Type") or fields.get("warc-identified-payload-type")
        if not self._wants(content_type):
            return None
        return self._row(self._payload(record, response), fields, content_type, response.http_headers.status_code)

    def _payload(self, record: RawRecord, response: Any) -> bytes:
        encodings = [response.http_headers.get(name) for name in ("Transfer-Encoding", "Content-Encoding")]
        size = len(record.content)
        if not any(encodings):
            payload = self._read(response.reader, size)
        else:
            try:
                payload = self._read(_parse_http(record, "all").reader, size)
            except Exception as error:
                # Many archives keep the headers of an encoding that the crawler has undone already.
                payload = self._read(response.reader, size)
                if not payload.lstrip().startswith(b"<"):
                    raise RecordError(f"the HTTP content cannot be decoded: {error}") from error
        if len(payload) > self.max_record_bytes:
            raise RecordError(
                f"the page expands to more than {self.max_record_bytes:,} bytes; raise max_record_bytes",
                "RecordTooLong",
            )
        return payload

    def _read(self, reader: Any, size: int) -> bytes:
        """Read to the end, or a little beyond the limit; a call costs what it requests, so request ``size`` first."""
        parts = [reader.read(size + 1)]
        total = len(parts[0])
        while total <= self.max_record_bytes and (data := reader.read(_CHUNK_BYTES)):
            parts.append(data)
            total += len(data)
        return b"".join(parts)

    def _row(self, payload: bytes, fields: Mapping[str, str], content_type: str | None, status: int | None) -> PageRow:
        record_id = fields.get("warc-record-id")
        return PageRow(
            html=payload if self.raw else decode_html(payload, _charset(content_type)),
            url=(fields.get("warc-target-uri") or "").strip("<>") or None,
            date=fields.get("warc-date"),
            content_type=content_type,
            warc_id=record_id.strip("<>") if record_id else None,
            status=status,
        )

    def _wants(self, content_type: str | None) -> bool:
        return not self.mime_types or _essence(content_type) in self.mime_types


@cache
def _record_class() -> Any:
    with warnings.catch_warnings():  # importing the package warns about its own deprecated code
        warnings.simplefilter("ignore", DeprecationWarning)
        from fastwarc.warc import WarcRecord
    return WarcRecord


def _parse_http(record: RawRecord, auto_decode: str) -> Any:
    from_bytes = _record_class().from_bytes
    try:
        parsed = from_bytes(record.header + record.content)
        parsed.parse_http(auto_decode=auto_decode)
    except Exception as error:  # the parser raises OSError and ValueError for invalid responses
        raise RecordError(f"the HTTP headers cannot be read: {error}") from error
    if parsed.http_headers is None:
        raise RecordError("the record holds no HTTP message")
    return parsed


def _essence(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()


def _charset(content_type: str | None) -> str | None:
    for part in (content_type or "").split(";")[1:]:
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'")
    return None


def _check_digest(content: bytes, digest: str | None) -> None:
    algorithm, _, value = (digest or "").partition(":")
    known = _DIGESTS.get(algorithm.lower().replace("-", ""))
    if known is None:
        return
    make, size = known
    found = make(content, usedforsecurity=False).digest()
    if found != _digest_bytes(value.strip(), size):
        raise RecordError("the content does not match its digest: it was damaged")


def _digest_bytes(value: str, size: int) -> bytes | None:
    """Decode a digest, which archives write in base 32, sometimes in base 16."""
    try:
        if len(value) == 2 * size:
            return bytes.fromhex(value)
        if set(value.rstrip("=")) <= _BASE32_ALPHABET:
            return base64.b32decode(value + "=" * (-len(value) % 8))
    except ValueError:
        pass
    return None
