"""Find and decompress the members of a WARC file: by convention, each record is a gzip member or a zstd frame.

No byte of a member comes out before all of it was decoded and its checksum, where it has one, was right. After a
damaged member the next one is looked for, and recognised by decoding to the beginning of a record.
"""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from curator_core.sdk import decode_errors, zstd_module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curator_core.sdk import Compression, Limits

__all__ = ["Damage", "Member", "members"]

RECORD_START = b"WARC/"
_INPUT_BYTES = 2**16
_SEARCH_BYTES = 2**20
_DRAIN_BYTES = 2**20
_HEADER_ROOM_BYTES = 2**20  # beside the content of the largest record, its headers
_GZIP_WBITS = 31
_MAGIC: dict[Compression, bytes] = {"gzip": b"\x1f\x8b\x08", "zstd": b"\x28\xb5\x2f\xfd"}
_SKIPPABLE = b"\x2a\x4d\x18"  # bytes 2 to 4 of a skippable zstd frame; the first is 50 to 5f
_DICTIONARY_FRAME = b"\x5d" + _SKIPPABLE
"""First frame of a file whose frames need a dictionary (the zstd profile of WARC, section "Dictionary frames")."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member that was decoded to its end.

    Args:
        offset: Where it begins in the file.
        size: Its bytes in the file.
        stream: Its content, to be read before the next member is requested.
    """

    offset: int
    size: int
    stream: BinaryIO


@dataclass(frozen=True, slots=True)
class Damage:
    """A place where no member can be decoded.

    Args:
        offset: Where it begins in the file.
        message: The error.
        error_type: ``TornFile``, ``CorruptFile`` or ``DecompressionBomb``.
    """

    offset: int
    message: str
    error_type: str


def members(file: BinaryIO, kind: Compression, limits: Limits) -> Iterator[Member | Damage]:
    """Yield the members of a file in their order, and the damage between them.

    Args:
        file: The compressed file; it must be seekable.
        kind: ``gzip`` or ``zstd``.
        limits: Caps on the expansion of each member, and on a record.
    """
    reader = _MemberReader(file, kind, limits)
    offset = reader.begin()
    while True:
        found = reader.decode(offset)
        if found is None:
            return
        yield found
        if isinstance(found, Member):
            offset = found.offset + found.size
            continue
        following = reader.find_next(found.offset + 1)
        if following is None:
            return
        offset = following


