"""Compute the decoded size of a record batch of an Arrow IPC file before it is decoded.

A message declares the rows of its batch and the lengths of its buffers; a compressed buffer begins with its length when
decompressed. Arrow trusts these figures and takes the memory. pyarrow does not show them, so they are read here, as the
format lays them down (https://arrow.apache.org/docs/format/Columnar.html, Message.fbs and File.fbs).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from curator_core.sdk import DataError
from curator_table.memory_claims import ROW_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["claimed_bytes", "file_messages", "stream_messages"]

_MAGIC = b"ARROW1"
_FOOTER_DICTIONARIES, _FOOTER_BATCHES = 2, 3  # fields of tables, in the order of the schema files
_MESSAGE_VERSION, _MESSAGE_KIND, _MESSAGE_HEADER, _MESSAGE_BODY_BYTES = 0, 1, 2, 3
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3  # kinds of messages
_DICTIONARY_DATA = 1
_BATCH_ROWS, _BATCH_NODES, _BATCH_BUFFERS, _BATCH_COMPRESSION = 0, 1, 2, 3
_PAIR = struct.Struct("<qq")  # a node's length and nulls, or a buffer's offset and length
_BLOCK = struct.Struct("<qixxxxq")  # offset, length of metadata, length of body
_CONTINUES = 0xFFFFFFFF
_MAX_METADATA_BYTES = 2**28
_NOT_COMPRESSED = -1  # in place of its length: a buffer of a compressed batch that was left as it is
_V4 = 3
_CODEC_KEY = b"ARROW:experimental_compression"  # where Arrow 0.17 named the codec, and later ones look in V4


class _Table:
    """A table of a flatbuffer."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data = data
        self._position = position
        self._fields = position - struct.unpack_from("<i", data, position)[0]
        self._fields_bytes = struct.unpack_from("<H", data, self._fields)[0]

    @classmethod
    def root(cls, data: bytes) -> _Table:
        return cls(data, struct.unpack_from("<I", data)[0])

    def integer(self, field: int, code: str) -> int:
        position = self._at(field)
        return 0 if position is None else int(struct.unpack_from(f"<{code}", self._data, position)[0])

    def table(self, field: int) -> _Table | None:
        position = self._at(field)
        return None if position is None else _Table(self._data, self._pointed_at(position))

    def structs(self, field: int, layout: struct.Struct) -> list[tuple[int, ...]]:
        position = self._at(field)
        if position is None:
            return []
        start = self._pointed_at(position)
        count = struct.unpack_from("<I", self._data, start)[0]
        end = start + 4 + count * layout.size
        if end > len(self._data):
            raise struct.error("a vector is longer than its message")
        return list(layout.iter_unpack(self._data[start + 4 : end]))

    def mentions(self, text: bytes) -> bool:
        """Whether the text is anywhere in the flatbuffer."""
        return text in self._data

    def _at(self, field: int) -> int | None:
        slot = 4 + 2 * field
        offset = struct.unpack_from("<H", self._data, self._fields + slot)[0] if slot < self._fields_bytes else 0
        return self._position + offset if offset else None

    def _pointed_at(self, position: int) -> int:
        return position + int(struct.unpack_from("<I", self._data, position)[0])


def file_messages(file: Any) -> tuple[list[int], list[int]]:
    """Return where the dictionaries and the record batches of an Arrow file begin, as its footer says.

    Raises:
        DataError: The footer cannot be read.
    """
    try:
        end = file.seek(-len(_MAGIC) - 4, 2)
        length = struct.unpack("<i", file.read(4))[0]
        file.seek(end - length)
        footer = _Table.root(file.read(length))
        dictionaries = footer.structs(_FOOTER_DICTIONARIES, _BLOCK)
        batches = footer.structs(_FOOTER_BATCHES, _BLOCK)
    except (struct.error, ValueError, OSError) as error:
        raise DataError(f"the footer is corrupt: {error}") from error
    return [each[0] for each in dictionaries], [each[0] for each in batches]


def stream_messages(file: Any) -> Iterator[int]:
    """Yield where the dictionaries and record batches of an Arrow stream begin, and leave the file as it was.

    Raises:
        DataError: A message is corrupt.
    """
    offset = 0
    while True:
        before = file.tell()
        message, body = _message(file, offset)
        file.seek(before)
        if message is None:
            return
        if message.integer(_MESSAGE_KIND, "B") in (_DICTIONARY_BATCH, _RECORD_BATCH):
            yield offset
        body_bytes = message.integer(_MESSAGE_BODY_BYTES, "q")
        if body_bytes < 0:  # the next message would be one that was read before
            raise DataError(f"the message at byte {offset:,} is corrupt: it has {body_bytes:,} bytes of data")
        offset = body + body_bytes


def claimed_bytes(file: Any, offset: int) -> tuple[int, bool]:
    """Return the decoded size of the message there, and whether it is a record batch; keep the file position.

    Raises:
        DataError: The message is corrupt.
    """
    before = file.tell()
    try:
        message, body = _message(file, offset)
        if message is None:
            return 0, True
        is_batch = message.integer(_MESSAGE_KIND, "B") == _RECORD_BATCH
        header = message.table(_MESSAGE_HEADER)
        batch = header if is_batch or header is None else header.table(_DICTIONARY_DATA)
        if batch is None:
            return 0, is_batch
        has_codec = message.integer(_MESSAGE_VERSION, "h") == _V4 and message.mentions(_CODEC_KEY)
        is_compressed = has_codec or batch.table(_BATCH_COMPRESSION) is not None
        return _claimed(batch, file, body, is_compressed=is_compressed), is_batch
    except (struct.error, ValueError, OSError) as error:
        raise DataError(f"the message at byte {offset:,} is corrupt: {error}") from error
    finally:
        file.seek(before)


def _claimed(batch: _Table, file: Any, body: int, *, is_compressed: bool) -> int:
    nodes = batch.structs(_BATCH_NODES, _PAIR)
    buffers = batch.structs(_BATCH_BUFFERS, _PAIR)
    rows = batch.integer(_BATCH_ROWS, "q")
    if rows < 0 or any(number < 0 for pair in (*nodes, *buffers) for number in pair):
        raise struct.error("a length or offset is negative")
    # A slot of a column without buffers (nulls, runs) takes at least one byte in its decoded form.
    claimed = rows * ROW_BYTES + sum(length for length, _ in nodes)
    if not is_compressed:
        return claimed + sum(length for _, length in buffers)
    for position, length in buffers:
        if length:
            file.seek(body + position)
            decoded = struct.unpack("<q", file.read(8))[0]
            if decoded < _NOT_COMPRESSED:
                raise struct.error(f"a buffer has {decoded:,} bytes")
            claimed += max(length, decoded)
    return claimed


def _message(file: Any, offset: int) -> tuple[_Table | None, int]:
    """Return the metadata of a message, none at the end of a stream, and where its body begins."""
    try:
        file.seek(offset)
        prefix = file.read(8)
        if not prefix:
            return None, offset
        (length,) = struct.unpack_from("<I", prefix)
        start = offset + 4  # as before Arrow 0.15
        if length == _CONTINUES:
            (length,) = struct.unpack_from("<I", prefix, 4)
            start = offset + 8
        if not length:
            return None, start
        if length > _MAX_METADATA_BYTES:
            raise DataError(f"the message at byte {offset:,} has {length:,} bytes of metadata")
        file.seek(start)
        return _Table.root(file.read(length)), start + length
    except (struct.error, ValueError) as error:
        raise DataError(f"the message at byte {offset:,} is corrupt: {error}") from error
