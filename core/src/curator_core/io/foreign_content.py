"""Recognise files that are something else than their name says, to report one of them once and not line by line."""

from __future__ import annotations

from curator_core.errors import DataError

__all__ = ["check_content", "content_named"]

_SIGNATURES = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"\x1f\x8b\x08": "gzip data",
    b"\x28\xb5\x2f\xfd": "zstd data",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ\0": "xz data",
    b"PK\x03\x04": "a zip archive",
    b"\xff\xfe\0\0": "UTF-32 text",
    b"\0\0\xfe\xff": "UTF-32 text",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
    b"%PDF-": "a PDF document",
    b"SQLite format 3\0": "an SQLite database",
    b"\x89PNG\r\n": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"\x7fELF": "a program",
}


def content_named(beginning: bytes) -> str | None:
    """Return what a file is by its first bytes, where they tell.

    >>> content_named(b"PAR1..."), content_named(b"{}")
    ('a Parquet file', None)
    """
    return next((name for signature, name in _SIGNATURES.items() if beginning.startswith(signature)), None)


def check_content(beginning: bytes, path: str, wanted: str) -> None:
    """Refuse a file of text that is plainly something else.

    Args:
        beginning: Its first bytes.
        path: The file.
        wanted: What it should be (``JSON lines``).

    Raises:
        DataError: Says what it is instead.
    """
    found = content_named(beginning)
    if found is None:
        return
    convert = found.endswith("text")
    fix = "convert the file to UTF-8" if convert else "give the file its right extension, or read it with another stage"
    raise DataError(f"this is {found}, not {wanted}; {fix}", source=path)
