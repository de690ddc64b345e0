"""Recognise files that are something else than their name says, to report one of them once and not line by line."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from curator_core.sdk import DataError, open_slice

if TYPE_CHECKING:
    from curator_core.sdk import FileSlice

__all__ = [
    "check_content",
    "check_not_csv",
    "check_not_json_lines",
    "content_named",
    "looks_like_json_lines",
    "unreadable_table",
]

_LOOKED_AT = 20
"""Lines that must all agree before a file of text is taken for something else."""
_MIN_CSV_ROWS = 3
_NAME = re.compile(r"[^\W\d][\w .:/-]*")
"""Column names by which a file is recognised as CSV."""
_LONG_BYTES = 2**16
"""Bytes of a file to check, and the length of a line that may continue behind them."""
_BOM = b"\xef\xbb\xbf"
_KEY = re.compile(rb'\{\s*"(?:[^"\\\n]|\\.)*"\s*:')

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
    """Return the format of a file by its first bytes, where they identify it.

    >>> content_named(b"PAR1..."), content_named(b"{}")
    ('a Parquet file', None)
    """
    return next((name for signature, name in _SIGNATURES.items() if beginning.startswith(signature)), None)


def check_content(beginning: bytes, path: str, wanted: str) -> None:
    """Refuse a file of text that is plainly something else.

    Args:
        beginning: Its first bytes.
        path: The file.
        wanted: The expected format (``JSON lines``).

    Raises:
        DataError: It is a file of another format, which the message names.
    """
    found = content_named(beginning)
    if found is None:
        return
    convert = found.endswith("text")
    fix = "convert the file to UTF-8" if convert else "give the file its right extension, or read it with another stage"
    raise DataError(f"this is {found}, not {wanted}; {fix}", source=path)


def looks_like_json_lines(beginning: bytes) -> bool:
    r"""Return whether each of the first lines of a file is a JSON object.

    >>> looks_like_json_lines(b'{"a": 1}\n{"a": 2}\n'), looks_like_json_lines(b'{"a": 1},text\n1,one\n')
    (True, False)

    Args:
        beginning: Its first bytes, decompressed; the last line may be cut.
    """
    import orjson

    lines = beginning.removeprefix(_BOM).split(b"\n")
    if len(lines) > 1:
        lines.pop()  # empty, or cut
    elif len(lines[0]) >= _LONG_BYTES:  # cut, so that only its first key is known
        return _KEY.match(lines[0]) is not None
    shown = [line for line in lines[: 2 * _LOOKED_AT] if line.strip()][:_LOOKED_AT]
    if not shown or not all(line.lstrip().startswith(b"{") for line in shown):
        return False
    try:
        return all(isinstance(orjson.loads(line), dict) for line in shown)
    except orjson.JSONDecodeError:
        return False


def check_not_json_lines(beginning: bytes, path: str, wanted: str) -> None:
    """Refuse JSON lines where another format is to be read.

    Args:
        beginning: First bytes of the file, decompressed.
        path: The file.
        wanted: The expected format (``CSV``).

    Raises:
        DataError: Every line is a JSON object.
    """
    if looks_like_json_lines(beginning):
        raise DataError(f"this is JSON lines, not {wanted}; read it with read_jsonl", source=path)


def unreadable_table(piece: FileSlice, wanted: str, error: Exception) -> DataError:
    """Return the error for a file that is not of a binary table format; it names the actual format, if known.

    Args:
        piece: The file.
        wanted: The expected format (``Parquet``).
        error: Why it could not be opened.
    """
    try:
        with open_slice(piece) as file:
            beginning = file.read(_LONG_BYTES)
        check_not_json_lines(beginning, piece.path, wanted)
    except DataError as found:
        return found
    return DataError(f"not a readable {wanted} file: {error}", source=piece.path)


def check_not_csv(beginning: bytes, path: str) -> None:
    """Refuse CSV where JSON lines are to be read.

    Args:
        beginning: First bytes of the file, decompressed; no line begins with a brace.
        path: The file.

    Raises:
        DataError: It begins with a line of different names, and the rows behind it have as many fields.
    """
    text = io.StringIO(beginning[:_LONG_BYTES].decode("utf-8-sig", errors="replace"), newline="")
    try:
        rows = [row for row, _ in zip(csv.reader(text, strict=True), range(_LOOKED_AT), strict=False) if row]
    except csv.Error:
        return
    if len(beginning) > _LONG_BYTES and len(rows) < _LOOKED_AT:
        rows.pop()  # it is cut
    if len(rows) < _MIN_CSV_ROWS:
        return
    header = rows[0]
    is_header = len(header) > 1 and len(set(header)) == len(header) and all(map(_NAME.fullmatch, header))
    if is_header and all(len(row) == len(header) for row in rows):
        raise DataError("this looks like CSV, not JSON lines; read it with read_csv", source=path)
