"""Find lines and paragraphs in bytes, and make Arrow text of them without a Python object for each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from curator_core.sdk import BadRecord, report
from curator_table import is_utf8

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Spans = tuple[NDArray[np.int64], NDArray[np.int64]]

__all__ = ["decode_spans", "line_spans", "paragraph_spans", "undecodable"]

_BLANK_LINES = re.compile(rb"\n(?:[ \t\r\f\v]*\n)+")
_NEWLINE, _RETURN = b"\n\r"
_PAYLOAD_BYTES = 256
_REPORTED_PER_BLOCK = 1000
_UTF8_NAMES = frozenset({"utf-8", "utf8", "utf_8", "ascii", "us-ascii"})


def line_spans(data: bytes) -> Spans:
    r"""Return the first byte of each line that is not empty, and the one after its last.

    >>> starts, ends = line_spans(b"one\r\n\ntwo")
    >>> starts.tolist(), ends.tolist()
    ([0, 6], [3, 9])
    """
    content = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(content == _NEWLINE)
    if len(content) and content[-1] != _NEWLINE:
        ends = np.append(ends, len(content))
    starts = np.empty_like(ends)
    starts[:1] = 0
    starts[1:] = ends[:-1] + 1
    filled = ends > starts
    starts, ends = starts[filled], ends[filled]
    ends = ends - (content[ends - 1] == _RETURN)
    filled = ends > starts
    return starts[filled], ends[filled]


def paragraph_spans(data: bytes) -> Spans:
    r"""Return where paragraphs begin and end: text between blank lines, without the line ends around it.

    >>> starts, ends = paragraph_spans(b"\n\none\nmore\n \n\ntwo\n")
    >>> [data[start:end] for data in [b"\n\none\nmore\n \n\ntwo\n"] for start, end in zip(starts, ends)]
    [b'one\nmore', b'two']
    """
    edges = [0]
    for blank in _BLANK_LINES.finditer(data):
        edges += blank.span()
    edges.append(len(data))
    starts, ends = [], []
    for begin, stop in zip(edges[::2], edges[1::2], strict=True):
        text = data[begin:stop]
        end = begin + len(text.rstrip(b"\r\n"))
        start = begin + len(text) - len(text.lstrip(b"\r\n"))
        if start < end and not text.isspace():
            starts.append(start)
            ends.append(end)
    return np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64)


def decode_spans(
    data: bytes, spans: Spans, *, path: str, offset: int, encoding: str, replace: bool
) -> tuple[pa.Array, NDArray[np.int64]]:
    """Decode parts of a block; return their text and the offset of each in the file.

    A part that cannot be decoded is reported as a bad record and left out.

    Args:
        data: The block.
        spans: Where the parts begin and end.
        path: The file.
        offset: Where the block begins in it.
        encoding: Encoding of the text.
        replace: Replace invalid bytes by U+FFFD, and report nothing.
    """
    starts, ends = spans
    if encoding.lower() in _UTF8_NAMES and is_utf8(data):
        return _gathered(data, starts, ends), starts + offset
    texts: list[str] = []
    kept: list[int] = []
    refused = 0
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        part = data[start:end]
        try:
            texts.append(part.decode(encoding, "replace" if replace else "strict"))
            kept.append(start + offset)
        except UnicodeDecodeError as error:
            refused += 1
            if refused <= _REPORTED_PER_BLOCK:
                report().bad_record(undecodable(error, path, start + offset, part))
            last = start + offset
    if refused > _REPORTED_PER_BLOCK:  # a binary file must not fill the memory with reports
        more = refused - _REPORTED_PER_BLOCK
        message = f"{more:,} more parts up to byte {last:,} that are not {encoding}; is this file text?"
        report().bad_record(BadRecord(message, path, last, "InvalidText", rows=more))
    return pa.array(texts, pa.large_string()), np.array(kept, dtype=np.int64)


def undecodable(error: UnicodeDecodeError, path: str, offset: int, data: bytes) -> BadRecord:
    """Describe text that is not in the encoding it should be in."""
    message = (
        f"not {error.encoding}: byte 0x{data[error.start]:02x} at {offset + error.start:,} ({error.reason}); "
        "give its encoding, or errors: replace"
    )
    return BadRecord(message, path, offset, "InvalidText", data[:_PAYLOAD_BYTES])


def _gathered(data: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Any:
    """Return the parts of ``data`` as Arrow text; the bytes between them are left out in one pass."""
    offsets = np.zeros(len(starts) + 1, dtype=np.int64)
    np.cumsum(ends - starts, out=offsets[1:])
    steps = np.zeros(len(data) + 1, dtype=np.int8)
    steps[starts] = 1
    steps[ends] -= 1
    inside = np.cumsum(steps[:-1], dtype=np.int8).view(np.bool_)
    values = np.frombuffer(data, dtype=np.uint8)[inside]
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.large_string(), len(starts), buffers)