class _MemberReader:
    def __init__(self, file: BinaryIO, kind: Compression, limits: Limits) -> None:
        self._file = file
        self._kind = kind
        self._limits = limits
        self._input = b""  # read from the file, not decoded yet
        self._position = 0  # where _input begins
        self._new_decoder: Callable[[], Any] = lambda: zlib.decompressobj(_GZIP_WBITS)
        if kind == "zstd":
            self._new_decoder = zstd_module().ZstdDecompressor

    def begin(self) -> int:
        """Take up the dictionary that a file of zstd frames may begin with; return where the first member is."""
        if self._kind != "zstd":
            return 0
        head = self._peek(8)
        if head[:4] != _DICTIONARY_FRAME:
            return 0
        zstd = zstd_module()
        size = int.from_bytes(head[4:8], "little")
        content = self._peek(8 + min(size, self._limits.max_record_bytes))[8:]
        if content.startswith(_MAGIC["zstd"]):
            try:
                content = zstd.ZstdDecompressor().decompress(content, self._limits.max_record_bytes)
            except zstd.ZstdError:
                return 0  # the frames that need it will be reported
        dictionary = zstd.ZstdDict(content, is_raw=not content.startswith(b"\x37\xa4\x30\xec"))
        self._new_decoder = lambda: zstd.ZstdDecompressor(zstd_dict=dictionary)
        return 8 + size

    def decode(self, offset: int) -> Member | Damage | None:
        """Decode the member at an offset; None at the end of the file."""
        self._seek(offset)
        head = self._peek(4)
        while self._kind == "zstd" and head[1:4] == _SKIPPABLE and head[0] & 0xF0 == 0x50:  # noqa: PLR2004
            offset += 8 + int.from_bytes(self._peek(8)[4:], "little")
            self._seek(offset)
            head = self._peek(4)
        if not head or not self._has_more_than_zeros():
            return None
        self._seek(offset)
        member = _MemberStream(self._new_decoder(), self._read_input)
        parts: list[bytes] = []
        size = 0
        room = self._limits.max_record_bytes + _HEADER_ROOM_BYTES
        try:
            while size <= room and (data := member.read(_DRAIN_BYTES)):
                self._check_expansion(member)
                parts.append(data)
                size += len(data)
            while member.read(_DRAIN_BYTES):
                self._check_expansion(member)
        except _BombError as error:
            return Damage(offset, str(error), "DecompressionBomb")
        except EOFError:
            return Damage(offset, f"the {self._kind} data ends in the middle of a member", "TornFile")
        except decode_errors() as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the file below failed, not its content
            return Damage(offset, f"the {self._kind} data is corrupt ({error})", "CorruptFile")
        if size <= room:
            self._input, self._position = member.left_over, offset + member.consumed
            return Member(offset, member.consumed, io.BytesIO(b"".join(parts)))
        # Larger than a record may be, so not held: a huge record, or a file compressed as a whole. Decode it again.
        end = offset + member.consumed
        self._seek(offset)
        again = _MemberStream(self._new_decoder(), self._read_input)
        return Member(offset, end - offset, again)  # type: ignore[arg-type]

    def find_next(self, offset: int) -> int | None:
        """Return where the next member begins that decodes to the beginning of a record."""
        magic = _MAGIC[self._kind]
        while True:
            self._seek(offset)
            data = self._peek(_SEARCH_BYTES)
            position = data.find(magic)
            while position >= 0:
                if self._begins_record(offset + position):
                    return offset + position
                position = data.find(magic, position + 1)
            if len(data) < _SEARCH_BYTES:
                return None
            offset += len(data) - len(magic) + 1

    def _begins_record(self, offset: int) -> bool:
        self._seek(offset)
        try:
            return _MemberStream(self._new_decoder(), self._read_input).read(len(RECORD_START)) == RECORD_START
        except decode_errors() as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            return False

    def _check_expansion(self, member: _MemberStream) -> None:
        allowed = max(self._limits.expansion_floor_bytes, self._limits.max_expansion * member.consumed)
        if member.given > allowed:
            raise _BombError(
                f"{member.consumed:,} compressed bytes expand to more than {allowed:,}: a decompression bomb? "
                "raise max_expansion if the file is genuine"
            )

    def _has_more_than_zeros(self) -> bool:
        """Whether a member may follow: padding with zeros at the end of a file is common in block-wise copies."""
        while data := self._peek(_INPUT_BYTES):
            if data.strip(b"\0"):
                return True
            self._seek(self._position + len(data))
        return False

    def _seek(self, offset: int) -> None:
        ahead = offset - self._position
        if 0 <= ahead <= len(self._input):
            self._input = self._input[ahead:]
        else:
            self._file.seek(offset)
            self._input = b""
        self._position = offset

    def _peek(self, size: int) -> bytes:
        while len(self._input) < size:
            data = self._file.read(max(_INPUT_BYTES, size - len(self._input)))
            if not data:
                break
            self._input += data
        return self._input[:size]

    def _read_input(self) -> bytes:
        data, self._input = self._input or self._file.read(_INPUT_BYTES), b""
        self._position += len(data)
        return data


class _BombError(Exception):
    """A member expands beyond the limit."""


class _MemberStream:
    """The content of one member; reading ends with it."""

    def __init__(self, decoder: Any, read_input: Callable[[], bytes]) -> None:
        self._decoder = decoder
        self._read_input = read_input
        self._pending = b""
        self._taken = 0
        self.given = 0

    @property
    def consumed(self) -> int:
        """Bytes of the file that were decoded."""
        return self._taken - len(self._decoder.unused_data if self._decoder.eof else self._pending)

    @property
    def left_over(self) -> bytes:
        """The bytes read of the file behind the member, once it has ended."""
        data: bytes = self._decoder.unused_data
        return data

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes; none at the end of the member.

        Raises:
            EOFError: The file ends inside the member.
            Exception: One of :func:`decode_errors`.
        """
        parts: list[bytes] = []
        while size > 0 and not self._decoder.eof:
            at_end = False
            if not self._pending and getattr(self._decoder, "needs_input", True):
                self._pending = self._read_input()
                self._taken += len(self._pending)
                at_end = not self._pending
            data = self._decoder.decompress(self._pending, size)
            self._pending = getattr(self._decoder, "unconsumed_tail", b"")
            if at_end and not data and not self._decoder.eof:
                raise EOFError("the file ends in the middle of a member")
            parts.append(data)
            size -= len(data)
            self.given += len(data)
        return b"".join(parts)
